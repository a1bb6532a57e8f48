"""Blocks: the right span, orthonormal, the same on the rows of the fit and on new rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from s2mam.baselines.shared.blocks import FourierBlocks, KernelBlocks, SplineBlocks, spline_size
from s2mam.bases import auto_lengths, kernel_matrix
from s2mam.exceptions import InvalidInputError

ALL = np.arange(4)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    ties = rng.integers(0, 2, size=40).astype(float)
    return np.column_stack([rng.normal(size=40), ties, np.full(40, 2.0), rng.normal(size=40)])


def natural_splines(x, df, at):
    """Cardinal natural splines through the knots, an independent basis of the same span."""
    knots = np.quantile(x, np.linspace(0, 1, df + 1))
    unit = np.eye(df + 1)
    return np.column_stack([CubicSpline(knots, e, bc_type="natural")(at) for e in unit])


@pytest.mark.parametrize("df", [1, 2, 3, 5])
def test_spline_blocks_span_the_natural_splines(table, df):
    blocks = SplineBlocks.fit(table, df)
    x = table[:, 0]
    inside = np.linspace(x.min(), x.max(), 17)
    rows = np.zeros((17, 4))
    rows[:, 0] = inside
    ours = np.column_stack([np.ones(17), blocks.evaluate(rows, np.array([0]))])
    theirs = natural_splines(x, df, inside) if df > 1 else np.column_stack([np.ones(17), inside])
    assert ours.shape[1] == df + 1
    project = theirs @ np.linalg.lstsq(theirs, ours, rcond=None)[0]
    np.testing.assert_allclose(project, ours, atol=1e-8)


def test_spline_blocks_are_centred_and_orthonormal(table):
    blocks = SplineBlocks.fit(table, 3)
    np.testing.assert_array_equal(np.diff(blocks.offsets), [3, 1, 0, 3])
    np.testing.assert_allclose(blocks.features.mean(axis=0), 0.0, atol=1e-12)
    for a, b in pairwise(blocks.offsets):
        part = blocks.features[:, a:b]
        np.testing.assert_allclose(part.T @ part / 40, np.eye(b - a), atol=1e-10)


def test_spline_blocks_stay_at_the_end_values_outside_the_range(table):
    blocks = SplineBlocks.fit(table, 3)
    far = np.vstack([table.max(axis=0), table.max(axis=0) + 100.0])
    values = blocks.evaluate(far, ALL)
    np.testing.assert_array_equal(values[0], values[1])


@pytest.mark.parametrize(
    "make",
    [
        lambda table: SplineBlocks.fit(table, 5),
        KernelBlocks.fit,
        lambda table: FourierBlocks.fit(table, 7, np.random.RandomState(0)),
    ],
)
def test_new_rows_and_rows_of_the_fit_agree(table, make):
    blocks = make(table)
    np.testing.assert_allclose(
        blocks.evaluate(table, ALL)[:, :3], blocks.features[:, :3], atol=1e-6
    )
    some = blocks.evaluate(table[:5], np.array([3, 1]))
    last = blocks.features[:5, blocks.offsets[3] : blocks.offsets[4]]
    second = blocks.features[:5, blocks.offsets[1] : blocks.offsets[2]]
    np.testing.assert_allclose(some, np.hstack([last, second]), atol=1e-6)


def test_more_functions_than_rows():
    blocks = SplineBlocks.fit(np.array([[0.0], [1.0], [3.0]]), 6)
    assert blocks.features.shape == (3, 2)


def test_constant_columns_give_nothing(table):
    fourier = FourierBlocks.fit(table, 5, np.random.RandomState(0))
    assert not fourier.features[:, 10:15].any()
    assert np.diff(KernelBlocks.fit(table).offsets)[2] == 0


def test_kernel_blocks_are_rotated_kernel_matrices(table):
    blocks = KernelBlocks.fit(table)
    part = blocks.features[:, : blocks.offsets[1]]
    x = table[:, 0]
    K = kernel_matrix(x, x, length=auto_lengths(table, ("numeric",) * 4)[0])
    np.testing.assert_allclose(part @ part.T, K @ K, atol=1e-4)


def test_many_fourier_features_approximate_the_centred_kernel(table):
    blocks = FourierBlocks.fit(table, 20_000, np.random.RandomState(0))
    part = blocks.features[:, :20_000]
    x = table[:, 0]
    K = kernel_matrix(x, x, length=auto_lengths(table, ("numeric",) * 4)[0])
    H = np.eye(40) - 1 / 40
    np.testing.assert_allclose(part @ part.T, H @ K @ H, atol=0.04)


def test_number_of_splines():
    assert spline_size("auto", 100, classification=True) == 5
    assert spline_size("auto", 100, classification=False) == 3
    assert spline_size("auto", 29, classification=True) == 3
    for size in range(3, 12):  # fewer than centred values have dimensions
        for classification in (False, True):
            assert 1 <= spline_size("auto", size, classification=classification) < size - 1
    for bad in ("many", 0, 2.5, True):
        with pytest.raises(InvalidInputError, match="df"):
            spline_size(bad, 10, classification=True)
