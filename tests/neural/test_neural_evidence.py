"""Masks by the evidence of untrained networks."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bilevel.lower import GraphSettings
from s2mam.masks.relaxed import relaxed_search
from s2mam.neural.evidence import hidden_features, network_evidence
from s2mam.neural.nets import column_levels, draw_start
from s2mam.neural.problem import NeuralProblem


def problem(table, target, n_classes=0, kinds=None):
    kinds = ("numeric",) * table.shape[1] if kinds is None else kinds
    weights = np.full(len(target), 1 / len(target))
    return NeuralProblem(table, kinds, target, weights, n_classes, GraphSettings(), 0)


def test_products_of_features_are_those_of_the_hidden_values():
    """The covariance of the outputs under Gaussian weights, up to the scale of the column."""
    table = np.random.default_rng(0).normal(size=(40, 2))
    rows = problem(table, table[:15, 0])
    z = table[:, 1]
    parts = [np.array([0.3 * 3.0 * np.tanh(z / 3.0)])]
    for start in range(4):
        net = {name: array[0] for name, array in draw_start(rows, np.array([1]), start).items()}
        second = np.tanh(net["w2"] @ np.tanh(net["w1"] * z + net["b1"]) + net["b2"])
        parts.append(second / np.sqrt(60))
    values = np.concatenate(parts).T
    values -= values.mean(axis=0)
    expected = values @ values.T / (values**2).sum(axis=1).mean()
    block = hidden_features(rows)[1]
    assert block.shape[0] == 15
    np.testing.assert_allclose(block @ block.T, expected[:15, :15], atol=1e-4)


def test_categories_missing_values_and_constants():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 4))
    table[:, 0] = rng.integers(0, 3, 60)
    table[:, 1] = 2.0
    table[::7, 2] = np.nan
    kinds = ("categorical", "constant", "numeric", "numeric")
    rows = problem(table, (table[:40, 0] == 1) + 0.1 * rng.normal(size=40), kinds=kinds)
    blocks = hidden_features(rows)
    assert [block.shape[1] > 0 for block in blocks] == [True, False, True, True]
    assert blocks[0].shape[1] == 2  # three levels, centred
    assert not blocks[2][::7].any()
    assert np.isfinite(column_levels(table, kinds)[0, :3]).all()
    assert relaxed_search(network_evidence(rows), 1).mask.tolist() == [True, False, False, False]


@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_columns_are_found_among_more_junk_than_labels(n_classes):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 90))
    score = 2 * np.sin(1.5 * table[:, 3]) + table[:, 7] ** 2 + 1.5 * table[:, 11]
    target = score[:80]
    if n_classes:
        cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
        target = np.digitize(target, cuts)
    search = relaxed_search(network_evidence(problem(table, target, n_classes)), 3)
    assert np.flatnonzero(search.mask).tolist() == [3, 7, 11]


def test_weights_count():
    """Rows of weight zero might as well not be there."""
    rng = np.random.default_rng(2)
    table, noise = rng.normal(size=(60, 5)), rng.normal(size=30)
    full = problem(table, np.concatenate([table[:30, 2], noise]))
    half = NeuralProblem(
        table, full.kinds, full.target, np.repeat([1 / 30, 0.0], 30), 0, GraphSettings(), 0
    )
    alone = np.array([False, False, True, False, False])
    none = np.zeros(5, dtype=bool)
    gains = [c.value(none) - c.value(alone) for c in map(network_evidence, (half, full))]
    assert gains[0] > 5 * gains[1]
