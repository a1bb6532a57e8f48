"""Parts of the iteration for quadratic losses against dense algebra."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_plain import make

from s2mam.solvers import duality_gap, solve
from s2mam.solvers.plain_block import PlainBlock
from s2mam.solvers.quadratic_factor import empty_answers, make_factor, unit_moves
from s2mam.solvers.quadratic_iteration import QuadraticIteration
from s2mam.solvers.quadratic_point import QuadraticPoint
from s2mam.solvers.scale_newton import _solve_general


def dense(problem):
    """Weighed columns and targets with the constant projected out."""
    root = np.sqrt(2.0 * problem.weights)
    columns, target = root[:, None] * problem.features, root * problem.target
    if problem.fit_intercept:
        unit = root / np.linalg.norm(root)
        columns = columns - np.outer(unit, unit @ columns)
        target = target - unit * (unit @ target)
    return columns, target


@pytest.fixture(params=[(True, 60), (True, 15), (False, 60), (False, 15)])
def held(request):
    """A problem, its point and columns, and scales, some of them zero."""
    intercept, rows = request.param
    problem = make("squared", groups=8, rows=rows, intercept=intercept)
    point = QuadraticPoint(problem)
    scales = np.random.default_rng(1).uniform(1.0, 30.0, size=8)
    scales[[2, 5]] = 0.0
    return problem, point, PlainBlock(point.rows, 3, point.weigh), scales


def test_the_loss_is_half_a_sum_of_squares(held):
    problem, point, _, _ = held
    columns, target = dense(problem)
    np.testing.assert_allclose(point.target, target, atol=1e-12)
    np.testing.assert_allclose(point.pulls.ravel(), columns.T @ target, atol=1e-12)
    assert point.objective == pytest.approx(problem.objective(np.zeros(24), point.intercept))
    weighed = point.rows.copy()
    point.weigh(weighed)
    np.testing.assert_allclose(weighed, columns.T, atol=1e-12)


def test_factor_solves_the_ridge_system_over_the_rows(held):
    problem, point, block, scales = held
    factor = make_factor(point, block, scales, 0.0)
    assert factor.by_rows == (len(problem.target) == 15)
    columns, target = dense(problem)
    matrix = np.eye(len(target)) + (columns * np.repeat(scales, 3)) @ columns.T
    expected = np.linalg.solve(matrix, target)
    found = factor.solve(point.target)
    assert np.linalg.norm(found - expected) < 1e-3 * np.linalg.norm(expected)


def test_columns_left_out_count_with_their_mean_energy(held):
    _, point, block, scales = held
    whole = make_factor(point, block, scales, 0.0)
    part = make_factor(point, block, scales, 5.0)
    assert len(part._kept) < len(whole._kept)
    assert part._ridge > whole._ridge == 1.0


def test_answers_are_the_derivative_of_the_gradient_norms(held):
    problem, point, block, scales = held
    columns, target = dense(problem)

    def pulls_at(scales):
        matrix = np.eye(len(target)) + (columns * np.repeat(scales, 3)) @ columns.T
        return (columns.T @ np.linalg.solve(matrix, target)).reshape(8, 3)

    point.settle(pulls_at(scales))
    groups = np.array([0, 2, 3, 7])
    factor = make_factor(point, block, scales, 0.0)
    found = factor.answers(unit_moves(point, block, groups, single=factor.single))
    step = 1e-5
    for place, group in enumerate(groups):
        up, down = scales.copy(), scales.copy()
        up[group] += step
        down[group] -= step
        slope = np.linalg.norm(pulls_at(up), axis=1) - np.linalg.norm(pulls_at(down), axis=1)
        # per unit of norm instead of scale, at the gradient at hand
        expected = -slope[groups] / (2 * step) / point.norms[group]
        np.testing.assert_allclose(found[:, place], expected, rtol=2e-2, atol=1e-5)


@pytest.mark.parametrize("single", [True, False])
def test_answers_of_an_empty_model(held, single):
    problem, point, block, _ = held
    columns, _ = dense(problem)
    groups = np.array([0, 3])
    found = empty_answers(unit_moves(point, block, groups, single=single))
    units = point.pulls / point.norms[:, None]
    moved = np.stack([columns[:, 3 * g : 3 * g + 3] @ units[g] for g in groups])
    np.testing.assert_allclose(found, moved @ moved.T, rtol=1e-4, atol=1e-7)


def test_a_move_solves_the_ridge_model(held):
    problem, _, _, scales = held
    solver = QuadraticIteration(problem, None)
    assert solver.move(scales, 1e-9)
    columns, target = dense(problem)
    matrix = np.eye(len(target)) + (columns * np.repeat(scales, 3)) @ columns.T
    pulls = columns.T @ np.linalg.solve(matrix, target)
    point = solver.point
    np.testing.assert_allclose(point.coef.ravel(), np.repeat(scales, 3) * pulls, atol=1e-6)
    expected = problem.objective(point.coef.ravel(), point.intercept)
    assert point.objective == pytest.approx(expected, rel=1e-12)
    assert point.objective - point.lower_bound() >= 0.0


def test_a_factor_used_again_is_replaced_where_it_does_not_serve():
    problem = make("squared", fraction=0.02)
    solver = QuadraticIteration(problem, None)
    solver.left_out = 0.003
    solver.move(np.full(12, 1e-3), 1e-6)
    old = solver.factor
    solver.borrowed = True
    # conjugate gradients with the factor of tiny scales get nowhere at large ones
    solver._correct(np.full(12, 1e4), 1e-9)
    assert solver.factor is not old
    assert not solver.borrowed


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_features_beyond_single_precision(size):
    problem = make("squared", fraction=0.05)
    scaled = replace(problem, features=size * problem.features, penalties=size * problem.penalties)
    found, expected = solve(scaled, tol=1e-8), solve(problem, tol=1e-8)
    assert found.stop_reason == "gap"
    assert found.objective == pytest.approx(expected.objective, rel=2e-8)


@pytest.mark.parametrize("fraction", [1e-3, 1e-4])
def test_small_penalties(fraction):
    problem = make("squared", rows=80, groups=30, fraction=fraction)
    found = solve(problem, tol=1e-7)
    assert found.stop_reason == "gap"
    assert found.objective == pytest.approx(
        _solve_general(problem, None, 1e-8, 200).objective, rel=2e-7
    )
    assert duality_gap(problem, found.coef, found.intercept) <= 1e-4 * found.objective


def test_targets_without_any_spread():
    problem = make("squared")
    flat = replace(problem, target=np.full(60, 2.0))
    found = solve(flat, tol=1e-8)
    assert not found.coef.any()
    assert found.intercept == pytest.approx(2.0)
