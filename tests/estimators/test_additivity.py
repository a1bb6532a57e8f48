"""Contributions add up; columns that are not used cannot matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from estimator_data import LEARNERS, SINGLE, decide, make, rows

from s2mam import ManifoldAdditiveRegressor

# The paper's solver is slow on purpose; its warning is about digits that do not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::s2mam.exceptions.ConvergenceWarning")
TASKS = ("regression", "binary", "multiclass")


def _assert_adds_up(model, X):
    decision = decide(model, X)
    contributions = model.contributions(X)
    assert contributions.shape[:2] == np.shape(X)
    total = contributions.sum(axis=1) + model.intercept_
    assert total.shape == decision.shape
    scale = max(1.0, np.abs(decision).max())
    np.testing.assert_allclose(total, decision, atol=1e-10 * scale, rtol=0)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_contributions_and_intercept_are_the_decision(learner, task):
    X, _, y = rows(task)
    model = make(learner, task).fit(X, y)
    _assert_adds_up(model, X)
    rng = np.random.default_rng(1)
    new = X + 3 * X.std(axis=0) * rng.normal(size=X.shape)
    new[rng.random(X.shape) < 0.2] = np.nan
    _assert_adds_up(model, new)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("learner", ["posterior", "relaxed", "rloo", "base"])
def test_contributions_add_up_with_categories_and_missing_values(learner, task):
    X, _, y = rows(task)
    table = pd.DataFrame(X, columns=list("abcde"))
    table["group"] = pd.Categorical(np.where(X[:, 0] > 5, "high", "low"))
    table.loc[::7, "b"] = np.nan
    table.loc[::9, "group"] = None
    model = make(learner, task).fit(table, y)
    _assert_adds_up(model, table)
    table["group"] = "never seen"
    _assert_adds_up(model, table)


@pytest.mark.parametrize("learner", ["posterior", "relaxed", "base"])
def test_contributions_are_centred_on_the_training_rows(learner):
    X, _, y = rows("regression")
    model = make(learner, "regression").fit(X, y)
    np.testing.assert_allclose(model.contributions(X).mean(axis=0), 0.0, atol=1e-8)
    assert model.intercept_ == pytest.approx(model.predict(X).mean(), abs=1e-8)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("learner", SINGLE)
def test_columns_outside_the_mask_cannot_change_a_bit(learner, task):
    X, _, y = rows(task, p=6)
    model = make(learner, task)
    if learner == "base":
        model.set_params(sparsity={"regression": 0.1, "binary": 0.05, "multiclass": 0.1}[task])
    model.fit(X, y)
    outside = ~model.support_
    assert outside.any()
    assert model.support_.any()
    before = decide(model, X)
    rng = np.random.default_rng(0)
    for garbage in (rng.standard_cauchy(size=X.shape), np.nan, 1e300, -1e-300, 0.0):
        new = np.where(outside, garbage, X)
        np.testing.assert_array_equal(decide(model, new), before)
        assert not model.contributions(new)[:, outside].any()


def test_columns_of_probability_zero_cannot_change_a_bit_of_the_paper_model():
    X, _, y = rows("regression", p=6)
    model = make("paper", "regression").set_params(step_size=5.0, max_iter=10).fit(X, y)
    outside = model.mask_probabilities_ == 0.0
    assert outside.any()
    before = model.predict(X)
    for garbage in (np.nan, 1e300, 7.0):
        np.testing.assert_array_equal(model.predict(np.where(outside, garbage, X)), before)


def test_a_column_silenced_by_the_penalty_is_not_selected():
    X, _, y = rows("regression", p=6)
    model = ManifoldAdditiveRegressor(sparsity=1e3).fit(X, y)
    assert not model.support_.any()
    labels = y[~np.isnan(y)]
    np.testing.assert_allclose(model.predict(X), labels.mean(), atol=1e-8)
    np.testing.assert_array_equal(model.mask_probabilities_, np.zeros(6))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_labels_of_hidden_rows_are_never_read(learner, task):
    """Different truths under the markers: the fits have the same bits."""
    X, full, y = rows(task)
    hidden = np.isnan(y) if task == "regression" else y == -1
    rng = np.random.default_rng(5)
    garbage = full.copy()
    garbage[hidden] = rng.permutation(full)[hidden] * 7 + 3
    marker = np.nan if task == "regression" else -1
    again = np.where(hidden, marker, garbage)
    one, two = make(learner, task).fit(X, y), make(learner, task).fit(X, again)
    np.testing.assert_array_equal(decide(one, X), decide(two, X))
    # The same rows under a marker of the user's own.
    own = np.where(hidden, -999, full)
    three = make(learner, task).set_params(unlabeled=-999).fit(X, own)
    np.testing.assert_array_equal(decide(one, X), decide(three, X))
    np.testing.assert_array_equal(one.mask_probabilities_, three.mask_probabilities_)
