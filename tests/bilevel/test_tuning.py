"""Penalties from the data: the grid is searched and the best one is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.bilevel.lower import LowerLevel
from s2mam.bilevel.tuning import tune
from s2mam.losses import LogisticLoss, SquaredLoss
from s2mam.solvers import lambda_max


@pytest.fixture(scope="module")
def level():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 5))
    y = np.sin(2 * Z[:30, 0]) + Z[:30, 1] + 0.2 * rng.normal(size=30)
    design = build_design(Z, ("numeric",) * 5, linear=0.3)
    weights = np.full(30, 1 / 30)
    return LowerLevel(
        design, Z, np.arange(30), y, weights, SquaredLoss(), sparsity=0.0, manifold=0.0
    )


def test_given_penalties_are_used_as_they_are(level):
    chosen, solution = tune(level, np.ones(5), sparsity=0.02, manifold=0.7)
    assert (chosen.sparsity, chosen.manifold) == (0.02, 0.7)
    direct = replace(level, sparsity=0.02, manifold=0.7).solve(np.ones(5))
    np.testing.assert_array_equal(solution.fitted, direct.fitted)


@pytest.mark.parametrize("given", ["none", "sparsity", "manifold"])
def test_no_other_penalty_of_the_grid_has_a_smaller_leave_one_out_loss(level, given):
    sparsity = 0.05 if given == "sparsity" else None
    manifold = 0.5 if given == "manifold" else None
    chosen, solution = tune(level, np.ones(5), sparsity=sparsity, manifold=manifold)
    assert sparsity is None or chosen.sparsity == sparsity
    assert manifold is None or chosen.manifold == manifold
    best = solution.approximate_loo()
    sparsities = np.geomspace(1e-3, 0.5, 8)
    for graph in (0.0, 0.05, 0.5, 5.0, 50.0):
        if manifold is not None and graph != manifold:
            continue
        top = lambda_max(replace(level, sparsity=1.0, manifold=graph).problem(np.ones(5)))
        values = [sparsity] if sparsity is not None else top * sparsities
        for value in values:
            other = replace(level, sparsity=float(value), manifold=graph).solve(np.ones(5))
            # The search solves to three digits.
            assert best <= other.approximate_loo() * 1.02 + 1e-6


def test_masked_columns_stay_out(level):
    _, solution = tune(level, np.array([1.0, 0, 1, 0, 0]), sparsity=None, manifold=None)
    np.testing.assert_array_equal(solution.columns, [0, 2])


def test_the_empty_mask_is_a_constant(level):
    chosen, solution = tune(level, np.zeros(5), sparsity=None, manifold=None)
    np.testing.assert_allclose(solution.fitted, level.target.mean(), atol=1e-12)
    assert np.isfinite([chosen.sparsity, chosen.manifold]).all()


def test_noise_is_not_fitted(level):
    noise = np.random.default_rng(3).normal(size=30)
    _, solution = tune(replace(level, target=noise), np.ones(5), sparsity=None, manifold=None)
    assert solution.labeled_loss() > 0.5 * np.var(noise)


def test_logistic_loss(level):
    codes = (level.target > 0).astype(float)
    logistic = replace(level, target=codes, loss=LogisticLoss())
    chosen, solution = tune(logistic, np.ones(5), sparsity=None, manifold=None)
    assert chosen.sparsity > 0.0
    assert ((solution.fitted[:30] > 0) == codes).mean() > 0.8


def test_labels_that_do_not_vary_with_the_columns(level):
    """All labelled rows alike: nothing to penalise, and no division by zero."""
    Z = level.table.copy()
    Z[:30] = Z[0]
    design = build_design(Z, ("numeric",) * 5, linear=0.3)
    flat = replace(level, design=design, table=Z)
    _, solution = tune(flat, np.ones(5), sparsity=None, manifold=None)
    np.testing.assert_allclose(solution.fitted[:30], level.target.mean(), atol=1e-6)
