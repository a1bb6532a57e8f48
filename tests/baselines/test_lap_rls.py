"""LapRLS against kernel ridge regression, its own gradient and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from expected_checks import expected_failures
from scipy.optimize import approx_fprime
from sklearn.datasets import make_moons
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.lap_rls import LapRLSClassifier, LapRLSRegressor, laprls_coefficients
from s2mam.baselines.shared.affinity import gaussian_kernel, laplacian, neighbor_weights
from s2mam.exceptions import DegenerateGraphWarning, InvalidInputError


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 3.0
    hidden = rng.permutation(40)[12:]
    return X, y, hidden


def _marked(y, hidden):
    marked = y.copy()
    marked[hidden] = np.nan
    return marked


def test_without_the_graph_it_is_kernel_ridge_on_the_labelled_rows(data):
    X, y, hidden = data
    seen = np.setdiff1d(np.arange(40), hidden)
    model = LapRLSRegressor(ambient=0.02, intrinsic=0.0, width=1.3, center=False, scale=None)
    model.fit(X, _marked(y, hidden))
    ridge = KernelRidge(alpha=0.02 * seen.size, kernel="rbf", gamma=1 / 1.3**2)
    ridge.fit(X[seen], y[seen])
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-9)
    np.testing.assert_allclose(model.coef_[hidden], 0.0, atol=1e-12)


def test_centring_adds_the_mean_back(data):
    X, y, hidden = data
    seen = np.setdiff1d(np.arange(40), hidden)
    model = LapRLSRegressor(ambient=0.02, intrinsic=0.0, width=1.3, scale=None)
    model.fit(X, _marked(y, hidden))
    ridge = KernelRidge(alpha=0.02 * seen.size, kernel="rbf", gamma=1 / 1.3**2)
    ridge.fit(X[seen], y[seen] - y[seen].mean())
    np.testing.assert_allclose(model.predict(X), ridge.predict(X) + y[seen].mean(), atol=1e-9)


def test_all_rows_labelled_without_the_graph_is_kernel_ridge(data):
    X, y, _ = data
    model = LapRLSRegressor(ambient=0.1, intrinsic=0.0, width=2.0, center=False, scale=None)
    ridge = KernelRidge(alpha=4.0, kernel="rbf", gamma=0.25).fit(X, y)
    np.testing.assert_allclose(model.fit(X, y).predict(X), ridge.predict(X), atol=1e-9)


def test_an_empty_graph_is_the_same_as_no_penalty(data):
    X, y, hidden = data
    with pytest.warns(DegenerateGraphWarning):
        empty = LapRLSRegressor(graph="rbf", graph_width=1e-4).fit(X, _marked(y, hidden))
    none = LapRLSRegressor(intrinsic=0.0).fit(X, _marked(y, hidden))
    np.testing.assert_allclose(empty.predict(X), none.predict(X), atol=1e-9)


def test_a_huge_graph_penalty_gives_a_constant(data):
    X, y, hidden = data
    model = LapRLSRegressor(intrinsic=1e9, ambient=1e-6).fit(X, _marked(y, hidden))
    assert np.ptp(model.transduction_) < 1e-2 * np.ptp(y)


def test_coefficients_are_a_stationary_point():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(9, 2))
    kernel, graph = gaussian_kernel(table, table, 1.5), laplacian(neighbor_weights(table, 3))
    labeled, targets = np.array([6, 0, 3]), rng.normal(size=3)
    found = laprls_coefficients(kernel, graph, labeled, targets, ambient=0.1, intrinsic=30.0)

    def objective(a):
        f = kernel @ a
        loss = ((targets - f[labeled]) ** 2).mean()
        return loss + 0.1 * a @ kernel @ a + 30.0 / 81 * f @ graph @ f

    np.testing.assert_allclose(approx_fprime(found, objective, 1e-7), 0.0, atol=1e-5)


def test_several_targets_are_solved_as_each_alone():
    rng = np.random.default_rng(2)
    table = rng.normal(size=(12, 2))
    kernel, graph = gaussian_kernel(table, table, 1.5), laplacian(neighbor_weights(table, 3))
    targets = rng.normal(size=(4, 3))
    options = {"ambient": 0.1, "intrinsic": 1.0}
    joint = laprls_coefficients(kernel, graph, np.arange(4), targets, **options)
    for k in range(3):
        alone = laprls_coefficients(kernel, graph, np.arange(4), targets[:, k], **options)
        np.testing.assert_allclose(joint[:, k], alone, atol=1e-10)


def test_transduction_is_the_prediction_of_the_training_rows(data):
    X, y, hidden = data
    model = LapRLSRegressor().fit(X, _marked(y, hidden))
    np.testing.assert_allclose(model.transduction_, model.predict(X), atol=1e-9)


def test_two_moons_follow_the_graph():
    X, y = make_moons(200, noise=0.05, random_state=0)
    marked = np.full(200, -1)
    for code in (0, 1):
        marked[np.flatnonzero(y == code)[0]] = code
    options = {"ambient": 1e-3, "width": 0.5, "n_neighbors": 6}
    with_graph = LapRLSClassifier(intrinsic=1e4, **options).fit(X, marked)
    without = LapRLSClassifier(intrinsic=0.0, **options).fit(X, marked)
    assert (with_graph.transduction_ == y).mean() > 0.95
    assert (without.transduction_ == y).mean() < 0.9


def test_three_classes_are_one_against_the_rest():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) * 0.3 + np.array([[0, 0], [3, 0], [0, 3]])[y]
    marked = np.where(np.arange(60) % 20 < 2, y, -1)
    model = LapRLSClassifier().fit(X, marked)
    assert model.decision_function(X).shape == (60, 3)
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize(
    ("name", "value"),
    [("ambient", 0.0), ("intrinsic", -1.0), ("width", "x"), ("graph", "x"), ("n_neighbors", 0)],
)
def test_bad_parameters_are_named(data, name, value):
    X, y, hidden = data
    with pytest.raises(InvalidInputError, match=f"{name}="):
        LapRLSRegressor(**{name: value}).fit(X, _marked(y, hidden))


@parametrize_with_checks(
    [LapRLSRegressor(), LapRLSClassifier(), LapRLSClassifier(unlabeled=None)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_laprls(estimator, check):
    check(estimator)
