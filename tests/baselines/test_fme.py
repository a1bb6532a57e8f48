"""f-FME and r-FME against dense solutions of their objectives, and their limits."""

from __future__ import annotations

import numpy as np
import pytest
from expected_checks import expected_failures
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.fme import FFMEClassifier, FFMERegressor, RFMEClassifier, RFMERegressor
from s2mam.baselines.shared.anchors import anchor_graph, choose_anchors
from s2mam.baselines.shared.flexible_embedding import fast_embedding, reduced_embedding
from s2mam.exceptions import InvalidInputError


def _problem(p=4, n=30, m=9):
    rng = np.random.default_rng(p)
    table = rng.normal(size=(n, p))
    anchors = choose_anchors(table, m, random_state=0)
    graph = anchor_graph(table, anchors, s=3)
    labeled = np.array([11, 3, 4, 20, 0])
    targets = np.eye(3)[[0, 1, 2, 2, 1]]
    return table, anchors, graph, labeled, targets


def _centering(n):
    return np.eye(n) - 1.0 / n


def _hat(columns, gamma):
    """Centred ridge fit, written out."""
    centered = _centering(columns.shape[0]) @ columns
    gram = centered.T @ centered + gamma * np.eye(columns.shape[1])
    return centered @ np.linalg.solve(gram, centered.T)


@pytest.mark.parametrize("p", [4, 60])
@pytest.mark.parametrize(("mu", "gamma", "weight"), [(0.5, 2.0, 3.0), (1e-3, 1.0, 1e9)])
def test_fast_embedding_is_the_dense_solution(p, mu, gamma, weight):
    table, _, graph, labeled, targets = _problem(p)
    n = table.shape[0]
    found = fast_embedding(table, graph, labeled, targets, mu=mu, gamma=gamma, label_weight=weight)
    smooth = np.eye(n) - graph @ np.diag(1 / graph.sum(axis=0)) @ graph.T
    trust = np.zeros(n)
    trust[labeled] = weight
    full = np.zeros((n, 3))
    full[labeled] = targets
    system = smooth + np.diag(trust) + mu * (_centering(n) - _hat(table, gamma))
    expected = np.linalg.solve(system, trust[:, None] * full)
    np.testing.assert_allclose(found.labels, expected, atol=1e-8)
    fit = expected - expected.mean(axis=0)
    np.testing.assert_allclose(
        table @ found.map + found.shift - expected.mean(axis=0), _hat(table, gamma) @ fit, atol=1e-8
    )


def _fast_objective(table, graph, labeled, targets, F, W, b, mu, gamma, weight):
    smooth = np.eye(len(F)) - graph @ np.diag(1 / graph.sum(axis=0)) @ graph.T
    linear = ((table @ W + b - F) ** 2).sum() + gamma * (W**2).sum()
    return np.trace(F.T @ smooth @ F) + weight * ((F[labeled] - targets) ** 2).sum() + mu * linear


def test_fast_embedding_is_the_joint_minimiser():
    table, _, graph, labeled, targets = _problem()
    found = fast_embedding(table, graph, labeled, targets, mu=0.5, gamma=2.0, label_weight=3.0)
    best = _fast_objective(
        table, graph, labeled, targets, found.labels, found.map, found.shift, 0.5, 2.0, 3.0
    )
    rng = np.random.default_rng(0)
    for _ in range(20):
        moved = [
            part + 1e-3 * rng.normal(size=part.shape)
            for part in (found.labels, found.map, found.shift)
        ]
        assert _fast_objective(table, graph, labeled, targets, *moved, 0.5, 2.0, 3.0) > best


@pytest.mark.parametrize("weight", [0.1, 1.0, 1e9])
@pytest.mark.parametrize(("p", "mu", "gamma"), [(4, 0.3, 1.0), (60, 1e-9, 1e-9), (60, 1e9, 1e-9)])
def test_soft_labels_sum_to_one(p, mu, gamma, weight):
    table, _, graph, labeled, targets = _problem(p)
    found = fast_embedding(table, graph, labeled, targets, mu=mu, gamma=gamma, label_weight=weight)
    np.testing.assert_allclose(found.labels.sum(axis=1), 1.0, atol=1e-5)


def test_no_linear_fit_is_label_propagation_on_the_anchor_graph():
    table, _, graph, labeled, targets = _problem()
    n = table.shape[0]
    found = fast_embedding(table, graph, labeled, targets, mu=1e-9, gamma=1.0, label_weight=2.0)
    smooth = np.eye(n) - graph @ np.diag(1 / graph.sum(axis=0)) @ graph.T
    trust, full = np.zeros(n), np.zeros((n, 3))
    trust[labeled], full[labeled] = 2.0, targets
    expected = np.linalg.solve(smooth + np.diag(trust), trust[:, None] * full)
    np.testing.assert_allclose(found.labels, expected, atol=1e-5)


def test_one_anchor_per_row_leaves_only_the_linear_fit():
    table, _, _, labeled, targets = _problem()
    n = table.shape[0]
    found = fast_embedding(table, np.eye(n), labeled, targets, mu=0.5, gamma=2.0, label_weight=3.0)
    trust, full = np.zeros(n), np.zeros((n, 3))
    trust[labeled], full[labeled] = 3.0, targets
    system = np.diag(trust) + 0.5 * (_centering(n) - _hat(table, 2.0))
    expected = np.linalg.solve(system, trust[:, None] * full)
    np.testing.assert_allclose(found.labels, expected, atol=1e-8)


