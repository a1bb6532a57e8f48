"""SpAM: closed forms, backfitting, cone solvers and the edge of selection."""

from __future__ import annotations

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from additive_data import block_norms, class_rows, falls, objective_of, regression_rows
from expected_checks import expected_failures
from scipy.interpolate import CubicSpline
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.shared.additive import standardized
from s2mam.baselines.shared.blocks import SplineBlocks
from s2mam.baselines.shared.groups import group_threshold
from s2mam.baselines.shared.hinge import WIDTH
from s2mam.baselines.spam import SpAMClassifier, SpAMRegressor
from s2mam.baselines.tspam import TSpAMClassifier, TSpAMRegressor
from s2mam.exceptions import InvalidInputError

LOSSES = ("logistic", "squared", "hinge")


def blocks_of(X, df=3):
    return SplineBlocks.fit((X - X.mean(0)) / X.std(0), df)


def test_one_column_without_penalty_is_least_squares_on_natural_splines():
    X, y = regression_rows(columns=4)
    x = X[:, [3]]
    model = SpAMRegressor(lam=0.0).fit(x, y)
    knots = np.quantile(x, np.linspace(0, 1, 4))
    basis = np.column_stack([CubicSpline(knots, e, bc_type="natural")(x[:, 0]) for e in np.eye(4)])
    expected = basis @ np.linalg.lstsq(basis, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(x), expected, atol=1e-6)


def test_one_column_has_a_closed_form():
    X, y = regression_rows()
    x, lam = X[:, [1]], 0.3
    model = SpAMRegressor(lam=lam, tol=1e-12).fit(x, y)
    U = blocks_of(x).features / np.sqrt(len(y))
    target, center, spread = standardized(y)
    # in the units of orthonormal blocks: threshold n * lam_SAM = sqrt(n) * lam
    beta = group_threshold(U.T @ target, np.sqrt(len(y)) * lam)
    np.testing.assert_allclose(model.predict(x), center + spread * (U @ beta), atol=1e-6)


def sparse_backfitting(smoothers, target, lam, sweeps=3000):
    parts = np.zeros((len(smoothers), len(target)))
    for _ in range(sweeps):
        before = parts.copy()
        for j, S in enumerate(smoothers):
            smooth = S @ (target - parts.sum(axis=0) + parts[j])
            norm = np.sqrt(np.mean(smooth**2))
            parts[j] = max(0.0, 1.0 - lam / norm) * smooth if norm else 0.0
            parts[j] -= parts[j].mean()
        if np.abs(parts - before).max() < 1e-11:
            break
    return parts


def block_descent(blocks, target, lam, sweeps=3000):
    rows = len(target)
    U = blocks.features / np.sqrt(rows)
    beta = np.zeros(U.shape[1])
    for _ in range(sweeps):
        for a, b in pairwise(blocks.offsets):
            rest = target - U @ beta + U[:, a:b] @ beta[a:b]
            beta[a:b] = group_threshold(U[:, a:b].T @ rest, np.sqrt(rows) * lam)
    return U, beta


def test_backfitting_and_block_descent_reach_the_same_function():
    X, y = regression_rows()
    lam = 0.1
    model = SpAMRegressor(lam=lam, tol=1e-13).fit(X, y)
    target, center, spread = standardized(y)
    blocks = blocks_of(X)
    U, beta = block_descent(blocks, target, lam, sweeps=400)
    pairs = list(pairwise(blocks.offsets))
    parts = sparse_backfitting([U[:, a:b] @ U[:, a:b].T for a, b in pairs], target, lam)
    np.testing.assert_allclose(parts.sum(axis=0), U @ beta, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), center + spread * (U @ beta), atol=1e-5)
    norms = spread * np.sqrt(np.mean(parts**2, axis=1))
    np.testing.assert_allclose(model.feature_weights_, norms, atol=1e-5)
    np.testing.assert_array_equal(model.support_, norms > 0)
    assert model.support_[[1, 3]].all()
    assert not model.support_.all()


@pytest.mark.parametrize("loss", LOSSES)
def test_classification_matches_a_cone_solver(loss):
    X, y = class_rows(n=40, columns=5)
    y[:5] = 1 - y[:5]
    lam = 0.1
    model = SpAMClassifier(lam=lam, loss=loss, df=3, tol=1e-9, max_iter=50_000).fit(X, y)
    blocks, s = blocks_of(X), 2.0 * y - 1.0
    b, c = cp.Variable(blocks.features.shape[1]), cp.Variable()
    f = blocks.features @ b + c
    if loss == "logistic":
        value = cp.sum(cp.logistic(-cp.multiply(s, f))) / 40
    elif loss == "squared":
        value = cp.sum_squares(f - s) / 80
    else:  # the rounded hinge is the hinge's envelope of half squared distances
        z = cp.Variable(40)
        short = 1 - cp.multiply(s, f)
        value = (cp.sum(cp.pos(z)) + cp.sum_squares(short - z) / (2 * WIDTH)) / 40
    total = value + lam * block_norms(b, blocks.offsets)
    expected = cp.Problem(cp.Minimize(total)).solve(solver=cp.CLARABEL)
    assert objective_of(model) == pytest.approx(expected, rel=1e-5)
    assert falls(model.history_[0])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("moved", [0, 7])
