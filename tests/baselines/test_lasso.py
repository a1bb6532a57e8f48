"""Lasso and l1-logistic: conditions of optimality and scikit-learn's own answers."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from additive_data import class_rows, falls, regression_rows
from expected_checks import expected_failures
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.lasso import L1LogisticClassifier, LassoRegressor
from s2mam.exceptions import InvalidInputError


@pytest.mark.parametrize("lam", [1e-3, 1e-2, 0.1])
@pytest.mark.parametrize("rows", [12, 60])
def test_lasso_matches_a_cone_solver(lam, rows):
    X, y = regression_rows(n=rows, columns=20)
    y = (y - y.mean()) / y.std()
    model = LassoRegressor(lam=lam, scale=None, tol=1e-9).fit(X, y)
    b, c = cp.Variable(20), cp.Variable()
    loss = cp.sum_squares(X @ b + c - y) / (2 * rows) + lam * cp.norm1(b)
    expected = cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    own = np.mean((model.predict(X) - y) ** 2) / 2 + lam * np.abs(model.coef_).sum()
    assert own == pytest.approx(expected, abs=1e-6)


def test_lasso_ends_exactly_at_the_largest_correlation():
    X, y = regression_rows()
    edge = np.abs(np.corrcoef(X.T, y)[-1, :-1]).max()
    assert not LassoRegressor(lam=edge * (1 + 1e-9)).fit(X, y).support_.any()
    assert LassoRegressor(lam=edge * 0.99).fit(X, y).support_.sum() == 1


def test_units_of_the_target_do_not_matter():
    X, y = regression_rows()
    model = LassoRegressor().fit(X, y)
    other = LassoRegressor().fit(X, 5.0 - 1e3 * y)
    np.testing.assert_allclose(other.predict(X), 5.0 - 1e3 * model.predict(X), rtol=1e-5)


@pytest.mark.parametrize("lam", [1e-3, 1e-2, 0.1])
def test_logistic_matches_a_cone_solver(lam):
    X, y = class_rows(n=40, columns=20)
    y[:12] = 1
    model = L1LogisticClassifier(lam=lam, scale=None).fit(X, y)
    b, c = cp.Variable(20), cp.Variable()
    loss = cp.sum(cp.logistic(-cp.multiply(2.0 * y - 1.0, X @ b + c))) / 40 + lam * cp.norm1(b)
    expected = cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    assert model.history_[0][-1] == pytest.approx(expected, rel=1e-5)
    assert falls(model.history_[0])


def test_logistic_matches_scikit_learn():
    X, y = class_rows(n=60, columns=5)
    model = L1LogisticClassifier(lam=0.02, scale=None, tol=1e-10).fit(X, y)
    # a huge scale of the constant takes its penalty away
    other = LogisticRegression(
        C=1 / (60 * 0.02), l1_ratio=1, solver="liblinear", intercept_scaling=1e4, tol=1e-10
    )
    if "penalty" in other.get_params() and other.penalty == "l2":
        other.set_params(penalty="l1", l1_ratio=None)
    other.fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-3)


def test_logistic_ends_exactly_at_the_gradient_of_the_constant():
    X, y = class_rows(n=40)
    y[:10] = 1
    edge = np.abs(X.T @ (y - y.mean())).max() / 40
    above = L1LogisticClassifier(lam=edge * (1 + 1e-6), scale=None).fit(X, y)
    assert not above.support_.any()
    assert above.intercept_[0] == pytest.approx(np.log(y.mean() / (1 - y.mean())), abs=1e-4)
    assert L1LogisticClassifier(lam=edge * 0.98, scale=None).fit(X, y).support_.sum() == 1


@pytest.mark.parametrize("cls", [LassoRegressor, L1LogisticClassifier])
@pytest.mark.parametrize("bad", [{"lam": 0.0}, {"lam": "x"}, {"tol": -1.0}])
def test_bad_parameters_are_named(cls, bad):
    X, y = class_rows()
    with pytest.raises(InvalidInputError, match=next(iter(bad))):
        cls(**bad).fit(X, y)


@parametrize_with_checks(
    [
        LassoRegressor(lam=0.01),
        L1LogisticClassifier(lam=0.01),
        L1LogisticClassifier(lam=0.01, unlabeled=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
