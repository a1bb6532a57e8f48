"""Dense weights against loops, and the automatic bandwidth."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons

from s2mam.graphs import build_graph, mask_rows
from s2mam.graphs.bandwidth import degree_bandwidth
from s2mam.graphs.dense import dense_weights


def numeric(Z):
    return mask_rows(
        np.asarray(Z, dtype=float), np.ones(np.shape(Z)[1]), ("numeric",) * np.shape(Z)[1]
    )


@pytest.mark.parametrize("n", [3, 256, 300])
def test_weights_equal_the_loop(n):
    Z = np.random.default_rng(0).normal(size=(n, 2))
    weights = dense_weights(numeric(Z), 0.8)
    for i in range(0, n, 41):
        for k in range(0, n, 37):
            exact = 0.0 if i == k else np.exp(-((Z[i] - Z[k]) ** 2).sum() / 0.64)
            assert weights[i, k] == pytest.approx(exact, rel=1e-11, abs=1e-14)
    np.testing.assert_array_equal(weights, weights.T)


@pytest.mark.parametrize("bandwidth", [1e-200, 1e-4, 1e200])
def test_extreme_bandwidths_give_zeros_or_ones(bandwidth):
    weights = dense_weights(numeric([[0.0], [1e130], [1.0]]), bandwidth)
    expected = (bandwidth > 1.0) * (1.0 - np.eye(3))
    np.testing.assert_array_equal(weights, expected)


@pytest.mark.parametrize("n", [50, 400, 1500])
@pytest.mark.parametrize("p", [1, 2, 60])
def test_typical_row_gets_the_wanted_degree(n, p):
    Z = np.random.default_rng(1).normal(size=(n, p))
    mu = degree_bandwidth(numeric(Z), 5.0)
    degrees = dense_weights(numeric(Z), mu).sum(axis=1)
    assert np.median(degrees) == pytest.approx(5.0, rel=0.01 if n <= 400 else 0.15)


def test_bandwidth_follows_scale_and_ignores_row_order_and_position():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(700, 3))
    base = degree_bandwidth(numeric(Z), 5.0)
    assert degree_bandwidth(numeric(1e-9 * Z), 5.0) == pytest.approx(1e-9 * base, rel=1e-3)
    assert degree_bandwidth(numeric(1e12 * Z), 5.0) == pytest.approx(1e12 * base, rel=1e-3)
    assert degree_bandwidth(numeric(Z[rng.permutation(700)]), 5.0) == pytest.approx(base, rel=1e-6)
    assert degree_bandwidth(numeric(Z + 50.0), 5.0) == pytest.approx(base, rel=1e-3)


def test_bandwidth_of_discrete_and_equal_rows_is_not_zero():
    binary = (np.arange(200) % 2).astype(float)[:, None]
    mu = degree_bandwidth(numeric(binary), 5.0)
    assert 100 * np.exp(-1 / mu**2) == pytest.approx(5.0, rel=0.01)
    assert degree_bandwidth(numeric(np.ones((10, 2))), 5.0) == 1.0
    almost = np.zeros((50, 1))
    almost[3] = 2.0
    assert 0.5 < degree_bandwidth(numeric(almost), 5.0) < 5.0
    assert degree_bandwidth(numeric([[0.0], [3.0]]), 5.0) == pytest.approx(
        3 / np.sqrt(np.log(2)), rel=1e-3
    )


def test_bandwidth_of_rows_without_a_common_scale_is_positive():
    near, far = np.arange(1.0, 9.0) * 1e-110, np.array([1e130])
    mu = degree_bandwidth(numeric(np.r_[near, far][:, None]), 1.0)
    assert np.isfinite(mu)
    assert mu > 0.0


@pytest.mark.parametrize("kind", ["dense", "neighbors"])
def test_automatic_graph_separates_two_moons_from_one_label_each(kind):
    """Harmonic labels on the automatic graph: right for 97 % of the rows on average."""
    accuracies = []
    for seed in range(10):
        Z, y = make_moons(200, noise=0.08, random_state=seed)
        Z = (Z - Z.mean(0)) / Z.std(0)
        L = build_graph(Z, kind=kind).toarray()
        labelled = np.array([np.flatnonzero(y == c)[0] for c in (0, 1)])
        rest = np.setdiff1d(np.arange(200), labelled)
        ridge = 1e-9 * np.eye(198)
        f = np.linalg.solve(L[np.ix_(rest, rest)] + ridge, -L[np.ix_(rest, labelled)] @ [-1.0, 1.0])
        accuracies.append(np.mean((f > 0) == y[rest]))
    assert np.mean(accuracies) > 0.97
