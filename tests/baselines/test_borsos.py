from __future__ import annotations

import numpy as np
import pytest
from expected_checks import expected_failures
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.borsos import (
    BorsosClassifier,
    BorsosRegressor,
    KernelSelection,
    column_kernels,
)
from s2mam.exceptions import InvalidInputError


def _problem(kernel="gaussian", penalty=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 5))
    return KernelSelection(column_kernels(X, X, kernel, 1.0), rng.normal(size=(15, 2)), penalty)


def _data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 8))
    return X, np.sin(2 * X[:, 1]) - X[:, 4] ** 2


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_hypergradient_agrees_with_differences(kernel):
    problem = _problem(kernel)
    weights = np.array([0.5, 1.2, 0.0, 0.3, 2.0])
    step = 1e-5
    expected = [
        (problem.outer_loss(weights + step * e) - problem.outer_loss(weights - step * e))
        / (2 * step)
        for e in np.eye(5)
    ]
    np.testing.assert_allclose(problem.hypergradient(weights), expected, rtol=1e-4, atol=1e-8)


def test_outer_loss_is_the_error_of_kernel_ridge():
    problem = _problem()
    weights = np.array([0.5, 1.2, 0.0, 0.3, 2.0])
    gram = np.tensordot(weights, problem.kernels, axes=1)
    fit = KernelRidge(alpha=0.3, kernel="precomputed").fit(gram, problem.targets)
    error = ((problem.targets - fit.predict(gram)) ** 2).sum() / 15
    assert problem.outer_loss(weights) == pytest.approx(error)


def test_copies_of_a_chosen_column_are_never_steepest():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 4))
        X = np.column_stack([X, X[:, 0], X[:, 0]])
        y = X @ [3.0, 1.0, 0.5, 0.2, 0.0, 0.0]
        problem = KernelSelection(
            column_kernels(X, X, "linear", 1.0), (y - y.mean())[:, None], 1e-2
        )
        _, order, _ = problem.greedy(4, 40, 0.01)
        assert order[0] in {0, 4, 5}
        assert set(order) == {order[0], 1, 2, 3}


def test_tuning_lowers_the_outer_loss():
    problem = _problem()
    start = np.ones(5)
    tuned = problem.tune(start, 40, 0.01)
    assert problem.outer_loss(tuned) < problem.outer_loss(start)
    assert (tuned >= 0).all()


def test_each_choice_lowers_the_loss():
    model = BorsosRegressor(n_features_to_select=6).fit(*_data())
    assert (np.diff(model.objective_) < 0).all()


def test_the_true_columns_are_found():
    for seed in range(5):
        X, y = _data(seed)
        model = BorsosRegressor(n_features_to_select=2).fit(X, y)
        np.testing.assert_array_equal(model.get_support(indices=True), [1, 4])
        classes = BorsosClassifier(n_features_to_select=1).fit(X, (X[:, 2] > 0).astype(int))
        np.testing.assert_array_equal(classes.get_support(indices=True), [2])


def test_predictions_are_kernel_ridge_with_an_intercept():
    X, y = _data()
    fresh = np.random.default_rng(9).normal(size=(7, 8))
    model = BorsosRegressor(n_features_to_select=3, scale=None).fit(X, y)

    def gram(left):
        kernels = column_kernels(left[:, model._columns], X[:, model._columns], "gaussian", 1.0)
        return np.tensordot(model._weights, kernels, axes=1)

    centerer = KernelCenterer().fit(gram(X))
    target = (y - y.mean()) / y.std()
    fit = KernelRidge(alpha=1e-2 * 50, kernel="precomputed")
    fit.fit(centerer.transform(gram(X)), target)
    expected = y.mean() + y.std() * fit.predict(centerer.transform(gram(fresh)))
    np.testing.assert_allclose(model.predict(fresh), expected, rtol=1e-8)


def test_weights_stay_one_without_outer_steps():
    model = BorsosRegressor(n_features_to_select=2, outer_steps=0).fit(*_data())
    assert set(model.feature_weights_) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("name", "value"),
    [("kernel", "cubic"), ("width", 0.0), ("penalty", -1.0), ("outer_steps", -1)],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(InvalidInputError, match=name):
        BorsosRegressor(**{name: value}).fit(*_data())


@parametrize_with_checks(
    [
        BorsosRegressor(outer_steps=3),
        BorsosClassifier(outer_steps=3),
        BorsosClassifier(outer_steps=3, unlabeled=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
