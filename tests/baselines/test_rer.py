from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from expected_checks import expected_failures
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.rer import RERClassifier, RERRegressor
from s2mam.baselines.shared.affinity import laplacian
from s2mam.baselines.shared.harmonic import harmonic_values
from s2mam.baselines.shared.hidden_labels import regress_hidden_labels
from s2mam.exceptions import InvalidInputError


def _data(n=50, columns=5, labeled=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    y = 2 * X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=n)
    return X, y, np.where(np.arange(n) < labeled, y, np.nan)


@pytest.mark.parametrize("columns", [4, 30])
def test_hidden_labels_and_coefficients_are_found_together(columns):
    rng = np.random.default_rng(0)
    n, labeled = 12, np.array([0, 3, 7])
    X, Y = rng.normal(size=(n, columns)), rng.normal(size=(3, 2))
    weights = rng.uniform(size=(n, n))
    graph = laplacian(weights + weights.T)
    s, d = rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, columns)
    coef, intercept, values = regress_hidden_labels(X, labeled, Y, graph, s, d)

    def cost(w, b, f):
        gaps = X @ w + b - f
        return (s[:, None] * gaps**2).sum() + np.trace(f.T @ graph @ f) + (d[:, None] * w**2).sum()

    best = cost(coef, intercept, values)
    np.testing.assert_array_equal(values[labeled], Y)
    for _ in range(30):
        moved = values + 1e-3 * rng.normal(size=values.shape)
        moved[labeled] = Y
        w = coef + 1e-3 * rng.normal(size=coef.shape)
        assert best < cost(w, intercept + 1e-3 * rng.normal(size=2), moved)


def test_without_graph_it_is_the_robust_regression_with_column_selection():
    X, y, _ = _data()
    model = RERRegressor(
        penalty=3.0, smoothness=0.0, representation=0.0, max_iter=200, tol=1e-9, scale=None
    ).fit(X, y)
    w, b = cp.Variable(5), cp.Variable()
    target = (y - y.mean()) / y.std()
    goal = cp.norm1(X @ w + b - target) + 3.0 * cp.norm1(w)
    best = cp.Problem(cp.Minimize(goal)).solve()
    assert model.objective_[-1] == pytest.approx(best, rel=1e-4)
    np.testing.assert_array_equal(model.support_, np.abs(w.value) > 1e-2 * np.abs(w.value).max())


def test_robust_norm_for_several_classes():
    X, y, _ = _data()
    codes = np.digitize(y, [-1.0, 1.0])
    model = RERClassifier(
        penalty=2.0, smoothness=0.0, representation=0.0, max_iter=200, tol=1e-9, scale=None
    ).fit(X, codes)
    w, b = cp.Variable((5, 3)), cp.Variable((1, 3))
    gaps = X @ w + np.ones((50, 1)) @ b - np.eye(3)[codes]
    goal = cp.sum(cp.norm(gaps, 2, axis=1)) + 2.0 * cp.sum(cp.norm(w, 2, axis=1))
    best = cp.Problem(cp.Minimize(goal)).solve()
    assert model.objective_[-1] == pytest.approx(best, rel=1e-3)


def test_a_gross_error_in_a_label_hardly_moves_the_coefficients():
    X, y, _ = _data(labeled=50)
    spoiled = y.copy()
    spoiled[3] += 50.0
    options = {"smoothness": 0.0, "penalty": 0.1, "max_iter": 50, "tol": 1e-8, "scale": None}
    fits = [RERRegressor(**options).fit(X, target).predict(X) for target in (y, spoiled)]
    assert np.abs(fits[0] - fits[1]).max() < 0.2


@pytest.mark.parametrize("smoothness", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("rank_weight", ["auto", 0.0])
def test_the_objective_falls(smoothness, rank_weight):
    X, _, partial = _data()
    model = RERRegressor(smoothness=smoothness, rank_weight=rank_weight, tol=0.0).fit(X, partial)
    trace = np.array(model.objective_)
    assert trace.size > 2
    assert (np.diff(trace) <= 1e-6 * trace[:-1]).all()


def test_heavy_penalties_leave_the_harmonic_function_of_the_graph():
    X, _, partial = _data()
    model = RERRegressor(penalty=1e6, smoothness=1e5, representation=0.0, scale=None)
    model.fit(X, partial)
    graph = model._state.graph
    expected = harmonic_values(
        laplacian((graph + graph.T) / 2), np.arange(20), model._coding.matrix
    )
    assert np.abs(model._state.coef).max() < 1e-4
    np.testing.assert_allclose(model._state.values, expected, atol=1e-3)


def test_columns_that_matter_weigh_most():
    X, _, partial = _data(labeled=30)
    model = RERRegressor(penalty=3.0).fit(X, partial)
    assert set(np.argsort(-model.feature_weights_)[:2]) == {0, 1}
    assert set(model.get_support(indices=True)) <= {0, 1, 2, 3, 4}


def test_more_columns_than_rows():
    X, _, partial = _data(n=40, columns=70)
    model = RERRegressor().fit(X, partial)
    assert np.isfinite(model.predict(X)).all()
    assert (np.diff(model.objective_) <= 1e-6).all()


@pytest.mark.parametrize(
    ("name", "value"), [("penalty", 0.0), ("smoothness", -1.0), ("rank_weight", "low")]
)
def test_bad_parameters_are_named(name, value):
    X, _, partial = _data()
    with pytest.raises(InvalidInputError, match=name):
        RERRegressor(**{name: value}).fit(X, partial)


@parametrize_with_checks(
    [
        RERRegressor(max_iter=1, rank_weight=0.0),
        RERClassifier(max_iter=1, representation=0.0),
        RERClassifier(max_iter=1, representation=0.0, unlabeled=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
