"""Scores of the report: values, intervals and differences against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)

from s2mam.inspection.report_parts.scores import Outcome, _share_interval, score


def classes(rng, n=60, right=0.7):
    truth = rng.integers(3, size=n)
    prediction = np.where(rng.random(n) < right, truth, (truth + 1) % 3)
    probabilities = rng.dirichlet(np.ones(3), size=n)
    return truth, prediction, probabilities


def test_class_scores_are_those_of_scikit_learn():
    truth, prediction, probabilities = classes(np.random.default_rng(0))
    given = probabilities[np.arange(len(truth)), truth]
    value = score([Outcome(truth, prediction, given)], classification=True).value[0]
    expected = [
        accuracy_score(truth, prediction),
        balanced_accuracy_score(truth, prediction),
        log_loss(truth, probabilities),
    ]
    np.testing.assert_allclose(value, expected)


def test_number_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=40)
    prediction = truth + 0.5 * rng.normal(size=40)
    value = score([Outcome(truth, prediction)], classification=False).value[0]
    expected = [f(truth, prediction) for f in (root_mean_squared_error, mean_absolute_error)]
    np.testing.assert_allclose(value, [*expected, r2_score(truth, prediction)])


def test_interval_of_all_right_answers_does_not_claim_certainty():
    truth = np.repeat([0, 1], 5)
    scores = score([Outcome(truth, truth, np.ones(10))], classification=True)
    assert scores.value[0, 0] == scores.high[0, 0] == 1.0
    assert scores.low[0, 0] < 0.85
    assert scores.low[0, 1] < 0.85


def test_difference_of_equal_answers_holds_zero_and_has_width():
    truth = np.repeat([0, 1], 5)
    same = Outcome(truth, truth, np.ones(10))
    value, low, high = score([same, same], classification=True).difference(0, 1)[:, 0]
    assert value == 0.0
    assert low < -0.1
    assert high == pytest.approx(-low)


def test_difference_is_paired():
    rng = np.random.default_rng(2)
    truth = 10.0 * rng.normal(size=200)
    noise = rng.normal(size=200)
    # Almost the same errors: each score is rough, their difference is not.
    models = [Outcome(truth, truth + noise), Outcome(truth, truth + 1.1 * noise)]
    scores = score(models, classification=False)
    _, low, high = scores.difference(0, 1)[:, 0]
    assert low < -0.05
    assert high < 0.0
    assert high - low < 0.3 * (scores.high[0, 0] - scores.low[0, 0])


@pytest.mark.parametrize("n", [15, 60])
def test_intervals_cover(n):
    """The share of intervals that hold the true accuracy is near the level."""
    rng = np.random.default_rng(3)
    truth = np.zeros(n, dtype=int)
    hits = 0
    for _ in range(150):
        prediction = (rng.random(n) > 0.8).astype(int)
        low, high = _share_interval(truth == prediction, truth, 0.9)
        hits += low <= 0.8 <= high
    assert hits / 150 > 0.84


def test_bootstrap_interval_of_the_error_matches_the_normal_one():
    rng = np.random.default_rng(4)
    errors = rng.normal(size=400)
    truth = rng.normal(size=400)
    scores = score([Outcome(truth, truth + errors)], classification=False, level=0.9)
    half = 1.645 * np.abs(errors).std() / 20.0
    assert scores.high[0, 1] - scores.low[0, 1] == pytest.approx(2.0 * half, rel=0.15)


def test_level_widens_and_seed_repeats():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=50)
    outcome = [Outcome(truth, truth + rng.normal(size=50))]
    narrow, wide = (score(outcome, classification=False, level=v) for v in (0.5, 0.99))
    assert np.all(wide.high - wide.low > narrow.high - narrow.low)
    again = score(outcome, classification=False, level=0.5)
    assert np.array_equal(narrow.draws, again.draws)


def test_constant_truth_has_no_explained_share():
    truth = np.ones(5)
    scores = score([Outcome(truth, np.zeros(5))], classification=False)
    assert np.isnan(scores.value[0, 2])
    assert np.isfinite(scores.low[0, :2]).all()
