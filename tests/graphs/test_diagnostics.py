"""Degenerate graphs are found, named and warned about; components are right."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from s2mam.exceptions import DegenerateGraphWarning
from s2mam.graphs import build_graph
from s2mam.graphs.diagnostics import component_labels

RNG = np.random.default_rng(0)
STANDARD = RNG.normal(size=(60, 100))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"bandwidth": 1.0}, "no edges"),  # the published grid on 100 standardised columns
        ({"bandwidth": 1.0, "kind": "neighbors"}, "no edges"),
        ({"bandwidth": 1e6}, "equal weights"),
        ({"mask": np.zeros(100)}, "empty mask"),
        ({"mask": np.zeros(100), "kind": "neighbors"}, "empty mask"),
        ({"Z": np.ones((10, 3))}, "equal weights"),
        ({"Z": np.ones((1, 3))}, "one row"),
        ({"Z": np.ones((1, 3)), "kind": "neighbors"}, "one row"),
    ],
)
def test_degenerate_graphs_are_warned_about_once_and_stay_usable(arguments, reason):
    with pytest.warns(DegenerateGraphWarning, match=r"bandwidth=.*; ") as caught:
        graph = build_graph(**{"Z": STANDARD} | arguments)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert graph.diagnostics.degenerate == reason
    assert np.isfinite(graph.quadratic(np.eye(graph.n))).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_graph(**{"Z": STANDARD, "warn": False} | arguments)


@pytest.mark.parametrize("kind", ["dense", "neighbors"])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_automatic_bandwidth_is_never_degenerate_on_data_that_varies(kind, scale):
    for p in (1, 3, 100):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph = build_graph(scale * STANDARD[:, :p], kind=kind)
        assert graph.diagnostics.degenerate is None
        assert 1.0 < np.median(graph.degrees) < 15.0


def test_duplicated_rows_do_not_hide_that_the_rest_has_no_edges():
    Z = np.vstack([STANDARD, STANDARD[:5]])
    graph = build_graph(Z, bandwidth=0.5, warn=False)
    assert graph.diagnostics.degenerate == "no edges"


def test_components_equal_scipys():
    rng = np.random.default_rng(1)
    for density in (0.0, 0.01, 0.03, 0.2):
        W = (rng.random((90, 90)) < density).astype(float)
        W = np.maximum(W, W.T)
        count, labels = connected_components(sparse.csr_array(W), directed=False)
        for weights in (W, sparse.csr_array(W)):
            found_count, found = component_labels(weights)
            assert found_count == count
            np.testing.assert_array_equal(found, labels)


def test_far_groups_are_separate_components():
    Z = np.r_[np.zeros(20), np.full(20, 100.0)][:, None] + np.tile(np.arange(20.0), 2)[:, None]
    for kind in ("dense", "neighbors"):
        found = build_graph(Z, kind=kind, n_neighbors=6).diagnostics
        assert found.n_components == 2
        np.testing.assert_array_equal(found.component_labels, np.repeat([0, 1], 20))
