"""Slope and shift of classifier scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from s2mam.estimators.calibration import calibrate


def test_prior_slope_without_held_out_scores():
    assert calibrate(None, np.array([0, 1]), np.ones(2)) == pytest.approx((2.5, 0.0))
    assert calibrate(None, np.array([0, 1, 2]), np.ones(3)) == pytest.approx((5.0, 0.0))


@pytest.mark.parametrize("true_slope", [0.5, 2.0, 6.0])
def test_many_rows_recover_slope_and_shift(true_slope):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6000, 1))
    chance = 1.0 / (1.0 + np.exp(-(true_slope * scores[:, 0] + 0.4)))
    codes = (rng.random(6000) < chance).astype(int)
    slope, shift = calibrate(scores, codes, np.ones(6000))
    assert slope == pytest.approx(true_slope, rel=0.1)
    assert shift == pytest.approx(0.4, abs=0.12)


def test_several_classes_recover_the_slope():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    chance = np.exp(3.0 * scores)
    chance /= chance.sum(axis=1, keepdims=True)
    codes = (chance.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    slope, shift = calibrate(scores, codes, np.ones(4000))
    assert slope == pytest.approx(3.0, rel=0.1)
    assert shift == 0.0


def test_penalised_likelihood_by_another_optimiser():
    rng = np.random.default_rng(1)
    scores, codes = rng.normal(size=12), rng.integers(0, 2, size=12)
    weights = rng.integers(1, 4, size=12).astype(float)

    def loss(parameters):
        slope, shift = np.exp(parameters[0]), parameters[1]
        logits = (2 * codes - 1) * (slope * scores + shift)
        prior = 0.5 * ((parameters[0] - np.log(2.5)) / 0.7) ** 2 + 0.5 * (shift / 0.5) ** 2
        return weights @ np.log1p(np.exp(-logits)) + prior

    best = minimize(loss, [0.0, 0.0], method="BFGS").x
    slope, shift = calibrate(scores[:, None], codes, weights)
    assert (slope, shift) == pytest.approx((np.exp(best[0]), best[1]), abs=1e-3)
    copies = weights.astype(int)
    copied = calibrate(
        np.repeat(scores, copies)[:, None], np.repeat(codes, copies), np.ones(copies.sum())
    )
    assert copied == pytest.approx((slope, shift), abs=1e-4)


def test_separated_scores_stay_finite():
    scores = np.array([[-1.0], [-0.5], [0.5], [1.0]])
    slope, shift = calibrate(scores, np.array([0, 0, 1, 1]), np.ones(4))
    assert 2.5 < slope < 50.0
    assert abs(shift) < 1e-3
