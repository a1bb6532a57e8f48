"""Proximal steps, the rounded hinge and the tilt."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from additive_data import block_norms, falls
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import check_grad, minimize_scalar

from s2mam.baselines.shared.hinge import WIDTH, hinge_constant, smoothed_hinge
from s2mam.baselines.shared.proximal import ProximalProblem, minimise
from s2mam.baselines.shared.tilt import (
    logistic_losses,
    squared_losses,
    tilted_mean,
    tilted_weights,
)
from s2mam.exceptions import ConvergenceWarning


def _problem(penalty, seed=0):
    rng = np.random.default_rng(seed)
    A, y = rng.normal(size=(20, 9)), rng.normal(size=20)

    def smooth(f):
        return 0.5 * float((f - y) @ (f - y)) / 20, (f - y) / 20

    return ProximalProblem(smooth, A, np.array([0, 3, 3, 6, 9]), penalty), A, y


@pytest.mark.parametrize("penalty", [0.0, 0.05, 0.15, 10.0])
def test_least_squares_matches_a_cone_solver(penalty):
    problem, A, y = _problem(penalty)
    result = minimise(problem, np.zeros(9), 0.0, tol=1e-9)
    b, c = cp.Variable(9), cp.Variable()
    loss = cp.sum_squares(A @ b + c - y) / 40 + penalty * block_norms(b, problem.offsets)
    expected = cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    assert result.history[-1] == pytest.approx(expected, abs=1e-7)
    assert falls(result.history)
    if penalty == 10.0:
        assert not result.coef.any()
        assert result.intercept == pytest.approx(y.mean(), abs=1e-6)


def test_too_few_steps_warn():
    problem, _, _ = _problem(0.01)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        minimise(problem, np.zeros(9), 0.0, tol=1e-12, max_iter=2)


def test_rounded_hinge_is_close_to_the_hinge_and_has_its_gradient():
    f = np.linspace(-2, 2, 81)
    signs = np.where(np.arange(81) % 2, 1.0, -1.0)
    value, gradient = smoothed_hinge(signs, f)
    hinge = np.maximum(0.0, 1.0 - signs * f).mean()
    assert hinge - WIDTH / 2 <= value <= hinge
    steps = np.eye(81) * 1e-6
    slopes = [
        (smoothed_hinge(signs, f + h)[0] - smoothed_hinge(signs, f - h)[0]) / 2e-6 for h in steps
    ]
    np.testing.assert_allclose(gradient, slopes, atol=1e-7)


@pytest.mark.parametrize("positive", [1, 4, 5, 6, 9])
def test_best_constant_of_the_hinge(positive):
    signs = np.where(np.arange(10) < positive, 1.0, -1.0)
    best = minimize_scalar(lambda c: smoothed_hinge(signs, np.full(10, c))[0], bounds=(-2, 2))
    found = smoothed_hinge(signs, np.full(10, hinge_constant(signs)))[0]
    assert found <= best.fun + 1e-12


LOSSES = arrays(np.float64, 6, elements=st.floats(0, 1e4))


@settings(deadline=None, max_examples=50)
@given(LOSSES, st.floats(-1e3, 1e3))
def test_tilted_mean_lies_among_the_losses_and_weights_sum_to_one(losses, t):
    mean = tilted_mean(losses, t)
    slack = 1e-9 * (1 + losses.max()) + (1e-15 / abs(t) if t else 0.0)
    assert losses.min() - slack <= mean <= losses.max() + slack
    weights = tilted_weights(losses, t)
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0.0


def test_the_tilted_mean_rises_with_the_tilt_from_smallest_to_largest():
    losses = np.array([0.3, 1.0, 2.5])
    means = [tilted_mean(losses, t) for t in (-1e4, -1.0, -1e-5, 0.0, 1e-5, 1.0, 1e4)]
    assert np.all(np.diff(means) > 0)
    assert means[3] == pytest.approx(losses.mean())
    np.testing.assert_allclose([means[0], means[-1]], [0.3, 2.5], atol=1e-3)


@pytest.mark.parametrize("t", [-3.0, -0.5, 0.0, 1e-12, 2.0])
@pytest.mark.parametrize("losses", [squared_losses, logistic_losses])
def test_gradient_of_the_tilted_loss(t, losses):
    rng = np.random.default_rng(0)
    target = np.sign(rng.normal(size=7))

    def value(f):
        return tilted_mean(losses(target, f)[0], t)

    def slope(f):
        values, slopes = losses(target, f)
        return tilted_weights(values, t) * slopes

    assert check_grad(value, slope, rng.normal(size=7)) < 1e-6
