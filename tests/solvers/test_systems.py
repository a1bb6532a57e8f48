"""Every form of the ridge model against a dense solve, whatever stays out of its factor."""

from __future__ import annotations

import numpy as np
import pytest
from solver_problems import make_problem, oracle

from s2mam.solvers import solve, systems
from s2mam.solvers.linear import Definite
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.ridge import ColumnSystem
from s2mam.solvers.ridge_outputs import SeparableSystem
from s2mam.solvers.ridge_rows import RowSystem

GROUPS = np.array([0, 3, 4])
SCALES = np.array([2.0, 0.0, 0.3])


def build(kind, name, *, quadratic, weak):
    """A system over three groups, one of them at scale zero; ``weak`` columns are left out."""
    prepared = PreparedProblem(make_problem(name, quadratic=quadratic, unpenalised=(1,)))
    rng = np.random.default_rng(0)
    shape = (40,) if prepared.scalar else (40, 3)
    curvature = prepared.curvature(rng.normal(size=shape))
    pull = 0.05 * rng.normal(size=shape)
    if not prepared.scalar:
        pull -= pull.mean(axis=1, keepdims=True)
    scales = np.repeat(SCALES, prepared.layout.sizes[GROUPS])
    strong = scales * prepared.energies(GROUPS, curvature) > (0.05 if weak else 0.0)
    return prepared, kind(prepared, GROUPS, scales, strong, curvature), curvature, pull


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
        (ColumnSystem, "multinomial", True),
        (SeparableSystem, "multinomial", False),
        (SeparableSystem, "multinomial", True),
    ],
)
def test_solution_equals_the_dense_one(kind, name, quadratic, weak):
    prepared, system, curvature, pull = build(kind, name, quadratic=quadratic, weak=weak)
    scales = np.repeat(SCALES, prepared.layout.sizes[GROUPS])
    features, matrix = dense(prepared, curvature, scales)
    exact = np.linalg.solve(matrix, (features.T @ pull).ravel()).reshape(features.shape[1], -1)
    free, scaled, decision = system.solve(pull, np.full(3, 1e-12))
    found = np.concatenate([free, scaled]).reshape(exact.shape)
    np.testing.assert_allclose(found, exact, atol=1e-8)
    np.testing.assert_allclose(decision.reshape(40, -1), features @ exact, atol=1e-8)
    assert not scaled[scales == 0.0].any()


@pytest.mark.parametrize(
    ("kind", "name", "quadratic"),
    [
        (RowSystem, "squared", False),
        (ColumnSystem, "squared", False),
        (ColumnSystem, "squared", True),
        (ColumnSystem, "multinomial", True),
    ],
)
def test_response_is_the_slope_of_the_squared_pulls(kind, name, quadratic):
    prepared, _, curvature, pull = build(kind, name, quadratic=quadratic, weak=False)
    sizes = prepared.layout.sizes[GROUPS]

    def pulls_at(scales):
        features, matrix = dense(prepared, curvature, np.repeat(scales, sizes))
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
    scaled = np.repeat(base, sizes)
    system = kind(prepared, GROUPS, scaled, np.ones(len(scaled), dtype=bool), curvature)
    pulls = pulls_at(base).reshape(len(scaled), *(() if prepared.scalar else (-1,)))
    response = system.response(GROUPS, pulls)
    for h in range(3):
        step = 1e-4 * np.eye(3)[h]
        slope = (squares(base + step) - squares(base - step)) / 2e-4
        np.testing.assert_allclose(-0.5 * slope, response[:, h], rtol=2e-3, atol=1e-9)


@pytest.mark.parametrize(
    ("kind", "name", "quadratic"),
    [
        (RowSystem, "squared", False),
        (ColumnSystem, "squared", True),
        (ColumnSystem, "multinomial", True),
        (SeparableSystem, "multinomial", True),
    ],
)
@pytest.mark.parametrize("limit", [1e-1, 1e-3, 1e-6])
def test_what_is_left_of_the_gradient_respects_the_limits(kind, name, quadratic, limit):
    """Large scales: the right-hand side is huge beside the gradients that matter."""
    prepared, _, curvature, pull = build(kind, name, quadratic=quadratic, weak=False)
    sizes = prepared.layout.sizes[GROUPS]
    scales = np.repeat([1e4, 0.0, 1e6], sizes)
    energies = scales * prepared.energies(GROUPS, curvature)
    strong = energies > np.median(energies[energies > 0.0])
    assert 0 < np.count_nonzero(strong) < np.count_nonzero(scales)
    system = kind(prepared, GROUPS, scales, strong, curvature)
    limits = limit * np.array([1e-3, 1.0, 1e-2])
    free, scaled, _ = system.solve(1e3 * pull, limits)
    features, matrix = dense(prepared, curvature, scales)
    found = np.concatenate([free, scaled]).reshape(features.shape[1], -1)
    left = ((features.T @ (1e3 * pull)).ravel() - matrix @ found.ravel()).reshape(found.shape)
    for block, allowed, group in zip(
        np.split(left[prepared.free.shape[1] :], np.cumsum(sizes)[:-1]), limits, GROUPS, strict=True
    ):
        if group != GROUPS[1]:
            assert np.linalg.norm(block) <= 1.01 * allowed


def test_response_after_a_full_factorisation_ignores_groups_at_scale_zero():
    """Groups kept for their memory only must not enter the factor, nor shift its columns."""
    prepared, partial, curvature, pull = build(ColumnSystem, "squared", quadratic=True, weak=True)
    partial.solve(pull, np.zeros(3))
    alive = GROUPS[SCALES > 0.0]
    scales = np.repeat(SCALES[SCALES > 0.0], prepared.layout.sizes[alive])
    alone = ColumnSystem(prepared, alive, scales, np.ones(len(scales), dtype=bool), curvature)
    pulls = np.random.default_rng(2).normal(size=len(scales))
    np.testing.assert_allclose(
        partial.response(alive, pulls), alone.response(alive, pulls), rtol=1e-9
    )


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("fraction", [0.3, 0.03])
def test_uncoupled_outputs_reach_the_coupled_minimum(monkeypatch, quadratic, fraction):
    monkeypatch.setattr(systems, "_COUPLED_UNKNOWNS", 0)
    problem = make_problem("multinomial", quadratic=quadratic, fraction=fraction, seed=3)
    result = solve(problem, tol=1e-8)
    assert result.stop_reason == "gap"
    assert result.objective == pytest.approx(oracle(problem), rel=1e-6)


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
