"""Splitters: unlabelled rows always train, labelled rows are tested as promised."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.semi_supervised import LabelSpreading

from s2mam.exceptions import InvalidInputError, NoLabelsError, S2MAMWarning
from s2mam.model_selection import (
    SemiSupervisedKFold,
    SemiSupervisedShuffleSplit,
    SemiSupervisedStratifiedKFold,
)

ALL = [SemiSupervisedKFold, SemiSupervisedStratifiedKFold, SemiSupervisedShuffleSplit]


def parts(splitter, y):
    return list(splitter.split(np.zeros((len(y), 1)), y))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.sampled_from([0, 1, 2, -1]), min_size=4, max_size=40),
    st.sampled_from(ALL),
    st.integers(2, 5),
)
def test_partition_of_the_rows(labels, splitter, n_splits):
    y = np.array(labels)
    counts = np.bincount(y[y >= 0], minlength=3)
    if counts.max() < 2:
        return
    splitter = splitter(n_splits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", S2MAMWarning)
        found, n_found = parts(splitter, y), splitter.get_n_splits(None, y)
    assert len(found) == n_found
    for train, test in found:
        assert len(test) > 0
        assert (np.diff(test) > 0).all()
        assert (y[test] != -1).all()
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))
    if isinstance(splitter, SemiSupervisedKFold):
        tested = np.concatenate([test for _, test in found])
        np.testing.assert_array_equal(np.sort(tested), np.flatnonzero(y != -1))


def test_stratified_folds_keep_shares_and_classes():
    y = np.array(["a"] * 10 + ["b"] * 5 + [None] * 20, dtype=object)
    for train, test in parts(SemiSupervisedStratifiedKFold(5, shuffle=True, random_state=0), y):
        assert sorted(y[test]) == ["a", "a", "b"]
        assert set(np.arange(15, 35)) <= set(train)


def test_folds_are_reduced_with_a_note():
    y = np.array([0] * 10 + [1] * 3 + [-1] * 4)
    splitter = SemiSupervisedStratifiedKFold(5)
    with pytest.warns(S2MAMWarning, match="5 splits reduced to 3"):
        assert len(parts(splitter, y)) == 3
    assert splitter.get_n_splits(None, y) == 3
    assert splitter.get_n_splits() == 5
    with pytest.warns(S2MAMWarning, match="5 splits reduced to 2"):
        assert len(parts(SemiSupervisedKFold(), [0.5, np.nan, 1.5])) == 2


@pytest.mark.parametrize("splitter", ALL[1:])
def test_a_lone_label_always_trains(splitter):
    y = np.array([0, 0, 0, 1, 1, 1, 2, -1])
    for train, _ in parts(splitter(2), y):
        assert 6 in train
        assert set(y[train]) >= {0, 1, 2}


def test_too_few_labels():
    for splitter in ALL[1:]:
        with pytest.raises(InvalidInputError, match="only one of its class"):
            parts(splitter(2), [0, 1, -1])
    with pytest.raises(InvalidInputError, match="at least 2 labelled rows"):
        parts(SemiSupervisedKFold(2), [0.5, np.nan])
    with pytest.raises(InvalidInputError, match="at least 2 labelled rows"):
        parts(SemiSupervisedShuffleSplit(2), [0.5, np.nan])
    for splitter in ALL:
        with pytest.raises(NoLabelsError):
            parts(splitter(2), [-1, -1])
        with pytest.raises(InvalidInputError, match="needs y"):
            next(splitter(2).split(np.zeros((3, 1))))


def test_markers_are_read_as_the_estimators_read_them():
    whole = np.array([3, -1, 5, 4, -1, 7])
    assert len(np.unique(np.concatenate([t for _, t in parts(SemiSupervisedKFold(2), whole)]))) == 4
    as_numbers = SemiSupervisedKFold(2, task="regression")
    assert sum(len(test) for _, test in parts(as_numbers, whole)) == 6
    custom = SemiSupervisedKFold(2, unlabeled=7)
    assert sum(len(test) for _, test in parts(custom, whole)) == 5
    gaps = pd.Series([0.5, None, 2.0, -1.0])
    assert sum(len(test) for _, test in parts(SemiSupervisedKFold(3), gaps)) == 3
    mixed = np.array([0.5, None, 2, -1], dtype=object)
    assert sum(len(test) for _, test in parts(SemiSupervisedKFold(3), mixed)) == 3
    with pytest.raises(InvalidInputError, match="task must be"):
        parts(SemiSupervisedKFold(2, task="ranking"), whole)


def test_shuffle_split_sizes():
    y = np.repeat([0, 1, -1], [20, 10, 30])
    for size, expected in [(0.1, 3), (0.5, 15), (6, 6), (1, 2), (0.99, 28)]:
        found = parts(SemiSupervisedShuffleSplit(4, test_size=size, random_state=0), y)
        assert [len(test) for _, test in found] == [expected] * 4
        assert all(set(y[test]) == {0, 1} for _, test in found)
    numbers = np.where(np.arange(20) < 10, np.arange(20) + 0.5, np.nan)
    found = parts(SemiSupervisedShuffleSplit(3, test_size=0.25, random_state=0), numbers)
    assert [len(test) for _, test in found] == [3] * 3
    for size in (0, 1.5, 30, -1):
        with pytest.raises(InvalidInputError, match="test_size must be"):
            parts(SemiSupervisedShuffleSplit(test_size=size), y)


@pytest.mark.parametrize("splitter", ALL)
def test_seeds_and_repr(splitter):
    y = np.tile([0, 1, -1], 20)
    options = {} if splitter is SemiSupervisedShuffleSplit else {"shuffle": True}
    first, again, other = (
        [test.tolist() for _, test in parts(splitter(3, random_state=seed, **options), y)]
        for seed in (0, 0, 1)
    )
    assert first == again != other
    assert splitter.__name__ in repr(splitter(3))
    with pytest.raises(InvalidInputError, match="n_splits"):
        parts(splitter(0), y)


def test_inside_cross_val_score_and_grid_search():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(-3, 1, (40, 2)), rng.normal(3, 1, (40, 2))]
    y = np.repeat([0, 1], 40)
    y[np.arange(80) % 4 > 0] = -1
    model = LabelSpreading()
    splitter = SemiSupervisedStratifiedKFold(5)
    assert cross_val_score(model, X, y, cv=splitter).mean() > 0.95
    search = GridSearchCV(model, {"gamma": [1, 20]}, cv=splitter).fit(X, y)
    assert search.n_splits_ == 5
    assert search.best_score_ > 0.95


def test_grid_search_with_reduced_folds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.repeat([0, 1, -1], [8, 2, 10])
    search = GridSearchCV(LabelSpreading(), {"gamma": [1, 20]}, cv=SemiSupervisedStratifiedKFold(5))
    with pytest.warns(S2MAMWarning, match="5 splits reduced to 2"):
        search.fit(X, y)
    assert search.n_splits_ == 2
    assert np.isfinite(search.best_score_)


def test_regression_without_unlabelled_rows_is_plain_k_fold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=30)
    ours = cross_val_score(Ridge(), X, y, cv=SemiSupervisedKFold(4))
    np.testing.assert_allclose(ours, cross_val_score(Ridge(), X, y, cv=4))
