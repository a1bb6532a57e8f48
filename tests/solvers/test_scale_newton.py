"""The default solver against exact oracles and its own promises."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solver_problems import LOSSES, make_problem, oracle

from s2mam.exceptions import ConvergenceWarning
from s2mam.losses import SquaredLoss
from s2mam.solvers import GroupProblem, lambda_max, solve

NAMES = sorted(LOSSES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("fraction", [0.5, 0.1, 0.01])
def test_objective_equals_the_cone_solver(name, quadratic, fraction):
    problem = make_problem(name, quadratic=quadratic, fraction=fraction, seed=3)
    result = solve(problem, tol=1e-9)
    assert result.stop_reason == "gap"
    assert result.objective == pytest.approx(oracle(problem), rel=1e-6)
    assert result.objective == pytest.approx(
        problem.objective(result.coef, result.intercept), rel=1e-12
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quadratic", [False, True])
def test_unpenalised_group_beside_penalised_ones(name, quadratic):
    problem = make_problem(name, quadratic=quadratic, unpenalised=(1, 4), seed=5)
    result = solve(problem, tol=1e-9)
    assert result.objective == pytest.approx(oracle(problem), rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_more_columns_than_rows(name):
    problem = make_problem(name, rows=12, sizes=(6,) * 8, fraction=0.05, seed=6)
    result = solve(problem, tol=1e-9)
    assert result.objective == pytest.approx(oracle(problem), rel=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_closed_form_without_penalties(intercept):
    problem = make_problem("squared", quadratic=True, unpenalised=tuple(range(6)))
    problem = replace(problem, fit_intercept=intercept)
    rows, columns = problem.features.shape
    stacked = np.hstack([problem.features, np.ones((rows, int(intercept)))])
    normal = stacked.T @ (problem.weights[:, None] * stacked)
    normal[:columns, :columns] += problem.quadratic
    exact = np.linalg.solve(normal, stacked.T @ (problem.weights * problem.target))
    result = solve(problem)
    assert result.stop_reason == "gap"
    np.testing.assert_allclose(result.coef, exact[:columns], atol=1e-9)
    if intercept:
        assert result.intercept == pytest.approx(exact[-1])
    else:
        assert result.intercept == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_unpenalised_curved_losses_with_ridge(name):
    problem = make_problem(name, quadratic=True, unpenalised=tuple(range(6)))
    problem = replace(problem, quadratic=problem.quadratic + 0.01 * np.eye(13))
    result = solve(problem, tol=1e-9)
    assert result.objective == pytest.approx(oracle(problem), rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("unpenalised", [(), (3,)])
def test_lambda_max_is_where_the_last_group_leaves(name, quadratic, unpenalised):
    problem = make_problem(name, quadratic=quadratic, unpenalised=unpenalised, seed=7)
    edge = lambda_max(problem) * problem.penalties
    penalised = np.repeat(problem.penalties > 0, np.diff(problem.offsets))
    for factor in (1.0 + 1e-9, 3.0):
        assert not solve(problem.with_penalties(factor * edge)).coef[penalised].any()
    assert solve(problem.with_penalties(0.98 * edge), tol=1e-10).coef[penalised].any()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quadratic", [False, True])
def test_weight_two_equals_a_duplicated_row_and_zero_a_removed_one(name, quadratic):
    problem = make_problem(name, quadratic=quadratic, rows=25)
    counts = np.array([2.0, 0.0] + [1.0] * 23)
    index = np.repeat(np.arange(25), counts.astype(int))
    weighted = replace(problem, weights=counts / counts.sum())
    repeated = replace(
        problem,
        features=problem.features[index],
        target=problem.target[index],
        weights=np.full(len(index), 1 / len(index)),
    )
    one, two = solve(weighted, tol=1e-11), solve(repeated, tol=1e-11)
    np.testing.assert_allclose(one.coef, two.coef, atol=1e-6)
    np.testing.assert_allclose(one.intercept, two.intercept, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_warm_start_saves_iterations(name):
    problem = make_problem(name, fraction=0.1, seed=2)
    cold = solve(problem, tol=1e-8)
    near = solve(problem.with_penalties(1.05 * problem.penalties), tol=1e-8)
    warm = solve(problem, start=near, tol=1e-8)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert warm.n_iter < cold.n_iter
    assert solve(problem, start=cold, tol=1e-6).n_iter <= 2


@settings(deadline=None, max_examples=50)
@given(
    name=st.sampled_from(NAMES),
    seed=st.integers(0, 10_000),
    fraction=st.floats(1e-3, 1.1),
    quadratic=st.booleans(),
    rows=st.integers(8, 60),
    intercept=st.booleans(),
)
def test_always_certified_and_never_rising(name, seed, fraction, quadratic, rows, intercept):
    problem = make_problem(
        name, seed=seed, fraction=fraction, quadratic=quadratic, rows=rows, intercept=intercept
    )
    result = solve(problem)
    assert result.stop_reason == "gap"
    assert result.gap <= 1e-6 * result.objective
    assert np.all(np.diff(result.trace) <= 0.0)
    assert result.trace[-1] == result.objective


def test_identical_groups_are_no_trouble():
    problem = make_problem("squared", sizes=(3, 3), seed=1)
    twin = replace(
        problem,
        features=np.hstack([problem.features[:, :3]] * 2),
        penalties=np.full(2, problem.penalties[0]),
    )
    alone = replace(
        problem,
        features=problem.features[:, :3],
        offsets=np.array([0, 3]),
        penalties=problem.penalties[:1],
    )
    assert solve(twin, tol=1e-9).objective == pytest.approx(solve(alone, tol=1e-9).objective)


def test_zero_columns_and_constant_target():
    problem = GroupProblem(
        SquaredLoss(),
        np.zeros((5, 4)),
        np.full(5, 2.0),
        np.full(5, 0.2),
        np.array([0, 2, 4]),
        np.array([0.0, 1.0]),
    )
    result = solve(problem)
    assert not result.coef.any()
    assert result.intercept == pytest.approx(2.0)
    assert result.objective == pytest.approx(0.0, abs=1e-15)


def test_arguments_are_left_alone():
    problem = make_problem("logistic", quadratic=True)
    before = (problem.features.copy(), problem.quadratic.copy(), problem.weights.copy())
    start = solve(problem)
    kept = start.coef.copy()
    solve(problem.with_penalties(0.5 * problem.penalties), start=start)
    for old, new in zip(
        before, (problem.features, problem.quadratic, problem.weights), strict=True
    ):
        np.testing.assert_array_equal(old, new)
    np.testing.assert_array_equal(kept, start.coef)


def test_separable_classes_without_any_penalty_warn_with_gap_and_advice():
    features = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    problem = GroupProblem(
        LOSSES["logistic"],
        features,
        np.array([0.0, 0.0, 1.0, 1.0]),
        np.full(4, 0.25),
        np.array([0, 1]),
        np.zeros(1),
    )
    with pytest.warns(ConvergenceWarning, match="duality gap of .* max_iter"):
        result = solve(problem, max_iter=5)
    assert result.stop_reason in {"max_iter", "stalled"}
    assert result.objective < np.log(2.0)


def test_max_iter_warns_and_still_returns_an_honest_gap():
    problem = make_problem("logistic", fraction=0.01)
    with pytest.warns(ConvergenceWarning) as caught:
        rough = solve(problem, max_iter=3)
    assert caught[0].filename == __file__  # the line of the caller, not one of the package
    assert rough.stop_reason == "max_iter"
    exact = solve(problem, tol=1e-10)
    assert rough.objective - exact.objective <= rough.gap


def test_no_warning_when_certified():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(make_problem("squared"))
