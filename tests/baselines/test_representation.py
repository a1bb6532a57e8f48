from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from s2mam.baselines.shared.keyed_table import KeyedTable
from s2mam.baselines.shared.representation import (
    label_free_representation,
    represent,
    representation_cost,
)


def _feasible(shares):
    assert (shares >= 0).all()
    assert (np.diag(shares) == 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("rank_weight", [0.0, 0.4])
def test_agrees_with_a_cone_program(rank_weight):
    rng = np.random.default_rng(0)
    table, cost = rng.normal(size=(9, 3)), rng.uniform(0, 1, size=(9, 9))
    found = represent(table, cost, rank_weight, max_iter=2000, tol=1e-8)
    _feasible(found.shares)
    z = cp.Variable((9, 9), nonneg=True)
    goal = cp.sum(cp.norm(table - z @ table, 2, axis=1)) + cp.sum(cp.multiply(z, cost))
    goal += rank_weight * cp.normNuc(z)
    best = cp.Problem(cp.Minimize(goal), [cp.sum(z, axis=1) == 1, cp.diag(z) == 0]).solve()
    ours = representation_cost(table, found.shares, rank_weight) + (found.shares * cost).sum()
    assert ours == pytest.approx(best, rel=1e-4)


def test_residuals_go_to_zero():
    table = np.random.default_rng(1).normal(size=(40, 8))
    found = represent(table, np.zeros((40, 40)), 1 / np.sqrt(40), max_iter=2000, tol=1e-6)
    assert found.residuals[-1] <= 1e-6 * np.sqrt(40)
    assert len(found.residuals) < 2000
    np.testing.assert_allclose(found.low_rank, found.shares, atol=1e-5)
    np.testing.assert_allclose(found.coefficients, found.shares, atol=1e-5)


def test_an_exact_low_rank_table_is_represented_exactly_with_low_rank():
    # Each row has copies: only then can it be a convex combination of the others.
    centers = np.random.default_rng(2).normal(size=(3, 6))
    table = np.repeat(centers, 8, axis=0)
    found = represent(table, np.zeros((24, 24)), 0.2, max_iter=2000, tol=1e-8)
    np.testing.assert_allclose(found.shares @ table, table, atol=1e-6)
    spectrum = np.linalg.svd(found.low_rank, compute_uv=False)
    np.testing.assert_allclose(spectrum[:3], 1.0, atol=0.05)
    uniform = np.kron(np.eye(3), (np.ones((8, 8)) - np.eye(8)) / 7)
    ours = representation_cost(table, found.shares, 0.2)
    assert ours <= representation_cost(table, uniform, 0.2) + 1e-6


def test_a_warm_start_reaches_the_same_cost_sooner():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(40, 8))
    cost = 0.1 * rng.uniform(size=(40, 40))
    start = label_free_representation(KeyedTable.of(table), 0.15)
    cold = represent(table, cost, 0.15, tol=1e-5, max_iter=2000)
    warm = represent(table, cost, 0.15, tol=1e-5, max_iter=2000, start=start)
    values = [
        representation_cost(table, found.shares, 0.15) + (found.shares * cost).sum()
        for found in (cold, warm)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-4)
    assert len(warm.residuals) <= len(cold.residuals)


def test_constant_tables_have_an_answer():
    _feasible(represent(np.zeros((5, 2)), np.zeros((5, 5)), 0.1).shares)
