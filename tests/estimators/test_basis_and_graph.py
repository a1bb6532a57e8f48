"""Every basis and graph with every learner: fits, files, explanations, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import s2mam
from s2mam import (
    PAPER,
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
    S2MAMClassifier,
    S2MAMRegressor,
)
from s2mam.bases.fourier import draw_frequencies
from s2mam.datasets import hide_labels, make_friedman, make_moons
from s2mam.estimators.rows import require_table_memory
from s2mam.exceptions import DegenerateGraphWarning, InvalidInputError, MemoryLimitError

GRAPHS = ("anchors", "nystrom", "fourier")


@pytest.fixture(scope="module")
def numbers():
    data = make_friedman(100, n_uninformative=2, n_noisy=1, random_state=0)
    return data.X, hide_labels(data.y, n_labeled=40, random_state=0)


@pytest.fixture(scope="module")
def classes():
    data = make_moons(90, n_uninformative=2, n_noisy=0, random_state=0)
    return data.X, hide_labels(data.y, per_class=8, random_state=0)


def _check(model, X, path):
    decision = model.predict(X) if not hasattr(model, "classes_") else model.decision_function(X)
    total = model.contributions(X).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, decision, atol=1e-9)
    model.save(path)
    again = s2mam.load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.contributions(X), model.contributions(X))
    assert again.basis == model.basis
    assert again.graph == model.graph


@pytest.mark.parametrize("basis", ["nystrom", "fourier"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_default_learner(basis, graph, numbers, classes, tmp_path):
    for kind, (X, y) in ((S2MAMRegressor, numbers), (S2MAMClassifier, classes)):
        model = kind(basis=basis, graph=graph, max_iter=15, random_state=0).fit(X, y)
        _check(model, X, tmp_path / "model")
        labeled = np.asarray(y) >= 0 if kind is S2MAMClassifier else ~np.isnan(y)
        assert model.score(X[labeled], np.asarray(y)[labeled]) > 0.8
    plain = S2MAMClassifier(basis=basis, graph=graph, max_iter=15, random_state=0)
    refitted = plain.fit(*classes).refit_selected()
    assert refitted.basis == basis


@pytest.mark.parametrize("basis", ["nystrom", "fourier"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_base_model_and_learners_with_one_mask(basis, graph, numbers, classes, tmp_path):
    X, y = numbers
    fixed = {"basis": basis, "graph": graph, "manifold": 5.0, "sparsity": 0.01}
    _check(ManifoldAdditiveRegressor(**fixed).fit(X, y), X, tmp_path / "one")
    _check(ManifoldAdditiveClassifier(**fixed).fit(*classes), classes[0], tmp_path / "two")
    single = {**fixed, "n_features_to_select": 4, "random_state": 0}
    _check(S2MAMRegressor(**single, mask_learner="relaxed").fit(X, y), X, tmp_path / "three")
    drawn = S2MAMRegressor(**single, mask_learner="rloo", criterion="labeled", max_iter=2)
    _check(drawn.fit(X, y), X, tmp_path / "four")


def test_the_graph_matters_where_it_is_forced(classes):
    """A heavy graph term makes the function smoother along its own graph, for every kind."""
    X, y = classes
    for graph in ("dense", "neighbors", *GRAPHS):
        rough = ManifoldAdditiveClassifier(graph=graph, manifold=0.0, sparsity=1e-3).fit(X, y)
        heavy = ManifoldAdditiveClassifier(graph=graph, manifold=1e4, sparsity=1e-3).fit(X, y)
        assert heavy.decision_function(X).std() < rough.decision_function(X).std()


@pytest.mark.parametrize("graph", ["dense", "fourier", "anchors"])
def test_the_papers_fourier_form_predicts_by_its_formula(graph, numbers, tmp_path):
    X, y = numbers
    settings = PAPER | {"basis": "fourier", "graph": graph, "max_iter": 3}
    model = S2MAMRegressor(**settings, n_features_to_select=4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateGraphWarning)
        model.fit(X, y)
    _check(model, X, tmp_path / "paper")
    inner = model._model
    z, s = inner.reader.transform(X), model.mask_probabilities_
    expected = np.zeros(100)
    for j in range(X.shape[1]):
        drawn = inner.frequencies[j]
        w = drawn[drawn > 0] / inner.lengths[j]
        angle = np.outer(s[j] * z[:, j], w)
        waves = np.hstack([np.cos(angle), np.sin(angle)]) / np.sqrt(w.size)
        expected += waves @ inner.weights[j, :, 0]
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-9)
    assert draw_frequencies(np.arange(3), 0).shape[1] == inner.frequencies.shape[1]


def test_the_papers_fourier_graph_says_what_it_had_to_repair(numbers):
    X, y = numbers
    settings = PAPER | {"basis": "fourier", "graph": "fourier", "max_iter": 2}
    with pytest.warns(DegenerateGraphWarning, match="negative similarities"):
        S2MAMRegressor(**settings, n_features_to_select=4, random_state=0).fit(X, y)


def test_refusals_name_the_choices(numbers):
    X, y = numbers
    with pytest.raises(InvalidInputError, match="basis='splines' is unknown; use one of 'kernel'"):
        S2MAMRegressor(basis="splines").fit(X, y)
    with pytest.raises(InvalidInputError, match="graph='knn' is unknown"):
        ManifoldAdditiveRegressor(graph="knn").fit(X, y)
    with pytest.raises(InvalidInputError, match="basis='kernel' and 'fourier'"):
        S2MAMRegressor(**PAPER | {"basis": "nystrom"}).fit(X, y)


def test_auto_is_the_kernel_on_small_tables_and_says_so(numbers, capsys):
    X, y = numbers
    given = {"max_iter": 10, "random_state": 0}
    auto = S2MAMRegressor(basis="auto", verbose=1, **given).fit(X, y)
    said = capsys.readouterr().err
    assert "basis: kernel" in said
    assert "graph: neighbors" in said
    kernel = S2MAMRegressor(**given).fit(X, y)
    np.testing.assert_array_equal(auto.predict(X), kernel.predict(X))
    S2MAMRegressor(mask_learner="relaxed", verbose=1, n_features_to_select=3).fit(X, y)
    assert "graph: dense" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [ManifoldAdditiveRegressor, ManifoldAdditiveClassifier])
def test_the_base_model_says_what_auto_stands_for(numbers, capsys, kind):
    X, y = numbers
    if kind is ManifoldAdditiveClassifier:
        y = np.where(np.isnan(y), -1, y > np.nanmedian(y))
    quiet = kind(basis="auto").fit(X, y)
    assert capsys.readouterr() == ("", "")
    told = kind(basis="auto", verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    first, last = captured.err.splitlines()
    n, p = X.shape
    assert first == (
        f"[{kind.__name__}] {told.n_labeled_} labelled of {n} rows, {p} columns; scale: robust; "
        "auto: basis: kernel, graph: dense, bandwidth: by the distances, solver: bcd, "
        "sparsity: by leave-one-out, manifold: by leave-one-out"
    )
    assert f"{told.support_.sum()} of {p} columns selected; sparsity=" in last
    np.testing.assert_array_equal(told.predict(X), quiet.predict(X))
    given = {"sparsity": 0.1, "manifold": 0.0, "bandwidth": 1.0, "graph": "anchors"}
    kind(**given, solver="admm", scale="rank", verbose=True).fit(X, y)
    assert capsys.readouterr().err.splitlines()[0].endswith("columns; scale: rank")
    with pytest.raises(InvalidInputError, match="verbose='loud' must be a whole number"):
        kind(verbose="loud").fit(X, y)


def test_auto_of_many_rows_is_said_as_it_is_built(capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_100, 2))
    y = np.where(np.arange(4_100) < 60, X[:, 0], np.nan)
    ManifoldAdditiveRegressor(verbose=1, sparsity=0.01, manifold=0.01).fit(X, y)
    assert "graph: neighbors" in capsys.readouterr().err


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
def test_sparse_tables_give_the_same_model(make, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 8)) * (rng.random((80, 8)) < 0.4)
    X[:, 0] = rng.normal(size=80)
    y = 2 * X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=80)
    y[30:] = np.nan
    for model in (S2MAMRegressor(max_iter=10, random_state=0), ManifoldAdditiveRegressor()):
        dense = model.fit(X, y).predict(X)
        stored = model.fit(make(X), y)
        np.testing.assert_array_equal(stored.predict(make(X)), dense)
        np.testing.assert_array_equal(stored.contributions(make(X)), stored.contributions(X))
        np.testing.assert_array_equal(stored.transduction_, dense)
    monkeypatch.setattr("s2mam.estimators.model._DENSE", 100)  # twelve rows at a time
    np.testing.assert_allclose(stored.predict(make(X)), dense, atol=1e-12)
    small = stored.transform(make(X))
    assert small.shape == (80, int(stored.support_.sum()))


def test_a_sparse_table_that_cannot_be_held_is_refused_before_it_is_read():
    huge = sparse.csr_array((10**6, 10**6))
    with pytest.raises(MemoryLimitError, match="1000000 rows and 1000000 columns"):
        S2MAMRegressor().fit(huge, np.zeros(10**6))
    require_table_memory((100, 100), n_tables=2, memory_limit=10**7)
