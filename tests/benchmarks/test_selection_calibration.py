"""The calibration curve of the mask probabilities counts columns, not fits."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.common.scores import mask_calibration

pytest.importorskip("matplotlib")

from benchmarks.selection.calibration import EDGES, bands, joined, shares


def test_shares_are_those_of_all_columns():
    probabilities = np.array([0.02, 0.03, 0.15, 0.5, 0.55, 0.97, 1.0])
    informative = np.array([False, True, False, True, False, True, True])
    tables = np.array([mask_calibration(probabilities, informative)] * 2, float)
    found = shares(joined(tables))
    assert found.shape == (len(EDGES) - 1, 2)
    np.testing.assert_allclose(found[0], [0.025, 0.5])
    np.testing.assert_allclose(found[4], [0.525, 0.5])
    np.testing.assert_allclose(found[7], [0.985, 1.0])
    assert np.isnan(found[1]).all()


def test_bands_are_wider_with_fewer_fits():
    rng = np.random.default_rng(0)
    probabilities = rng.uniform(size=(40, 30))
    tables = np.array([mask_calibration(p, rng.uniform(size=30) < p) for p in probabilities], float)
    low, high = bands(joined(tables), np.random.default_rng(1))
    few_low, few_high = bands(joined(tables[:5]), np.random.default_rng(1))
    said, _ = shares(joined(tables)).T
    assert ((low <= said + 0.1) & (high >= said - 0.1)).all()
    assert np.nanmean(few_high - few_low) > np.mean(high - low)
