from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from experiment_systems import NearestClassifier, NearestRegressor
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin, clone

from s2mam.baselines.pbcs import PBCSClassifier
from s2mam.datasets import hide_labels, make_moons
from s2mam.exceptions import InvalidInputError
from s2mam.experiments import Tuned
from s2mam.experiments.tuning import candidates_of

RNG = np.random.default_rng(0)


class Shrunken(RegressorMixin, BaseEstimator):
    """The mean of the labels, shrunk."""

    def __init__(self, lam=0.0):
        self.lam = lam

    def fit(self, X, y):
        if self.lam < 0:
            raise ValueError("lam must not be negative")
        labels = y[~np.isnan(y)]
        self.mean_ = labels.sum() / (labels.size + self.lam)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_the_choice_is_that_of_leave_one_out_by_hand():
    y = np.full(30, np.nan)
    y[:6] = [3.0, 4.0, 5.0, 4.5, 3.5, -2.0]
    lams = [0.0, 0.5, 2.0, 8.0]
    by_hand = {}
    for lam in lams:
        rest = [(y[:6].sum() - y[k]) / (5 + lam) for k in range(6)]
        by_hand[lam] = np.mean((np.array(rest) - y[:6]) ** 2)
    tuned = Tuned(Shrunken(), {"lam": lams}).fit(np.zeros((30, 1)), y)
    assert tuned.scheme_ == "leave-one-out"
    assert [c["lam"] for c in tuned.candidates_] == [8.0, 2.0, 0.5, 0.0]
    np.testing.assert_allclose(tuned.losses_, [by_hand[lam] for lam in (8.0, 2.0, 0.5, 0.0)])
    assert tuned.best_params_["lam"] == min(by_hand, key=by_hand.get)
    assert tuned.predict(np.zeros((2, 1)))[0] == pytest.approx(
        y[:6].sum() / (6 + tuned.best_params_["lam"])
    )


def test_ties_go_to_the_stronger_penalty():
    class Ignores(Shrunken):
        def __init__(self, lam=0.0, C=1.0, kind="a"):
            super().__init__(lam)
            self.C, self.kind = C, kind

        def fit(self, X, y):
            self.mean_ = 1.0
            return self

    grid = {"lam": [0.1, 1.0], "C": [10, 1], "kind": ["b", "a"]}
    y = np.array([1.0, 2.0, np.nan])
    tuned = Tuned(Ignores(), grid).fit(np.zeros((3, 1)), y)
    assert tuned.best_params_ == {"lam": 1.0, "C": 1, "kind": "b"}


def test_above_twenty_labels_there_are_five_folds_over_the_range():
    X = RNG.normal(size=(60, 2))
    y = np.full(60, np.nan)
    y[:23] = X[:23, 0]
    tuned = Tuned(NearestRegressor(), {"k": (1, 3)}, random_state=0)
    folds = list(tuned._folds(X, y))
    assert sorted(np.concatenate(folds)) == list(range(23))
    assert sorted(len(fold) for fold in folds) == [4, 4, 5, 5, 5]
    ordered = np.sort(y[:23])
    assert all(y[fold].min() <= ordered[4] and y[fold].max() >= ordered[15] for fold in folds)
    assert tuned.fit(X, y).scheme_ == "5 folds"


def test_class_folds_keep_shares_and_single_labels_train():
    y = np.full(80, -1)
    y[:20], y[20:40], y[40] = 0, 1, 2
    X = RNG.normal(size=(80, 2))
    folds = list(Tuned(NearestClassifier(), {"k": (1, 3)}, random_state=0)._folds(X, y))
    assert [np.bincount(y[fold]).tolist() for fold in folds] == [[4, 4]] * 5
    few = np.full(80, -1)
    few[[0, 1, 50]] = [0, 0, 1]
    assert [fold.tolist() for fold in Tuned(NearestClassifier(), {})._folds(X, few)] == [[0], [1]]


def test_one_label_a_class_takes_the_first_candidate():
    y = np.full(10, -1)
    y[:2] = [0, 1]
    tuned = Tuned(NearestClassifier(), {"k": (1, 2)}).fit(RNG.normal(size=(10, 2)), y)
    assert tuned.scheme_ == "none"
    assert tuned.best_params_ == {"k": 2}


def test_candidates_that_cannot_be_fitted_lose():
    y = np.array([1.0, 2.0, 3.0, np.nan])
    tuned = Tuned(Shrunken(), {"lam": [-1.0, 0.0]}).fit(np.zeros((4, 1)), y)
    assert tuned.best_params_ == {"lam": 0.0}
    with pytest.raises(InvalidInputError, match="the last error was: lam must not be negative"):
        Tuned(Shrunken(), {"lam": [-1.0, -2.0]}).fit(np.zeros((4, 1)), y)


