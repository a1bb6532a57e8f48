"""Swaps from one factorisation against a factorisation for every column that leaves."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.masks import EvidenceCriterion, evidence_swaps, labeled_kernels

OFFSETS = np.array([0, 3, 4, 4, 8, 11, 14, 15, 18])
MASK = np.isin(np.arange(8), [0, 1, 4, 7])


def _criterion(loose_rows=False, seed=0):
    rng = np.random.default_rng(seed)
    rows = 30 if loose_rows else 12
    features = rng.normal(size=(rows, 18))
    target = features[:, :2] @ np.array([[1.0, 0.0], [0.0, -2.0]]) + rng.normal(size=(rows, 2))
    return EvidenceCriterion(labeled_kernels(features, OFFSETS, target))


@pytest.mark.parametrize("loose_rows", [False, True])
@pytest.mark.parametrize("noise", [1e-3, 0.4])
def test_same_values(loose_rows, noise, monkeypatch):
    criterion = _criterion(loose_rows)
    expected = criterion.swap_values(MASK, noise)
    monkeypatch.setattr(evidence_swaps, "_LARGE", 0)
    found = criterion.swap_values(MASK, noise)
    assert np.isinf(expected[:, MASK]).all()
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_a_column_that_takes_everything_with_it_gets_its_own_factorisation(monkeypatch):
    criterion = _criterion()
    expected = criterion.swap_values(MASK, 1e-10)
    assert evidence_swaps.SwapTerms(criterion.kernels, MASK, 1e-10).without(0) is None
    monkeypatch.setattr(evidence_swaps, "_LARGE", 0)
    np.testing.assert_array_equal(criterion.swap_values(MASK, 1e-10)[0], expected[0])
