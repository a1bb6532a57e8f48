"""Held-out answers of the report equal those of copies that never got the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from s2mam import ManifoldAdditiveClassifier, ManifoldAdditiveRegressor
from s2mam.inspection.report_parts.facts import read_facts
from s2mam.inspection.report_parts.held_out import Refits, cross_validate, evaluate_on
from s2mam.model_selection import SemiSupervisedKFold, SemiSupervisedStratifiedKFold

N, L = 60, 24


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=N)
    y[L:] = np.nan
    return X, y


@pytest.fixture(scope="module")
def class_rows(rows):
    X, y = rows
    labels = np.full(N, -1)
    labels[:L] = (y[:L] > 0).astype(int)
    return X, labels


def evaluate(model, X, y, **options):
    facts = read_facts(model, X, y, None)
    return cross_validate(model, X, y, facts, Refits(), **{"folds": 4, **options})


def by_hand(model, X, y, splitter, *, labeled_only):
    answers = np.full(len(X), np.nan)
    for train, test in splitter.split(X, y):
        if labeled_only:
            train = train[train < L]
        answers[test] = clone(model).fit(X[train], y[train]).predict(X[test])
    return answers[:L]


def test_answers_are_those_of_fits_without_the_rows(rows):
    X, y = rows
    model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.1).fit(X, y)
    evaluation = evaluate(model, X, y)
    splitter = SemiSupervisedKFold(4, shuffle=True, random_state=0, task="regression")
    for outcome, only in ((evaluation.outcomes[0], False), (evaluation.outcomes[2], True)):
        expected = by_hand(model, X, y, splitter, labeled_only=only)
        np.testing.assert_allclose(outcome.prediction, expected, atol=1e-5)
    np.testing.assert_array_equal(evaluation.outcomes[0].truth, y[:L])
    # The null model knows the mean of the other folds only.
    train, test = next(splitter.split(X, y))
    null = evaluation.outcomes[1].prediction[np.isin(np.arange(L), test)]
    np.testing.assert_allclose(null, np.nanmean(y[train]))


def test_classes_with_their_probabilities(class_rows):
    X, y = class_rows
    model = ManifoldAdditiveClassifier(sparsity=0.01, manifold=0.1).fit(X, y)
    evaluation = evaluate(model, X, y)
    splitter = SemiSupervisedStratifiedKFold(4, shuffle=True, random_state=0)
    expected = by_hand(model, X, y, splitter, labeled_only=False)
    np.testing.assert_array_equal(evaluation.outcomes[0].prediction, expected)
    train, test = next(splitter.split(X, y))
    copy = clone(model).fit(X[train], y[train])
    given = copy.predict_proba(X[test])[np.arange(len(test)), y[test]]
    np.testing.assert_allclose(evaluation.outcomes[0].probability[test], given, atol=1e-4)


def test_labels_of_unlabelled_rows_are_not_read(class_rows):
    """Whatever marks a row as unlabelled, the answers are the same."""
    X, y = class_rows
    text = np.array(["no", "yes", None], dtype=object)[y]
    model = ManifoldAdditiveClassifier(sparsity=0.01, manifold=0.1).fit(X, text)
    first = evaluate(model, X, text, folds=2)
    missing = text.copy()
    missing[L:] = np.nan
    second = evaluate(model, X, missing, folds=2)
    assert first.outcomes[0].prediction.tolist() == second.outcomes[0].prediction.tolist()
    assert np.array_equal(first.outcomes[0].probability, second.outcomes[0].probability)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_tables_give_the_same_answers(rows, frame):
    X, y = rows
    names = ["a", "b", "c"]
    model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.1)
    plain = evaluate(model.fit(X, y), X, y)
    table = frame(dict(zip(names, X.T, strict=True)))
    named = evaluate(model.fit(table, y), table, y)
    for a, b in zip(plain.outcomes, named.outcomes, strict=True):
        np.testing.assert_allclose(a.prediction, b.prediction)


def test_nothing_to_compare_when_all_rows_are_labelled(rows):
    X, y = rows
    model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.1).fit(X[:L], y[:L])
    evaluation = evaluate(model, X[:L], y[:L])
    assert len(evaluation.outcomes) == 2
    assert "All rows are labelled" in evaluation.problem


def test_one_label_cannot_be_held_out(rows):
    X, y = rows
    one = np.where(np.arange(N) == 0, y, np.nan)
    model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.1).fit(X, one)
    evaluation = evaluate(model, X, one)
    assert evaluation.scores is None
    assert "at least 2 labelled rows" in evaluation.problem


def test_test_rows_are_scored_by_the_model_itself(class_rows):
    X, y = class_rows
    model = ManifoldAdditiveClassifier(sparsity=0.01, manifold=0.1).fit(X, y)
    facts = read_facts(model, X, y, None)
    rng = np.random.default_rng(1)
    fresh = rng.normal(size=(20, 3))
    labels = np.where(np.arange(20) < 12, fresh[:, 0] > 0, -1)
    labels[0] = 7  # a class that the model never saw
    evaluation = evaluate_on(model, X, y, (fresh, labels), facts, Refits())
    assert evaluation.rows.tolist() == list(range(12))
    np.testing.assert_array_equal(evaluation.outcomes[0].prediction, model.predict(fresh[:12]))
    assert evaluation.outcomes[0].probability[0] == 0.0
    majority = int(np.mean(y[:L]) > 0.5)
    assert set(evaluation.outcomes[1].prediction) == {majority}
    only = clone(model).fit(X[:L], y[:L])
    np.testing.assert_array_equal(evaluation.outcomes[2].prediction, only.predict(fresh[:12]))
