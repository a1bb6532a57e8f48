"""Scorers: unlabelled rows never enter a score."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, get_scorer, make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.semi_supervised import LabelSpreading

from s2mam.exceptions import NoLabelsError
from s2mam.model_selection import SemiSupervisedStratifiedKFold, labeled_scorer


@pytest.fixture
def classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    return X, y, LogisticRegression().fit(X, y)


@pytest.mark.parametrize(
    "scoring", [None, "accuracy", "roc_auc", "neg_log_loss", make_scorer(accuracy_score)]
)
def test_equals_the_score_of_the_labelled_rows(classes, scoring):
    X, y, model = classes
    hidden = np.arange(60) % 3 == 0
    plain = model.score if scoring is None else None
    scorer = get_scorer(scoring) if scoring is not None else lambda _, X, y: plain(X, y)
    expected = scorer(model, X[~hidden], y[~hidden])
    found = labeled_scorer(scoring)
    assert found(model, X, np.where(hidden, -1, y)) == expected
    assert found(model, X, np.where(hidden, np.nan, y)) == expected
    objects = y.astype(object)
    objects[hidden] = None
    assert found(model, pd.DataFrame(X).to_numpy(), objects) == expected


def test_custom_callable_and_marker(classes):
    X, y, model = classes

    def count(estimator, X, y):
        return len(y)

    assert labeled_scorer(count)(model, X, np.where(np.arange(60) < 10, -1, y)) == 50
    marked = np.where(np.arange(60) < 10, 99, y)
    assert labeled_scorer(count, unlabeled=99)(model, X, marked) == 50
    assert labeled_scorer(count, unlabeled=None)(model, X, marked) == 60


def test_regression_with_frames_and_weights():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    y = pd.Series([1.0, None, 3.0, -1.0])
    model = DummyRegressor(strategy="constant", constant=1.0).fit(X, [0, 0, 0, 0])
    scorer = labeled_scorer(make_scorer(mean_absolute_error))
    assert scorer(model, X, y) == pytest.approx(4 / 3)
    assert scorer(model, X, y, sample_weight=[1, 50, 0, 0]) == 0
    assert scorer(model, X, y, sample_weight=np.array([0, 50, 1, 1])) == 2


def test_names_of_columns_reach_the_estimator():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    model = LinearRegression().fit(X, [1, 2, 3])
    assert labeled_scorer("r2")(model, X, [1.0, None, 3.0]) == pytest.approx(1)


def test_no_labels_is_an_error(classes):
    X, _, model = classes
    with pytest.raises(NoLabelsError):
        labeled_scorer("accuracy")(model, X, np.full(60, -1))


def test_grid_search_on_a_plain_estimator():
    rng = np.random.default_rng(1)
    X = np.r_[rng.normal(-3, 1, (40, 2)), rng.normal(3, 1, (40, 2))]
    y = np.repeat([0, 1], 40)
    y[rng.uniform(size=80) < 0.6] = -1
    grid, folds = {"n_neighbors": [3, 5]}, KFold(4, shuffle=True, random_state=0)
    naive = GridSearchCV(LabelSpreading(kernel="knn"), grid, cv=folds, scoring="accuracy").fit(X, y)
    ours = GridSearchCV(
        LabelSpreading(kernel="knn"), grid, cv=folds, scoring=labeled_scorer("accuracy")
    ).fit(X, y)
    assert naive.best_score_ < 0.6  # every unlabelled test row counts as an error
    assert ours.best_score_ > 0.95


def test_several_scores_and_pickling(classes):
    X, y, _ = classes
    y = np.where(np.arange(60) % 4 == 0, -1, y)
    scoring = {name: labeled_scorer(name) for name in ("accuracy", "balanced_accuracy")}
    result = cross_validate(
        LabelSpreading(), X, y, cv=SemiSupervisedStratifiedKFold(3), scoring=scoring
    )
    assert np.isfinite(result["test_accuracy"]).all()
    copy = pickle.loads(pickle.dumps(scoring["accuracy"]))
    assert repr(copy) == "labeled_scorer('accuracy')"
    assert repr(labeled_scorer("r2", unlabeled=99)) == "labeled_scorer('r2', unlabeled=99)"
