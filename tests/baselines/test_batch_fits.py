from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from s2mam.baselines.shared.batch_fits import (
    constant_loss,
    fit_batch,
    masked_designs,
    mean_losses,
)


def _rows(n=12, q=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, q)), rng.normal(size=(n, 2)), rng.random((4, q)) < 0.5


@pytest.mark.parametrize("shape", [(12, 5), (6, 20)])
def test_masked_ridge_agrees_with_scikit_learn(shape):
    X, y, masks = _rows(*shape)
    designs = masked_designs(X, masks)
    assert designs.shape[2] == min(shape)
    weights = np.full((1, shape[0]), 1 / shape[0])
    coefs = fit_batch(designs, weights, y, 0.1, "squared")
    losses = mean_losses(designs, coefs, y, "squared")
    for mask, loss in zip(masks, losses, strict=True):
        fit = Ridge(alpha=0.1 * shape[0]).fit(X * mask, y)
        assert loss == pytest.approx(
            ((fit.predict(X * mask) - y) ** 2).mean(axis=0).sum(), rel=1e-5
        )


@pytest.mark.parametrize("shape", [(12, 5), (6, 20)])
@pytest.mark.parametrize("penalty", [1e-4, 1e-1])
def test_masked_logistic_agrees_with_a_general_minimiser(shape, penalty):
    X, y, masks = _rows(*shape)
    codes = (y > 0).astype(float)
    designs = masked_designs(X, masks)
    weights = np.full((1, shape[0]), 1 / shape[0])
    coefs = fit_batch(designs, weights, codes, penalty, "logistic")
    fitted = np.einsum("klr,kcr->kcl", designs, coefs[..., :-1]) + coefs[..., -1:]
    for k, mask in enumerate(masks):
        for c in range(2):

            def cost(theta, mask=mask, t=codes[:, c]):
                f = (X * mask) @ theta[:-1] + theta[-1]
                return (np.logaddexp(0, f) - t * f).mean() + penalty * theta[:-1] @ theta[:-1]

            best = minimize(cost, np.zeros(shape[1] + 1), options={"gtol": 1e-8}).fun
            data = (np.logaddexp(0, fitted[k, c]) - codes[:, c] * fitted[k, c]).mean()
            ours = data + penalty * (coefs[k, c, :-1] ** 2).sum()
            assert ours == pytest.approx(best, abs=2e-4)


def test_row_weights_select_rows():
    X, y, _ = _rows()
    rows = np.array([[1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]]) / 7
    whole = fit_batch(X[None], rows, y, 0.1, "squared")
    part = fit_batch(X[None, :7], np.full((1, 7), 1 / 7), y[:7], 0.1, "squared")
    np.testing.assert_allclose(whole, part)


def test_rows_of_one_class_stay_finite():
    X, _, _ = _rows()
    coefs = fit_batch(X[None], np.full((1, 12), 1 / 12), np.ones((12, 1)), 1e-2, "logistic")
    assert np.isfinite(coefs).all()
    assert coefs[0, 0, -1] > 3


def test_constant_losses():
    y = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert constant_loss(y, "logistic") == pytest.approx(np.log(2))
    assert constant_loss(y, "squared") == pytest.approx(0.25)
    assert constant_loss(np.ones((3, 1)), "squared") == 1.0
