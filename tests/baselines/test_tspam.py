"""TSpAM: the limits of the tilt, stationarity and robustness."""

from __future__ import annotations

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from additive_data import block_norms, class_rows, falls, objective_of, regression_rows
from expected_checks import expected_failures
from scipy.stats import norm
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.shared.additive import standardized
from s2mam.baselines.shared.blocks import SplineBlocks
from s2mam.baselines.shared.tilt import logistic_losses, tilted_weights
from s2mam.baselines.spam import SpAMClassifier, SpAMRegressor
from s2mam.baselines.tspam import TSpAMClassifier, TSpAMRegressor
from s2mam.exceptions import InvalidInputError


def blocks_of(X, df=3):
    return SplineBlocks.fit((X - X.mean(0)) / X.std(0), df)


@pytest.mark.parametrize("t", [0.0, 1e-4, -1e-4])
def test_without_tilt_it_is_spam(t):
    X, y = regression_rows()
    plain, tilted = SpAMRegressor(lam=0.1).fit(X, y), TSpAMRegressor(lam=0.1, t=t).fit(X, y)
    np.testing.assert_allclose(tilted.predict(X), plain.predict(X), atol=1e-3)
    np.testing.assert_array_equal(tilted.support_, plain.support_)
    X, y = class_rows()
    plain, tilted = SpAMClassifier(lam=0.05).fit(X, y), TSpAMClassifier(lam=0.05, t=t).fit(X, y)
    np.testing.assert_allclose(tilted.decision_function(X), plain.decision_function(X), atol=1e-2)


def test_positive_tilt_matches_a_cone_solver():
    X, y = regression_rows(n=40, columns=4)
    t, lam = 2.0, 0.1
    model = TSpAMRegressor(lam=lam, t=t, tol=1e-9).fit(X, y)
    target, _, _ = standardized(y)
    blocks = blocks_of(X)
    b, c = cp.Variable(blocks.features.shape[1]), cp.Variable()
    losses = cp.square(blocks.features @ b + c - target) / 2
    tilted = (cp.log_sum_exp(t * losses) - np.log(40)) / t
    problem = cp.Problem(cp.Minimize(tilted + lam * block_norms(b, blocks.offsets)))
    assert objective_of(model) == pytest.approx(problem.solve(solver=cp.CLARABEL), rel=1e-5)


def test_a_huge_tilt_tends_to_the_smallest_largest_loss():
    X, y = regression_rows(n=30, columns=4)
    lam = 0.05
    model = TSpAMRegressor(lam=lam, t=2000.0, max_iter=50_000).fit(X, y)
    target, _, _ = standardized(y)
    blocks = blocks_of(X)
    b, c = cp.Variable(blocks.features.shape[1]), cp.Variable()
    worst = cp.max(cp.square(blocks.features @ b + c - target) / 2)
    problem = cp.Problem(cp.Minimize(worst + lam * block_norms(b, blocks.offsets)))
    # the tilted mean lies below the maximum by at most log(l) / t
    expected = problem.solve(solver=cp.CLARABEL)
    assert expected - np.log(30) / 2000 - 1e-6 <= objective_of(model) <= expected + 1e-3


@pytest.mark.parametrize("t", [-3.0, -0.5, 0.5, 3.0])
def test_the_end_is_stationary_and_the_objective_falls(t):
    X, y = class_rows(n=40)
    y[:4] = 1 - y[:4]
    lam = 0.05
    model = TSpAMClassifier(lam=lam, t=t, tol=1e-8, df=3).fit(X, y)
    assert falls(model.history_[0])
    function, signs = model._functions[0], 2.0 * y - 1.0
    features = function.blocks.features
    losses, slopes = logistic_losses(signs, features @ function.coef + function.intercept)
    gradient = tilted_weights(losses, t) * slopes
    assert abs(gradient.sum()) < 1e-4
    for a, b in pairwise(function.blocks.offsets):
        part, pull = function.coef[a:b], features[:, a:b].T @ gradient
        size = np.linalg.norm(part)
        if size:
            np.testing.assert_allclose(pull, -lam * part / size, atol=1e-4)
        else:
            assert np.linalg.norm(pull) <= lam + 1e-4


def eight_components(X):
    u = X.T
    return (
        -2 * np.sin(2 * u[0])
        + 8 * u[1] ** 2
        + 7 * np.sin(u[2]) / (2 - np.sin(u[2]))
        + 6 * np.exp(-u[3])
        + u[4] ** 3
        + 1.5 * (u[4] - 1) ** 2
        + 5 * u[5]
        + 10 * np.sin(np.exp(-u[6] / 2))
        - 10 * norm.cdf((u[7] - 0.5) / 0.8)
    )


def test_negative_tilt_resists_gross_outliers():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 20))
    clean = eight_components(X)
    y = clean + rng.normal(size=300)
    y[:10] += 60.0  # a tenth of the labelled rows
    y[100:] = np.nan
    errors = {}
    for t in (0.0, -2.0):
        model = TSpAMRegressor(lam=0.02, t=t).fit(X, y)
        errors[t] = np.mean((model.predict(X[100:]) - clean[100:]) ** 2)
    assert errors[-2.0] < 0.5 * errors[0.0]
    assert model.row_weights_.sum() == pytest.approx(1.0)
    assert model.row_weights_[:10].max() < 0.1 * model.row_weights_[10:].mean()


def test_positive_tilt_lifts_the_rare_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=200) > 1.4).astype(int)
    hits = {}
    for t in (0.0, 5.0):
        predicted = TSpAMClassifier(lam=0.02, t=t).fit(X, y).predict(X)
        hits[t] = np.mean(predicted[y == 1])
    assert hits[5.0] > hits[0.0]


def test_extreme_losses_do_not_overflow():
    X, y = regression_rows()
    y[0] = 1e8
    for t in (-10.0, 10.0):
        assert np.isfinite(TSpAMRegressor(t=t).fit(X, y).predict(X)).all()


def test_fourier_features_learn_and_are_repeatable():
    X, y = regression_rows()
    models = [TSpAMRegressor(lam=0.02, basis="fourier", random_state=3).fit(X, y) for _ in "ab"]
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))
    assert models[0].score(X, y) > 0.8


@pytest.mark.parametrize(
    "bad",
    [{"lam": -1}, {"t": np.nan}, {"t": "x"}, {"basis": "b"}, {"max_iter": 0}, {"tol": 0}],
)
def test_bad_parameters_are_named(bad):
    X, y = regression_rows()
    with pytest.raises(InvalidInputError, match=next(iter(bad))):
        TSpAMRegressor(**bad).fit(X, y)


def test_bad_fourier_size_is_named():
    X, y = regression_rows()
    with pytest.raises(InvalidInputError, match="n_components"):
        TSpAMRegressor(basis="fourier", n_components=0).fit(X, y)


@parametrize_with_checks(
    [
        TSpAMRegressor(lam=0.05, t=-0.2),
        TSpAMClassifier(),
        TSpAMClassifier(t=0.5, basis="fourier", unlabeled=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
