"""Graphs over rows: weights, widths, Laplacians and the warning about empty graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from s2mam.baselines.shared.affinity import (
    cross_neighbor_weights,
    gaussian_kernel,
    graph_weights,
    laplacian,
    median_width,
    neighbor_weights,
    rbf_weights,
    read_width,
)
from s2mam.exceptions import DegenerateGraphWarning, InvalidInputError


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(40, 3))


def test_gaussian_kernel_is_scikit_learns(table):
    ours = gaussian_kernel(table[:5], table, width=0.7)
    np.testing.assert_allclose(ours, rbf_kernel(table[:5], table, gamma=1 / 0.49), rtol=1e-10)


def test_rbf_weights_have_no_loops(table):
    weights = rbf_weights(table, 1.5)
    expected = rbf_kernel(table, gamma=1 / 1.5**2)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(weights, expected, rtol=1e-10)


def test_neighbors_are_scikit_learns_joined_by_or(table):
    one_way = kneighbors_graph(table, 4).toarray()
    np.testing.assert_array_equal(neighbor_weights(table, 4), np.maximum(one_way, one_way.T))


def test_heat_weights_live_on_the_same_edges_and_fall_with_distance(table):
    heat, ones = neighbor_weights(table, 4, heat=True), neighbor_weights(table, 4)
    np.testing.assert_array_equal(heat > 0, ones > 0)
    distance = np.linalg.norm(table[:, None] - table, axis=2)[heat > 0]
    order = np.argsort(distance)
    assert (np.diff(heat[heat > 0][order]) <= 1e-12).all()


def test_duplicates_are_neighbors_but_no_row_is_its_own():
    table = np.zeros((6, 2))
    weights = neighbor_weights(table, 2)
    assert (weights.diagonal() == 0).all()
    assert (weights.sum(axis=1) >= 2).all()


def test_more_neighbors_than_rows_join_all():
    np.testing.assert_array_equal(neighbor_weights(np.eye(3), 10), 1.0 - np.eye(3))
    np.testing.assert_array_equal(neighbor_weights(np.ones((1, 2)), 3), [[0.0]])


def test_cross_neighbors_are_scikit_learns(table):
    from sklearn.neighbors import NearestNeighbors

    expected = NearestNeighbors(n_neighbors=5).fit(table).kneighbors_graph(table[:7] + 0.1)
    np.testing.assert_array_equal(
        cross_neighbor_weights(table[:7] + 0.1, table, 5), expected.toarray()
    )


def test_median_width_of_many_rows_is_near_that_of_all():
    table = np.random.default_rng(1).normal(size=(2500, 4))
    squared = ((table[:400, None] - table[None, 400:800]) ** 2).sum(axis=2)
    assert median_width(table) == pytest.approx(np.median(np.sqrt(squared)), rel=0.03)


def test_median_width_of_equal_rows_is_one():
    assert median_width(np.ones((5, 2))) == 1.0
    assert median_width(np.ones((1, 2))) == 1.0


@pytest.mark.parametrize("width", [0.0, -1.0, np.inf, np.nan, "wide", None, True])
def test_bad_widths_are_named(width, table):
    with pytest.raises(InvalidInputError, match="width="):
        read_width(width, table)


def test_a_narrow_width_warns_that_the_graph_is_empty():
    wide = np.random.default_rng(0).normal(size=(30, 100))
    with pytest.warns(DegenerateGraphWarning, match="no edges"):
        graph_weights(wide, graph="rbf", width=1.0)


def test_a_broad_width_warns_that_all_rows_are_alike(table):
    message = r"alike at graph_width=1e\+06.*use graph_width='median' or graph='knn'"
    with pytest.warns(DegenerateGraphWarning, match=message):
        graph_weights(table, graph="rbf", width=1e6, name="graph_width")
    with pytest.raises(InvalidInputError, match="graph_width=-1"):
        graph_weights(table, graph="rbf", width=-1, name="graph_width")


@pytest.mark.parametrize("graph", ["knn", "rbf"])
def test_defaults_never_give_an_empty_graph_on_raw_noise(graph, recwarn):
    noisy = np.random.default_rng(0).normal(100.0, 100.0, size=(50, 100))
    assert graph_weights(noisy, graph=graph).sum() > 1.0
    assert not recwarn.list


@pytest.mark.parametrize(
    ("options", "name"), [({"graph": "full"}, "graph"), ({"n_neighbors": 0}, "n_neighbors")]
)
def test_bad_graph_options_are_named(options, name, table):
    with pytest.raises(InvalidInputError, match=f"{name}="):
        graph_weights(table, **options)


@given(seed=st.integers(0, 10_000), normalized=st.booleans())
@settings(deadline=None, max_examples=30)
def test_laplacians_are_the_energy_of_differences(seed, normalized):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(size=(7, 7)) * (rng.uniform(size=(7, 7)) < 0.4)
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    values = rng.normal(size=7)
    degrees = weights.sum(axis=1)
    scaled = values
    if normalized:
        scaled = np.divide(values, np.sqrt(degrees), out=np.zeros(7), where=degrees > 0)
    energy = 0.5 * (weights * (scaled[:, None] - scaled) ** 2).sum()
    assert values @ laplacian(weights, normalized) @ values == pytest.approx(energy, abs=1e-10)
