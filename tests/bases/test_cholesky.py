"""Pivoted Cholesky against explicit kernel matrices."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bases import kernel_matrix
from s2mam.bases.cholesky import pivoted_cholesky


def factor(values, *, counts=None, length=1.0, tolerance=1e-10, max_rank=None, kernel="gaussian"):
    values = np.sort(np.atleast_2d(values), axis=1)
    counts = np.full(len(values), values.shape[1]) if counts is None else np.asarray(counts)
    lengths = np.full(len(values), length)
    return values, pivoted_cholesky(
        values, counts, lengths, kernel=kernel, tolerance=tolerance, max_rank=max_rank
    )


@pytest.mark.parametrize("kernel", ["gaussian", "matern32", "laplacian"])
def test_factor_reproduces_the_kernel_within_the_tolerance(kernel):
    rng = np.random.default_rng(0)
    values, factors = factor(rng.normal(size=(5, 60)), kernel=kernel, tolerance=1e-7)
    for x, found in zip(values, factors, strict=True):
        error = kernel_matrix(x, x, kernel=kernel) - found.rows.T @ found.rows
        assert np.linalg.eigvalsh(error).min() > -1e-12  # a Schur complement
        assert np.trace(error) == pytest.approx(found.residual, abs=1e-12)
        assert found.residual <= 1e-7 * 60


def test_pivot_columns_are_triangular_and_pivots_distinct():
    values, [found] = factor(np.random.default_rng(1).normal(size=30))
    triangle = found.rows[:, found.pivots]
    np.testing.assert_allclose(triangle, np.triu(triangle), atol=1e-10)
    assert np.unique(values[0, found.pivots]).size == found.pivots.size
    assert found.pivots[0] == 14  # the (lower) median


def test_columns_of_different_rank_do_not_disturb_each_other():
    rng = np.random.default_rng(2)
    columns = np.stack(
        [
            np.arange(80) % 2,
            np.zeros(80),
            rng.normal(size=80),
            np.arange(80) % 5,
            50 * rng.random(80),
        ]
    )
    values, together = factor(columns)
    assert [len(f.pivots) for f in together][:2] == [2, 1]
    for x, found in zip(values, together, strict=True):
        _, [alone] = factor(x)
        np.testing.assert_array_equal(found.rows, alone.rows)
        np.testing.assert_array_equal(found.pivots, alone.pivots)


def test_far_apart_values_grow_the_factor_to_full_rank():
    _, [found] = factor(100.0 * np.arange(90))
    assert len(found.pivots) == 90
    np.testing.assert_allclose(found.rows.T @ found.rows, np.eye(90), atol=1e-14)


def test_missing_values_get_zeros_and_do_not_count():
    x = np.r_[np.sort(np.random.default_rng(3).normal(size=20)), np.zeros(5)]
    (found,) = pivoted_cholesky(
        x[None], np.array([20]), np.ones(1), kernel="gaussian", tolerance=1e-10, max_rank=None
    )
    _, [present] = factor(x[:20])
    np.testing.assert_array_equal(found.rows[:, 20:], 0.0)
    np.testing.assert_allclose(found.rows[:, :20], present.rows, atol=1e-12)


def test_rank_limit_and_empty_column():
    _, [limited] = factor(np.random.default_rng(4).normal(size=50), max_rank=3)
    assert limited.rows.shape == (3, 50)
    assert limited.residual > 1e-3
    _, [empty] = factor(np.zeros(4), counts=[0])
    assert empty.rows.shape == (0, 4)
    assert empty.residual == 0.0
