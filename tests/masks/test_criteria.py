"""The cache, and the criteria that fit a lower level."""

from __future__ import annotations

import numpy as np

from s2mam.masks import AloCriterion, CachedCriterion, Criterion, LabeledCriterion, SmoothCriterion
from s2mam.masks.evidence import EvidenceCriterion
from s2mam.masks.loo import LooCriterion


class _Counting:
    n_columns = 3

    def __init__(self):
        self.asked = []

    def value(self, mask):
        self.asked.append(np.asarray(mask, dtype=float).tolist())
        return float(np.sum(mask))


class _Fit:
    def __init__(self, mask):
        self.mask = mask

    def labeled_loss(self):
        return float(np.sum(self.mask))

    def approximate_loo(self):
        return 10.0 + float(np.sum(self.mask))


class _Solver:
    n_columns = 3

    def __init__(self):
        self.starts = []

    def solve(self, mask, start=None):
        self.starts.append(start)
        return _Fit(mask)


def test_cache_computes_each_mask_once_whatever_its_type():
    counting = _Counting()
    cached = CachedCriterion(counting)
    for mask in ([True, False, True], np.array([1, 0, 1]), np.array([1.0, 0.0, 1.0])):
        assert cached.value(mask) == 2.0
    assert cached.value([0.5, 0, 1]) == 1.5
    assert len(counting.asked) == cached.n_evaluations == 2
    assert cached.n_hits == 2


def test_cache_can_be_saved_and_restored():
    cached = CachedCriterion(_Counting())
    cached.value([True, False, True])
    cached.value([False, False, True])
    counting = _Counting()
    again = CachedCriterion(counting)
    again.restore(*cached.to_arrays())
    assert again.value([False, False, True]) == 1.0
    assert not counting.asked
    masks, values = again.to_arrays()
    np.testing.assert_array_equal(masks, [[1, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(values, [2.0, 1.0])


def test_an_empty_cache_has_empty_arrays():
    masks, values = CachedCriterion(_Counting()).to_arrays()
    assert masks.shape == (0, 3)
    assert values.shape == (0,)


def test_fits_start_from_the_previous_solution():
    solver = _Solver()
    criterion = LabeledCriterion(solver)
    assert criterion.value([1, 0, 0]) == 1.0
    first = criterion.last_fit
    assert criterion.value([1, 1, 0]) == 2.0
    assert solver.starts == [None, first]
    assert AloCriterion(solver).value([1, 1, 1]) == 13.0


def test_protocols():
    assert isinstance(LabeledCriterion(_Solver()), Criterion)
    assert not isinstance(LabeledCriterion(_Solver()), SmoothCriterion)
    for kind in (EvidenceCriterion, LooCriterion):
        names = ("gradient", "noise_of", "value_and_gradient", "addition_values")
        assert all(hasattr(kind, name) for name in names)
