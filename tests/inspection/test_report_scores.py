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

from s2mam.inspection.report_parts.results import gain_words
from s2mam.inspection.report_parts.scores import Outcome, _gain_interval, _share_interval, score


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


@pytest.mark.parametrize(("n", "n_groups"), [(15, 1), (60, 1), (15, 3), (60, 6)])
def test_intervals_cover(n, n_groups):
    """The share of intervals that hold the true accuracy is near the level."""
    rng = np.random.default_rng(3)
    groups = np.arange(n) % n_groups
    hits = 0
    for _ in range(400):
        low, high = _share_interval(rng.random(n) < 0.8, groups, 0.9)
        hits += low <= 0.8 <= high
    assert 0.85 < hits / 400 < 0.98


@pytest.mark.parametrize("n_groups", [1, 3, 10])
def test_intervals_of_gains_cover(n_groups):
    rng = np.random.default_rng(4)
    groups = np.arange(40) % n_groups
    hits = 0
    for _ in range(400):
        gain = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.6, 0.3], size=40)
        low, high = _gain_interval(gain, groups, 0.9)
        hits += low <= 0.2 <= high
    assert 0.85 < hits / 400 < 0.98


def test_intervals_hold_their_value():
    rng = np.random.default_rng(6)
    for _ in range(5):
        truth, prediction, _ = classes(rng, n=12, right=0.9)
        right = Outcome(truth, prediction, np.ones(12))
        scores = score([right, Outcome(truth, truth, np.ones(12))], classification=True)
        assert np.all((scores.low <= scores.value) & (scores.value <= scores.high))
        value, low, high = scores.difference(0, 1)
        assert np.all((low <= value) & (value <= high))


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


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_words_about_errors_say_what_the_interval_says(noise):
    rng = np.random.default_rng(2)
    truth = rng.normal(size=40)
    answer = truth + 0.5 * rng.normal(size=40)
    other = answer + noise * (answer - truth) + noise * 0.05 * rng.normal(size=40)
    models = [Outcome(truth, answer), Outcome(truth, other)]
    for order, word in ((models, "worse"), (models[::-1], "better")):
        scores = score(order, classification=False)
        low, high = scores.difference(0, 1)[1:, 0]
        assert low <= high
        clear = low > 0.0 or high < 0.0
        told = gain_words(scores, 1, "The other")
        assert told.startswith(f"The other does {word if clear else 'not clearly differ'}")
    assert clear == (noise > 0.0)


def test_a_difference_that_may_be_chance_is_not_called_clear():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=40)
    models = [Outcome(truth, truth + 0.5 * rng.normal(size=40)) for _ in range(2)]
    scores = score(models, classification=False)
    low, high = scores.difference(0, 1)[1:, 0]
    assert low < 0.0 < high
    assert "does not clearly differ" in gain_words(scores, 1, "The other")