def test_a_large_label_weight_pins_the_labels():
    table, _, graph, labeled, targets = _problem()
    found = fast_embedding(table, graph, labeled, targets, mu=0.1, gamma=1.0, label_weight=1e9)
    np.testing.assert_allclose(found.labels[labeled], targets, atol=1e-6)


def test_unused_anchors_change_nothing():
    table, _, graph, labeled, targets = _problem()
    options = {"mu": 0.1, "gamma": 1.0, "label_weight": 5.0}
    padded = np.hstack([graph, np.zeros((30, 2))])
    np.testing.assert_allclose(
        fast_embedding(table, padded, labeled, targets, **options).labels,
        fast_embedding(table, graph, labeled, targets, **options).labels,
    )


@pytest.mark.parametrize("p", [4, 60])
def test_reduced_embedding_is_the_joint_minimiser(p):
    _, anchors, graph, labeled, targets = _problem(p)
    mu, gamma, weight, m = 0.5, 2.0, 3.0, anchors.shape[0]
    found = reduced_embedding(
        anchors, graph, labeled, targets, mu=mu, gamma=gamma, label_weight=weight
    )
    root = np.diag(graph.sum(axis=0) ** -0.5)
    seen = graph[labeled]
    smooth = np.eye(m) - root @ graph.T @ graph @ root
    system = smooth + weight * seen.T @ seen + mu * (_centering(m) - _hat(anchors, gamma))
    values = np.linalg.solve(system, weight * seen.T @ targets)
    np.testing.assert_allclose(found.labels, graph @ values, atol=1e-9)

    def objective(Q, W, b):
        linear = ((anchors @ W + b - Q) ** 2).sum() + gamma * (W**2).sum()
        misfit = ((seen @ Q - targets) ** 2).sum()
        return np.trace(Q.T @ smooth @ Q) + weight * misfit + mu * linear

    best, rng = objective(values, found.map, found.shift), np.random.default_rng(0)
    for _ in range(20):
        parts = (values, found.map, found.shift)
        assert objective(*(a + 1e-3 * rng.normal(size=a.shape) for a in parts)) > best


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 3)) * 0.4 + np.array([[0, 0, 0], [3, 0, 0], [0, 3, 0]])[y]
    return X, y, np.where(np.arange(90) % 30 < 3, y, -1)


@pytest.mark.parametrize("cls", [FFMEClassifier, RFMEClassifier])
@pytest.mark.parametrize("weights", ["lae", "gaussian"])
def test_blobs_are_found_in_the_rows_and_beyond(blobs, cls, weights):
    X, y, marked = blobs
    model = cls(weights=weights, random_state=0).fit(X, marked)
    assert (model.transduction_ == y).mean() > 0.95
    assert (model.predict(X) == y).mean() > 0.95


def test_rows_of_the_fit_take_what_the_linear_map_cannot_know():
    """XOR: the graph is right on its rows, a linear map is not."""
    rng = np.random.default_rng(0)
    corner = np.repeat([0, 1, 2, 3], 25)
    X = np.array([[0, 0], [0, 4], [4, 4], [4, 0]])[corner] + 0.3 * rng.normal(size=(100, 2))
    y = corner % 2
    marked = np.where(np.arange(100) % 25 < 2, y, -1)
    model = FFMEClassifier(random_state=0, n_anchors=20).fit(X, marked)
    assert (model.transduction_ == y).mean() == 1.0
    assert (model.predict(X) == y).mean() < 0.8


def test_class_masses_are_balanced_only_when_asked(blobs):
    X, _, marked = blobs
    balanced = FFMEClassifier(random_state=0).fit(X, marked)
    plain = FFMEClassifier(random_state=0, normalize_classes=False).fit(X, marked)
    np.testing.assert_array_equal(plain.soft_labels_, balanced.soft_labels_)
    np.testing.assert_array_equal(
        plain.transduction_, plain.classes_[plain.soft_labels_.argmax(axis=1)]
    )
    shares = balanced.soft_labels_ / balanced.soft_labels_.sum(axis=0)
    np.testing.assert_array_equal(balanced.transduction_, shares.argmax(axis=1))


@pytest.mark.parametrize("cls", [FFMERegressor, RFMERegressor])
def test_numbers_move_with_their_unit(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, 2.0, 0.0]
    y[15:] = np.nan
    one, other = (cls(random_state=0).fit(X, z) for z in (y, 100.0 + 10.0 * y))
    np.testing.assert_allclose(other.predict(X), 100.0 + 10.0 * one.predict(X), rtol=1e-6)
    np.testing.assert_allclose(other.transduction_, 100.0 + 10.0 * one.transduction_, rtol=1e-6)


@pytest.mark.parametrize("cls", [FFMERegressor, RFMERegressor])
def test_fits_repeat_with_the_seed(cls, blobs):
    X = blobs[0]
    y = np.where(np.arange(90) % 9 == 0, X[:, 0], np.nan)
    first, again = (cls(random_state=7).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.transduction_, again.transduction_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mu", 0.0),
        ("gamma", -1.0),
        ("label_weight", np.inf),
        ("n_anchors", 0),
        ("n_nearest", "3"),
        ("weights", "x"),
    ],
)
def test_bad_parameters_are_named(blobs, name, value):
    X, _, marked = blobs
    with pytest.raises(InvalidInputError, match=f"{name}="):
        FFMEClassifier(**{name: value}).fit(X, marked)


@parametrize_with_checks(
    [
        FFMERegressor(random_state=0),
        FFMEClassifier(random_state=0),
        FFMEClassifier(random_state=0, unlabeled=None),
        RFMERegressor(random_state=0),
        RFMEClassifier(random_state=0),
        RFMEClassifier(random_state=0, unlabeled=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_fme(estimator, check):
    check(estimator)
