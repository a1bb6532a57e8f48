"""Whatever users pass to fit: labels, tables and extremes."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_data import LEARNERS, decide, make, rows

from s2mam import (
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
    S2MAMClassifier,
    S2MAMRegressor,
)
from s2mam.exceptions import ConvergenceWarning, InvalidInputError, NoLabelsError

REGRESSORS = [
    ManifoldAdditiveRegressor(),
    S2MAMRegressor(max_iter=10, random_state=0),
    S2MAMRegressor(mask_learner="relaxed", random_state=0),
    S2MAMRegressor(mask_learner="rloo", max_iter=10, random_state=0),
]
CLASSIFIERS = [
    ManifoldAdditiveClassifier(),
    S2MAMClassifier(max_iter=10, random_state=0),
    S2MAMClassifier(mask_learner="relaxed", random_state=0),
    S2MAMClassifier(mask_learner="rloo", max_iter=10, random_state=0),
]


@pytest.fixture(autouse=True)
def _no_warnings():
    """Nothing below may warn, ours or anybody's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def _assert_sound(model, X):
    """Finite and of the right shapes, on the training table."""
    n = len(X)
    decision = decide(model, X)
    assert len(decision) == n
    assert np.isfinite(decision).all()
    assert np.isfinite(model.contributions(X)).all()
    assert np.isfinite(model.mask_probabilities_).all()
    assert ((model.mask_probabilities_ >= 0.0) & (model.mask_probabilities_ <= 1.0)).all()
    assert all(np.isfinite(values).all() for values in model.history_.values())
    if hasattr(model, "classes_"):
        probabilities = model.predict_proba(X)
        assert probabilities.shape == (n, len(model.classes_))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        assert set(model.predict(X)) <= set(model.classes_)


def _labels(y, names, missing):
    return np.array([missing if code == -1 else names[code] for code in y], dtype=object)


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_text_classes_with_every_missing_marker(model):
    X, _, y = rows("multiclass", n_labeled=45)
    names = ["low", "mid", "top"]
    plain = model.fit(X, _labels(y, names, None)).decision_function(X)
    assert list(model.classes_) == names
    _assert_sound(model, X)
    for marked in (
        _labels(y, names, np.nan),
        pd.Series(_labels(y, names, pd.NA), dtype="string"),
        pd.Series(_labels(y, names, None), dtype="category"),
        pl.Series(_labels(y, names, None).tolist()),
    ):
        np.testing.assert_array_equal(model.fit(X, marked).decision_function(X), plain)
    marked = _labels(y, names, "?")
    own = model.__class__(**{**model.get_params(), "unlabeled": "?"})
    np.testing.assert_array_equal(own.fit(X, marked).decision_function(X), plain)
    np.testing.assert_array_equal(model.fit(X, y).decision_function(X), plain)


@pytest.mark.parametrize("model", REGRESSORS)
def test_numbers_with_every_missing_marker(model):
    X, _full, y = rows("regression")
    plain = model.fit(X, y).predict(X)
    nullable = pd.array(np.where(np.isnan(y), None, y), dtype="Float64")
    markers = (np.where(np.isnan(y), None, y), pd.Series(nullable), pl.Series(y).fill_nan(None))
    for marked in markers:
        np.testing.assert_array_equal(model.fit(X, marked).predict(X), plain)


def test_boolean_and_negative_classes():
    X, full, _ = rows("binary")
    model = S2MAMClassifier(max_iter=5, random_state=0).fit(X, full.astype(bool))
    assert model.classes_.dtype == bool
    signs = S2MAMClassifier(max_iter=5, random_state=0, unlabeled=None).fit(X, 2 * full - 1)
    np.testing.assert_array_equal(signs.classes_, [-1, 1])
    np.testing.assert_array_equal(signs.predict(X) == 1, model.predict(X))


@pytest.mark.parametrize("learner", ["posterior", "relaxed", "rloo", "base"])
def test_dataframes_of_both_libraries_and_arrays_agree(learner):
    X, _, y = rows("regression")
    names = list("abcde")
    plain = make(learner, "regression").fit(X, y).predict(X)
    for table in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = make(learner, "regression").fit(table, y)
        np.testing.assert_array_equal(model.predict(table), plain)
        assert list(model.feature_names_in_) == names