def test_learned_attributes_of_the_chosen_estimator_show_through():
    y = np.array([1.0, 2.0, np.nan])
    tuned = Tuned(Shrunken(), {"lam": [0.0]})
    assert not hasattr(tuned, "mean_")
    assert tuned.fit(np.zeros((3, 1)), y).mean_ == pytest.approx(1.5)
    assert not hasattr(tuned, "support_")


@settings(deadline=None, max_examples=20)
@given(st.dictionaries(st.sampled_from("abC"), st.lists(st.integers(0, 9), min_size=1, max_size=3)))
def test_candidates_are_all_combinations_once(grid):
    found = candidates_of(grid)
    assert len(found) == int(np.prod([len(values) for values in grid.values()]))
    for name, values in grid.items():
        ordered = [candidate[name] for candidate in found]
        assert sorted(set(ordered)) == sorted(set(values))
        assert ordered[0] == (min(values) if name == "C" else max(values))


class Scripted(Shrunken):
    """Errs by a number per candidate and label, and counts its fits."""

    errors: ClassVar[dict] = {}
    fits = 0

    def fit(self, X, y):
        Scripted.fits += 1
        self.mean_ = 0.0
        return self

    def predict(self, X):
        return np.array([self.errors[self.lam][int(row)] for row in X[:, 0]])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, np.inf, 0.3]), min_size=4, max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_stopping_early_changes_no_choice(table):
    Scripted.errors = dict(enumerate(table))
    X, y = np.arange(4.0)[:, None], np.zeros(4)
    grid = {"lam": list(range(len(table)))}
    if len(table) > 1 and not np.isfinite(np.sum(table, axis=1)).any():
        for early in (False, True):
            with pytest.raises(InvalidInputError, match="could be fitted"):
                Tuned(Scripted(), grid, early_stop=early).fit(X, y)
        return
    plain = Tuned(Scripted(), grid).fit(X, y)
    Scripted.fits = 0
    early = Tuned(Scripted(), grid, early_stop=True).fit(X, y)
    assert early.best_params_ == plain.best_params_
    assert (early.losses_ <= plain.losses_).all()


def test_stopping_early_saves_fits():
    Scripted.errors = {2: [0, 0, 0, 1.0], 1: [0, 0, 0, 1.0], 0: [1.0, 1.0, 1.0, 2.0]}
    Scripted.fits = 0
    Tuned(Scripted(), {"lam": [0, 1, 2]}, early_stop=True).fit(np.arange(4.0)[:, None], np.zeros(4))
    # Four of the first, one of each other as the hard label comes first, one with all labels.
    assert Scripted.fits == 7


class Together(Shrunken):
    """Fits copies of itself at once, unless one of them cannot be fitted."""

    calls = 0

    @staticmethod
    def fit_together(models, X, targets):
        Together.calls += 1
        for model, y in zip(models, targets, strict=True):
            model.fit(X, y)


@pytest.mark.parametrize("values", [[0.0, 0.5, 1.0], [-1.0, 0.5, 0.0]])
def test_fits_at_once_lead_to_the_same_choice(values):
    y = np.array([1.0, 2.0, 4.0, np.nan])
    X, Together.calls = np.zeros((4, 1)), 0
    one_by_one = Tuned(Shrunken(), {"lam": values}).fit(X, y)
    at_once = Tuned(Together(), {"lam": values}, early_stop=True).fit(X, y)
    assert Together.calls == 1
    assert at_once.best_params_ == one_by_one.best_params_
    if min(values) >= 0:
        np.testing.assert_allclose(at_once.losses_, one_by_one.losses_)


def test_pbcs_is_tuned_at_once_as_one_by_one():
    data = make_moons(40, n_uninformative=3, n_noisy=0, random_state=0)
    y = hide_labels(data.y, n_labeled=8, random_state=0)
    grid = {"penalty": (1e-2, 1e-1), "n_features_to_select": (1, 2)}
    model = PBCSClassifier(max_iter=30, random_state=0)
    at_once = Tuned(model, grid).fit(data.X, y)
    candidates = candidates_of(grid)
    expected = []
    for candidate in candidates:
        wrong = 0
        for row in np.flatnonzero(y != -1):
            shown = y.copy()
            shown[row] = -1
            fitted = clone(model).set_params(**candidate).fit(data.X, shown)
            wrong += int(fitted.predict(data.X[[row]])[0] != y[row])
        expected.append(wrong / 8)
    np.testing.assert_allclose(at_once.losses_, expected)
