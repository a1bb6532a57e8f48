from __future__ import annotations

import itertools

import numpy as np
import pytest
from expected_checks import expected_failures
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.pbcs import PBCSClassifier, PBCSRegressor
from s2mam.baselines.shared import column_search
from s2mam.baselines.shared.coreset import select_rows
from s2mam.baselines.shared.mask_policy import PolicySearch, learn_probabilities
from s2mam.exceptions import InvalidInputError

QUICK = PolicySearch(max_iter=120)


def _toy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 10))
    return X, 3 * X[:, 0] + 2 * X[:, 1] - 1.5 * X[:, 2] + 0.5 * rng.normal(size=60)


def test_the_true_columns_are_found_whatever_the_seed():
    X, y = _toy()
    for seed in range(10):
        model = PBCSRegressor(n_features_to_select=3, random_state=seed).fit(X, y)
        np.testing.assert_array_equal(model.get_support(indices=True), [0, 1, 2])
    assert model.history_[-1] < 0.2


def test_classes_find_the_true_columns_and_share_them():
    X, y = _toy()
    two = PBCSClassifier(n_features_to_select=3, random_state=0).fit(X, (y > 0).astype(int))
    np.testing.assert_array_equal(two.get_support(indices=True), [0, 1, 2])
    codes = np.digitize(y, [-2.0, 2.0])
    three = PBCSClassifier(n_features_to_select=3, loss="squared", random_state=0).fit(X, codes)
    np.testing.assert_array_equal(three.get_support(indices=True), [0, 1, 2])
    assert three.decision_function(X).shape == (60, 3)
    assert three.score(X, codes) > 0.7


def test_the_answer_is_the_ridge_regression_on_the_selected_columns():
    X, y = _toy()
    shown = np.arange(60) < 40
    model = PBCSRegressor(n_features_to_select=3, penalty=0.05, random_state=0, scale=None)
    model.fit(X, np.where(shown, y, np.nan))
    target = (y[shown] - y[shown].mean()) / y[shown].std()
    other = Ridge(alpha=0.05 * 40).fit(X[shown][:, model.support_], target)
    expected = y[shown].mean() + y[shown].std() * other.predict(X[:, model.support_])
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-5)


def test_probabilities_stay_within_the_budget():
    X, y = _toy()
    model = PBCSRegressor(n_features_to_select=4, random_state=0).fit(X, y)
    s = model.mask_probabilities_
    assert ((s >= 0) & (s <= 1)).all()
    assert s.sum() <= 4 + 1e-9
    assert model.support_.sum() == 4
    assert set(np.flatnonzero(model.feature_weights_)) == set(model.get_support(indices=True))


def test_without_floor_a_column_that_is_given_up_never_returns():
    zero_after = []

    def evaluate(masks):
        zero_after.append(masks.any(axis=0))
        return 1.0 - masks[:, 0]

    s, _ = learn_probabilities(
        evaluate, 6, 1, np.random.default_rng(0), PolicySearch(floor=0.0, step=0.5)
    )
    gone = np.flatnonzero(s == 0)
    last = np.array(zero_after)[-50:, gone]
    assert gone.size > 0
    assert not last.any()


def test_the_expected_loss_falls_to_the_best_mask_of_the_budget():
    losses = {}
    rng = np.random.default_rng(3)
    gains = rng.uniform(size=7)
    for mask in itertools.product([False, True], repeat=7):
        losses[mask] = 3.5 - gains @ np.array(mask)

    def evaluate(masks):
        return np.array([losses[tuple(mask)] for mask in masks.tolist()])

    s, _ = learn_probabilities(evaluate, 7, 2, np.random.default_rng(0), PolicySearch(max_iter=600))
    assert set(np.argsort(-s)[:2]) == set(np.argsort(-gains)[:2])


def test_clean_rows_are_chosen_over_flipped_ones_when_judged_on_clean_rows():
    wins = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(60, 1))
        y = (x[:, 0] > 0).astype(float)
        y[20:40] = 1 - y[20:40]
        found = select_rows(
            x[:40], y[:40], 20, outer=(x[40:], y[40:]), search=QUICK, random_state=seed
        ).probabilities
        wins += found[:20].mean() > found[20:].mean()
    assert wins >= 9