def test_selection_ends_exactly_at_lambda_max(loss, moved):
    X, y = class_rows(n=40)
    y[np.flatnonzero(y == 0)[:moved]] = 1  # classes of unequal size
    edge = SpAMClassifier(loss=loss).fit(X, y).lambda_max_
    above = SpAMClassifier(loss=loss, lam=edge * (1 + 1e-6)).fit(X, y)
    assert not above.support_.any()
    assert np.ptp(above.decision_function(X)) == 0.0
    if moved:
        assert (above.predict(X) == 1).all()
    below = SpAMClassifier(loss=loss, lam=edge * 0.97, tol=1e-9).fit(X, y)
    assert below.get_support(indices=True).size >= 1


def test_regression_ends_exactly_at_lambda_max():
    X, y = regression_rows()
    edge = SpAMRegressor().fit(X, y).lambda_max_
    target, _, _ = standardized(y)
    blocks = blocks_of(X)
    norms = [
        np.linalg.norm(blocks.features[:, a:b].T @ target) / len(y)
        for a, b in pairwise(blocks.offsets)
    ]
    assert edge == pytest.approx(max(norms))
    above = SpAMRegressor(lam=edge * (1 + 1e-9)).fit(X, y)
    np.testing.assert_allclose(above.predict(X), y.mean())
    assert not above.support_.any()
    assert SpAMRegressor(lam=edge * 0.99).fit(X, y).support_.sum() == 1


def test_objective_falls_and_units_of_the_target_do_not_matter():
    X, y = regression_rows()
    model = SpAMRegressor(lam=0.05).fit(X, y)
    assert falls(model.history_)
    other = SpAMRegressor(lam=0.05).fit(X, 1e6 * y - 3.0)
    np.testing.assert_allclose(other.predict(X), 1e6 * model.predict(X) - 3.0, rtol=1e-6)


def test_only_labelled_rows_count():
    X, y = regression_rows()
    partial = np.where(np.arange(len(y)) < 30, y, np.nan)
    few = SpAMRegressor(scale=None).fit(X[:30], y[:30])
    all_rows = SpAMRegressor(scale=None).fit(X, partial)
    np.testing.assert_allclose(all_rows.predict(X), few.predict(X))
    np.testing.assert_allclose(all_rows.transduction_, few.predict(X))


def test_values_outside_the_labelled_range_are_clipped():
    X, y = regression_rows()
    model = SpAMRegressor(lam=0.05).fit(X, y)
    ends = X.max(axis=0)
    np.testing.assert_allclose(*model.predict(np.vstack([ends, ends + 50.0])))


def test_ten_labels_and_constant_columns():
    X, y = class_rows(n=200, columns=100)
    X[:, 7] = 1.0
    partial = np.full(200, -1)
    partial[:10] = y[:10]
    model = SpAMClassifier(lam=0.01).fit(X, partial)
    assert not model.support_[7]
    assert (model.predict(X[:10]) == y[:10]).all()


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("kind", [SpAMClassifier, TSpAMClassifier, SpAMRegressor, TSpAMRegressor])
def test_the_order_of_the_columns_does_not_matter_with_few_labels(kind, size):
    X, y = class_rows(n=60, columns=30, seed=size)
    shown = np.r_[np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[: size - 2]]
    is_class = kind in (SpAMClassifier, TSpAMClassifier)
    target = np.full(60, -1 if is_class else np.nan)
    target[shown] = y[shown] if is_class else X[shown, 1] + X[shown, 2] ** 2
    order = np.random.default_rng(0).permutation(30)
    plain, moved = (kind(lam=0.05, tol=1e-8).fit(table, target) for table in (X, X[:, order]))
    np.testing.assert_array_equal(plain.support_[order], moved.support_)
    np.testing.assert_allclose(plain.feature_weights_[order], moved.feature_weights_, atol=1e-3)
    np.testing.assert_allclose(plain.predict(X), moved.predict(X[:, order]), atol=1e-2)


def test_three_classes_use_one_function_each():
    X, _ = class_rows(n=90)
    y = np.digitize(X[:, 1], [-0.3, 0.3])
    model = SpAMClassifier(lam=0.05).fit(X, y)
    assert model.decision_function(X).shape == (90, 3)
    assert np.mean(model.predict(X) == y) > 0.9
    assert len(model.history_) == 3


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (SpAMRegressor(lam=-1.0), "lam"),
        (SpAMRegressor(df=0), "df"),
        (SpAMRegressor(tol=0.0), "tol"),
        (SpAMClassifier(lam=0.0), "lam"),
        (SpAMClassifier(loss="l2"), "loss"),
    ],
)
def test_bad_parameters_are_named(estimator, name):
    X, y = class_rows()
    with pytest.raises(InvalidInputError, match=name):
        estimator.fit(X, y)


@parametrize_with_checks(
    [
        SpAMRegressor(lam=0.05),
        SpAMClassifier(lam=0.05),
        SpAMClassifier(lam=0.05, loss="hinge", tol=1e-3, unlabeled=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
