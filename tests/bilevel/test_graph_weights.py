"""Weights of labelled rows in the graph members: a weight of two is the row twice."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bilevel.mask_member import MaskSettings
from s2mam.bilevel.members import MemberSettings, _spread_labels
from s2mam.bilevel.refitting import refit_to_all
from s2mam.bilevel.views import build_view
from s2mam.graphs import build_graph
from s2mam.masks.mask_prior import size_prior


@pytest.fixture(scope="module", params=[True, False], ids=["numbers", "classes"])
def problem(request):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 3))
    view = build_view(Z, ("numeric",) * 3)
    graph = build_graph(view.table, kind="neighbors", n_neighbors=6, warn=False)
    masks = MaskSettings(size_prior(3), np.zeros(3), np.ones(3))
    settings = MemberSettings(masks, graph, request.param)
    target = Z[:12, :1] + 0.1 * rng.normal(size=(12, 1))
    if not request.param:
        target = np.sign(target)
    return view, graph, settings, target


def _spread(problem, rows, weights):
    _, graph, settings, target = problem
    return _spread_labels(graph, rows, target[rows], weights, settings)


def test_spreading_with_weights_is_spreading_copies(problem):
    copies = np.array([1, 2, 1, 3, 1, 1, 2, 1, 1, 1, 4, 1])
    rows = np.arange(12)
    weighted = _spread(problem, rows, copies.astype(float))
    repeated = np.repeat(rows, copies)
    copied = _spread(problem, repeated, np.ones(repeated.size))
    for one, two in zip(weighted, copied, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    values, counts = weighted
    np.testing.assert_array_equal(counts[:12], copies)
    assert set(counts[12:]) <= {0.0, 1.0}
    plain, _ = _spread(problem, rows, np.ones(12))
    assert not np.allclose(values[12:], plain[12:])


def test_a_heavy_label_pulls_its_neighbours(problem):
    view, _, _, target = problem
    rows = np.arange(12)
    heavy = np.ones(12)
    high = int(np.argmax(target[:, 0]))
    heavy[high] = 50.0
    light, _ = _spread(problem, rows, np.ones(12))
    pulled, _ = _spread(problem, rows, heavy)
    assert pulled[high] == pytest.approx(target[high])
    distance = np.square(view.table[12:] - view.table[high]).sum(axis=1)
    near = 12 + np.argsort(distance)[:10]
    before, after = (np.abs(values[near] - target[high]).mean() for values in (light, pulled))
    assert after < before


@pytest.mark.parametrize("size", [8, 50], ids=["wide", "tall"])
def test_the_refit_counts_rows_by_their_weights(problem, size):
    """The minimiser of the weighted ridge problem, by an explicit solve with copied rows."""
    view, _, _, _ = problem
    rng = np.random.default_rng(1)
    target = rng.normal(size=(50, 1))
    copies = np.zeros(50)
    copies[:size] = rng.integers(1, 4, size=size)
    relevance = np.array([1.0, 0.5, 0.2, 0.7, 0.1, 0.4])
    [fit] = refit_to_all(view.atoms, relevance, [(target, copies)], ridge=0.02)
    rows = np.repeat(np.arange(50), copies.astype(int))
    rank = view.atoms.curved.shape[2]
    owner = np.sqrt(np.concatenate([relevance[:3], np.repeat(relevance[3:], rank)]))
    flat = view.atoms.curved.transpose(1, 0, 2).reshape(50, -1)
    raw = np.hstack([view.atoms.straight, flat])[rows]
    features = (raw - raw.mean(axis=0)) * owner
    ridge = 0.02 * np.trace(features.T @ features) / rows.size
    centred = target[rows] - target[rows].mean(axis=0)
    gram = features.T @ features + ridge * np.eye(features.shape[1])
    coef = owner[:, None] * np.linalg.solve(gram, features.T @ centred)
    expected = raw @ coef + (target[rows].mean(axis=0) - raw.mean(axis=0) @ coef)
    found = fit.predict(view.atoms.straight, view.atoms.curved)[rows]
    np.testing.assert_allclose(found, expected, atol=1e-8)
