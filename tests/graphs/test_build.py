"""build_graph: the operator, masks, missing values and bad input."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.graphs import build_graph


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(40, 4))


def test_default_is_the_published_formula(table):
    graph = build_graph(table, [True, False, True, False], bandwidth=1.3)
    masked = table * [1, 0, 1, 0]
    W = np.exp(-((masked[:, None] - masked) ** 2).sum(2) / 1.3**2)
    L = np.diag(W.sum(1)) - W  # self-weights of one, as published: they cancel
    np.testing.assert_allclose(graph.toarray(), L, atol=1e-12)
    F = np.random.default_rng(1).normal(size=(40, 9))
    np.testing.assert_allclose(graph.quadratic(F), F.T @ L @ F, atol=1e-10)
    np.testing.assert_array_equal(graph.quadratic(F), graph.quadratic(F).T)
    np.testing.assert_allclose(graph.apply(F), L @ F, atol=1e-11)
    assert graph.n == 40
    assert graph.diagnostics.bandwidth == 1.3


def test_normalized_form(table):
    graph = build_graph(table, bandwidth=2.0, normalized=True)
    W = np.exp(-((table[:, None] - table) ** 2).sum(2) / 4.0) - np.eye(40)
    root = np.diag(W.sum(1) ** -0.5)
    np.testing.assert_allclose(graph.toarray(), np.eye(40) - root @ W @ root, atol=1e-12)
    F = np.random.default_rng(2).normal(size=(40, 3))
    np.testing.assert_allclose(graph.quadratic(F), F.T @ graph.toarray() @ F, atol=1e-12)


def test_normalized_rows_without_edges_are_zero_not_nan():
    graph = build_graph([[0.0], [0.1], [1e6]], bandwidth=1.0, normalized=True)
    assert np.isfinite(graph.toarray()).all()
    np.testing.assert_array_equal(graph.toarray()[2], 0.0)
    assert graph.diagnostics.n_components == 2


@pytest.mark.parametrize("kind", ["dense", "neighbors"])
def test_masked_out_columns_cannot_change_a_bit(table, kind):
    mask = np.array([0.3, 0.0, 1.0, 0.0])
    clean = build_graph(table, mask, kind=kind).toarray()
    table[:, 1], table[:, 3] = np.inf, np.nan
    np.testing.assert_array_equal(build_graph(table, mask, kind=kind).toarray(), clean)


@pytest.mark.parametrize("kind", ["dense", "neighbors"])
def test_row_and_column_order_only_permute(table, kind):
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(40), rng.permutation(4)
    mask = np.array([1.0, 0.5, 0.0, 0.8])
    L = build_graph(table, mask, kind=kind).toarray()
    moved = build_graph(table[rows][:, columns], mask[columns], kind=kind).toarray()
    np.testing.assert_allclose(moved, L[np.ix_(rows, rows)], atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "neighbors"])
def test_missing_and_categorical_values_give_a_finite_graph(table, kind):
    table[::3, 0] = np.nan
    table[:, 1] = np.arange(40) % 5
    table[:, 2] = np.nan
    kinds = ("numeric", "categorical", "numeric", "constant")
    graph = build_graph(table, kinds=kinds, kind=kind)
    assert np.isfinite(graph.toarray()).all()
    assert graph.diagnostics.degenerate is None


def test_input_is_not_written_to(table):
    table.setflags(write=False)
    single = build_graph(table.astype(np.float32))
    np.testing.assert_allclose(single.toarray(), build_graph(table).toarray(), atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "full"}, "kind='full'"),
        ({"bandwidth": 0.0}, "bandwidth=0.0"),
        ({"bandwidth": "median"}, "bandwidth='median'"),
        ({"bandwidth": np.nan}, "bandwidth=nan"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"mask": np.ones(3)}, r"mask has shape \(3,\)"),
        ({"mask": [1.0, 2.0, 0.0, 0.0]}, "outside"),
        ({"mask": [1.0, np.nan, 0.0, 0.0]}, "outside"),
        ({"kinds": ("numeric",)}, "1 entries for 4 columns"),
        ({"kinds": ("numeric", "numeric", "text", "numeric")}, "text"),
        ({"Z": np.array([[0.0, 0.0, 0.0, np.inf]])}, "Column 3 of Z"),
        ({"Z": np.empty((0, 4))}, "at least one row"),
        ({"Z": np.zeros(4)}, "at least one row"),
    ],
)
def test_bad_input_is_refused_with_its_name(table, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        build_graph(**{"Z": table} | arguments)