def test_names_are_checked_at_predict():
    X, _, y = rows("regression")
    table = pd.DataFrame(X, columns=list("abcde"))
    model = S2MAMRegressor(max_iter=5, random_state=0).fit(table, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[list("bacde")])
    with pytest.raises(ValueError, match="feature names"):
        model.contributions(table.rename(columns={"e": "z"}))
    with pytest.raises(ValueError, match="feature"):
        model.predict(table[list("abcd")])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS])
def test_categories_missing_values_and_constants(model):
    task = "binary" if hasattr(model, "predict_proba") else "regression"
    X, _, y = rows(task, n=80, n_labeled=40)
    table = pd.DataFrame(X, columns=list("abcde"))
    table["city"] = pd.Categorical(np.array(["ur", "uruk", "eridu"])[np.arange(80) % 3])
    table["text"] = np.where(X[:, 0] > 5, "above", "below")
    table["flag"] = X[:, 1] > -2
    table["constant"] = 3.0
    table["one text"] = "same"
    table["empty"] = np.nan
    rng = np.random.default_rng(0)
    for name in ("a", "c", "city", "text"):
        table.loc[rng.random(80) < 0.3, name] = None
    model.fit(table, y)
    _assert_sound(model, table)
    new = table.copy()
    new["city"] = "lagash"
    new["a"] = np.nan
    new["constant"] = 99.0
    _assert_sound(model, new)
    nothing = pd.DataFrame(None, index=range(3), columns=table.columns, dtype=object)
    np.testing.assert_allclose(
        decide(model, nothing), np.broadcast_to(model.intercept_, 3), atol=1e-12
    )
    constants = model.contributions(new)[:, [8, 9, 10]]
    assert not constants.any()


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS])
def test_all_rows_labelled(model):
    task = "multiclass" if hasattr(model, "predict_proba") else "regression"
    X, full, _ = rows(task, n=40, n_labeled=40)
    _assert_sound(model.fit(X, full), X)
    assert model.score(X, full) > 0.6


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_one_label_a_class(model, task):
    X, full, _ = rows(task)
    y = np.full(60, -1)
    for code in np.unique(full):
        y[np.flatnonzero(full == code)[0]] = code
    _assert_sound(model.fit(X, y), X)
    assert model.n_labeled_ == len(np.unique(full))


@pytest.mark.parametrize("model", REGRESSORS)
@pytest.mark.parametrize("n_labeled", [1, 2, 3, 6])
def test_very_few_numbers(model, n_labeled):
    X, full, _ = rows("regression")
    y = np.where(np.arange(60) < n_labeled, full, np.nan)
    _assert_sound(model.fit(X, y), X)
    assert np.abs(model.predict(X)).max() < 1e3


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_a_single_class(model):
    X, _, _ = rows("binary")
    y = np.where(np.arange(60) < 20, "only", None)
    model.fit(X, y)
    _assert_sound(model, X)
    assert (model.predict(X) == "only").all()
    assert not model.support_.any()


@pytest.mark.parametrize("model", REGRESSORS)
def test_a_single_value(model):
    X, _, _ = rows("regression")
    y = np.where(np.arange(60) < 20, 4.25, np.nan)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), np.full(60, 4.25))


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS])
def test_one_row_and_one_column(model):
    model.fit(np.array([[1.0, 2.0]]), np.array([1]))
    _assert_sound(model, np.array([[1.0, 2.0]]))
    assert model.predict(np.array([[5.0, 6.0]]))[0] == 1
    task = "binary" if hasattr(model, "predict_proba") else "regression"
    X, _, y = rows(task)
    _assert_sound(model.fit(X[:, :1], y), X[:, :1])


@pytest.mark.parametrize("n", [2, 3, 5, 8, 9, 12])
@pytest.mark.parametrize("model", [S2MAMRegressor(max_iter=5), ManifoldAdditiveRegressor()])
def test_very_few_rows(model, n):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    y[n // 3 + 1 :] = np.nan
    _assert_sound(model.fit(X, y), X)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS])
def test_all_columns_constant(model):
    X = np.ones((20, 3))
    y = np.arange(20) % 2
    model.fit(X, y)
    _assert_sound(model, X)
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(model.predict(X), 0.5, atol=1e-10)


