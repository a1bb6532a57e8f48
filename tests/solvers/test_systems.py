"""Every form of the ridge model against a dense solve, whatever stays out of its factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from solver_problems import make_problem, oracle

from s2mam.solvers import ridge, ridge_rows, solve, systems
from s2mam.solvers.linear import Definite
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.ridge import ColumnSystem
from s2mam.solvers.ridge_outputs import CoupledSystem, SeparableSystem
from s2mam.solvers.ridge_rows import RowSystem
from s2mam.solvers.ridge_shared import SharedSystem

GROUPS = np.array([0, 3, 4])
SCALES = np.array([2.0, 0.0, 0.3])


def build(kind, name, *, quadratic, weak):
    """A system over three groups, one of them at scale zero; ``weak`` columns are left out."""
    prepared = PreparedProblem(make_problem(name, quadratic=quadratic, unpenalised=(1,)))
    rng = np.random.default_rng(0)
    shape = (40,) if prepared.scalar else (40, 3)
    bend = prepared.bend_at(rng.normal(size=shape))
    pull = 0.05 * rng.normal(size=shape)
    if not prepared.scalar:
        pull -= pull.mean(axis=1, keepdims=True)
    block = prepared.working.include(GROUPS)
    scales = prepared.layout.spread(SCALES, GROUPS)
    strong = scales * prepared.energies(block, bend) > (0.05 if weak else 0.0)
    return prepared, kind(prepared, block, SCALES, strong, bend), bend, pull


def on_all_columns(prepared, groups, values):
    """``values`` of the columns of ``groups``, zero elsewhere."""
    whole = np.zeros(prepared.coef_shape)
    whole[prepared.layout.columns(groups)] = values
    return whole


def dense(prepared, curvature, scales):
    """Matrix of the ridge model over free and scaled columns, outputs innermost."""
    columns = prepared.layout.columns(GROUPS)
    features = np.hstack([prepared.free, prepared.features[:, columns]])
    bend = curvature if curvature.ndim == 3 else curvature[:, None, None]
    matrix = np.einsum("ia,ikm,ib->akbm", features, bend, features)
    if prepared.quadratic is not None:
        both = np.concatenate([prepared.free_columns, columns])
        for k in range(prepared.outputs):
            matrix[1:, k, 1:, k] += 2.0 * prepared.quadratic[np.ix_(both, both)]
    size = features.shape[1] * prepared.outputs
    matrix = matrix.reshape(size, size)
    ridge = np.concatenate([np.zeros(prepared.free.shape[1]), 1.0 / np.maximum(scales, 1e-30)])
    matrix[np.diag_indices(size)] += np.repeat(ridge, prepared.outputs)
    return features, matrix


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize(
    ("kind", "name", "quadratic"),
    [
        (RowSystem, "logistic", False),
        (ColumnSystem, "logistic", False),
        (ColumnSystem, "squared", True),
        (CoupledSystem, "multinomial", True),
        (SeparableSystem, "multinomial", False),
        (SeparableSystem, "multinomial", True),
    ],
)
def test_solution_equals_the_dense_one(kind, name, quadratic, weak):
    prepared, system, bend, pull = build(kind, name, quadratic=quadratic, weak=weak)
    scales = np.repeat(SCALES, prepared.layout.sizes[GROUPS])
    features, matrix = dense(prepared, bend.values, scales)
    exact = np.linalg.solve(matrix, (features.T @ pull).ravel()).reshape(features.shape[1], -1)
    found, decision = system.solve(pull, np.full(3, 1e-12))
    np.testing.assert_allclose(found.reshape(exact.shape), exact, atol=1e-8)
    np.testing.assert_allclose(decision.reshape(40, -1), features @ exact, atol=1e-8)
    assert not found[prepared.free.shape[1] :][scales == 0.0].any()


@pytest.mark.parametrize(
    ("kind", "name", "quadratic"),
    [
        (RowSystem, "squared", False),
        (ColumnSystem, "squared", False),
        (ColumnSystem, "squared", True),
        (CoupledSystem, "multinomial", True),
    ],
)
def test_response_is_the_slope_of_the_squared_pulls(kind, name, quadratic):
    prepared, _, bend, pull = build(kind, name, quadratic=quadratic, weak=False)
    sizes = prepared.layout.sizes[GROUPS]

    def pulls_at(scales):
        features, matrix = dense(prepared, bend.values, np.repeat(scales, sizes))
        right = (features.T @ pull).ravel()
        coef = np.linalg.solve(matrix, right)
        smooth = matrix.copy()
        ridge = np.repeat(1.0 / np.maximum(np.repeat(scales, sizes), 1e-30), prepared.outputs)
        last = np.arange(len(coef) - len(ridge), len(coef))
        # gradient of the smooth part alone, also where the wall of ridge holds a group at zero
        smooth[last, last] -= ridge
        free = len(coef) - len(ridge)
        coef[free:][ridge > 1e20] = 0.0
        return (right - smooth @ coef)[free:]

    def squares(scales):
        blocks = np.split(pulls_at(scales), np.cumsum(sizes * prepared.outputs)[:-1])
        return np.array([block @ block for block in blocks])

    base = np.array([2.0, 0.7, 0.3])
    block = prepared.working.include(GROUPS)
    system = kind(prepared, block, base, np.ones(len(block.columns), dtype=bool), bend)
    pulls = pulls_at(base).reshape(len(block.columns), *(() if prepared.scalar else (-1,)))
    response = system.response(GROUPS, on_all_columns(prepared, GROUPS, pulls))
    for h in range(3):
        step = 1e-4 * np.eye(3)[h]
        slope = (squares(base + step) - squares(base - step)) / 2e-4
        np.testing.assert_allclose(-0.5 * slope, response[:, h], rtol=2e-3, atol=1e-9)


@pytest.mark.parametrize(
    ("kind", "name", "quadratic"),
    [
        (RowSystem, "squared", False),
        (ColumnSystem, "squared", True),
        (CoupledSystem, "multinomial", True),
        (SeparableSystem, "multinomial", True),
    ],
)
@pytest.mark.parametrize("limit", [1e-1, 1e-3, 1e-6])
def test_what_is_left_of_the_gradient_respects_the_limits(kind, name, quadratic, limit):
    """Large scales: the right-hand side is huge beside the gradients that matter."""
    prepared, _, bend, pull = build(kind, name, quadratic=quadratic, weak=False)
    sizes, block = prepared.layout.sizes[GROUPS], prepared.working.include(GROUPS)
    by_group = np.array([1e4, 0.0, 1e6])
    scales = np.repeat(by_group, sizes)
    energies = scales * prepared.energies(block, bend)
    strong = energies > np.median(energies[energies > 0.0])
    assert 0 < np.count_nonzero(strong) < np.count_nonzero(scales)
    system = kind(prepared, block, by_group, strong, bend)
    limits = limit * np.array([1e-3, 1.0, 1e-2])
    found, _ = system.solve(1e3 * pull, limits)
    features, matrix = dense(prepared, bend.values, scales)
    found = found.reshape(features.shape[1], -1)
    left = ((features.T @ (1e3 * pull)).ravel() - matrix @ found.ravel()).reshape(found.shape)
    for block, allowed, group in zip(
        np.split(left[prepared.free.shape[1] :], np.cumsum(sizes)[:-1]), limits, GROUPS, strict=True
    ):
        if group != GROUPS[1]:
            assert np.linalg.norm(block) <= 1.01 * allowed


def test_response_after_a_full_factorisation_ignores_groups_at_scale_zero():
    """Groups kept for their memory only must not enter the factor, nor shift its columns."""
    prepared, partial, bend, pull = build(ColumnSystem, "squared", quadratic=True, weak=True)
    partial.solve(pull, np.zeros(3))
    alive = GROUPS[SCALES > 0.0]
    other, _, _, _ = build(ColumnSystem, "squared", quadratic=True, weak=True)
    other.working = type(other.working)(other.features.T, other.free.T, other.layout)
    block = other.working.include(alive)
    strong = np.ones(len(block.columns), dtype=bool)
    alone = ColumnSystem(other, block, SCALES[SCALES > 0.0], strong, bend)
    values = np.random.default_rng(2).normal(size=len(block.columns))
    pulls = on_all_columns(prepared, alive, values)
    np.testing.assert_allclose(
        partial.response(alive, pulls), alone.response(alive, pulls), rtol=1e-9
    )


@pytest.mark.parametrize("quadratic", [False, True])
def test_response_covers_groups_that_enter_after_the_factorisation(quadratic):
    """A group outside the block of the factor responds as one that was in it at scale zero."""
    prepared, system, bend, _ = build(ColumnSystem, "squared", quadratic=quadratic, weak=False)
    pulls = np.random.default_rng(3).normal(size=prepared.coef_shape)
    wanted = np.array([0, 2, 4, 5])
    found = system.response(wanted, pulls)
    scales = np.zeros(prepared.layout.n_groups)
    scales[GROUPS] = SCALES
    block = prepared.working.block
    assert set(block.groups) > set(GROUPS)
    chosen = scales[block.groups]
    strong = prepared.layout.spread(chosen, block.groups) > 0.0
    whole = ColumnSystem(prepared, block, chosen, strong, bend)
    np.testing.assert_allclose(found, whole.response(wanted, pulls), rtol=1e-9)


def test_single_precision_is_refined_to_double():
    prepared, _, bend, pull = build(ColumnSystem, "logistic", quadratic=False, weak=False)
    block = prepared.working.include(GROUPS)
    strong = np.repeat(SCALES, prepared.layout.sizes[GROUPS]) > 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ridge, "_SINGLE_COLUMNS", 0)
        single = ColumnSystem(prepared, block, SCALES, strong, bend, single=True)
        found = single.solve(pull, np.full(3, 1e-10))
        assert single._kept.dtype == np.float32
    double = ColumnSystem(prepared, block, SCALES, strong, bend)
    for one, other in zip(found, double.solve(pull, np.full(3, 1e-10)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)


def test_a_borrowed_factor_solves_the_system_at_hand():
    prepared, first, bend, pull = build(RowSystem, "squared", quadratic=False, weak=False)
    block, moved = prepared.working.block, SCALES * np.array([1.1, 1.0, 0.8])
    strong = np.ones(len(block.columns), dtype=bool)
    assert first.is_near(block, moved, bend)
    assert not first.is_near(block, 10.0 * SCALES, bend)
    borrowing = RowSystem(prepared, block, moved, strong, bend, near=first)
    found = borrowing.solve(pull, np.full(3, 1e-9))
    own = RowSystem(prepared, block, moved, strong, bend).solve(pull, np.full(3, 1e-9))
    assert borrowing._factor is first._factor
    for one, other in zip(found, own, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


def test_a_borrowed_factor_that_does_not_serve_is_replaced():
    prepared, first, bend, pull = build(RowSystem, "squared", quadratic=False, weak=False)
    block, moved = prepared.working.block, np.array([2e4, 3e3, 1e-3])
    strong = np.ones(len(block.columns), dtype=bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ridge_rows, "_BORROWED_STEPS", 1)
        borrowing = RowSystem(prepared, block, moved, strong, bend, near=first)
        found = borrowing.solve(pull, np.full(3, 1e-9))
    assert borrowing._factor is not first._factor
    own = RowSystem(prepared, block, moved, strong, bend).solve(pull, np.full(3, 1e-9))
    for one, other in zip(found, own, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("fraction", [0.3, 0.03])
def test_uncoupled_outputs_reach_the_coupled_minimum(monkeypatch, quadratic, fraction):
    monkeypatch.setattr(systems, "_COUPLED_UNKNOWNS", 0)
    problem = make_problem("multinomial", quadratic=quadratic, fraction=fraction, seed=3)
    result = solve(problem, tol=1e-8)
    assert result.stop_reason == "gap"
    assert result.objective == pytest.approx(oracle(problem), rel=1e-6)


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weak", [False, True])
def test_a_shared_factor_gives_what_one_factor_per_output_gives(quadratic, intercept, weak):
    problem = make_problem("multinomial", quadratic=quadratic)
    prepared = PreparedProblem(replace(problem, fit_intercept=intercept))
    rng = np.random.default_rng(0)
    bend = prepared.bend_at(rng.normal(size=(40, 3)))
    block = prepared.working.include(GROUPS)
    energies = prepared.layout.spread(SCALES, GROUPS) * prepared.energies(block, bend)
    strong = energies > (0.05 if weak else 0.0)
    pull = rng.normal(size=(40, 3))
    pull -= pull.mean(axis=1, keepdims=True)
    pulls = rng.normal(size=prepared.coef_shape)
    shared, single = (
        kind(prepared, block, SCALES, strong, bend) for kind in (SharedSystem, SeparableSystem)
    )
    right = rng.normal(size=(len(block.rows), 3))
    np.testing.assert_allclose(shared._approximate(right), single._approximate(right), atol=1e-9)
    for one, other in zip(
        shared.solve(pull, np.full(3, 1e-10)), single.solve(pull, np.full(3, 1e-10)), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-8)
    groups = np.array([0, 2, 4, 5])
    np.testing.assert_allclose(
        shared.response(groups, pulls), single.response(groups, pulls), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("fraction", [0.3, 0.03])
def test_a_shared_factor_reaches_the_coupled_minimum(monkeypatch, quadratic, intercept, fraction):
    problem = make_problem("multinomial", quadratic=quadratic, fraction=fraction, seed=3)
    problem = replace(problem, fit_intercept=intercept)
    expected = solve(problem, tol=1e-9)
    monkeypatch.setattr(systems, "_kind_for_outputs", lambda prepared, count: SharedSystem)
    result = solve(problem, tol=1e-8)
    assert result.stop_reason == "gap"
    assert result.objective == pytest.approx(expected.objective, rel=1e-7)


def test_which_form_takes_many_outputs():
    prepared = PreparedProblem(make_problem("multinomial"))
    free = PreparedProblem(make_problem("multinomial", unpenalised=(1,)))
    tight = PreparedProblem(make_problem("multinomial", rows=300, quadratic=True))
    kinds = [systems._kind_for_outputs(prepared, count) for count in (20, 500, 1000)]
    assert kinds == [CoupledSystem, SeparableSystem, SharedSystem]
    assert systems._kind_for_outputs(free, 1000) is SeparableSystem
    assert systems._kind_for_outputs(tight, 1400) is SeparableSystem
    assert systems._kind_for_outputs(tight, 1600) is SharedSystem


def test_an_empty_class_is_no_trouble():
    problem = make_problem("multinomial", seed=2)
    problem.target[problem.target == 2] = 1
    assert solve(problem).stop_reason == "gap"


def test_singular_systems_are_solved_on_their_range():
    root = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    matrix = root.T @ root
    right = matrix @ np.array([1.0, 3.0, -2.0])
    solution = Definite(matrix).solve(right)
    np.testing.assert_allclose(matrix @ solution, right, atol=1e-12)
    np.testing.assert_allclose(solution, [2.0, 2.0, -2.0])
