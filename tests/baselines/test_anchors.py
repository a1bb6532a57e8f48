"""Anchors and anchor graphs."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from s2mam.baselines.shared.anchors import anchor_graph, choose_anchors
from s2mam.exceptions import InvalidInputError


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize("weights", ["lae", "gaussian"])
def test_rows_are_mixtures_of_their_nearest_anchors(table, weights):
    anchors = choose_anchors(table, 10, random_state=0)
    graph = anchor_graph(table, anchors, s=3, weights=weights)
    np.testing.assert_allclose(graph.sum(axis=1), 1.0, atol=1e-12)
    assert graph.min() >= 0.0
    nearest = np.argsort(np.linalg.norm(table[:, None] - anchors, axis=2), axis=1)[:, :3]
    far = np.ones_like(graph, dtype=bool)
    np.put_along_axis(far, nearest, False, axis=1)
    assert not graph[far].any()


@pytest.mark.parametrize("s", [2, 3, 6])
def test_lae_reconstructs_as_well_as_a_convex_solver(table, s):
    anchors = choose_anchors(table, 12, random_state=0)
    graph = anchor_graph(table, anchors, s=s)
    for i in (0, 7, 19):
        near = anchors[np.argsort(np.linalg.norm(anchors - table[i], axis=1))[:s]]
        mixture = cp.Variable(s, nonneg=True)
        best = cp.Problem(cp.Minimize(cp.norm(near.T @ mixture - table[i])), [cp.sum(mixture) == 1])
        best.solve(solver=cp.CLARABEL)
        ours = np.linalg.norm(graph[i] @ anchors - table[i])
        assert ours == pytest.approx(best.value, abs=1e-5)


def test_gaussian_weights_follow_the_formula(table):
    anchors = table[:8] + 0.3
    graph = anchor_graph(table, anchors, s=2, weights="gaussian")
    distance = np.sort(np.linalg.norm(table[:, None] - anchors, axis=2), axis=1)[:, :2]
    raw = np.exp(-(distance**2) / distance[:, 1].mean() ** 2)
    expected = raw / raw.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(-np.sort(-graph, axis=1)[:, :2], expected, atol=1e-10)


def test_a_row_that_is_an_anchor_stands_for_itself(table):
    np.testing.assert_allclose(anchor_graph(table, table, s=3), np.eye(40), atol=1e-6)


def test_far_rows_do_not_underflow():
    graph = anchor_graph(np.array([[0.0], [1e6]]), np.array([[0.0], [1.0]]), 2, "gaussian")
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)


def test_anchors_repeat_with_the_seed_and_never_exceed_the_distinct_rows(table):
    first, again = (choose_anchors(table, 6, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.shape == (6, 3)
    assert choose_anchors(np.repeat(table[:4], 5, axis=0), 6).shape == (4, 3)


@pytest.mark.parametrize(
    ("options", "name"), [({"s": 0}, "s="), ({"s": 1.5}, "s="), ({"weights": "flat"}, "weights=")]
)
def test_bad_options_are_named(table, options, name):
    with pytest.raises(InvalidInputError, match=name):
        anchor_graph(table, table[:5], **options)
