from __future__ import annotations

import numpy as np
import pytest
from expected_checks import expected_failures
from sklearn.datasets import make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.awssl import (
    AWSSLClassifier,
    AWSSLRegressor,
    _Problem,
    column_spreads,
    column_weights,
)
from s2mam.baselines.shared.adaptive_neighbors import adaptive_graph
from s2mam.baselines.shared.affinity import laplacian
from s2mam.baselines.shared.harmonic import harmonic_values
from s2mam.exceptions import InvalidInputError


def _moons(n=120, noise_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    points, y = make_moons(n, noise=0.05, random_state=seed)
    X = np.hstack([points, rng.normal(size=(n, noise_columns))])
    shown = np.concatenate([np.flatnonzero(y == c)[:5] for c in (0, 1)])
    partial = np.full(n, -1)
    partial[shown] = y[shown]
    return X, y, partial


def _numbers(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    y = np.where(np.arange(60) < 15, X[:, 0] + 2 * X[:, 1], np.nan)
    return X, y


def test_without_label_distances_and_column_steps_it_is_the_adaptive_graph_and_harmonic_labels():
    X, _, partial = _moons()
    # With the old column weights kept they never leave the even start.
    model = AWSSLClassifier(smoothness=0.0, damping=1 - 1e-15, max_iter=3, scale=None)
    model.fit(X, partial)
    labeled = np.flatnonzero(partial >= 0)
    graph = laplacian(adaptive_graph(X / X.shape[1], 10))
    one_hot = np.eye(2)[partial[labeled]]
    expected = harmonic_values(graph, labeled, one_hot)
    np.testing.assert_allclose(model._values, expected, atol=1e-8)


def test_duplicated_columns_get_equal_weights():
    X, _, partial = _moons()
    model = AWSSLClassifier().fit(np.column_stack([X, X[:, 0]]), partial)
    assert model.feature_weights_[0] == pytest.approx(model.feature_weights_[-1], rel=1e-9)


def test_permuting_columns_permutes_weights():
    X, _, partial = _moons()
    order = np.random.default_rng(0).permutation(X.shape[1])
    one = AWSSLClassifier().fit(X, partial)
    other = AWSSLClassifier().fit(X[:, order], partial)
    np.testing.assert_allclose(other.feature_weights_, one.feature_weights_[order], rtol=1e-6)


def test_labelled_rows_keep_their_labels():
    X, y = _numbers()
    shown = np.isfinite(y)
    for smoothness in (0.0, 0.1, 10.0):
        model = AWSSLRegressor(smoothness=smoothness).fit(X, y)
        np.testing.assert_allclose(model.transduction_[shown], y[shown], atol=1e-12)
        assert np.isfinite(model.transduction_).all()


def test_scaling_a_column_divides_its_raw_weight_by_the_square():
    X, _, _ = _moons()
    graph = adaptive_graph(X, 5)
    scaled = X.copy()
    scaled[:, 1] *= 3.0
    before, after = 1 / column_spreads(X, graph), 1 / column_spreads(scaled, graph)
    assert after[1] == pytest.approx(before[1] / 9.0)
    np.testing.assert_allclose(np.delete(after, 1), np.delete(before, 1))


def test_spreads_agree_with_the_double_sum():
    X, _, _ = _moons(30)
    graph = adaptive_graph(X, 5)
    double = (graph[:, :, None] * (X[:, None] - X[None]) ** 2).sum(axis=(0, 1))
    np.testing.assert_allclose(column_spreads(X, graph), double)


def test_label_and_column_steps_lower_the_objective_of_a_fixed_graph():
    X, _, partial = _moons(60)
    labeled = np.flatnonzero(partial >= 0)
    targets = np.eye(2)[partial[labeled]]
    graph = adaptive_graph(X, 6)
    rng = np.random.default_rng(0)

    def cost(values, theta):
        return (
            0.1 * (values * (laplacian(graph) @ values)).sum() + column_spreads(X, graph) @ theta**2
        )

    best = harmonic_values(laplacian(graph), labeled, targets)
    theta = column_weights(X, graph)
    for _ in range(20):
        shifted = best + 0.01 * rng.normal(size=best.shape)
        shifted[labeled] = targets
        assert cost(best, theta) <= cost(shifted, theta)
        assert cost(best, theta) <= cost(best, rng.dirichlet(50 * theta + 1e-3))


def test_the_objective_settles():
    X, _, partial = _moons()
    model = AWSSLClassifier(max_iter=200).fit(X, partial)
    trace = np.array(model.objective_)
    assert len(trace) < 200
    assert abs(trace[-1] - trace[-2]) <= 1e-6 * trace[-2]


def test_wild_noise_columns_lose_their_weight_on_the_raw_scale():
    X, y, partial = _moons(200, noise_columns=4)
    X[:, 2:] = 100 + 100 * X[:, 2:]
    model = AWSSLClassifier(scale=None).fit(X, partial)
    assert model.feature_weights_[2:].max() < 1e-2
    assert (model.transduction_ == y).mean() > 0.95
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 1])


def test_constant_columns_get_no_weight():
    X, y = _numbers()
    X[:, 2] = 7.0
    model = AWSSLRegressor().fit(X, y)
    assert model.feature_weights_[2] == 0.0
    alone = AWSSLRegressor().fit(np.zeros((6, 2)), [1.0, 2.0, *[np.nan] * 4])
    assert np.isfinite(alone.transduction_).all()


def test_new_rows_are_mixtures_of_the_values_of_the_fit():
    X, y = _numbers()
    model = AWSSLRegressor().fit(X, y)
    answers = model.predict(np.random.default_rng(3).normal(size=(20, 4)) * 5)
    assert answers.min() >= model.transduction_.min() - 1e-9
    assert answers.max() <= model.transduction_.max() + 1e-9


def test_selected_columns_feed_a_machine():
    X, y, partial = _moons(200, noise_columns=4)
    X[:, 2:] = 100 + 100 * X[:, 2:]
    model = AWSSLClassifier(prediction="select", n_features_to_select=2, scale=None)
    model.fit(X, partial)
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 1])
    changed = X.copy()
    changed[:, 2:] = 0.0
    np.testing.assert_array_equal(model.predict(changed), model.predict(X))
    X, y = _numbers()
    regression = AWSSLRegressor(prediction="select", n_features_to_select=3).fit(X, y)
    assert regression.support_.sum() == 3
    assert np.isfinite(regression.predict(X)).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("damping", 1.0), ("prediction", "mean"), ("smoothness", -1.0), ("n_neighbors", 0)],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(InvalidInputError, match=name):
        AWSSLRegressor(**{name: value}).fit(*_numbers())


def test_a_problem_without_rounds_to_go_still_returns_the_start():
    X, y = _numbers()
    problem = _Problem(X, np.arange(15), y[:15, None], 5, 0.1, 0.5)
    assert len(problem.solve(1, 1e-6).objective) == 1


@parametrize_with_checks(
    [
        AWSSLRegressor(max_iter=5),
        AWSSLClassifier(max_iter=5),
        AWSSLClassifier(max_iter=5, unlabeled=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
