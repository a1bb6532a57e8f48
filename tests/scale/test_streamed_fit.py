"""Fits on streams: equal to fits in memory where they should be, and at least as good elsewhere."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import s2mam
from s2mam import (
    PAPER,
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
    S2MAMClassifier,
    S2MAMRegressor,
)
from s2mam.exceptions import InvalidInputError
from s2mam.scale import IteratorSource, scale_options

sys.path.insert(0, str(Path(__file__).parent))
from streamed_data import SMALL, classes, numbers, three_classes

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def regressor():
    X, y, _ = numbers()
    with scale_options(**SMALL):
        return S2MAMRegressor(random_state=0, max_iter=20).fit(X, y)


def test_a_stream_of_few_rows_is_the_fit_in_memory():
    X, y, _ = numbers(60)
    plain = S2MAMRegressor(random_state=0, max_iter=20).fit(X[:600], y[:600])
    with scale_options(stream_rows=100, block_rows=97):
        streamed = S2MAMRegressor(random_state=0, max_iter=20).fit(X[:600], y[:600])
        lazy = streamed.predict(X)
    np.testing.assert_array_equal(streamed.mask_probabilities_, plain.mask_probabilities_)
    np.testing.assert_allclose(lazy, plain.predict(X), rtol=1e-12)
    np.testing.assert_array_equal(streamed.predict(X), plain.predict(X))


def test_labels_that_the_sample_left_out_are_used(regressor):
    X, y, truth = numbers()
    assert regressor.n_labeled_ == 500
    assert regressor.chosen_["held_out_error"] < regressor.chosen_["sample_error"]
    assert {0, 1, 2, 3, 4} <= set(regressor.get_support(indices=True))
    hidden = np.isnan(y)
    assert regressor.score(X[hidden], truth[hidden]) > 0.86  # an additive model reaches 0.89


def test_contributions_add_up(regressor):
    X, _, _ = numbers()
    with scale_options(**SMALL):
        parts = regressor.contributions(X)
        np.testing.assert_allclose(
            parts.sum(axis=1) + regressor.intercept_, regressor.predict(X), atol=1e-10
        )


@pytest.mark.parametrize("kind", ["npy", "parquet", "csv", "function", "map"])
def test_the_place_of_the_rows_does_not_matter(kind, regressor, tmp_path):
    X, y, _ = numbers()
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    np.save(tmp_path / "rows.npy", X)
    rows, labels = tmp_path / f"rows.{kind}", "y"
    if kind == "parquet":
        frame.assign(y=y).to_parquet(rows, row_group_size=128)
    elif kind == "csv":
        frame.assign(y=y).to_csv(rows, index=False)
    elif kind == "function":
        rows = IteratorSource(
            lambda: ((X[at : at + 128], y[at : at + 128]) for at in range(0, len(X), 128))
        )
        labels = None
    else:
        labels = y
        rows = np.load(tmp_path / "rows.npy", mmap_mode="r") if kind == "map" else rows
    with scale_options(**SMALL):
        model = S2MAMRegressor(random_state=0, max_iter=20, n_jobs=2 if kind == "npy" else None)
        model.fit(rows, labels)
        again = model.predict(rows)
    np.testing.assert_array_equal(model.mask_probabilities_, regressor.mask_probabilities_)
    np.testing.assert_allclose(np.asarray(again), regressor.predict(X), atol=1e-9)
    if kind != "map":
        assert sum(len(block) for block in again) == len(X)
    np.testing.assert_allclose(np.asarray(model.transduction_), regressor.predict(X), atol=1e-9)
    if kind in ("parquet", "csv"):
        assert model.target_name_ == "y"
        assert model.feature_names_in_.tolist() == list(frame.columns)


@pytest.mark.parametrize("learner", ["relaxed", "paper"])
def test_other_learners_stream_too(learner):
    X, y, truth = numbers()
    settings = {"mask_learner": "relaxed"} if learner == "relaxed" else {**PAPER, "max_iter": 3}
    with scale_options(**SMALL):
        model = S2MAMRegressor(n_features_to_select=5, random_state=0, **settings).fit(X, y)
        score = model.score(X, truth)
    assert model.n_labeled_ == 500
    assert ("ridge" in model.chosen_) == (learner == "relaxed")
    if learner == "relaxed":
        assert score > 0.7
        changed = X.copy()
        changed[:, ~model.support_] = 0.0
        np.testing.assert_array_equal(model.predict(changed), model.predict(X))


def test_classes_are_calibrated():
    X, y, truth = classes()
    with scale_options(**SMALL):
        model = S2MAMClassifier(random_state=0).fit(X, y)
        hidden = y == -1
        probabilities = model.predict_proba(X[hidden])
        assert model.score(X[hidden], truth[hidden]) > 0.85
    likely = probabilities[np.arange(len(probabilities)), truth[hidden]]
    assert -np.log(likely).mean() < 0.4
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_three_classes_of_text(tmp_path):
    X, y, truth = three_classes()
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet", row_group_size=128)
    with scale_options(**SMALL):
        model = S2MAMClassifier(random_state=0).fit(tmp_path / "rows.parquet", "y")
        assert model.classes_.tolist() == ["low", "mid", "top"]
        predicted = np.asarray(model.predict(tmp_path / "rows.parquet"))
        shares = np.asarray(model.predict_proba(tmp_path / "rows.parquet"))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    few = y.copy()
    few[np.flatnonzero(y != None)[50:]] = None  # noqa: E711
    hidden = y == None  # noqa: E711
    small = S2MAMClassifier(random_state=0).fit(X, few)
    gain = np.mean(predicted[hidden] == truth[hidden]) - small.score(X[hidden], truth[hidden])
    assert gain > 0.04
    parts = np.concatenate(list(model.contributions(tmp_path / "rows.parquet")))
    assert parts.shape == (len(X), X.shape[1], 3)


def test_the_base_model_has_a_graph_over_all_rows():
    X, y, truth = numbers()
    with scale_options(**SMALL):
        model = ManifoldAdditiveRegressor(manifold=50.0).fit(X, y)
        other = ManifoldAdditiveRegressor(manifold=0.0).fit(X, y)
        assert model.score(X, truth) > 0.75
        assert not np.allclose(model.predict(X), other.predict(X), atol=1e-6)
        with pytest.raises(InvalidInputError, match="graph='dense' needs all rows"):
            ManifoldAdditiveRegressor(graph="dense").fit(X, y)


def test_the_base_model_classifies():
    X, y, truth = classes()
    with scale_options(**SMALL):
        model = ManifoldAdditiveClassifier().fit(X, y)
        assert model.score(X, truth) > 0.85


def test_hidden_labels_are_not_read():
    X, y, _ = classes()
    labels = y.astype(object)
    hidden = np.flatnonzero(y == -1)
    labels[hidden] = None
    with scale_options(**SMALL):
        one = S2MAMClassifier(random_state=0, max_iter=10).fit(X, labels).decision_function(X)
        two = S2MAMClassifier(random_state=0, max_iter=10).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(one, two)


def test_saved_models_predict_the_same(regressor, tmp_path):
    X, y, _ = numbers()
    np.save(tmp_path / "rows.npy", X)
    with scale_options(**SMALL):
        model = S2MAMRegressor(random_state=0, max_iter=10).fit(tmp_path / "rows.npy", y)
    model.save(tmp_path / "model.s2mam")
    loaded = s2mam.load(tmp_path / "model.s2mam")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert not hasattr(loaded, "transduction_")
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(X), model.predict(X))


def test_refit_selected_works_on_the_sample(regressor):
    X, _, truth = numbers()
    plain = regressor.refit_selected()
    assert plain.score(X, truth) > 0.6


def test_verbose_says_that_rows_are_streamed(capsys):
    X, y, _ = numbers()
    with scale_options(**SMALL):
        S2MAMRegressor(random_state=0, max_iter=5, verbose=1).fit(X, y)
    said = capsys.readouterr().err
    assert "streamed: 1500 rows, 500 labelled" in said
    assert "corrected by 450 more labelled rows" in said


def test_a_verbose_base_model_says_what_is_streamed(capsys):
    X, y, _ = numbers()
    with scale_options(**SMALL):
        ManifoldAdditiveRegressor(verbose=1).fit(X, y)
    said = capsys.readouterr().err
    assert "streamed: 1500 rows, 500 labelled; the curves are learned from" in said
    assert "graph: anchors" in said
    assert "no graph" not in said
    with scale_options(**SMALL | {"max_features": 3}):
        ManifoldAdditiveRegressor(verbose=1).fit(X, y)
    assert "features are more than max_features" in capsys.readouterr().err


def test_weights_count_in_the_sums():
    X, y, _ = numbers()
    labeled = np.flatnonzero(~np.isnan(y))
    with scale_options(**SMALL):
        heavy = np.ones(len(y))
        heavy[labeled[200:]] = 0.0
        dropped = y.copy()
        dropped[labeled[200:]] = np.nan
        one = S2MAMRegressor(random_state=0, max_iter=5).fit(X, y, heavy)
        two = S2MAMRegressor(random_state=0, max_iter=5).fit(X, y)
    assert not np.allclose(one.predict(X), two.predict(X))


def test_all_rows_may_be_labelled():
    X, _, truth = numbers()
    with scale_options(**SMALL):
        model = S2MAMRegressor(random_state=0).fit(X, truth)
        assert model.score(X, truth) > 0.85


def test_one_class_is_a_constant():
    X, _, _ = numbers()
    y = np.where(np.arange(len(X)) % 3 == 0, "only", None)
    with scale_options(**SMALL):
        model = S2MAMClassifier(random_state=0).fit(X, y)
        assert set(model.predict(X)) == {"only"}
