"""Very many columns: the screened solution is the solution, and its gap proves it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.bases.build import build_recipes
from s2mam.bilevel import LowerLevel
from s2mam.bilevel.screening import largest_pull, solve_screened
from s2mam.bilevel.tuning import tune
from s2mam.losses import LogisticLoss, MultinomialLoss, SquaredLoss
from s2mam.solvers import duality_gap, lambda_max

P = 26


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr("s2mam.bilevel.screening._ENTER", 3)  # a table of few columns
    return np.random.default_rng(0).normal(size=(50, P))


def _levels(table, loss, sparsity, manifold, **more):
    """The same lower level with held features and with lazy ones."""
    rng = np.random.default_rng(1)
    signal = np.sin(2 * table[:30, 0]) + table[:30, 1] + 0.2 * rng.normal(size=30)
    target = signal if isinstance(loss, SquaredLoss) else (signal > 0).astype(np.float64)
    if isinstance(loss, MultinomialLoss):
        target = np.digitize(signal, [-0.7, 0.7])
    kinds = ("numeric",) * P
    rest = (table, np.arange(30), target, np.full(30, 1 / 30), loss)
    settings = {"sparsity": sparsity, "manifold": manifold, "tol": 1e-8, **more}
    held = LowerLevel(build_design(table, kinds, linear=0.3), *rest, **settings)
    lazy = LowerLevel(build_recipes(table, kinds, linear=0.3), *rest, **settings)
    return held, lazy


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss(), MultinomialLoss(3)])
@pytest.mark.parametrize("manifold", [0.0, 2.0])
@pytest.mark.parametrize("penalty", ["rkhs", "alpha"])
def test_the_solution_is_that_of_all_columns(table, loss, manifold, penalty):
    sparsity = 0.03 if penalty == "rkhs" else 0.3
    held, lazy = _levels(table, loss, sparsity, manifold, penalty=penalty)
    mask = np.ones(P)
    mask[5], mask[7] = 0.0, 0.4
    full, screened = held.solve(mask), solve_screened(lazy, mask)
    assert screened.problem.offsets.size - 1 < np.count_nonzero(mask)  # it did screen
    assert screened.result.stop_reason == "gap"
    tolerance = 1e-7 * abs(full.result.objective)
    assert abs(screened.result.objective - full.result.objective) < tolerance
    np.testing.assert_allclose(screened.fitted, full.fitted, atol=2e-3)
    for solution in (full, screened):
        assert np.array_equal(solution.columns, np.flatnonzero(mask))
    # The gap is one of the whole problem, judged by the certificate of all features.
    whole = held.problem(mask)
    _, scale = held._scales(mask)
    factor = scale if screened.coef.ndim == 1 else scale[:, None]
    exact = duality_gap(whole, screened.coef / factor, screened.intercept)
    assert screened.result.gap == pytest.approx(exact, abs=1e-3 * tolerance + 0.02 * exact + 1e-9)
    size = np.abs(full.full_coef).reshape(full.full_coef.shape[0], -1).sum(axis=1)
    owner = np.repeat(np.arange(P), held.design.ranks)
    entered = np.bincount(owner, size, P) > 1e-4
    found = np.abs(screened.full_coef).reshape(size.size, -1).sum(axis=1)
    assert not np.any(entered & (np.bincount(owner, found, P) == 0.0))


def test_a_column_that_should_enter_is_not_missed(table):
    """Starting from a wrong working set ends at the same place."""
    _, lazy = _levels(table, SquaredLoss(), 0.02, 0.0)
    right = solve_screened(lazy, np.ones(P))
    only = np.zeros(P)
    only[10:15] = 1.0
    wrong = replace(lazy, sparsity=1e-6).solve(only)
    again = solve_screened(lazy, np.ones(P), wrong)
    assert again.result.objective == pytest.approx(right.result.objective, rel=1e-7)


def test_above_the_largest_pull_nothing_enters(table):
    held, lazy = _levels(table, SquaredLoss(), 1.0, 0.0)
    top = largest_pull(lazy, np.ones(P))
    assert top == pytest.approx(lambda_max(held.problem(np.ones(P))), rel=1e-4)
    above = solve_screened(replace(lazy, sparsity=1.001 * top), np.ones(P))
    below = solve_screened(replace(lazy, sparsity=0.95 * top), np.ones(P))
    assert not above.full_coef.any()
    assert above.result.gap < 1e-8
    assert below.full_coef.any()


@pytest.mark.parametrize("manifold", [None, 0.0, 2.0])
def test_solve_and_tune_screen_by_themselves(table, manifold, monkeypatch):
    monkeypatch.setattr("s2mam.bilevel.lower._SCREENED", 50)
    monkeypatch.setattr("s2mam.bilevel.tuning._MAX_FEATURES", 50)
    held, lazy = _levels(table, SquaredLoss(), 0.02, 0.0)
    level, solution = tune(lazy, np.ones(P), sparsity=None, manifold=manifold)
    other, expected = tune(held, np.ones(P), sparsity=None, manifold=manifold)
    assert solution.problem.offsets.size - 1 < P
    assert level.manifold == other.manifold
    if not manifold:  # with a graph the largest sparsity is that without it: another grid
        assert level.sparsity == pytest.approx(other.sparsity, rel=1e-4)
        np.testing.assert_allclose(solution.fitted, expected.fitted, atol=1e-2)
    small = lazy.solve(np.r_[np.ones(2), np.zeros(P - 2)])
    np.testing.assert_allclose(
        small.fitted, held.solve(np.r_[np.ones(2), np.zeros(P - 2)]).fitted, atol=1e-4
    )
    part = lazy.subset(np.arange(0, 50, 2))
    assert part.solve(np.ones(P)).fitted.shape == (25,)
