"""Neighbour graphs against sorting all distances."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.graphs import build_graph, mask_rows, squared_distances
from s2mam.graphs.neighbors import nearest_rows, neighbor_weights


def random_rows(missing=0.0, n=60, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 3, n)])
    Z[rng.random(Z.shape) < missing] = np.nan
    return mask_rows(Z, np.array([1.0, 0.5, 1.0]), ("numeric", "numeric", "categorical"))


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_neighbours_and_weights_equal_the_sorted_distances(missing):
    rows = random_rows(missing)
    exact = squared_distances(rows)
    np.fill_diagonal(exact, np.inf)
    order = np.argsort(exact, axis=1)[:, :5]
    squared, index = nearest_rows(rows, 5)
    np.testing.assert_allclose(squared, np.take_along_axis(exact, order, 1), atol=1e-9)
    assert (index != np.arange(60)[:, None]).all()

    weights, mu = neighbor_weights(rows, 5, None)
    assert mu == pytest.approx(np.sqrt(np.median(squared[:, -1])))
    near = np.zeros((60, 60), dtype=bool)
    np.put_along_axis(near, order, True, axis=1)
    expected = np.where(near | near.T, np.exp(-exact / mu**2), 0.0)
    np.testing.assert_allclose(weights.toarray(), expected, atol=1e-9)
    assert (weights != weights.T).nnz == 0


def test_more_equal_rows_than_neighbours_stay_finite():
    Z = np.repeat(np.arange(3.0), 20)[:, None]
    graph = build_graph(Z, kind="neighbors", n_neighbors=4)
    assert np.isfinite(graph.weights.data).all()
    np.testing.assert_array_equal(graph.weights.diagonal(), 0.0)
    assert graph.degrees.min() >= 4.0
    assert graph.diagnostics.n_components >= 3
    labels = graph.diagnostics.component_labels
    assert all(np.unique(Z[labels == c]).size == 1 for c in np.unique(labels))


def test_fewer_rows_than_neighbours_links_all():
    graph = build_graph(np.array([[0.0], [1.0], [2.0]]), kind="neighbors", n_neighbors=10)
    assert graph.weights.nnz == 6


@pytest.mark.filterwarnings("ignore::s2mam.exceptions.DegenerateGraphWarning")
@pytest.mark.parametrize("bandwidth", ["auto", 1e-200, 1e200])
def test_extreme_bandwidths_are_finite(bandwidth):
    graph = build_graph([[0.0], [1e130], [1e-3], [1e-3]], kind="neighbors", bandwidth=bandwidth)
    assert np.isfinite(graph.toarray()).all()


def test_sparse_operator_equals_its_dense_form():
    rng = np.random.default_rng(5)
    Z, F = rng.normal(size=(80, 3)), rng.normal(size=(80, 7))
    for normalized in (False, True):
        graph = build_graph(Z, kind="neighbors", normalized=normalized)
        L = graph.toarray()
        W = graph.weights.toarray()
        D = np.diag(W.sum(1))
        root = np.diag(W.sum(1) ** -0.5)
        np.testing.assert_allclose(L, root @ (D - W) @ root if normalized else D - W, atol=1e-13)
        np.testing.assert_allclose(graph.quadratic(F), F.T @ L @ F, atol=1e-11)
        np.testing.assert_allclose(graph.apply(F[:, 0]), L @ F[:, 0], atol=1e-12)
