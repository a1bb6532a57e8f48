"""Bernoulli masks: frequencies, probabilities and scores."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.masks.draws import clip_probabilities, draw_masks, log_probability, score

S = np.array([0.1, 0.5, 0.85])
ALL = np.array(list(product([False, True], repeat=3)))


def test_draws_have_the_right_frequencies():
    masks = draw_masks(S, 40_000, np.random.default_rng(0))
    np.testing.assert_allclose(masks.mean(axis=0), S, atol=0.01)
    assert abs(np.corrcoef(masks.T)[0, 1]) < 0.02


def test_zero_and_one_are_certain_without_clipping_and_not_with():
    certain = draw_masks([0.0, 1.0], 2000, np.random.default_rng(0))
    assert not certain[:, 0].any()
    assert certain[:, 1].all()
    clipped = draw_masks([0.0, 1.0], 2000, np.random.default_rng(0), eps=0.05)
    np.testing.assert_allclose(clipped.mean(axis=0), [0.05, 0.95], atol=0.02)


def test_probabilities_of_all_masks_sum_to_one():
    assert np.exp(log_probability(ALL, S)).sum() == pytest.approx(1.0)
    assert np.exp(log_probability(ALL, [0.0, 1.0, 0.4], eps=0.1)).sum() == pytest.approx(1.0)


def test_impossible_masks_have_log_probability_minus_infinity():
    assert log_probability([[True]], [0.0])[0] == -np.inf


def test_score_is_the_derivative_of_the_log_probability():
    h = 1e-6
    for j in range(3):
        step = np.eye(3)[j] * h
        numeric = (log_probability(ALL, S + step) - log_probability(ALL, S - step)) / (2 * h)
        np.testing.assert_allclose(score(ALL, S)[:, j], numeric, rtol=1e-6)


def test_score_vanishes_where_a_probability_is_certain():
    np.testing.assert_array_equal(score([[True, False]], [0.0, 1.0]), [[0.0, 0.0]])
    assert np.isfinite(score([[True, False]], [0.0, 1.0], eps=0.02)).all()


def test_clip_refuses_half():
    with pytest.raises(InvalidInputError, match="eps"):
        clip_probabilities(S, 0.5)
