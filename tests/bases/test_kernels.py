"""Kernels and their automatic lengths."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bases import KERNELS, auto_lengths, kernel_matrix
from s2mam.exceptions import InvalidInputError


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        ("gaussian", lambda t: np.exp(-(t**2) / 2)),
        ("laplacian", lambda t: np.exp(-t)),
        ("matern32", lambda t: (1 + np.sqrt(3) * t) * np.exp(-np.sqrt(3) * t)),
        (
            "matern52",
            lambda t: (1 + np.sqrt(5) * t + 5 * t**2 / 3) * np.exp(-np.sqrt(5) * t),
        ),
    ],
)
def test_kernel_is_its_formula(kernel, formula):
    x, y = np.array([-1.0, 0.0, 2.5]), np.array([0.3, 2.5])
    expected = formula(np.abs(x[:, None] - y) / 0.7) + 0.2 * np.outer(x, y)
    np.testing.assert_allclose(
        kernel_matrix(x, y, kernel=kernel, length=0.7, linear=0.2), expected, rtol=1e-13
    )


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_kernel_is_positive_semidefinite_with_unit_diagonal(kernel):
    x = np.random.default_rng(0).normal(size=40)
    matrix = kernel_matrix(x, x, kernel=kernel)
    np.testing.assert_array_equal(np.diag(matrix), 1.0)
    assert np.linalg.eigvalsh(matrix).min() > -1e-13


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_kernel_survives_extreme_distances(kernel):
    x = np.array([-1.7e308, 0.0, 1e-300, 1.7e308])
    np.testing.assert_array_equal(
        kernel_matrix(x, x, kernel=kernel, length=1e-10)[:1], [[1.0, 0.0, 0.0, 0.0]]
    )


def test_unknown_kernel_is_named():
    with pytest.raises(InvalidInputError, match="'cubic' is unknown"):
        kernel_matrix(np.zeros(1), np.zeros(1), kernel="cubic")


def test_auto_length_of_a_normal_column_is_near_the_median_difference():
    x = np.random.default_rng(0).normal(size=(3000, 1))
    exact = np.median(np.abs(x - x.T)[np.triu_indices(3000, 1)])
    assert auto_lengths(x, ("numeric",))[0] == pytest.approx(exact, rel=0.1)


def test_auto_length_scales_with_the_column_and_ignores_row_order():
    rng = np.random.default_rng(1)
    x = rng.exponential(size=(200, 1))
    base = auto_lengths(x, ("numeric",))
    np.testing.assert_allclose(auto_lengths(1e6 * x - 3, ("numeric",)), 1e6 * base)
    np.testing.assert_array_equal(auto_lengths(rng.permutation(x), ("numeric",)), base)


def test_auto_length_is_positive_for_whatever_varies():
    rare = np.zeros(1000)
    rare[17] = 4.0
    skewed = np.where(np.arange(1000) < 900, 0.0, np.arange(1000) / 1000)
    gaps = np.where(np.arange(1000) % 2 == 0, np.nan, np.arange(1000) % 3)
    nothing, constant = np.full(1000, np.nan), np.full(1000, 2.0)
    codes = 5.0 * (np.arange(1000) % 4)
    Z = np.column_stack([rare, skewed, gaps, nothing, constant, codes])
    lengths = auto_lengths(Z, ("numeric",) * 5 + ("categorical",))
    assert lengths[0] == 4.0
    assert 0.01 < lengths[1] <= 1.0
    assert 1.0 <= lengths[2] <= 2.0
    np.testing.assert_array_equal(lengths[3:], 1.0)
