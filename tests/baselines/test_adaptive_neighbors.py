from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mam.baselines.shared.adaptive_neighbors import (
    adaptive_graph,
    adaptive_penalties,
    adaptive_weights,
    row_distances,
    squared_distances,
)
from s2mam.baselines.shared.simplex import project_simplex
from s2mam.exceptions import InvalidInputError


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), n=st.integers(4, 15), k=st.integers(1, 13))
def test_each_row_solves_its_problem_on_the_simplex(seed, n, k):
    distances = row_distances(np.random.default_rng(seed).normal(size=(n, 3)))
    weights = adaptive_weights(distances, k)
    penalties = adaptive_penalties(distances, k)
    # min sum d s + g s^2 over the simplex is the projection of -d / (2 g).
    expected = project_simplex(-distances / (2.0 * penalties[:, None]))
    np.testing.assert_allclose(weights, expected, atol=1e-10)
    assert (np.count_nonzero(weights, axis=1) == min(k, n - 2)).all()
    assert (np.diag(weights) == 0).all()


def test_formula_with_sorted_distances():
    d = np.array([0.5, 1.0, 3.0, 7.0])
    expected = (3.0 - d[:2]) / (2 * 3.0 - 1.5)
    np.testing.assert_allclose(adaptive_weights(d[None], 2), [[*expected, 0.0, 0.0]])


def test_duplicates_share_the_weight_and_never_choose_themselves():
    weights = adaptive_weights(row_distances(np.zeros((5, 2))), 3)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (np.diag(weights) == 0).all()
    assert set(np.unique(weights)) == {0.0, 1 / 3}


def test_a_lone_candidate_takes_all_and_no_candidate_is_refused():
    np.testing.assert_array_equal(adaptive_weights(np.array([[np.inf, 2.0]]), 4), [[0.0, 1.0]])
    np.testing.assert_array_equal(adaptive_penalties(np.array([[np.inf, 2.0]]), 4), [0.0])
    with pytest.raises(InvalidInputError, match="n_samples=1"):
        adaptive_weights(np.array([[np.inf]]), 1)
    with pytest.raises(InvalidInputError, match="k=0"):
        adaptive_weights(np.array([[1.0]]), 0)


def test_graph_is_symmetric_with_mass_n():
    graph = adaptive_graph(np.random.default_rng(0).normal(size=(20, 4)), 5)
    np.testing.assert_array_equal(graph, graph.T)
    assert graph.sum() == pytest.approx(20.0)


def test_distances_far_from_the_origin_are_exact():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 3)), rng.normal(size=(6, 3))
    expected = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(a + 1e6, b + 1e6), expected, rtol=1e-7)
