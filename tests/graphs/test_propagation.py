"""Spreading of labels against the dense linear system."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.graphs import build_graph
from s2mam.graphs.propagation import propagate


def _dense(graph, seeds, alpha):
    weights = graph.weights if isinstance(graph.weights, np.ndarray) else graph.weights.toarray()
    degrees = weights.sum(axis=1)
    root = np.where(degrees > 0, 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)
    system = np.eye(graph.n) - alpha * root[:, None] * weights * root
    return np.linalg.solve(system, (1.0 - alpha) * seeds)


@pytest.mark.parametrize("kind", ["dense", "neighbors"])
@pytest.mark.parametrize("alpha", [0.1, 0.95, 0.99])
def test_solution_of_the_dense_system(kind, alpha):
    rng = np.random.default_rng(0)
    graph = build_graph(rng.normal(size=(60, 3)), kind=kind, n_neighbors=5)
    seeds = np.zeros((60, 3))
    seeds[:10] = rng.normal(size=(10, 3))
    exact = _dense(graph, seeds, alpha)
    spread = propagate(graph, seeds, alpha=alpha, tol=1e-10)
    np.testing.assert_allclose(spread, exact, atol=1e-8)
    rough = propagate(graph, seeds, alpha=alpha)
    assert np.linalg.norm(rough - exact) < 1e-4 / (1 - alpha) * np.linalg.norm(seeds)


def test_sides_of_very_different_size_are_solved_alike():
    rng = np.random.default_rng(1)
    graph = build_graph(rng.normal(size=(40, 2)), kind="neighbors", n_neighbors=4)
    seeds = rng.normal(size=(40, 3)) * np.array([1e-8, 1.0, 1e8])
    together = propagate(graph, seeds, tol=1e-10)
    exact = _dense(graph, seeds, 0.95)
    np.testing.assert_allclose(together / seeds.std(axis=0), exact / seeds.std(axis=0), atol=1e-8)


def test_rows_that_no_label_reaches_stay_zero():
    rows = np.r_[np.linspace(0, 1, 15), np.linspace(50, 51, 15), [1e6]][:, None]
    graph = build_graph(rows, kind="neighbors", n_neighbors=3, bandwidth=1.0)
    seeds = np.zeros((31, 1))
    seeds[0] = 1.0
    spread = propagate(graph, seeds)
    assert (spread[:15] > 0).all()
    np.testing.assert_array_equal(spread[15:], 0.0)


def test_zero_seeds_and_inputs_are_left_alone():
    graph = build_graph(np.random.default_rng(0).normal(size=(20, 2)), kind="dense")
    seeds = np.zeros((20, 2))
    seeds[3, 0] = 1.0
    before = seeds.copy()
    spread = propagate(graph, seeds)
    np.testing.assert_array_equal(seeds, before)
    np.testing.assert_array_equal(spread[:, 1], 0.0)
    assert np.isfinite(spread).all()
