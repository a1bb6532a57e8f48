"""Harmonic values and label spreading against direct solutions and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.semi_supervised import LabelSpreading

from s2mam.baselines.shared.affinity import laplacian, neighbor_weights, rbf_weights
from s2mam.baselines.shared.harmonic import harmonic_values, spread_labels


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(30, 2))


def test_harmonic_is_the_direct_solution(table):
    graph = laplacian(rbf_weights(table, 1.0))
    labeled, values = np.array([7, 2, 20]), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    found = harmonic_values(graph, labeled, values)
    rest = np.setdiff1d(np.arange(30), labeled)
    expected = -np.linalg.solve(graph[np.ix_(rest, rest)], graph[np.ix_(rest, labeled)] @ values)
    np.testing.assert_allclose(found[rest], expected, atol=1e-9)
    np.testing.assert_array_equal(found[labeled], values)


def test_harmonic_values_stay_between_the_labels_and_rows_sum_to_one(table):
    graph = laplacian(neighbor_weights(table, 5))
    found = harmonic_values(graph, np.array([0, 1]), np.eye(2))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
    assert found.min() >= -1e-9


def test_harmonic_on_a_long_path_is_a_line():
    n = 1000
    path = np.diag(np.ones(n - 1), 1)
    found = harmonic_values(laplacian(path + path.T), np.array([0, n - 1]), np.array([0.0, n - 1]))
    np.testing.assert_allclose(found, np.arange(n), atol=1e-2)


def test_harmonic_is_indifferent_to_tiny_weights(table):
    graph = laplacian(neighbor_weights(table, 5))
    labeled, values = np.array([0, 1]), np.array([0.0, 1.0])
    np.testing.assert_allclose(
        harmonic_values(1e-30 * graph, labeled, values),
        harmonic_values(graph, labeled, values),
        atol=1e-9,
    )


def test_rows_that_no_label_reaches_get_the_mean():
    weights = np.zeros((5, 5))
    weights[0, 1] = weights[1, 0] = weights[3, 4] = weights[4, 3] = 1.0
    found = harmonic_values(laplacian(weights), np.array([0, 2]), np.array([1.0, 4.0]))
    np.testing.assert_allclose(found, [1.0, 1.0, 4.0, 2.5, 2.5])


def test_all_rows_labelled_are_returned_as_they_are():
    values = np.array([3.0, 1.0])
    order = np.array([1, 0])
    np.testing.assert_array_equal(harmonic_values(np.zeros((2, 2)), order, values), [1.0, 3.0])


def test_spreading_is_scikit_learns_fixed_point(table):
    weights = rbf_weights(table, 1.0)
    y = np.full(30, -1)
    y[[0, 5, 9]] = [0, 1, 1]
    one_hot = np.zeros((30, 2))
    one_hot[[0, 5, 9], [0, 1, 1]] = 1.0
    model = LabelSpreading(kernel=lambda a, b: weights, alpha=0.8, tol=1e-13, max_iter=5000)
    model.fit(table, y)
    found = spread_labels(weights, one_hot, alpha=0.8)
    found /= found.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, model.label_distributions_, atol=1e-8)


def test_spreading_is_a_fixed_point_and_leaves_isolated_rows():
    weights = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    one_hot = np.array([[1.0], [0.0], [1.0]])
    found = spread_labels(weights, one_hot, alpha=0.9)
    np.testing.assert_allclose(found, 0.9 * weights @ found + 0.1 * one_hot, atol=1e-12)
    assert found[2] == pytest.approx(0.1)
