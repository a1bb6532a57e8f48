"""The iteration for plain problems against the general one, and its parts against dense algebra."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mam.losses import LogisticLoss, SquaredLoss
from s2mam.solvers import (
    GroupProblem,
    duality_gap,
    lambda_max,
    plain_iteration,
    quadratic_iteration,
    solve,
)
from s2mam.solvers import solve_scale_newton as newton
from s2mam.solvers.plain import is_plain, solve_plain
from s2mam.solvers.plain_block import PlainBlock
from s2mam.solvers.plain_factor import empty_response, make_factor, moves
from s2mam.solvers.plain_point import PlainPoint
from s2mam.solvers.scale_newton import _solve_general

LOSSES = {"squared": SquaredLoss(), "logistic": LogisticLoss()}


def make(
    name: str,
    *,
    rows: int = 60,
    groups: int = 12,
    width: int = 3,
    fraction: float = 0.1,
    intercept: bool = True,
    decay: float = 0.5,
    seed: int = 0,
) -> GroupProblem:
    """Groups of falling column sizes, not centred, with uneven weights and penalties."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, groups * width)) * np.tile(decay ** np.arange(width), groups)
    features += 0.3 * rng.normal(size=groups * width)
    signal = features[:, 0] - 2.0 * features[:, width * (groups // 2)] + 0.5 * rng.normal(size=rows)
    target = signal if name == "squared" else (signal > 0.2).astype(float)
    weights = rng.uniform(0.5, 1.5, size=rows)
    problem = GroupProblem(
        LOSSES[name],
        np.asfortranarray(features),
        target,
        weights / weights.sum(),
        np.arange(groups + 1) * width,
        rng.uniform(0.5, 1.5, size=groups),
        fit_intercept=intercept,
    )
    return problem.with_penalties(fraction * lambda_max(problem) * problem.penalties)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("fraction", [0.5, 0.05, 0.01])
def test_same_minimum_as_the_general_iteration(name, intercept, fraction):
    problem = make(name, fraction=fraction, intercept=intercept)
    found = newton(problem, tol=1e-9)
    expected = _solve_general(problem, None, 1e-9, 100)
    assert found.stop_reason == "gap"
    assert found.objective == pytest.approx(expected.objective, rel=2e-9)
    assert found.objective == pytest.approx(problem.objective(found.coef, found.intercept), 1e-12)
    if not intercept:
        assert found.intercept == 0.0


@pytest.mark.parametrize("name", LOSSES)
def test_gap_agrees_with_the_separate_certificate(name):
    problem = make(name)
    found = solve_plain(problem, tol=1e-3)
    assert found.stop_reason == "gap"
    assert 0.0 <= found.gap <= 1e-3 * found.objective
    minimum = _solve_general(problem, None, 1e-11, 100).objective
    assert found.objective - found.gap <= minimum * (1 + 1e-10)
    separate = duality_gap(problem, found.coef, found.intercept)
    assert found.objective - minimum <= separate * (1 + 1e-6) + 1e-12
    assert separate <= 1.5e-3 * found.objective


@pytest.mark.parametrize("name", LOSSES)
def test_more_columns_than_rows_factorises_over_rows(name, monkeypatch):
    problem = make(name, rows=40, groups=40, width=5, fraction=0.003, decay=0.9)
    forms: list[bool] = []

    module = quadratic_iteration if name == "squared" else plain_iteration
    made = module.make_factor

    def spy(*arguments):
        factor = made(*arguments)
        forms.append(factor.by_rows)
        return factor

    monkeypatch.setattr(module, "make_factor", spy)
    found = newton(problem, tol=1e-8)
    assert True in forms
    assert name == "squared" or False in forms  # whose first step takes most groups at once
    assert found.stop_reason == "gap"
    expected = _solve_general(problem, None, 1e-8, 100)
    assert found.objective == pytest.approx(expected.objective, rel=2e-8)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_problem_holds_a_part_of_the_columns(name, order, monkeypatch):
    monkeypatch.setattr("s2mam.solvers.plain_block._SMALL", 0)
    problem = make(name, groups=60, fraction=0.2)
    problem = replace(problem, features=np.array(problem.features, order=order))
    found = solve_plain(problem, tol=1e-8)
    assert found.stop_reason == "gap"
    expected = _solve_general(problem, None, 1e-8, 100)
    assert found.objective == pytest.approx(expected.objective, rel=2e-8)


@settings(deadline=None, max_examples=40)
@given(
    name=st.sampled_from(sorted(LOSSES)),
    seed=st.integers(0, 10_000),
    rows=st.integers(8, 60),
    groups=st.integers(1, 15),
    width=st.integers(1, 5),
    fraction=st.floats(0.005, 1.2),
)
def test_certified_on_random_problems(name, seed, rows, groups, width, fraction):
    problem = make(name, rows=rows, groups=groups, width=width, fraction=fraction, seed=seed)
    found = newton(problem, tol=1e-6)
    if found.stop_reason != "gap":  # classes that are nearly separated take the general one long
        assert _solve_general(problem, None, 1e-6, 100).stop_reason != "gap"
        return
    assert found.gap <= 1e-6 * abs(found.objective)
    assert all(a >= b for a, b in zip(found.trace, found.trace[1:], strict=False))
    assert duality_gap(problem, found.coef, found.intercept) <= 1e-4 * abs(found.objective) + 1e-12


def test_penalty_that_empties_the_model_needs_no_factor():
    found = solve_plain(make("squared", fraction=1.01), tol=1e-9)
    assert found.n_iter == 1
    assert found.stop_reason == "gap"
    assert not found.coef.any()


@pytest.mark.parametrize("name", LOSSES)
def test_warm_start_saves_iterations(name):
    problem = make(name, fraction=0.05)
    first = solve_plain(problem, tol=1e-8)
    near = problem.with_penalties(0.98 * problem.penalties)
    warm, cold = solve_plain(near, start=first, tol=1e-6), solve_plain(near, tol=1e-6)
    assert warm.stop_reason == cold.stop_reason == "gap"
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=2e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_general_iteration_goes_on_where_the_factor_fails(name, monkeypatch):
    problem = make(name)
    for module in (plain_iteration, quadratic_iteration):
        monkeypatch.setattr(module, "make_factor", lambda *_: None)
    assert solve_plain(problem).stop_reason == "stalled"
    found = solve(problem, tol=1e-8)
    assert found.stop_reason == "gap"
    assert found.objective == pytest.approx(
        _solve_general(problem, None, 1e-8, 100).objective, rel=2e-8
    )


def test_iteration_limit_is_respected():
    found = newton(make("squared", fraction=0.01), tol=1e-12, max_iter=2)
    assert found.stop_reason == "max_iter"
    assert found.n_iter == 2


def test_which_problems_are_plain():
    problem = make("squared")
    assert is_plain(problem)
    columns = problem.features.shape[1]
    assert not is_plain(replace(problem, quadratic=np.eye(columns)))
    assert not is_plain(replace(problem, offsets=np.array([0, *range(4, 14), 20, columns])))
    weights = problem.weights.copy()
    weights[0] = 0.0
    assert not is_plain(replace(problem, weights=weights / weights.sum()))


@pytest.fixture
def at_a_point():
    """A point inside the model, the columns held, and scales, some of them zero."""
    problem = make("logistic", groups=8)
    point = PlainPoint(problem)
    rng = np.random.default_rng(1)
    point.place(0.1 * rng.normal(size=point.shape), 0.2)
    scales = rng.uniform(1.0, 30.0, size=8)
    scales[[2, 5]] = 0.0
    return point, PlainBlock(point.rows, 3), scales


def dense_system(point, scales):
    """Centred, weighted columns in units of the root of the scales, and the ridge matrix."""
    columns = point.rows.T * np.sqrt(np.repeat(scales, 3))
    centred = columns - (point.bend @ columns) / point.bend_total
    weighted = centred * point.bend_root[:, None]
    return weighted, weighted.T @ weighted + np.eye(weighted.shape[1])


def test_intercept_is_in_balance(at_a_point):
    point, _, _ = at_a_point
    assert abs(point.theta.sum()) < 1e-14
    pulls = -(point.rows @ point.theta).reshape(point.shape)
    np.testing.assert_allclose(point.pulls, pulls, atol=1e-14)


@pytest.mark.parametrize("by_rows", [False, True])
def test_correction_solves_the_ridge_system(at_a_point, by_rows):
    point, block, scales = at_a_point
    if by_rows:  # fewer rows than columns of some energy
        problem = make("squared", rows=15, groups=8)
        point = PlainPoint(problem)
        point.place(np.zeros(point.shape), 0.0)
        block = PlainBlock(point.rows, 3)
    factor = make_factor(point, block, np.sqrt(scales), 0.0)
    assert factor.by_rows == by_rows
    rest = np.random.default_rng(2).normal(size=point.shape)
    rest[scales == 0.0] = 0.0
    _, matrix = dense_system(point, scales)
    expected = np.linalg.solve(matrix, rest.ravel())
    found = factor.correct(rest).ravel()
    assert np.linalg.norm(found - expected) < 1e-3 * np.linalg.norm(expected)


@pytest.mark.parametrize("rows", [60, 12])
def test_response_is_the_derivative_of_the_gradient_norms(rows):
    problem = make("squared", rows=rows, groups=6, fraction=0.3)
    point = PlainPoint(problem)
    point.place(np.zeros(point.shape), 0.0)
    start, groups = point.pulls.ravel().copy(), np.arange(6)
    scales = np.linspace(1.0, 3.0, 6)

    def squares(scales):
        _, matrix = dense_system(point, scales)
        root = np.sqrt(np.repeat(scales, 3))
        coef = root * np.linalg.solve(matrix, root * start)
        columns = point.rows.T - (point.bend @ point.rows.T) / point.bend_total
        pulls = start - columns.T @ (point.bend * (columns @ coef))
        return pulls, (pulls.reshape(6, 3) ** 2).sum(axis=1)

    point.pulls = squares(scales)[0].reshape(6, 3)
    block = PlainBlock(point.rows, 3)
    factor = make_factor(point, block, np.sqrt(scales), 0.0)
    found = factor.response(moves(point, block, groups, single=factor.single))
    step = 1e-5
    for group in groups:
        up, down = scales.copy(), scales.copy()
        up[group] += step
        down[group] -= step
        slope = (squares(up)[1] - squares(down)[1]) / (2 * step)
        np.testing.assert_allclose(found[:, group], -0.5 * slope, rtol=2e-2, atol=1e-6)


def test_response_of_an_empty_model(at_a_point):
    point, block, _ = at_a_point
    groups = np.array([0, 3])
    found = empty_response(point, moves(point, block, groups, single=False))
    columns = point.rows.T - (point.bend @ point.rows.T) / point.bend_total
    moved = np.stack([columns[:, 3 * g : 3 * g + 3] @ point.pulls[g] for g in groups])
    np.testing.assert_allclose(found, (moved * point.bend) @ moved.T, rtol=1e-10)


def test_block_holds_groups_and_lets_them_go(monkeypatch):
    monkeypatch.setattr("s2mam.solvers.plain_block._SMALL", 0)
    rows = np.random.default_rng(0).normal(size=(60, 5))
    block = PlainBlock(rows, 3)
    block.include(np.array([4, 1]))
    assert block.groups.tolist() == [4, 1]
    block.include(np.array([7]))  # more columns than rows: what is not in use goes
    assert block.groups.tolist() == [7]
    np.testing.assert_array_equal(block.rows, rows[21:24])
    np.testing.assert_array_equal(block.single, block.rows.astype(np.float32))
    np.testing.assert_allclose(block.squares.ravel(), (block.rows**2).mean(axis=1))
    block.include(np.arange(12))
    assert block.complete
    np.testing.assert_array_equal(block.rows, rows)
    np.testing.assert_array_equal(block.of(np.arange(20.0)), np.arange(20.0))
