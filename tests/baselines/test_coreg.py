from __future__ import annotations

import numpy as np
import pytest
from expected_checks import expected_failures
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.coreg import CoregRegressor, NeighborLearner, minkowski_powers
from s2mam.exceptions import InvalidInputError


def _data(n=80, labeled=15, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    return X, y, np.where(np.arange(n) < labeled, y, np.nan)


def test_known_gain():
    table = np.array([[0.0], [1.0], [3.0], [0.4]])
    learner = NeighborLearner(table, np.arange(3), np.array([0.0, 2.0, 4.0]), 2, 2.0)
    predicted, gains = learner.gains(np.array([3]))
    assert predicted[0] == 1.0
    assert gains[0] == pytest.approx(1.5)


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 10_000),
    labeled=st.integers(1, 9),
    k=st.integers(1, 5),
    order=st.sampled_from([1, 2, 3, 5]),
)
def test_gains_agree_with_refitting(seed, labeled, k, order):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(labeled + 6, 2))
    y = rng.normal(size=labeled)
    members, pool = np.arange(labeled), np.arange(labeled, labeled + 6)
    learner = NeighborLearner(table, members, y, k, order)
    predicted, gains = learner.gains(pool)
    for row, value, gain in zip(pool, predicted, gains, strict=True):
        old = KNeighborsRegressor(min(k, labeled), p=order).fit(table[members], y)
        assert value == pytest.approx(old.predict(table[[row]])[0])
        grown, targets = np.append(members, row), np.append(y, value)
        new = KNeighborsRegressor(min(k, labeled + 1), p=order).fit(table[grown], targets)
        near = old.kneighbors(table[[row]], return_distance=False)[0]
        expected = (
            (y[near] - old.predict(table[near])) ** 2 - (y[near] - new.predict(table[near])) ** 2
        ).sum()
        assert gain == pytest.approx(expected, abs=1e-12)


def test_without_rounds_it_is_the_mean_of_two_neighbour_regressors():
    X, _, partial = _data()
    shown = np.isfinite(partial)
    model = CoregRegressor(max_iter=0, scale=None).fit(X, partial)
    fits = [KNeighborsRegressor(3, p=p).fit(X[shown], partial[shown]) for p in (2, 5)]
    expected = np.mean([fit.predict(X) for fit in fits], axis=0)
    np.testing.assert_allclose(model.predict(X), expected)
    assert model.n_iter_ == 0


def test_labels_are_exchanged_and_not_kept():
    X, _, partial = _data()
    model = CoregRegressor(max_iter=1, random_state=0, scale=None).fit(X, partial)
    start = [
        NeighborLearner(X, np.arange(15), partial[:15], 3, order).gains(np.arange(15, 80))
        for order in (2, 5)
    ]
    best = [int(np.argmax(gains)) for _, gains in start]
    assert best[0] != best[1]
    given_to = [learner.members[15:] for learner in model._learners]
    assert given_to == [[15 + best[1]], [15 + best[0]]]
    assert model._learners[1].targets[-1] == pytest.approx(start[0][0][best[0]])


def test_the_second_regressor_takes_its_second_best_when_both_want_one_row():
    X, _, partial = _data()
    model = CoregRegressor(orders=(2, 2), max_iter=1, random_state=0, scale=None).fit(X, partial)
    _, gains = NeighborLearner(X, np.arange(15), partial[:15], 3, 2).gains(np.arange(15, 80))
    ranked = 15 + np.argsort(-gains)
    assert [learner.members[15] for learner in model._learners] == [ranked[1], ranked[0]]


def test_a_pool_of_one_row_goes_to_one_regressor():
    X, _, partial = _data(n=16)
    model = CoregRegressor(scale=None).fit(X, partial)
    assert sum(model.n_pseudo_labels_) <= 1
    assert np.isfinite(model.transduction_).all()


def test_no_row_is_handed_out_twice_and_rounds_end():
    X, _, partial = _data(n=60)
    model = CoregRegressor(random_state=1, max_iter=500).fit(X, partial)
    added = [row for learner in model._learners for row in learner.members[15:]]
    assert len(added) == len(set(added)) == sum(model.n_pseudo_labels_) > 0
    assert min(added) >= 15
    assert model.n_iter_ < 500


def test_repeatable_with_a_seed():
    X, _, partial = _data()
    fits = [CoregRegressor(pool_size=10, random_state=3).fit(X, partial) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].transduction_, fits[1].transduction_)


def test_orders_of_distance():
    gaps = np.random.default_rng(0).normal(size=(6, 4))
    for order in (1, 2, 3.5, 5):
        expected = (np.abs(gaps) ** order).sum(axis=1)
        np.testing.assert_allclose(minkowski_powers(gaps, np.zeros(4), order), expected)


@pytest.mark.parametrize(
    ("name", "value"), [("orders", (2,)), ("orders", (2, -1)), ("max_iter", -1), ("pool_size", 0)]
)
def test_bad_parameters_are_named(name, value):
    X, _, partial = _data()
    with pytest.raises(InvalidInputError, match=name):
        CoregRegressor(**{name: value}).fit(X, partial)


@parametrize_with_checks([CoregRegressor(max_iter=5)], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
