"""Approximate graphs: exact interface, no negative eigenvalues, and how near the dense graph."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.exceptions import DegenerateGraphWarning, InvalidInputError
from s2mam.graphs import automatic_kind, build_graph, estimate_bytes
from s2mam.graphs.anchors import anchor_mixture
from s2mam.graphs.dense import dense_weights
from s2mam.graphs.distances import mask_rows
from s2mam.graphs.factored import FactoredWeights, within_unit_radius
from s2mam.graphs.fourier import literal_weights, positive_features, waves
from s2mam.graphs.landmarks import choose_landmarks
from s2mam.graphs.nystrom import landmark_factor
from s2mam.graphs.propagation import propagate

KINDS = ("anchors", "nystrom", "fourier")


def _rows(n=150, q=3, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, q))
    table[rng.random((n, q)) < missing] = np.nan
    return table


def _masked(table, mask=None):
    q = table.shape[1]
    return mask_rows(table, np.ones(q) if mask is None else mask, ("numeric",) * q)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_interface_agrees_with_the_explicit_matrix(kind, normalized, missing):
    table = _rows(missing=missing)
    graph = build_graph(table, [1.0, 0.5, 0.0], kind=kind, bandwidth=2.0, normalized=normalized)
    F = np.random.default_rng(1).normal(size=(150, 4))
    weights = graph.weights.toarray()
    explicit = np.diag(graph.degrees) - weights
    if normalized:
        root = 1.0 / np.sqrt(graph.degrees)
        explicit = root[:, None] * explicit * root
    np.testing.assert_allclose(graph.toarray(), explicit, atol=1e-10)
    np.testing.assert_allclose(graph.apply(F), explicit @ F, atol=1e-9)
    np.testing.assert_allclose(graph.apply(F[:, 0]), explicit @ F[:, 0], atol=1e-9)
    np.testing.assert_allclose(graph.quadratic(F), F.T @ explicit @ F, atol=1e-8)
    np.testing.assert_array_equal(graph.quadratic(F), graph.quadratic(F).T)
    assert np.linalg.eigvalsh(graph.toarray()).min() > -1e-9
    assert graph.kind == kind
    assert graph.n == 150
    assert graph.diagnostics.component_labels.shape == (150,)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bandwidth", [0.02, 0.7, 5.0, "auto"])
def test_no_negative_eigenvalues_at_any_bandwidth(kind, bandwidth):
    graph = build_graph(_rows(seed=2), kind=kind, bandwidth=bandwidth, warn=False)
    assert np.linalg.eigvalsh(graph.toarray()).min() > -1e-8


@pytest.mark.parametrize("kind", KINDS)
def test_labels_spread_as_the_dense_system_says(kind):
    graph = build_graph(_rows(seed=3), kind=kind, bandwidth=2.0)
    seeds = np.zeros((150, 2))
    seeds[:10] = np.random.default_rng(0).normal(size=(10, 2))
    root = 1.0 / np.sqrt(graph.degrees)
    system = np.eye(150) - 0.95 * root[:, None] * graph.weights.toarray() * root
    exact = np.linalg.solve(system, 0.05 * seeds)
    np.testing.assert_allclose(propagate(graph, seeds, tol=1e-10), exact, atol=1e-8)


@pytest.mark.parametrize("kind", ["anchors", "nystrom"])
def test_the_order_of_rows_does_not_matter(kind):
    table = _rows(n=400, seed=4)
    order = np.random.default_rng(0).permutation(400)
    F = table**2
    one = build_graph(table, kind=kind).quadratic(F)
    other = build_graph(table[order], kind=kind).quadratic(F[order])
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_anchor_rows_are_mixtures_and_weights_sum_to_the_degree():
    table = _rows(n=300)
    mixture = anchor_mixture(table, choose_landmarks(table, 40), 0.5)
    np.testing.assert_allclose(mixture.sum(axis=1), 1.0)
    assert mixture.data.min() >= 0.0
    graph = build_graph(table, kind="anchors", n_neighbors=8)
    np.testing.assert_allclose(graph.weights.sums(), 4.0)
    np.testing.assert_allclose(graph.apply(np.ones(300)), 0.0, atol=1e-10)
    assert graph.weights.factor.nnz <= 5 * 300


def test_anchors_see_separate_clusters():
    table = np.concatenate([_rows(n=200), 100.0 + _rows(n=100, seed=1)])
    diagnostics = build_graph(table, kind="anchors").diagnostics
    assert diagnostics.n_components >= 2
    assert not set(diagnostics.component_labels[:200]) & set(diagnostics.component_labels[200:])
    assert diagnostics.component_labels[0] == 0


def test_landmarks_beat_random_waves_at_equal_cost():
    """1000 rows in two columns: 96 landmarks cost what 256 waves cost, 1e-3 against 6e-2."""
    rows = _masked(_rows(n=1000, q=2))
    bandwidth = 1.0
    exact = dense_weights(rows, bandwidth)

    def error(factor):
        weights = factor @ factor.T
        np.fill_diagonal(weights, 0.0)
        return float(np.sqrt(((weights - exact) ** 2).mean()))

    landmarks = error(landmark_factor(rows, choose_landmarks(rows.points, 96), bandwidth))
    same_number = error(landmark_factor(rows, choose_landmarks(rows.points, 256), bandwidth))
    random = [error(waves(rows, bandwidth, 256, seed)) for seed in range(3)]
    assert landmarks < 2.5e-3
    assert same_number < 5e-4
    assert 0.03 < np.mean(random) < 0.09


def test_random_features_have_the_right_mean():
    rows = _masked(_rows(n=25, q=2, missing=0.1) * 0.5)
    exact = dense_weights(rows, 1.5)
    for make in (waves, positive_features):
        total = np.zeros((25, 25))
        for seed in range(200):
            features = make(rows, 1.5, 64, seed)
            total += features @ features.T / 200
        np.fill_diagonal(total, 0.0)
        assert np.abs(total - exact).max() < 0.05


def test_the_paper_waves_need_an_addition_that_is_least_and_announced():
    rows = _masked(_rows(n=200, q=5))
    weights, degrees, added = literal_weights(rows, 1.0)
    plain = np.diag(weights.sums()) - weights.toarray()
    lowest = np.linalg.eigvalsh(plain)[0]
    assert lowest < -0.1
    assert -lowest <= added < -1.02 * lowest
    assert np.linalg.eigvalsh(np.diag(degrees) - weights.toarray())[0] > -1e-6
    with pytest.warns(DegenerateGraphWarning, match="negative similarities"):
        graph = build_graph(_rows(n=200, q=5), kind="fourier", bandwidth=1.0, literal=True)
    assert graph.weights.toarray().min() < 0.0
    assert build_graph(_rows(n=200), kind="fourier", bandwidth=2.0).weights.toarray().min() >= 0.0


def test_radius_is_that_of_the_normalised_weights():
    rng = np.random.default_rng(0)
    weights, degrees = FactoredWeights(rng.normal(size=(30, 4))), rng.uniform(1, 2, size=30)
    root = 1.0 / np.sqrt(degrees)
    shrunk, radius = within_unit_radius(weights, degrees)
    explicit = root[:, None] * weights.toarray() * root
    assert radius == pytest.approx(np.linalg.eigvalsh(explicit)[-1])
    np.testing.assert_allclose(shrunk.toarray() * radius, weights.toarray())


def test_one_row_an_empty_mask_and_far_rows_are_named():
    for kind in KINDS:
        assert build_graph([[1.0]], kind=kind, warn=False).degenerate == "one row"
        assert build_graph(_rows(), [0, 0, 0], kind=kind, warn=False).degenerate == "empty mask"
    far = build_graph(1e3 * _rows(), kind="fourier", bandwidth=1.0, warn=False)
    assert far.degenerate == "no edges"
    assert far.diagnostics.n_components > 100


def test_automatic_kind_by_size_and_memory_of_each_kind():
    assert automatic_kind(4000) == "dense"
    assert automatic_kind(4001) == "neighbors"
    assert automatic_kind(20_001) == "anchors"
    assert build_graph(_rows(), kind="auto").kind == "dense"
    for kind in KINDS:
        assert estimate_bytes(10**5, kind) < estimate_bytes(10**5, "dense") / 5
    with pytest.raises(InvalidInputError, match='"anchors"'):
        build_graph(_rows(), kind="landmarks")
