"""Approximate leave-one-out by way of the rows against the inverse of the whole Hessian."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from s2mam.losses import LogisticLoss, MultinomialLoss, SquaredLoss
from s2mam.masks import alo, leave_one_out_decisions
from s2mam.masks.alo_rows import diagonal_part
from s2mam.solvers import GroupProblem, solve

LOSSES = (SquaredLoss(), LogisticLoss(), MultinomialLoss(4))


def _problem(loss, *, graph=False, rows=24, groups=30, width=4, penalty=0.01, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(rows, groups * width)) * np.tile(0.5 ** np.arange(width), groups)
    f = F[:, 0] - F[:, width]
    if loss.name == "squared":
        y = f
    elif loss.n_outputs == 1:
        y = (f > 0).astype(float)
    else:
        y = np.arange(rows) % loss.n_outputs
    other = rng.normal(size=(rows, groups * width))
    return GroupProblem(
        loss, F, y, np.full(rows, 1 / rows), width * np.arange(groups + 1),
        np.full(groups, penalty), 0.002 * other.T @ other if graph else None,
    )  # fmt: skip


def _decisions(problem, result):
    return leave_one_out_decisions(
        problem.loss, problem.target, problem.weights, problem.features, problem.offsets,
        result.coef, result.intercept, problem.penalties, problem.quadratic,
    )  # fmt: skip


def _both(problem, result, monkeypatch):
    """Decisions by way of the rows, and by the whole Hessian."""
    monkeypatch.setattr(alo, "_SMALL", 0)
    monkeypatch.setattr(alo, "_spread", None)  # not to be called
    monkeypatch.setattr(alo, "_cheaper_by_rows", lambda *sizes: True)
    by_rows = _decisions(problem, result)
    monkeypatch.undo()
    monkeypatch.setattr(alo, "_SMALL", np.inf)
    return by_rows, _decisions(problem, result)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("graph", [False, True], ids=["plain", "graph"])
@pytest.mark.parametrize("penalty", [0.03, 0.003])
def test_same_as_the_whole_hessian(loss, graph, penalty, monkeypatch):
    problem = _problem(loss, graph=graph, penalty=penalty)
    result = solve(problem, tol=1e-8)
    assert (result.coef != 0).any()
    by_rows, whole = _both(problem, result, monkeypatch)
    # a common shift of all classes is not a matter of the loss
    if loss.n_outputs > 1:
        by_rows = by_rows - by_rows.mean(axis=1, keepdims=True)
        whole = whole - whole.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(by_rows, whole, rtol=1e-7, atol=1e-7 * np.abs(whole).max())


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_rows_of_weight_zero(loss, monkeypatch):
    problem = _problem(loss)
    problem.weights[:3] = 0.0
    result = solve(problem, tol=1e-8)
    by_rows, whole = _both(problem, result, monkeypatch)
    value = [loss.value(problem.target, found, problem.weights) for found in (by_rows, whole)]
    assert value[0] == pytest.approx(value[1], rel=1e-8)


def test_columns_without_penalty_take_the_whole_hessian(monkeypatch):
    problem = _problem(SquaredLoss())
    problem.penalties[0] = 0.0
    result = solve(problem, tol=1e-8)
    usual = _decisions(problem, result)
    monkeypatch.setattr(alo, "_cheaper_by_rows", lambda *sizes: True)
    np.testing.assert_array_equal(_decisions(problem, result), usual)


def test_other_losses_take_the_whole_hessian():
    bend = np.broadcast_to(np.eye(3), (5, 3, 3))
    assert diagonal_part(bend, np.full((5, 3), 1 / 3), np.full(5, 0.2)) is None


def test_many_classes_need_little_memory():
    loss = MultinomialLoss(12)
    problem = _problem(loss, rows=60, groups=100, width=8, penalty=0.002)
    result = solve(problem, tol=1e-3)
    active = np.count_nonzero(result.coef.any(axis=1))
    assert active * loss.n_outputs > 5000  # the Hessian has 200 MB, its inverse takes minutes
    tracemalloc.start()
    _decisions(problem, result)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
