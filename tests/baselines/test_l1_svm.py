"""l1-SVM: the program against a cone solver, its limits and the margin."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from additive_data import class_rows
from expected_checks import expected_failures
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.l1_svm import L1SVMClassifier
from s2mam.exceptions import InvalidInputError


def smallest_emptying_penalty(X, signs):
    """From the conditions of the dual: the rare class at its bound, the other free to balance."""
    rows = len(signs)
    major = 1.0 if (signs > 0).mean() >= 0.5 else -1.0
    dual = cp.Variable(rows)
    constraints = [dual >= 0, dual <= 1, dual @ signs == 0, dual[signs != major] == 1]
    size = cp.norm_inf((X * signs[:, None]).T @ dual) / rows
    return cp.Problem(cp.Minimize(size), constraints).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("lam", [1e-4, 1e-2, 0.1, 0.3])
@pytest.mark.parametrize("rows", [12, 60])
def test_objective_matches_a_cone_solver(lam, rows):
    X, y = class_rows(n=rows, columns=20)
    model = L1SVMClassifier(lam=lam, scale=None).fit(X, y)
    b, c = cp.Variable(20), cp.Variable()
    margins = cp.multiply(2.0 * y - 1.0, X @ b + c)
    loss = cp.sum(cp.pos(1 - margins)) / rows + lam * cp.norm1(b)
    expected = cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    assert model.objective_[0] == pytest.approx(expected, abs=1e-6)
    own = np.maximum(0, 1 - (2.0 * y - 1.0) * model.decision_function(X)).mean()
    assert own + lam * np.abs(model.coef_).sum() == pytest.approx(expected, abs=1e-6)
    assert np.count_nonzero(model.coef_) <= rows


def test_the_edge_of_balanced_classes_is_the_largest_difference_of_sums():
    X, y = class_rows(n=40)
    signs = 2.0 * y - 1.0
    edge = np.abs(X.T @ signs).max() / 40
    assert smallest_emptying_penalty(X, signs) == pytest.approx(edge, rel=1e-5)
    assert not L1SVMClassifier(lam=edge * 1.001, scale=None).fit(X, y).support_.any()
    assert L1SVMClassifier(lam=edge * 0.99, scale=None).fit(X, y).support_.any()


def test_above_the_edge_the_majority_wins():
    X, y = class_rows(n=40)
    y[np.flatnonzero(y == 0)[:9]] = 1
    edge = smallest_emptying_penalty(X, 2.0 * y - 1.0)
    above = L1SVMClassifier(lam=edge * 1.001, scale=None).fit(X, y)
    assert not above.support_.any()
    np.testing.assert_allclose(above.intercept_, 1.0)
    assert (above.predict(X) == 1).all()
    assert L1SVMClassifier(lam=edge * 0.99, scale=None).fit(X, y).support_.any()


def test_separable_line_gives_the_widest_margin():
    x = np.array([-3.0, -2.0, -1.0, 2.0, 4.0])[:, None]
    model = L1SVMClassifier(lam=1e-6, scale=None).fit(x, x[:, 0] > 0)
    assert -model.intercept_[0] / model.coef_[0, 0] == pytest.approx(0.5)
    assert model.coef_[0, 0] == pytest.approx(2.0 / 3.0)


def test_three_classes_and_unlabelled_rows():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 8)) + 4.0 * np.eye(3, 8)[y]
    partial = np.where(np.arange(90) < 30, y, -1)
    model = L1SVMClassifier(lam=0.01).fit(X, partial)
    assert model.coef_.shape == (3, 8)
    assert np.mean(model.transduction_ == y) > 0.9
    assert np.argsort(model.feature_weights_)[-3:].max() < 3


def test_bad_penalty_is_named():
    X, y = class_rows()
    with pytest.raises(InvalidInputError, match="lam=0"):
        L1SVMClassifier(lam=0).fit(X, y)


@parametrize_with_checks(
    [L1SVMClassifier(lam=0.01), L1SVMClassifier(lam=0.01, unlabeled=None)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
