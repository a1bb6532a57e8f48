"""CSAM: the loss, the limits and the half-quadratic steps."""

from __future__ import annotations

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from additive_data import block_norms, class_rows, falls, objective_of
from expected_checks import expected_failures
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.csam import CorrentropyLoss, CSAMClassifier
from s2mam.baselines.shared.blocks import KernelBlocks
from s2mam.baselines.spam import SpAMClassifier
from s2mam.exceptions import InvalidInputError


@pytest.mark.parametrize("width", [0.1, 1.0, 30.0])
def test_loss_at_margins_zero_and_one(width):
    values = CorrentropyLoss(width).values(np.array([0.0, 1.0]))
    np.testing.assert_allclose(values, [1.0, 0.0], atol=1e-12)


def test_a_wide_loss_is_the_squared_error():
    found = [CorrentropyLoss(s).values(np.array([1.0 - 1.7]))[0] for s in (1.0, 10.0, 100.0)]
    np.testing.assert_allclose(found, [1.942, 2.876, 2.890], atol=5e-4)


@pytest.mark.parametrize("width", [0.5, 1.0, 5.0])
def test_weighted_squares_majorise_the_loss_and_touch_it(width):
    loss = CorrentropyLoss(width)
    here, others = np.array([-0.4]), np.linspace(-4, 5, 91)
    slope = loss.peak * loss.weights(here) / (2 * width**2)
    bound = loss.values(here) + slope * ((1 - others) ** 2 - (1 - here) ** 2)
    assert np.all(bound >= loss.values(others) - 1e-12)


def kernel_problem(X, y, lam):
    blocks = KernelBlocks.fit((X - X.mean(0)) / X.std(0))
    a = cp.Variable(blocks.features.shape[1])
    return blocks, a, lam * block_norms(a, blocks.offsets)


def test_a_wide_loss_gives_the_least_squares_group_lasso():
    X, y = class_rows(n=30, columns=4)
    lam = 0.3
    model = CSAMClassifier(lam=lam, width=1e4).fit(X, y)
    blocks, a, penalty = kernel_problem(X, y, lam)
    fit = cp.sum_squares(blocks.features @ a - (2.0 * y - 1.0)) / 30
    expected = cp.Problem(cp.Minimize(fit + penalty)).solve(solver=cp.CLARABEL)
    assert objective_of(model) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(model.decision_function(X), blocks.features @ a.value, atol=2e-3)


@pytest.mark.parametrize("width", [0.1, 0.5, 1.0, 5.0])
@pytest.mark.parametrize("basis", ["kernel", "spline"])
def test_the_objective_falls_and_is_the_stated_one(width, basis):
    X, y = class_rows()
    y[:6] = 1 - y[:6]
    model = CSAMClassifier(lam=0.05, width=width, basis=basis).fit(X, y)
    history = model.history_[0]
    assert falls(history)
    function = model._functions[0]
    signs = 2.0 * y - 1.0
    offsets = function.blocks.offsets
    norms = sum(np.linalg.norm(function.coef[a:b]) for a, b in pairwise(offsets))
    losses = CorrentropyLoss(width).values(signs * model.decision_function(X))
    assert history[-1] == pytest.approx(losses.mean() + 0.05 * norms, rel=1e-4)
    assert history[-1] < 1.0


def test_a_flipped_label_far_from_the_border_moves_it_less_than_least_squares():
    X = np.linspace(-1, 1, 41)[:, None]
    y = (X[:, 0] > 0).astype(int)
    flipped = y.copy()
    flipped[38] = 0
    moved = {}
    for name, model in {
        "csam": CSAMClassifier(lam=0.01, width=0.5, basis="spline"),
        "spam": SpAMClassifier(lam=0.01, loss="squared"),
    }.items():
        before = model.fit(X, y).decision_function(X)
        moved[name] = np.abs(model.fit(X, flipped).decision_function(X) - before).max()
    assert moved["csam"] < 0.5 * moved["spam"]


def test_a_large_penalty_leaves_nothing():
    X, y = class_rows()
    model = CSAMClassifier(lam=100.0).fit(X, y)
    assert not model.support_.any()
    np.testing.assert_array_equal(model.decision_function(X), 0.0)


def test_selects_and_separates():
    X, _ = class_rows(n=90)
    y = np.digitize(X[:, 1], [-0.3, 0.3])
    model = CSAMClassifier(lam=0.5).fit(X, y)
    assert model.support_[1]
    assert not model.support_.all()
    assert np.mean(model.predict(X) == y) > 0.85


@pytest.mark.parametrize("bad", [{"lam": 0.0}, {"width": -1}, {"basis": "rbf"}, {"max_iter": 0}])
def test_bad_parameters_are_named(bad):
    X, y = class_rows()
    with pytest.raises(InvalidInputError, match=next(iter(bad))):
        CSAMClassifier(**bad).fit(X, y)


@parametrize_with_checks(
    [CSAMClassifier(), CSAMClassifier(basis="spline", unlabeled=None)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
