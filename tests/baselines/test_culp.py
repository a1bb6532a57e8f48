"""Culp's models against harmonic functions, penalised regression and supervised limits."""

from __future__ import annotations

import numpy as np
import pytest
from expected_checks import expected_failures
from scipy.special import expit
from sklearn.datasets import make_moons
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.culp import CulpAdditiveClassifier, CulpAdditiveRegressor
from s2mam.baselines.shared.affinity import laplacian, neighbor_weights, rbf_weights
from s2mam.baselines.shared.harmonic import harmonic_values
from s2mam.baselines.shared.propagation import (
    additive_fixed_point,
    labeled_hat,
    row_smoother,
    spread_averages,
)
from s2mam.baselines.shared.spline_features import SplineFeatures
from s2mam.exceptions import InvalidInputError


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(40, 3))


def _joint_smoother(kernel, averages, importance, smoothing):
    """Hat matrix of backfitting a penalised fit and averages, by running it."""
    spline = kernel @ np.linalg.inv(kernel + np.diag(smoothing / importance))
    first, second = np.zeros((2, *kernel.shape))
    for _ in range(3000):
        first = spline @ (np.eye(len(kernel)) - second)
        second = averages @ (np.eye(len(kernel)) - first)
    return first + second


def _propagated(smoother, labeled, values):
    """Fit of all rows when hidden values are solved for: (I - R_UU)^-1 R_UL y_L."""
    hidden = np.setdiff1d(np.arange(len(smoother)), labeled)
    inner = np.eye(hidden.size) - smoother[np.ix_(hidden, hidden)]
    filled = np.zeros(len(smoother))
    filled[labeled] = values
    filled[hidden] = np.linalg.solve(inner, smoother[np.ix_(hidden, labeled)] @ values)
    return smoother @ filled


def _fixed_point(kernel, averages, labeled, values, importance, smoothing):
    spread = spread_averages(averages, labeled, importance)
    return additive_fixed_point(kernel[:, labeled], spread, values, importance[labeled], smoothing)


def test_it_is_the_propagation_of_the_backfitted_smoother(table):
    features = SplineFeatures(table, 6).values(table)
    kernel = features @ features.T
    rng = np.random.default_rng(3)
    importance, values = rng.uniform(0.5, 1.0, size=40), rng.normal(size=8)
    averages = row_smoother(neighbor_weights(table, 8), importance)
    labeled = np.array([5, 39, 0, 12, 7, 22, 31, 18])
    found = _fixed_point(kernel, averages, labeled, values, importance, 0.7)
    smoother = _joint_smoother(kernel, averages, importance, 0.7)
    np.testing.assert_allclose(found.fitted, _propagated(smoother, labeled, values), atol=1e-8)


def test_it_is_the_limit_of_refitting_to_its_own_predictions(table):
    features = SplineFeatures(table, 6).values(table)
    kernel, ones = features @ features.T, np.ones(40)
    values = np.random.default_rng(2).normal(size=8)
    averages = row_smoother(neighbor_weights(table, 8), ones)
    smoother = _joint_smoother(kernel, averages, ones, 1.0)
    filled = np.zeros(40)
    for _ in range(5000):
        filled[:8] = values
        filled = smoother @ filled
    found = _fixed_point(kernel, averages, np.arange(8), values, ones, 1.0)
    np.testing.assert_allclose(filled, found.fitted, atol=1e-8)


def test_unpenalised_lines_are_supervised_least_squares(table):
    labeled = np.array([30, 2, 9, 17, 25, 8])
    values = np.random.default_rng(1).normal(size=6)
    ols = LinearRegression().fit(table[labeled], values)
    design = np.column_stack([np.ones(40), table])
    hat = design @ np.linalg.pinv(design)
    np.testing.assert_allclose(_propagated(hat, labeled, values), ols.predict(table), atol=1e-9)
    mean = np.full((40, 40), 1 / 40)
    found = _fixed_point(table @ table.T, mean, labeled, values, np.ones(40), 1e-9)
    np.testing.assert_allclose(found.fitted, ols.predict(table), atol=1e-5)


@pytest.mark.parametrize("loops", [0.0, 1.0])
def test_a_graph_smoother_alone_is_the_harmonic_function(table, loops):
    weights = rbf_weights(table, 1.0)
    averages = row_smoother(weights + loops * np.eye(40), np.ones(40))
    labeled, values = np.array([4, 0, 33]), np.array([1.0, -2.0, 5.0])
    expected = harmonic_values(laplacian(weights), labeled, values)
    spread = spread_averages(averages, labeled, np.ones(40))
    np.testing.assert_allclose(spread.reach @ values, expected, atol=1e-9)


