"""The literal model against the paper's formulas written out densely."""

from __future__ import annotations

import literal_formulas as paper
import numpy as np
import pytest

from s2mam.bilevel import GraphSettings, LiteralLevel
from s2mam.exceptions import InvalidInputError
from s2mam.losses import LogisticLoss, MultinomialLoss, SquaredLoss

N, P, L = 20, 3, 8
SETTINGS = {"sparsity": 2e-3, "manifold": 0.3}
LENGTH, MU = 0.8, 1.3


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    labeled = np.arange(0, 2 * L, 2)
    y = np.sin(2 * X[labeled, 0]) + 0.5 * X[labeled, 1] + 1.0
    return X, labeled, y


def _level(data, **changes):
    X, labeled, y = data
    options = {
        "sparsity": SETTINGS["sparsity"],
        "manifold": SETTINGS["manifold"],
        "length": LENGTH,
        "graph": GraphSettings(kind="dense", bandwidth=MU),
        "tol": 1e-10,
        "rank_tolerance": 1e-13,
    }
    weights = np.full(len(y), 1 / len(y))
    return LiteralLevel(X, labeled, y, weights, SquaredLoss(), **{**options, **changes})


@pytest.mark.parametrize("mask", [[1, 1, 1], [1, 0, 1], [1, 0, 0], [0, 0, 0]])
@pytest.mark.parametrize("tau", [None, [1.0, 2.0, 0.5]])
def test_solution_and_prediction_follow_the_formulas(data, mask, tau):
    X, labeled, y = data
    tau = None if tau is None else np.array(tau)
    alpha = paper.lower(X, labeled, y, np.array(mask), mu=MU, length=LENGTH, tau=tau, **SETTINGS)
    level = _level(data, tau=tau)
    fit = level.solve(mask)
    K = np.hstack(paper.kernels(X, np.array(mask), LENGTH))
    np.testing.assert_allclose(fit.fitted, K @ alpha.T.ravel(), atol=2e-4)
    np.testing.assert_allclose(fit.alpha, alpha, atol=5e-4)
    loss = ((y - (K @ alpha.T.ravel())[labeled]) ** 2).mean()
    assert fit.labeled_loss() == pytest.approx(loss, rel=1e-3)
    Z = np.random.default_rng(1).normal(size=(7, P))
    s = np.array([0.9, 0.4, 0.1])
    expected = paper.predict(X, alpha, s, Z, LENGTH)
    np.testing.assert_allclose(level.predict(fit, Z, s), expected, atol=2e-3)


def test_masked_columns_are_a_hidden_intercept(data):
    """Trap: with a masked column the mean of y is fitted almost for free, without one it is not."""
    constant = _level(data, manifold=0.0).solve([0, 0, 0])
    assert np.ptp(constant.fitted) < 1e-12
    assert constant.fitted[0] == pytest.approx(data[2].mean(), abs=0.01)


def test_warm_start_leads_to_the_same_solution(data):
    level = _level(data)
    cold = level.solve([1, 0, 1])
    warm = level.solve([1, 0, 1], start=level.solve([1, 1, 0]))
    np.testing.assert_allclose(warm.fitted, cold.fitted, atol=1e-4)


@pytest.mark.parametrize("loss", [LogisticLoss(), MultinomialLoss(3)])
def test_classes(data, loss):
    X, labeled, y = data
    codes = np.digitize(y, [0.8, 1.2]) if loss.n_outputs == 3 else (y > 1).astype(float)
    level = LiteralLevel(
        X, labeled, codes, np.full(len(y), 1 / len(y)), loss, sparsity=1e-3, manifold=0.1
    )
    fit = level.solve([1, 1, 0])
    np.testing.assert_allclose(level.predict(fit, X, [1, 1, 0]), fit.fitted, atol=1e-4)
    assert fit.labeled_loss() < np.log(max(loss.n_outputs, 2))
    assert np.isfinite(fit.approximate_loo())


def test_batches_need_a_label_and_masks_are_binary(data):
    level = _level(data)
    assert level.subset(np.arange(10)).n_rows == 10
    with pytest.raises(InvalidInputError, match="no labelled row"):
        level.subset(np.array([1, 3]))
    with pytest.raises(InvalidInputError, match="binary"):
        level.solve([0.5, 1, 1])
