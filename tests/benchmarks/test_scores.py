"""Scores against definitions and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from benchmarks.common.scores import (
    MASK_BINS,
    calibration_error,
    largest_share,
    log_loss,
    mask_calibration,
    r_squared,
    selection_scores,
    top_recall,
)
from benchmarks.common.tables import mean_ranks, mean_sd, wins


def test_log_loss_and_r2_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=50)
    known = rng.dirichlet(np.ones(3), size=50)
    assert log_loss(codes, known) == pytest.approx(sklearn.metrics.log_loss(codes, known), 1e-4)
    y, guess = rng.normal(size=(2, 50))
    assert r_squared(y, guess) == pytest.approx(sklearn.metrics.r2_score(y, guess))


def test_log_loss_of_a_sure_mistake_is_finite():
    assert log_loss(np.array([0]), np.array([[0.0, 1.0]])) == pytest.approx(-np.log(1e-6), 1e-4)


def test_calibration_error_is_the_gap_between_confidence_and_accuracy():
    known = np.tile([0.85, 0.15], (10, 1))
    assert calibration_error(np.zeros(10, dtype=int), known) == pytest.approx(0.15)
    half = np.repeat([0, 1], 5)
    assert calibration_error(half, known) == pytest.approx(0.35)


def test_any_copy_finds_its_original_and_no_copy_is_junk():
    source = np.array([0, 1, 0, 1, -1, -1])
    found = selection_scores(np.array([False, True, True, True, True, False]), source)
    assert (found["prec"], found["rec"], found["size"]) == (0.75, 1.0, 4)
    nothing = selection_scores(np.zeros(6, dtype=bool), source)
    assert (nothing["prec"], nothing["rec"], nothing["f1"]) == (0.0, 0.0, 0.0)


def test_top_recall_takes_as_many_columns_as_there_are_originals():
    source = np.array([0, 1, 0, 1, -1, -1])
    assert top_recall(np.array([5.0, 1, 4, 2, 3, 0]), source) == 0.5
    assert top_recall(np.array([5.0, 1, 2, 4, 3, 0]), source) == 1.0


def test_every_probability_falls_in_one_calibration_bin():
    known = np.array([0.0, 0.01, 0.5, 0.995, 1.0])
    table = mask_calibration(known, np.array([False, False, True, True, True]))
    assert len(table) == len(MASK_BINS) - 1
    assert np.sum(table, axis=0).tolist() == pytest.approx([5, 3, known.sum()])
    assert table[0][0] == 1
    assert table[-1][:2] == [2, 2]


def test_largest_share():
    assert largest_share(np.array([0, 1, 1, 2])) == 0.5


def test_ranks_and_wins_use_sets_that_have_the_methods():
    scores = {"s": {"a": 0.9, "b": 0.5}, "t": {"a": 0.2, "b": 0.7}, "u": {"a": 0.4}}
    assert mean_ranks(scores, ["a", "b"]) == {"a": 1.5, "b": 1.5}
    assert wins(scores, "a", "b") == "1 / 0 / 1"
    assert wins({"s": {"a": 0.5, "b": 0.501}}, "a", "b", tie=0.005) == "0 / 1 / 0"


def test_mean_and_sample_deviation():
    assert mean_sd([{"f": 1.0}, {"f": 3.0}, {"failure": "x"}], "f", 2) == "2.00 ± 1.41"
    assert mean_sd([{"failure": "x"}], "f") == "–"


def test_top_recall_does_not_profit_from_the_order_of_columns_that_are_ranked_alike():
    source = np.where(np.arange(100) < 4, np.arange(100), -1)
    assert top_recall(np.zeros(100), source) < 0.1
    assert top_recall(np.zeros(100), source[::-1].copy()) < 0.1
    known = np.zeros(100)
    known[0] = 1.0
    assert 0.25 <= top_recall(known, source) < 0.35