@pytest.mark.parametrize("model", REGRESSORS)
def test_columns_that_do_not_vary_over_the_labelled_rows(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:10] = X[0]
    y = np.where(np.arange(40) < 10, rng.normal(size=40), np.nan)
    _assert_sound(model.fit(X, y), X)
    np.testing.assert_allclose(model.predict(X[:10]), y[:10].mean(), atol=0.01)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS])
def test_many_more_columns_than_rows(model):
    task = "binary" if hasattr(model, "predict_proba") else "regression"
    rng = np.random.default_rng(0)
    X, _, y = rows(task, n=40, n_labeled=24)
    wide = np.hstack([X, rng.normal(size=(40, 495))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _assert_sound(model.fit(wide, y), wide)
    assert model.mask_probabilities_[:2].mean() >= model.mask_probabilities_[5:].mean()


@pytest.mark.parametrize("learner", ["posterior", "relaxed", "rloo", "base"])
def test_precision_order_and_protection_of_the_memory(learner):
    X, _, y = rows("regression")
    small = X.astype(np.float32)
    plain = make(learner, "regression").fit(small.astype(np.float64), y).predict(X)
    np.testing.assert_array_equal(make(learner, "regression").fit(small, y).predict(X), plain)
    fortran = np.asfortranarray(small.astype(np.float64))
    fortran.flags.writeable = False
    target = y.copy()
    target.flags.writeable = False
    before = fortran.copy()
    model = make(learner, "regression").fit(fortran, target)
    np.testing.assert_allclose(model.predict(X), plain, atol=1e-9)
    np.testing.assert_array_equal(fortran, before)


@pytest.mark.parametrize("scale", [1e12, 1e-12])
@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "paper"])
def test_extreme_units_of_columns_and_targets(learner, scale):
    X, _, y = rows("regression")
    one = make(learner, "regression").fit(X, y)
    columns = make(learner, "regression").fit(X * scale, y)
    _assert_sound(columns, X * scale)
    np.testing.assert_allclose(columns.predict(X * scale), one.predict(X), rtol=1e-5, atol=1e-5)
    targets = make(learner, "regression").fit(X, y * scale)
    _assert_sound(targets, X)
    difference = targets.predict(X) / scale - one.predict(X)
    assert np.sqrt(np.mean(difference**2)) < 0.05 * np.std(one.predict(X))


@pytest.mark.parametrize("model", [REGRESSORS[0], REGRESSORS[1]])
def test_extreme_values_at_predict(model):
    X, _, y = rows("regression")
    model.fit(X, y)
    for value in (1e100, -1e100, 1e-300):
        assert np.isfinite(model.predict(np.full_like(X, value))).all()
    with pytest.raises(ValueError, match="infin"):
        model.predict(np.full_like(X, np.inf))


def test_what_cannot_be_fitted_is_said():
    X, full, y = rows("regression")
    model = S2MAMRegressor()
    with pytest.raises(NoLabelsError):
        model.fit(X, np.full(60, np.nan))
    with pytest.raises(InvalidInputError, match="requires y"):
        model.fit(X, None)
    with pytest.raises(ValueError, match="60"):
        model.fit(X, full[:-1])
    with pytest.raises(InvalidInputError, match="sample_weight"):
        model.fit(X, y, sample_weight=-np.ones(60))
    with pytest.raises(InvalidInputError, match="zero"):
        model.fit(X, y, sample_weight=np.zeros(60))
    with pytest.raises(InvalidInputError, match="missing"):
        S2MAMRegressor(unlabeled=None).fit(X, y)
    with pytest.raises(InvalidInputError, match="continuous"):
        S2MAMClassifier().fit(X, full)


def test_a_class_with_weight_zero_is_not_a_class():
    X, full, _ = rows("multiclass")
    model = S2MAMClassifier(max_iter=5, random_state=0)
    model.fit(X, full, sample_weight=(full != 2).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 1])


def test_paper_settings_take_numbers_only():
    X, _, y = rows("regression")
    table = pd.DataFrame(X, columns=list("abcde")).assign(text="a")
    table.loc[::2, "text"] = "b"
    with pytest.raises(InvalidInputError, match="categorical"):
        make("paper", "regression").fit(table, y)
