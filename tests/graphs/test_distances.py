"""Masked distances against loops over pairs."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.graphs import mask_rows, squared_distances


def slow_distances(Z, mask, kinds):
    """Average over the observed values of whatever is missing, pair by pair."""
    n, p = Z.shape
    out = np.zeros((n, n))
    for j in range(p):
        seen = Z[~np.isnan(Z[:, j]), j]
        if kinds[j] == "constant" or not seen.size:
            continue
        for i in range(n):
            for k in range(n):
                left = [Z[i, j]] if np.isfinite(Z[i, j]) else seen
                right = [Z[k, j]] if np.isfinite(Z[k, j]) else seen
                gaps = np.subtract.outer(left, right)
                cost = gaps**2 if kinds[j] == "numeric" else (gaps != 0).astype(float)
                out[i, k] += mask[j] ** 2 * cost.mean()
    np.fill_diagonal(out, 0.0)
    return out


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_distances_equal_the_loop(missing):
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.normal(100, 100, (15, 3)), rng.integers(0, 3, (15, 2)), np.ones(15)])
    Z[rng.random(Z.shape) < missing] = np.nan
    kinds = ("numeric",) * 3 + ("categorical",) * 2 + ("constant",)
    mask = np.array([1.0, 0.0, 0.4, 1.0, 0.7, 1.0])
    found = squared_distances(mask_rows(Z, mask, kinds))
    np.testing.assert_allclose(found, slow_distances(Z, mask, kinds), rtol=1e-10, atol=1e-9)


def test_masked_distances_are_distances_of_masked_columns():
    rng = np.random.default_rng(1)
    Z, mask, kinds = rng.normal(size=(30, 6)), rng.random(6), ("numeric",) * 6
    direct = ((Z * mask)[:, None] - (Z * mask)) ** 2
    found = squared_distances(mask_rows(Z, mask, kinds))
    np.testing.assert_allclose(found, direct.sum(axis=2), atol=1e-12)


def test_masked_out_columns_are_never_read():
    rng = np.random.default_rng(2)
    Z, mask = rng.normal(size=(20, 3)), np.array([1.0, 0.0, 0.5])
    clean = squared_distances(mask_rows(Z, mask, ("numeric",) * 3))
    Z[:, 1] = np.nan
    np.testing.assert_array_equal(squared_distances(mask_rows(Z, mask, ("numeric",) * 3)), clean)


def test_one_wild_row_leaves_the_others_distances_alone():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(40, 2))
    exact = squared_distances(mask_rows(Z, np.ones(2), ("numeric",) * 2))
    Z[0] = 1e12
    found = squared_distances(mask_rows(Z, np.ones(2), ("numeric",) * 2))
    np.testing.assert_allclose(found[1:, 1:], exact[1:, 1:], atol=1e-9)


def test_result_is_finite_symmetric_and_never_negative_for_extremes():
    Z = np.array(
        [[1.7e308, np.nan], [-1.7e308, np.nan], [0.0, np.nan], [0.0, np.nan], [1e-308, 2.0]]
    )
    found = squared_distances(mask_rows(Z, np.ones(2), ("numeric", "categorical")))
    assert np.isfinite(found).all()
    assert (found >= 0.0).all()
    np.testing.assert_array_equal(found, found.T)
    assert found[2, 3] == 0.0
    none = squared_distances(mask_rows(Z, np.zeros(2), ("numeric", "categorical")))
    np.testing.assert_array_equal(none, 0.0)
