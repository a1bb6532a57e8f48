from __future__ import annotations

import numpy as np
import pytest
from expected_checks import expected_failures
from scipy.linalg import eigh, subspace_angles
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.sale import SALEClassifier, class_graph, inverse_graph
from s2mam.baselines.shared.adaptive_neighbors import row_distances
from s2mam.datasets import hide_labels, make_additive_classification
from s2mam.exceptions import InvalidInputError


def _classes(n_per_class=20, columns=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], n_per_class)
    means = 2.0 * rng.normal(size=(3, columns))
    mixing = rng.normal(size=(columns, columns))
    return rng.normal(size=(y.size, columns)) @ mixing + means[y], y


def _moons(seed, n=200, noise_columns=4):
    points, y = make_moons(n, noise=0.05, random_state=seed)
    X = np.hstack([points, np.random.default_rng(seed).normal(size=(n, noise_columns))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    partial = np.full(n, -1)
    shown = np.concatenate([np.flatnonzero(y == c)[:5] for c in (0, 1)])
    partial[shown] = y[shown]
    return X, y, partial


def test_all_pairs_of_equal_classes_give_the_discriminant_subspace():
    X, y = _classes()
    model = SALEClassifier(
        smoothness=0.0, n_same_class=19, n_components=2, ridge=1e-12, variance=1.0, scale=None
    ).fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert subspace_angles(model.projection_, lda.scalings_[:, :2]).max() < 1e-5


def test_near_pairs_of_equal_classes_give_a_local_discriminant_subspace():
    X, y = _classes()
    model = SALEClassifier(
        smoothness=0.0,
        n_same_class=4,
        n_components=2,
        ridge=1e-12,
        variance=1.0,
        max_iter=200,
        tol=0.0,
        scale=None,
    ).fit(X, y)
    linked = class_graph(row_distances(X @ model.projection_), y, 4)
    pairs = np.array([X[i] - X[j] for i, j in zip(*np.nonzero(linked), strict=True)])
    centred = X - X.mean(axis=0)
    _, vectors = eigh(pairs.T @ pairs, centred.T @ centred)
    assert subspace_angles(model.projection_, vectors[:, :2]).max() < 1e-5


def test_without_unlabelled_part_hidden_rows_do_not_matter():
    X, y = _classes()
    rng = np.random.default_rng(1)
    extra = np.vstack([X, rng.normal(size=(10, 4)) @ np.diag([1, 2, 3, 4])])
    hidden = np.append(y, np.full(10, -1))
    plain = SALEClassifier(smoothness=0.0, variance=1.0, scale=None, max_iter=50)
    with_rows, without = clone(plain).fit(extra, hidden), plain.fit(X, y)
    assert subspace_angles(with_rows.projection_, without.projection_).max() < 1e-5


@pytest.mark.parametrize("scatter", ["labeled", "all"])
def test_the_embedding_has_unit_scatter(scatter):
    X, y = _classes()
    partial = np.where(np.arange(60) % 3 == 0, y, -1)
    model = SALEClassifier(scatter=scatter, ridge=1e-10, scale=None).fit(X, partial)
    rows = X[partial >= 0] if scatter == "labeled" else X
    embedded = (rows - rows.mean(axis=0)) @ model.projection_
    np.testing.assert_allclose(embedded.T @ embedded, np.eye(3), atol=1e-6)


@pytest.mark.parametrize("smoothness", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_objective_falls(smoothness, seed):
    X, _, partial = _moons(seed)
    model = SALEClassifier(smoothness=smoothness, tol=0.0).fit(X, partial)
    trace = np.array(model.objective_)
    assert trace.size > 2
    assert (np.diff(trace) <= 1e-9 * trace[:-1]).all()


def test_one_direction_beats_the_nearest_row_under_noise_columns():
    ours, plain = [], []
    for seed in range(8):
        X, y, partial = _moons(seed)
        shown = partial >= 0
        ours.append((SALEClassifier(n_components=1).fit(X, partial).transduction_ == y).mean())
        nearest = KNeighborsClassifier(1).fit(X[shown], y[shown])
        plain.append((nearest.predict(X) == y).mean())
    assert np.mean(ours) >= np.mean(plain) + 0.05


def test_predictions_are_the_nearest_labelled_row_of_the_embedding():
    X, y = _classes()
    partial = np.where(np.arange(60) % 4 == 0, y, -1)
    shown = partial >= 0
    model = SALEClassifier(scale=None).fit(X, partial)
    nearest = KNeighborsClassifier(1).fit(X[shown] @ model.projection_, y[shown])
    np.testing.assert_array_equal(model.predict(X), nearest.predict(X @ model.projection_))


def test_class_graph_links_the_nearest_of_the_class_only():
    rng = np.random.default_rng(0)
    table, codes = rng.normal(size=(12, 2)), np.arange(12) % 3
    distances = row_distances(table)
    graph = class_graph(distances, codes, 2)
    for i in range(12):
        mates = [j for j in np.argsort(distances[i]) if codes[j] == codes[i] and j != i]
        np.testing.assert_array_equal(np.flatnonzero(graph[i]), np.sort(mates[:2]))
    assert (class_graph(distances, codes, 50).sum(axis=1) == 3).all()


def test_inverse_graph_minimises_squared_shares():
    distances = row_distances(np.random.default_rng(0).normal(size=(15, 2)))
    graph = inverse_graph(distances, 4)
    np.testing.assert_allclose(graph.sum(axis=1), 1.0)
    finite = np.where(np.isfinite(distances), distances, 0.0)
    best = (graph**2 * finite).sum(axis=1)
    rng = np.random.default_rng(1)
    for _ in range(20):
        other = np.where(graph > 0, rng.uniform(0.5, 1.5, graph.shape) * graph, 0.0)
        other /= other.sum(axis=1, keepdims=True)
        assert (best <= (other**2 * finite).sum(axis=1) + 1e-12).all()
    assert np.isfinite(inverse_graph(row_distances(np.zeros((5, 2))), 2)).all()


def test_one_label_per_class_and_duplicate_columns_are_fine():
    X, y, partial = _moons(0)
    partial = np.full_like(partial, -1)
    for code in (0, 1):
        partial[np.flatnonzero(y == code)[0]] = code
    model = SALEClassifier(n_components=50, variance=1.0).fit(np.hstack([X, X]), partial)
    assert model.projection_.shape == (12, 6)
    assert np.isfinite(model.decision_function(np.hstack([X, X]))).all()


def test_new_rows_of_a_wide_table_do_as_well_as_unlabelled_ones():
    """Without a limit the embedding takes the training rows apart by what hardly varies."""
    rng = np.random.default_rng(2)
    y = np.arange(240) % 3
    hidden = rng.normal(size=(240, 8)) + 3.0 * np.eye(8)[y]
    X = hidden @ rng.normal(size=(8, 200)) + 0.3 * rng.normal(size=(240, 200))
    shown = np.where(np.arange(120) < 36, y[:120], -1)
    kept, all_kept = (
        SALEClassifier(variance=variance).fit(X[:120], shown) for variance in (0.95, 1.0)
    )
    assert kept.score(X[120:], y[120:]) > 0.8
    assert all_kept.score(X[120:], y[120:]) < 0.6


def test_components_carry_the_variance_asked_for():
    X, y = _classes(columns=6)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    for wanted in (0.5, 0.9, 1.0):
        model = SALEClassifier(variance=wanted, n_components=6, scale=None).fit(X, y)
        q = model.projection_.shape[1]
        assert values[:q].sum() >= (wanted - 1e-12) * values.sum()
        assert q == 1 or values[: q - 1].sum() < wanted * values.sum()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scatter", "none"),
        ("n_components", "few"),
        ("ridge", 0.0),
        ("n_votes", 0),
        ("variance", 1.5),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, _, partial = _moons(0)
    with pytest.raises(InvalidInputError, match=name):
        SALEClassifier(**{name: value}).fit(X, partial)


# A check rounds its columns, so that rows of several classes coincide: one vote is too few.
@parametrize_with_checks(
    [
        SALEClassifier(max_iter=3, n_votes=5),
        SALEClassifier(max_iter=3, n_votes=5, unlabeled=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_a_circle_is_learned_from_enough_labels():
    """At chance with a handful of labels among many columns; this shows that it is not a fault."""
    data = make_additive_classification(
        400, n_uninformative=0, n_noisy=0, variant="code", random_state=0
    )
    y = hide_labels(data.y[:200], per_class=40, random_state=0)
    model = SALEClassifier().fit(data.X[:200], y)
    assert model.score(data.X[200:], data.y[200:]) > 0.85