def test_the_estimator_with_rigid_splines_is_the_harmonic_function(table):
    y = np.full(40, np.nan)
    labeled = np.array([0, 4, 33])
    y[labeled] = [1.0, -2.0, 5.0]
    model = CulpAdditiveRegressor(smoothing=1e9, n_neighbors=6, scale=None).fit(table, y)
    expected = harmonic_values(laplacian(neighbor_weights(table, 6)), labeled, y[labeled])
    hidden = np.setdiff1d(np.arange(40), labeled)
    np.testing.assert_allclose(model.transduction_[hidden], expected[hidden], atol=1e-6)


def test_the_hat_matrix_maps_values_to_their_fit(table):
    """Column by column: the fit of a unit value is a column of the hat matrix."""
    averages, ones = row_smoother(rbf_weights(table, 1.0), np.ones(40)), np.ones(40)
    kernel, labeled = table @ table.T, np.arange(5)
    smoother = _joint_smoother(kernel, averages, ones, 30.0)
    spread = spread_averages(averages, labeled, ones)
    hat = labeled_hat(kernel[:, labeled], spread, np.ones(5), 30.0)
    columns = [_propagated(smoother, labeled, unit)[:5] for unit in np.eye(5)]
    np.testing.assert_allclose(hat, np.transpose(columns), atol=1e-8)


def test_splines_alone_are_penalised_regression_on_the_labelled_rows(table):
    """What the docstring says: without a graph the unlabelled rows add nothing but the basis."""
    y = np.full(40, np.nan)
    y[:12] = np.sin(table[:12, 0]) + table[:12, 1]
    model = CulpAdditiveRegressor(smoothing=0.3, graph=None, scale=None).fit(table, y)
    features = SplineFeatures(table, 8).values(table)
    seen = features[:12]
    centered, mean = seen - seen.mean(axis=0), y[:12].mean()
    kernel = centered @ centered.T + 0.3 * np.eye(12)
    coef = centered.T @ np.linalg.solve(kernel, y[:12] - mean)
    expected = mean + (features - seen.mean(axis=0)) @ coef
    np.testing.assert_allclose(model.transduction_, expected, atol=1e-7)
    np.testing.assert_allclose(model.predict(table), expected, atol=1e-7)


def test_all_rows_labelled_is_plain_backfitting(table):
    y = np.sin(table[:, 0])
    model = CulpAdditiveRegressor(smoothing=0.5, scale=None).fit(table, y)
    features = SplineFeatures(table, 8).values(table)
    averages = row_smoother(neighbor_weights(table, 10), np.ones(40))
    smoother = _joint_smoother(features @ features.T, averages, np.ones(40), 0.5)
    np.testing.assert_allclose(model.transduction_, smoother @ y, atol=1e-9)
    assert model.spectral_radius_ == 0.0


@pytest.mark.parametrize("graph", ["knn", "rbf", None])
def test_a_constant_target_is_kept(table, graph):
    y = np.where(np.arange(40) < 6, 7.0, np.nan)
    model = CulpAdditiveRegressor(graph=graph).fit(table, y)
    np.testing.assert_allclose(model.transduction_, 7.0, atol=1e-9)
    np.testing.assert_allclose(model.predict(table + 0.1), 7.0, atol=1e-9)


def test_rows_that_no_label_reaches_get_the_mean():
    weights = np.zeros((5, 5))
    weights[0, 1] = weights[1, 0] = weights[3, 4] = weights[4, 3] = 1.0
    spread = spread_averages(row_smoother(weights, np.ones(5)), np.array([0, 2]), np.ones(5))
    found = spread.reach @ [1.0, 4.0]
    np.testing.assert_allclose(found, [1.0, 1.0, 4.0, 2.5, 2.5], atol=1e-9)
    assert spread.radius == pytest.approx(1.0)


def test_shrinkage_draws_unlabelled_rows_to_the_mean(table):
    averages = row_smoother(rbf_weights(table, 1.0), np.ones(40))
    values = np.array([0.0, 1.0, 2.0, 9.0])
    distances = []
    for shrinkage in (0.2, 0.9, 1.0):
        spread = spread_averages(averages, np.arange(4), np.ones(40), shrinkage=shrinkage)
        np.testing.assert_allclose(spread.reach.sum(axis=1), 1.0)
        distances.append(np.abs(spread.reach[4:] @ values - 3.0).mean())
    assert distances[0] < distances[1] < distances[2]


def test_spectral_radius_is_that_of_the_block(table):
    averages = row_smoother(rbf_weights(table, 1.0), np.ones(40))
    exact = np.abs(np.linalg.eigvals(averages[3:, 3:])).max()
    found = spread_averages(averages, np.arange(3), np.ones(40)).radius
    assert found == pytest.approx(exact, abs=1e-4)
    assert exact < 1


