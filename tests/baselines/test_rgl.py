from __future__ import annotations

import itertools

import numpy as np
import pytest
from expected_checks import expected_failures
from sklearn.semi_supervised import LabelSpreading
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.rgl import RGLClassifier, learn_graph
from s2mam.baselines.shared.adaptive_neighbors import adaptive_graph, adaptive_weights
from s2mam.baselines.shared.keyed_table import KeyedTable
from s2mam.exceptions import InvalidInputError


def _blobs(n=90, columns=6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, columns)) + 3.0 * np.eye(3, columns)[y]
    partial = np.full(n, -1)
    partial[:9] = y[:9]
    return X, y, partial


def _graph_of(table, **changes):
    options = {
        "sparsity": 1 / np.sqrt(max(table.shape)),
        "smoothness": 0.0,
        "n_neighbors": 5,
        "penalty": 1.25 / np.linalg.norm(table, 2),
        "max_iter": 300,
        "tol": 1e-7,
    }
    return learn_graph(KeyedTable.of(table), **(options | changes))


def test_without_sparse_part_and_smoothness_it_is_label_spreading_on_the_adaptive_graph():
    X, _, partial = _blobs()
    model = RGLClassifier(sparsity=1e6, smoothness=0.0, tol=1e-9, max_iter=400, scale=None)
    model.fit(X, partial)
    np.testing.assert_allclose(model._clean, X, atol=1e-8)
    graph = adaptive_graph(X, 5)
    other = LabelSpreading(kernel=lambda a, b: graph, alpha=0.99, max_iter=5000, tol=1e-12)
    other.fit(X, partial)
    np.testing.assert_array_equal(model.transduction_, other.transduction_)


def test_without_smoothness_a_low_rank_table_with_spikes_is_recovered():
    rng = np.random.default_rng(0)
    low_rank = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    spikes = np.where(rng.random(low_rank.shape) < 0.05, 10 * rng.normal(size=(60, 40)), 0.0)
    found = _graph_of(low_rank + spikes)
    assert np.abs(found.clean - low_rank).max() < 1e-3 * np.abs(low_rank).max()


def test_the_default_penalty_reaches_the_same_optimum_as_a_slower_start():
    X, _, partial = _blobs(60, 10)
    model = RGLClassifier(scale=None).fit(X, partial)
    slow = _graph_of(X, penalty=0.01, tol=1e-9, smoothness=model.smoothness, max_iter=1000)

    def cost(clean):
        sparsity = 1 / np.sqrt(60)
        return np.linalg.norm(clean, "nuc") + sparsity * np.abs(X - clean).sum()

    assert cost(model._clean) == pytest.approx(cost(slow.clean), rel=1e-3)


def test_violations_fall_below_the_tolerance():
    X, _, partial = _blobs()
    model = RGLClassifier(smoothness=0.05).fit(X, partial)
    trace = np.array(model.history_)
    assert trace[-1] < 1e-5
    assert model.n_iter_ < 200
    quarters = [chunk.max() for chunk in np.array_split(trace, 4)]
    assert all(late < early for early, late in itertools.pairwise(quarters))


def test_rows_of_the_one_sided_graph_sum_to_one():
    X, _, _ = _blobs()
    found = _graph_of(X, smoothness=0.01)
    distances = ((found.clean[:, None] - found.clean[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    one_sided = adaptive_weights(distances, 5)
    np.testing.assert_allclose(one_sided.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.graph.toarray(), (one_sided + one_sided.T) / 2, atol=1e-6)


def test_smoothness_draws_neighbours_together():
    X, _, _ = _blobs()
    spreads = [_graph_of(X, smoothness=beta).clean.std(axis=0).sum() for beta in (0.0, 0.3)]
    assert spreads[1] < spreads[0]


def test_equal_tables_share_a_graph_and_other_tables_do_not():
    X, _, _ = _blobs()
    first = _graph_of(X)
    assert _graph_of(X.copy()) is first
    changed = X.copy()
    changed[0, 0] += 1e-12
    assert _graph_of(changed) is not first
    assert _graph_of(X, n_neighbors=6) is not first


def test_classes_of_hidden_and_new_rows():
    X, y, partial = _blobs()
    model = RGLClassifier().fit(X, partial)
    assert (model.transduction_ == y).mean() > 0.8
    fresh, truth, _ = _blobs(seed=1)
    assert (model.predict(fresh) == truth).mean() > 0.8
    assert model.decision_function(fresh).shape == (90, 3)


@pytest.mark.parametrize(
    ("name", "value"),
    [("spreading", 1.0), ("sparsity", 0.0), ("penalty", "big"), ("smoothness", -1.0), ("tol", 0)],
)
def test_bad_parameters_are_named(name, value):
    X, _, partial = _blobs()
    with pytest.raises(InvalidInputError, match=name):
        RGLClassifier(**{name: value}).fit(X, partial)


# Of two columns the default leaves one direction, too few for the accuracy a check asks for.
@parametrize_with_checks(
    [RGLClassifier(sparsity=1.0, max_iter=60), RGLClassifier(sparsity=1.0, unlabeled=None)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
