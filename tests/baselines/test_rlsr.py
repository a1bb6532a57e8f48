"""RLSR against ridge regression, a convex solver and the conditions of the squared l2,1 norm."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from expected_checks import expected_failures
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.rlsr import RLSRClassifier, RLSRRegressor
from s2mam.baselines.shared.rescaled import ScaledRidge, column_shares, rescaled_least_squares
from s2mam.exceptions import InvalidInputError


def _problem(n=40, q=6, seed=0):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, q))
    codes = (table[:, 0] + table[:, 1] > 0).astype(int)
    return table, np.eye(2)[codes]


@pytest.mark.parametrize("q", [6, 70])
def test_uniform_column_weights_are_ridge_regression(q):
    table, targets = _problem(q=q)
    slopes = ScaledRidge(table, 0.3).solve(targets, np.full(q, 1 / q))
    ridge = Ridge(alpha=0.3 * q).fit(table, targets)
    np.testing.assert_allclose(slopes, ridge.coef_.T, atol=1e-9)


@pytest.mark.parametrize("q", [6, 70])
def test_exponent_zero_is_plain_ridge(q):
    table, targets = _problem(q=q)
    found = rescaled_least_squares(table, np.arange(40), targets, gamma=0.3, exponent=0.0)
    ridge = Ridge(alpha=0.3).fit(table, targets)
    np.testing.assert_allclose(found.map, ridge.coef_.T, atol=1e-9)
    np.testing.assert_allclose(found.shift, ridge.intercept_, atol=1e-9)


def test_columns_without_weight_stay_out_of_the_map():
    table, targets = _problem()
    weights = np.array([0.5, 0.5, 0, 0, 0, 0])
    slopes = ScaledRidge(table, 0.3).solve(targets, weights)
    assert not slopes[2:].any()
    alone = ScaledRidge(table[:, :2], 0.3).solve(targets, weights[:2])
    np.testing.assert_allclose(slopes[:2], alone, atol=1e-10)


@given(seed=st.integers(0, 10_000), exponent=st.floats(0.1, 3.0))
@settings(deadline=None, max_examples=30)
def test_column_shares_are_the_best_on_the_simplex(seed, exponent):
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(5, 2))
    theta = column_shares(slopes, exponent)
    assert theta.sum() == pytest.approx(1.0)

    def penalty(weights):
        return ((slopes**2).sum(axis=1) / weights**exponent).sum()

    for other in rng.dirichlet(np.ones(5), size=20):
        assert penalty(theta) <= penalty(np.maximum(other, 1e-9)) * (1 + 1e-9)


def test_eliminating_the_column_weights_leaves_the_squared_norm():
    slopes = np.random.default_rng(0).normal(size=(5, 3))
    theta = column_shares(slopes, 1.0)
    squared = np.linalg.norm(slopes, axis=1).sum() ** 2
    assert ((slopes**2).sum(axis=1) / theta).sum() == pytest.approx(squared, rel=1e-6)


def test_labelled_rows_alone_meet_the_conditions_of_the_squared_norm():
    table, targets = _problem()
    gamma = 4.0
    found = rescaled_least_squares(
        table, np.arange(40), targets, gamma=gamma, max_iter=200, max_inner=200, tol=1e-14
    )
    norms = np.linalg.norm(found.map, axis=1)
    slope = table.T @ (table @ found.map + found.shift - targets)
    active = norms > 1e-3
    assert 0 < active.sum() < 6
    directions = found.map[active] / norms[active, None]
    np.testing.assert_allclose(slope[active], -gamma * norms.sum() * directions, atol=1e-2)
    assert (np.linalg.norm(slope[~active], axis=1) <= gamma * norms.sum() * (1 + 1e-2)).all()


@pytest.mark.parametrize("simplex", [True, False])
def test_the_whole_problem_matches_a_convex_solver(simplex):
    table, targets = _problem(n=20, q=4, seed=3)
    targets = targets if simplex else table[:, :1] - 0.5 * table[:, 1:2]
    labeled = np.array([7, 0, 3, 12, 5, 9])
    found = rescaled_least_squares(
        table, labeled, targets[labeled], gamma=1.0, simplex=simplex, max_iter=3000, tol=1e-10
    )
    W, b = cp.Variable((4, targets.shape[1])), cp.Variable((1, targets.shape[1]))
    Y = cp.Variable(targets.shape)
    known = targets[labeled]
    rules = [Y[labeled] == known]
    if simplex:
        rules += [Y >= 0, cp.sum(Y, axis=1) == 1]
    else:
        lowest, highest = float(known.min()), float(known.max())
        rules += [Y - lowest >= 0, highest - Y >= 0]
    norms = cp.sum(cp.norm(W, axis=1))
    loss = cp.sum_squares(table @ W + np.ones((20, 1)) @ b - Y)
    best = cp.Problem(cp.Minimize(loss + cp.square(norms)), rules)
    best.solve(solver=cp.CLARABEL)
    assert found.objective[-1] == pytest.approx(best.value, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("q", [6, 70])
@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_the_objective_never_rises(q, exponent):
    table, targets = _problem(q=q)
    labeled = np.arange(0, 40, 3)
    found = rescaled_least_squares(
        table, labeled, targets[labeled], gamma=0.5, exponent=exponent, tol=0.0
    )
    steps = np.diff(found.objective)
    assert (steps <= 1e-9 * found.objective[0]).all()
    assert len(found.objective) > 5


def test_noise_columns_lose_their_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30))
    y = (X[:, 3] + X[:, 17] > 0).astype(int)
    marked = np.where(np.arange(200) < 60, y, -1)
    model = RLSRClassifier(gamma=20.0, n_features_to_select=2).fit(X, marked)
    np.testing.assert_array_equal(model.get_support(indices=True), [3, 17])
    assert model.feature_weights_.sum() == pytest.approx(1.0)
    assert model.feature_weights_[[3, 17]].sum() > 0.9


def test_hidden_numbers_stay_between_the_known_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(np.arange(60) < 20, X @ [2.0, 0.0, 0.0] + 5.0, np.nan)
    model = RLSRRegressor(gamma=0.1, n_features_to_select=1).fit(X, y)
    assert model.score(X, X @ [2.0, 0.0, 0.0] + 5.0) > 0.9
    np.testing.assert_array_equal(model.get_support(), [True, False, False])
    assert (np.diff(model.history_) <= 1e-9).all()


def test_several_classes_have_a_column_each():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 3)) * 0.4 + np.array([[0, 0, 0], [3, 0, 0], [0, 3, 0]])[y]
    model = RLSRClassifier().fit(X, np.where(np.arange(90) % 30 < 3, y, -1))
    assert model.coef_.shape == (3, 3)
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gamma", 0.0),
        ("exponent", -1.0),
        ("n_features_to_select", 0),
        ("max_iter", 0),
        ("max_inner", 0),
        ("tol", -1),
    ],
)
def test_bad_parameters_are_named(name, value):
    table, targets = _problem()
    with pytest.raises(InvalidInputError, match=f"{name}="):
        RLSRClassifier(**{name: value}).fit(table, targets[:, 1].astype(int))


@parametrize_with_checks(
    [RLSRRegressor(), RLSRClassifier(), RLSRClassifier(unlabeled=None)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_rlsr(estimator, check):
    check(estimator)