def test_spline_features_are_centred_with_kernels_of_mean_one(table):
    features = SplineFeatures(table, 8).values(table)
    np.testing.assert_allclose(features.mean(axis=0), 0.0, atol=1e-12)
    assert (features**2).sum(axis=1).mean() == pytest.approx(1.0)


def test_spline_features_skip_constants_and_go_flat_or_straight_outside(table):
    table = np.column_stack([table[:, 0], np.ones(40)])
    spline = SplineFeatures(table, 6)
    assert spline.values(table).shape == (40, 5)
    top = table[:, 0].max()
    far = spline.values(np.array([[top, 1.0], [top + 1, 1.0], [top + 2, 3.0]]))
    np.testing.assert_allclose(far[1, 1:], far[0, 1:], atol=1e-9)
    assert far[2, 0] - far[1, 0] == pytest.approx(far[1, 0] - far[0, 0])


def test_cross_validation_chooses_the_least_score(table):
    labeled, ones = np.arange(20), np.ones(40)
    y = np.full(40, np.nan)
    y[:20] = np.sin(2 * table[:20, 0])
    features = SplineFeatures(table, 8).values(table)
    spread = spread_averages(row_smoother(neighbor_weights(table, 10), ones), labeled, ones)
    scores = {}
    for smoothing in (1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3):
        hat = labeled_hat(features @ features[:20].T, spread, np.ones(20), smoothing)
        scores[smoothing] = ((y[:20] - hat @ y[:20]) ** 2).sum() / (1 - hat.trace() / 20) ** 2
    model = CulpAdditiveRegressor(scale=None).fit(table, y)
    assert model.smoothing_ == min(scores, key=scores.get)


def test_additive_signal_is_learned_and_new_rows_agree_with_old_ones():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 3))
    truth = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    y = np.where(np.arange(200) < 50, truth, np.nan)
    model = CulpAdditiveRegressor().fit(X, y)
    assert model.score(X[50:], truth[50:]) > 0.85
    close = np.corrcoef(model.predict(X)[50:], model.transduction_[50:])[0, 1]
    assert close > 0.97


def test_scoring_is_the_fixed_point_of_the_logistic_working_response():
    """Without a graph the limit is penalised logistic regression on the labelled rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.7 * rng.normal(size=60) > 0).astype(int)
    marked = np.where(np.arange(60) < 30, y, -1)
    model = CulpAdditiveClassifier(smoothing=0.5, graph=None, scale=None).fit(X, marked)
    features = SplineFeatures(X, 8).values(X)
    scores = model.decision_function(X)
    residual = y[:30] - expit(scores[:30])
    coef = model._functions[0].coef
    np.testing.assert_allclose(0.5 * coef, features[:30].T @ residual, atol=1e-3)
    assert residual.sum() == pytest.approx(0.0, abs=1e-3)
    assert model.history_[0][-1] < 1e-3


def test_two_moons_with_few_labels_follow_the_graph():
    X, y = make_moons(200, noise=0.05, random_state=0)
    marked = np.full(200, -1)
    for code in (0, 1):
        marked[np.flatnonzero(y == code)[:3]] = code
    options = {"smoothing": 10.0, "scale": None}
    with_graph = CulpAdditiveClassifier(n_neighbors=6, **options).fit(X, marked)
    without = CulpAdditiveClassifier(graph=None, **options).fit(X, marked)
    assert (with_graph.transduction_ == y).mean() > 0.95
    assert (without.transduction_ == y).mean() < (with_graph.transduction_ == y).mean()


def test_more_classes_are_one_against_the_rest():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) * 0.3 + np.array([[0, 0], [3, 0], [0, 3]])[y]
    marked = np.where(np.arange(60) % 20 < 2, y, -1)
    model = CulpAdditiveClassifier().fit(X, marked)
    assert model.decision_function(X).shape == (60, 3)
    assert (model.predict(X) == y).mean() > 0.95
    assert (model.transduction_ == y).mean() > 0.95


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("smoothing", 0.0),
        ("smoothing", "aic"),
        ("n_basis", 3),
        ("graph", "full"),
        ("n_neighbors", 0),
        ("width", -1.0),
        ("shrinkage", 1.5),
        ("shrinkage", 0.0),
    ],
)
def test_bad_parameters_are_named(table, name, value):
    with pytest.raises(InvalidInputError, match=f"{name}="):
        CulpAdditiveRegressor(**{name: value}).fit(table, table[:, 0])


@parametrize_with_checks(
    [
        CulpAdditiveRegressor(),
        CulpAdditiveClassifier(),
        CulpAdditiveClassifier(unlabeled=None, smoothing=1.0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_culp(estimator, check):
    check(estimator)
