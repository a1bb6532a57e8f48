"""Gradient estimators against enumeration of all masks, on a ridge toy with known numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.masks.draws import draw_masks, log_probability, score
from s2mam.masks.gradients import reinforce, rloo


def _all_masks(p):
    return np.array(list(product([False, True], repeat=p)))


@pytest.fixture(scope="module")
def toy():
    """Training loss of a ridge fit on masked columns, for all 1024 masks of 10 columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 10))
    y = 3 * X[:, 0] + 2 * X[:, 1] - 1.5 * X[:, 2] + 0.5 * rng.normal(size=60)
    masks = _all_masks(10)
    losses = np.empty(len(masks))
    for i, mask in enumerate(masks):
        Z = X * mask
        w = np.linalg.solve(Z.T @ Z / 60 + 0.01 * np.eye(10), Z.T @ y / 60)
        losses[i] = ((y - Z @ w) ** 2).mean()
    s = np.full(10, 0.3)
    return masks, losses, s


def _exact(masks, losses, s):
    weights = np.exp(log_probability(masks, s))
    return weights @ losses, (weights * losses) @ score(masks, s)


def _trace_variance(estimate, masks, losses, s, n_draws, repeats=4000, seed=0):
    rng = np.random.default_rng(seed)
    place = 2 ** np.arange(masks.shape[1])[::-1]
    values = []
    for _ in range(repeats):
        drawn = draw_masks(s, n_draws, rng)
        values.append(estimate(losses[drawn @ place], drawn, s))
    values = np.array(values)
    return values.mean(axis=0), values.var(axis=0, ddof=1).sum()


def test_enumeration_reproduces_the_known_numbers(toy):
    masks, losses, s = toy
    phi, gradient = _exact(masks, losses, s)
    assert phi == pytest.approx(9.5251, abs=1e-4)
    known = [-7.92, -4.22, -2.273, -0.589, -0.045, -0.134, -0.026, -0.054, -0.282, -0.114]
    np.testing.assert_allclose(gradient, known, atol=6e-3)
    assert losses[0] == pytest.approx(14.534, abs=1e-3)
    assert losses[-1] == pytest.approx(0.1828, abs=1e-4)


@pytest.mark.parametrize("p", [1, 3, 6])
def test_exact_expectation_of_a_single_draw_is_the_gradient(p):
    rng = np.random.default_rng(p)
    masks, s = _all_masks(p), rng.uniform(0.1, 0.9, p)
    losses = rng.normal(size=len(masks))
    weights = np.exp(log_probability(masks, s))
    expected = sum(
        w * reinforce([loss], mask, s) for w, loss, mask in zip(weights, losses, masks, strict=True)
    )
    h = 1e-6
    numeric = [
        (_exact(masks, losses, s + h * e)[0] - _exact(masks, losses, s - h * e)[0]) / (2 * h)
        for e in np.eye(p)
    ]
    np.testing.assert_allclose(expected, numeric, rtol=1e-6, atol=1e-8)


def test_exact_expectation_of_two_draws_with_baseline_is_the_gradient():
    rng = np.random.default_rng(2)
    masks, s = _all_masks(3), np.array([0.2, 0.5, 0.7])
    losses = rng.normal(size=8)
    weights = np.exp(log_probability(masks, s))
    expected = sum(
        weights[i] * weights[j] * rloo(losses[[i, j]], masks[[i, j]], s)
        for i in range(8)
        for j in range(8)
    )
    np.testing.assert_allclose(expected, _exact(masks, losses, s)[1], rtol=1e-10)


def test_mean_over_many_draws_matches_enumeration(toy):
    masks, losses, s = toy
    rng = np.random.default_rng(0)
    drawn = draw_masks(s, 200_000, rng)
    values = losses[drawn @ 2 ** np.arange(10)[::-1]]
    exact = _exact(masks, losses, s)[1]
    assert np.linalg.norm(rloo(values, drawn, s) - exact) < 0.015 * np.linalg.norm(exact)
    assert np.linalg.norm(reinforce(values, drawn, s) - exact) < 0.03 * np.linalg.norm(exact)


def test_trace_variances(toy):
    masks, losses, s = toy
    single = _trace_variance(reinforce, masks, losses, s, 1, repeats=8000)[1]
    five = _trace_variance(reinforce, masks, losses, s, 5)[1]
    five_baseline = _trace_variance(rloo, masks, losses, s, 5)[1]
    ten_baseline = _trace_variance(rloo, masks, losses, s, 10)[1]
    assert single == pytest.approx(4576, rel=0.1)
    assert five == pytest.approx(919, rel=0.1)
    assert five_baseline == pytest.approx(212, rel=0.1)
    assert ten_baseline == pytest.approx(92, rel=0.1)


def test_clipped_draws_estimate_the_gradient_at_the_clipped_point():
    masks, losses = _all_masks(2), np.array([1.0, 2.0, 0.5, 3.0])
    weights = np.exp(log_probability(masks, [0.0, 1.0], eps=0.1))
    expected = sum(
        w * reinforce([loss], mask, [0.0, 1.0], eps=0.1)
        for w, loss, mask in zip(weights, losses, masks, strict=True)
    )
    np.testing.assert_allclose(expected, _exact(masks, losses, np.array([0.1, 0.9]))[1])


def test_refuses_a_baseline_without_other_draws():
    with pytest.raises(InvalidInputError, match="at least two"):
        rloo([1.0], [[True]], [0.5])
    with pytest.raises(InvalidInputError, match="one loss per mask"):
        reinforce([1.0, 2.0], [[True]], [0.5])
