"""Files, pickles, pipelines, searches and the selector side."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from estimator_data import LEARNERS, decide, make, rows
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import s2mam
from s2mam import ManifoldAdditiveClassifier, ManifoldAdditiveRegressor, S2MAMRegressor
from s2mam.exceptions import InvalidInputError
from s2mam.model_selection import (
    SemiSupervisedKFold,
    SemiSupervisedShuffleSplit,
    SemiSupervisedStratifiedKFold,
    labeled_scorer,
)

pytestmark = pytest.mark.filterwarnings("ignore::s2mam.exceptions.ConvergenceWarning")


def _assert_same(one, two, X):
    np.testing.assert_array_equal(decide(one, X), decide(two, X))
    np.testing.assert_array_equal(one.contributions(X), two.contributions(X))
    np.testing.assert_array_equal(one.mask_probabilities_, two.mask_probabilities_)
    np.testing.assert_array_equal(one.get_support(), two.get_support())
    np.testing.assert_array_equal(one.transduction_, two.transduction_)
    assert one.history_ == two.history_
    assert one.stop_reason_ == two.stop_reason_
    assert one.n_iter_ == two.n_iter_
    assert type(one) is type(two)


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_files_pickles_and_copies_have_the_same_bits(learner, task, tmp_path):
    X, _, y = rows(task)
    model = make(learner, task).fit(X, y)
    new = X + 0.3 * X.std(axis=0)
    new[::5, 2] = np.nan
    path = tmp_path / "model.s2mam"
    model.save(path)
    loaded = s2mam.load(path)
    for other in (loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        _assert_same(model, other, new)
    assert loaded.get_params() == model.get_params()
    if task != "regression":
        np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
        np.testing.assert_array_equal(loaded.classes_, model.classes_)


def test_a_loaded_model_checks_names_and_reads_categories(tmp_path):
    X, _, y = rows("binary")
    table = pd.DataFrame(X, columns=list("abcde"))
    table["group"] = pd.Categorical(np.where(X[:, 0] > 5, "high", "low"))
    labels = np.where(y == -1, None, np.where(y == 1, "yes", "no"))
    model = make("posterior", "binary").fit(table, labels)
    model.save(tmp_path / "m")
    loaded = s2mam.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    np.testing.assert_array_equal(loaded.decision_function(table), model.decision_function(table))
    np.testing.assert_array_equal(loaded.get_feature_names_out(), model.get_feature_names_out())
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(table.rename(columns={"a": "other"}))


@pytest.mark.parametrize("state", [np.random.RandomState(0), np.int64(3), None])
def test_any_random_state_can_be_saved(state, tmp_path):
    X, _, y = rows("regression")
    model = S2MAMRegressor(max_iter=3, random_state=state).fit(X, y)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(s2mam.load(tmp_path / "m").predict(X), model.predict(X))


@pytest.mark.parametrize("unlabeled", [np.nan, None, -999, "auto"])
def test_any_marker_can_be_saved(unlabeled, tmp_path):
    X, full, _ = rows("regression")
    model = ManifoldAdditiveRegressor(unlabeled=unlabeled, sparsity=0.01, manifold=0.0)
    model.fit(X, full).save(tmp_path / "m")
    np.testing.assert_array_equal(s2mam.load(tmp_path / "m").predict(X), model.predict(X))


def test_clone_is_unfitted_with_the_same_parameters():
    X, _, y = rows("regression")
    model = make("posterior", "regression").fit(X, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    with pytest.raises(NotFittedError):
        fresh.contributions(X)
    with pytest.raises(NotFittedError):
        fresh.refit_selected()


@pytest.mark.parametrize("learner", LEARNERS)
def test_transform_keeps_the_selected_columns(learner):
    X, _, y = rows("regression")
    model = make(learner, "regression").fit(X, y)
    np.testing.assert_array_equal(model.transform(X), X[:, model.support_])
    if learner == "posterior":
        np.testing.assert_array_equal(model.support_, model.mask_probabilities_ > 0.5)
    if learner in ("relaxed", "rloo", "paper"):
        assert model.support_.sum() <= 2
    assert ((model.mask_probabilities_ >= 0) & (model.mask_probabilities_ <= 1)).all()


def test_transform_of_dataframes():
    X, _, y = rows("regression")
    table = pd.DataFrame(X, columns=list("abcde"))
    model = make("posterior", "regression").fit(table, y)
    model.set_output(transform="pandas")
    selected = model.transform(table)
    assert isinstance(selected, pd.DataFrame)
    assert list(selected.columns) == list(model.get_feature_names_out())
    pd.testing.assert_frame_equal(selected, table.loc[:, model.support_])


def test_the_number_of_columns_asked_for_is_selected():
    X, _, y = rows("regression")
    for wanted, size in ((1, 1), (3, 3), (0.4, 2), (99, 5), (1.0, 5)):
        model = S2MAMRegressor(n_features_to_select=wanted, max_iter=5, random_state=0).fit(X, y)
        assert model.support_.sum() == size


def test_transduction_is_the_prediction_of_the_training_rows():
    X, _, y = rows("multiclass")
    model = make("posterior", "multiclass").fit(X, y)
    np.testing.assert_array_equal(model.transduction_, model.predict(X))
    assert model.transduction_.shape == y.shape


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_refit_selected_is_the_plain_model_on_the_selected_columns(task):
    X, _, y = rows(task)
    model = make("posterior", task).set_params(n_features_to_select=2).fit(X, y)
    plain = model.refit_selected()
    kind = ManifoldAdditiveRegressor if task == "regression" else ManifoldAdditiveClassifier
    assert isinstance(plain, kind)
    assert not plain.support_[~model.support_].any()
    alone = kind().fit(X[:, model.support_], y)
    np.testing.assert_allclose(
        decide(plain, X), decide(alone, X[:, model.support_]), atol=1e-5, rtol=1e-5
    )
    garbage = np.where(model.support_, X, 1e9)
    np.testing.assert_array_equal(decide(plain, garbage), decide(plain, X))


def test_refit_selected_publishes_what_a_fit_publishes():
    X, _, y = rows("regression")
    plain = make("relaxed", "regression").fit(X, y).refit_selected()
    for name in ("mask_probabilities_", "support_", "intercept_", "chosen_", "n_features_in_"):
        assert hasattr(plain, name), name
    np.testing.assert_array_equal(plain.transduction_, plain.predict(X))


def test_refit_selected_needs_the_training_rows(tmp_path):
    X, _, y = rows("regression")
    model = make("posterior", "regression").fit(X, y)
    model.save(tmp_path / "m")
    for other in (s2mam.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        with pytest.raises(InvalidInputError, match="training rows"):
            other.refit_selected()


def test_pipeline_and_grid_search_with_unlabelled_rows():
    X, _full, y = rows("regression")
    pipeline = make_pipeline(
        StandardScaler(), ManifoldAdditiveRegressor(manifold=0.0, sparsity=0.01)
    )
    search = GridSearchCV(
        pipeline,
        {"manifoldadditiveregressor__sparsity": [1e-3, 10.0]},
        cv=SemiSupervisedKFold(3, shuffle=True, random_state=0),
        scoring=labeled_scorer("r2"),
        error_score="raise",
    ).fit(X, y)
    assert search.best_params_["manifoldadditiveregressor__sparsity"] == 1e-3
    assert search.best_score_ > 0.5
    assert search.score(X, y) > 0.8
    np.testing.assert_array_equal(
        search.best_estimator_[-1].transduction_, search.best_estimator_.predict(X)
    )


def test_cross_validation_of_classifiers_with_unlabelled_rows():
    X, _, y = rows("binary", n_labeled=40)
    model = make("posterior", "binary")
    for cv in (
        SemiSupervisedStratifiedKFold(2),
        SemiSupervisedShuffleSplit(2, test_size=0.3, random_state=0),
    ):
        scores = cross_val_score(
            model, X, y, cv=cv, scoring=labeled_scorer("neg_log_loss"), error_score="raise"
        )
        assert (scores > np.log(0.5)).all()


def test_selector_as_a_step_of_a_pipeline():
    X, _, y = rows("regression")
    selector = make("relaxed", "regression")
    pipeline = make_pipeline(selector, ManifoldAdditiveRegressor(manifold=0.0)).fit(X, y)
    assert pipeline.predict(X).shape == (60,)
    assert pipeline[-1].n_features_in_ == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sparsity", -1.0),
        ("sparsity", "big"),
        ("manifold", np.nan),
        ("bandwidth", 0.0),
        ("step_size", 0.0),
        ("n_masks", 0),
        ("max_iter", 2.5),
        ("max_iter", True),
        ("basis", "fancy"),
        ("graph", None),
        ("solver", "sgd"),
        ("criterion", "best"),
        ("criterion", "loo"),
        ("mask_learner", "magic"),
        ("literal", True),
        ("scale", "log"),
        ("n_features_to_select", 0),
        ("n_features_to_select", 1.5),
        ("n_features_to_select", True),
        ("categorical", ["nowhere"]),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, _, y = rows("regression")
    with pytest.raises(InvalidInputError, match=name):
        S2MAMRegressor(**{name: value}).fit(X, y)