def test_half_flipped_rows_judged_on_themselves_look_alike():
    # Turning all labels around swaps the two halves, so nothing can tell them apart.
    gaps = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(40, 1))
        y = (x[:, 0] > 0).astype(float)
        y[20:] = 1 - y[20:]
        found = select_rows(x, y, 20, search=QUICK, random_state=seed).probabilities
        gaps.append(found[:20].mean() - found[20:].mean())
    assert abs(np.mean(gaps)) < 0.1


def test_few_rows_of_a_line_are_enough():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    y = x @ [1.0, -2.0]
    found = select_rows(x, y, 6, loss="squared", penalty=1e-4, random_state=0)
    assert found.rows.size == 6
    assert found.probabilities.sum() <= 6 + 1e-9
    assert found.history[-1] < 0.05


@pytest.mark.parametrize("columns", [5, 40])
@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
def test_fits_together_are_those_of_single_fits(columns, kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, columns))
    y = X[:, 0] - X[:, 2]
    base = PBCSRegressor(max_iter=60, random_state=3)
    if kind != "numbers":
        y = np.digitize(y, [0.0] if kind == "two classes" else [-1.0, 1.0])
        base = PBCSClassifier(max_iter=60, random_state=3)
    hidden = np.nan if kind == "numbers" else -1
    settings = itertools.product((1e-3, 1e-1), (2, "auto"), ([0], [1, 2], [5]))
    models, targets = [], []
    for penalty, size, rows in settings:
        models.append(clone(base).set_params(penalty=penalty, n_features_to_select=size))
        shown = np.arange(30) < 14
        shown[rows] = False
        targets.append(np.where(shown, y, hidden))
    models[0].fit_together(models, X, targets)
    for model, target in zip(models, targets, strict=True):
        alone = clone(model).fit(X, target)
        np.testing.assert_allclose(alone.mask_probabilities_, model.mask_probabilities_, atol=1e-7)
        np.testing.assert_allclose(alone.history_, model.history_, rtol=1e-6)
        np.testing.assert_array_equal(alone.support_, model.support_)
        np.testing.assert_allclose(alone.transduction_, model.transduction_, atol=1e-7)


@pytest.mark.parametrize("change", [{"max_iter": 20}, {"random_state": 1}, {"loss": "squared"}])
def test_fits_together_must_be_alike(change):
    X, y = _toy()
    models = [PBCSClassifier(max_iter=10, random_state=0) for _ in range(2)]
    models[1].set_params(**change)
    with pytest.raises(InvalidInputError, match="penalty and n_features_to_select only"):
        PBCSClassifier.fit_together(models, X, [(y > 0).astype(int)] * 2)


def test_fits_together_in_parts_are_the_same(monkeypatch):
    X, y = _toy()
    models = [PBCSRegressor(max_iter=40, random_state=0, penalty=10.0**-k) for k in range(3)]
    others = [clone(model) for model in models]
    PBCSRegressor.fit_together(models, X, [y] * 3)
    monkeypatch.setattr(column_search, "_MOST_NUMBERS", 1)
    PBCSRegressor.fit_together(others, X, [y] * 3)
    for model, other in zip(models, others, strict=True):
        np.testing.assert_allclose(model.mask_probabilities_, other.mask_probabilities_, atol=1e-7)


def test_repeatable_with_a_seed():
    X, y = _toy()
    fits = [PBCSRegressor(random_state=5).fit(X, y).mask_probabilities_ for _ in range(2)]
    np.testing.assert_array_equal(fits[0], fits[1])


def test_the_automatic_budget_follows_the_labels_and_the_columns_bound_it():
    X, y = _toy()
    assert PBCSRegressor(random_state=0).fit(X, y).support_.sum() == 10
    few = np.where(np.arange(60) < 10, y, np.nan)
    assert PBCSRegressor(random_state=0).fit(X, few).support_.sum() == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_features_to_select", 0),
        ("n_features_to_select", "all"),
        ("n_masks", 1),
        ("floor", 0.5),
        ("penalty", 0.0),
        ("loss", "hinge"),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, y = _toy()
    with pytest.raises(InvalidInputError, match=name):
        PBCSClassifier(**{name: value}).fit(X, (y > 0).astype(int))


@parametrize_with_checks(
    [
        PBCSRegressor(max_iter=30, random_state=0),
        PBCSClassifier(max_iter=30, random_state=0),
        PBCSClassifier(max_iter=30, random_state=0, unlabeled=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
