"""Approximate leave-one-out against refits without each row."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.losses import LogisticLoss, MultinomialLoss, SquaredLoss
from s2mam.masks.alo import approximate_loo, leave_one_out_decisions
from s2mam.solvers import GroupProblem, solve

OFFSETS = np.array([0, 3, 6, 9])


def _data(loss, seed=0, rows=60):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(rows, 9))
    f = F[:, 0] - 0.7 * F[:, 1] + 0.5 * F[:, 4]
    if loss.name == "squared":
        y = f + 0.3 * rng.normal(size=rows)
    elif loss.n_outputs == 1:
        y = (f + rng.logistic(size=rows) > 0).astype(float)
    else:
        y = np.digitize(f + 0.5 * rng.normal(size=rows), [-0.7, 0.7])
    return F, y, np.full(rows, 1 / rows)


def _problem(loss, penalties, ridge, seed=0):
    F, y, w = _data(loss, seed)
    quadratic = ridge * np.eye(9) if ridge else None
    return GroupProblem(loss, F, y, w, OFFSETS, np.asarray(penalties, float), quadratic)


def _alo(problem, result):
    return approximate_loo(
        problem.loss, problem.target, problem.weights, problem.features, problem.offsets,
        result.coef, result.intercept, problem.penalties, problem.quadratic,
    )  # fmt: skip


def _refits(problem):
    """Decision of each row from the minimum of the objective without that row's loss term."""
    rows = len(problem.target)
    out = []
    for i in range(rows):
        keep = np.arange(rows) != i
        share = (rows - 1) / rows
        # The remaining weights sum to share; dividing the whole objective by it changes nothing.
        reduced = GroupProblem(
            problem.loss, problem.features[keep], problem.target[keep],
            np.full(rows - 1, 1 / (rows - 1)), problem.offsets, problem.penalties / share,
            None if problem.quadratic is None else problem.quadratic / share,
        )  # fmt: skip
        fit = solve(reduced, tol=1e-9)
        out.append(problem.features[i] @ fit.coef + fit.intercept)
    return np.array(out)


def test_exact_for_ridge():
    problem = _problem(SquaredLoss(), [0, 0, 0], 0.05)
    result = solve(problem, tol=1e-10)
    expected = problem.loss.value(problem.target, _refits(problem), problem.weights)
    assert _alo(problem, result) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("loss", "penalties", "ridge"),
    [
        (SquaredLoss(), [0.1, 0.1, 0.1], 0.0),
        (LogisticLoss(), [0.02, 0.02, 0.02], 0.01),
        (MultinomialLoss(3), [0.02, 0.02, 0.02], 0.01),
    ],
)
def test_close_to_refits(loss, penalties, ridge):
    problem = _problem(loss, penalties, ridge)
    result = solve(problem, tol=1e-9)
    expected = problem.loss.value(problem.target, _refits(problem), problem.weights)
    in_sample = problem.loss.value(
        problem.target, problem.decision(result.coef, result.intercept), problem.weights
    )
    found = _alo(problem, result)
    assert abs(found - expected) < 0.15 * (expected - in_sample)
    assert found > in_sample


def test_groups_that_are_out_play_no_part():
    problem = _problem(SquaredLoss(), [0.1, 0.1, 10.0], 0.0)
    result = solve(problem, tol=1e-9)
    assert not result.coef[6:].any()
    reduced = leave_one_out_decisions(
        problem.loss, problem.target, problem.weights, problem.features[:, :6], OFFSETS[:3],
        result.coef[:6], result.intercept, problem.penalties[:2],
    )  # fmt: skip
    full = leave_one_out_decisions(
        problem.loss, problem.target, problem.weights, problem.features, OFFSETS,
        result.coef, result.intercept, problem.penalties,
    )  # fmt: skip
    np.testing.assert_allclose(full, reduced, rtol=1e-10)
