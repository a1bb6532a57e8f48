"""The delta kernel's block against explicit indicators."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bases import build_design


@pytest.mark.parametrize("center", [True, False])
def test_block_is_the_factor_of_the_delta_kernel(center):
    codes = np.random.default_rng(0).integers(0, 5, size=40).astype(float)
    kernel = (codes[:, None] == codes).astype(float)
    if center:
        kernel = kernel - kernel.mean(0) - kernel.mean(1)[:, None] + kernel.mean()
    design = build_design(codes[:, None], ("categorical",), center=center)
    features = design.features
    assert features.shape[1] == (4 if center else 5)
    np.testing.assert_allclose(features @ features.T, kernel, atol=1e-12)
    np.testing.assert_allclose(features.T @ features, np.diag(design.spectra), atol=1e-10)


def test_missing_and_unknown_codes_are_zero_and_known_ones_exact():
    codes = np.array([0.0, 3.0, 3.0, np.nan, 1.0])
    design = build_design(codes[:, None], ("categorical",))
    np.testing.assert_array_equal(design.features[3], 0.0)
    np.testing.assert_allclose(design.features.sum(axis=0), 0.0, atol=1e-14)
    new = design.evaluate(np.array([[1.0], [np.nan], [2.0], [99.0], [-1.0], [3.0]]))
    np.testing.assert_array_equal(new[[1, 2, 3, 4]], 0.0)
    np.testing.assert_array_equal(new[[0, 5]], design.features[[4, 1]])


def test_one_level_or_no_value_has_rank_zero():
    Z = np.column_stack([np.full(6, 2.0), np.full(6, np.nan)])
    design = build_design(Z, ("categorical", "categorical"))
    np.testing.assert_array_equal(design.ranks, 0)
    assert design.evaluate(Z).shape == (6, 0)


def test_max_rank_keeps_the_leading_directions():
    codes = np.repeat(np.arange(6.0), [1, 2, 4, 8, 16, 32])[:, None]
    full = build_design(codes, ("categorical",))
    cut = build_design(codes, ("categorical",), max_rank=2)
    np.testing.assert_allclose(cut.spectra, full.spectra[:2])
    assert cut.residuals[0] == pytest.approx(full.spectra[2:].sum() / 63)
