"""The estimators among the tools of scikit-learn and the dataframe libraries."""

from __future__ import annotations

import io
import threading

import joblib
import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from estimator_data import decide, make, rows
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import (
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from s2mam import ManifoldAdditiveRegressor, S2MAMRegressor
from s2mam.exceptions import InvalidInputError
from s2mam.model_selection import (
    SemiSupervisedKFold,
    SemiSupervisedStratifiedKFold,
    labeled_scorer,
)

mpl.use("Agg")
# scikit-learn 1.6 cannot reshape the partial dependence of a category, whoever the estimator is.
CATEGORIES_WORK = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"), reason="scikit-learn before 1.7"
)
pytestmark = pytest.mark.filterwarnings("ignore::s2mam.exceptions.ConvergenceWarning")
NAMES = list("abcde")


@pytest.fixture(scope="module")
def numbers():
    X, full, y = rows("regression")
    table = pd.DataFrame(X, columns=NAMES)
    return table, full, y, make("posterior", "regression").fit(table, y)


@pytest.fixture(scope="module")
def classes():
    X, full, y = rows("binary", n_labeled=40)
    table = pd.DataFrame(X, columns=NAMES)
    table["group"] = pd.Categorical(np.where(X[:, 0] > 5, "high", "low"))
    return table, full, y, make("posterior", "binary").fit(table, y)


# ------------------------------------------------------------------------------ selection


def test_names_of_the_selected_columns(numbers):
    table, _, y, model = numbers
    assert list(model.get_feature_names_out()) == ["a", "b"]
    assert list(model.get_feature_names_out(NAMES)) == ["a", "b"]
    with pytest.raises(ValueError, match="feature_names_in_"):
        model.get_feature_names_out(list("vwxyz"))
    unnamed = make("posterior", "regression").fit(table.to_numpy(), y)
    assert list(unnamed.get_feature_names_out()) == ["x0", "x1"]
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 1])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_come_out_as_asked_for(numbers, library):
    table, _, y, _ = numbers
    given = table if library == "pandas" else pl.DataFrame(table.to_numpy(), schema=NAMES)
    kind = pd.DataFrame if library == "pandas" else pl.DataFrame
    model = make("posterior", "regression").set_output(transform=library)
    selected = model.fit_transform(given, y)
    assert isinstance(selected, kind)
    assert list(selected.columns) == ["a", "b"]
    np.testing.assert_array_equal(selected.to_numpy(), table[["a", "b"]].to_numpy())
    pipeline = make_pipeline(
        StandardScaler(), model, ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.0)
    ).set_output(transform=library)
    pipeline.fit(given, y)
    assert list(pipeline[-1].feature_names_in_) == ["a", "b"]
    assert list(pipeline[:-1].get_feature_names_out()) == ["a", "b"]
    assert pipeline.predict(given).shape == (60,)


def test_mixed_columns_keep_their_types(classes):
    table, _, y, _ = classes
    model = make("posterior", "binary").set_params(n_features_to_select=6)
    selected = model.set_output(transform="pandas").fit(table, y).transform(table)
    pd.testing.assert_frame_equal(selected, table)


def test_inverse_transform_puts_zeros_in_the_other_columns(numbers):
    table, _, _, model = numbers
    back = model.inverse_transform(model.transform(table))
    np.testing.assert_array_equal(back, np.where(model.support_, table.to_numpy(), 0.0))


def test_select_from_model_reads_the_mask_probabilities(numbers):
    table, _, y, model = numbers
    selector = SelectFromModel(
        make("posterior", "regression"), importance_getter="mask_probabilities_", threshold=0.5
    ).fit(table, y)
    np.testing.assert_array_equal(selector.get_support(), model.get_support())
    assert list(selector.get_feature_names_out()) == ["a", "b"]


def test_selection_before_another_learner(classes):
    table, full, y, _ = classes
    labeled = y != -1
    pipeline = make_pipeline(make("posterior", "binary"), LogisticRegression())
    pipeline.fit(table[NAMES][labeled], y[labeled])
    assert pipeline.score(table[NAMES], full) > 0.7


# ------------------------------------------------------------------------- searches, scores


def test_cross_validation_with_our_splitters(numbers, classes):
    table, _, y, model = numbers
    scores = cross_val_score(
        model, table, y, cv=SemiSupervisedKFold(3), scoring=labeled_scorer("r2"),
        error_score="raise",
    )  # fmt: skip
    assert scores.shape == (3,)
    assert (scores > 0.7).all()
    table, _, y, model = classes
    scores = cross_val_score(
        model, table, y, cv=SemiSupervisedStratifiedKFold(2),
        scoring=labeled_scorer("balanced_accuracy"), error_score="raise",
    )  # fmt: skip
    assert (scores > 0.6).all()
    labeled = y != -1
    found = cross_val_predict(model, table[labeled], y[labeled], cv=2, method="predict_proba")
    assert found.shape == (labeled.sum(), 2)


def test_grid_search_over_ways_to_learn(numbers):
    table, _, y, _ = numbers
    search = GridSearchCV(
        S2MAMRegressor(mask_learner="relaxed", sparsity=0.01, manifold=0.0, random_state=0),
        {"criterion": ["evidence", "loo"], "n_features_to_select": [1, 2]},
        cv=SemiSupervisedKFold(2, shuffle=True, random_state=0),
        scoring=labeled_scorer("r2"),
        error_score="raise",
    ).fit(table, y)
    assert search.best_params_["n_features_to_select"] == 2
    np.testing.assert_array_equal(search.best_estimator_.get_support(indices=True), [0, 1])


def test_clones_carry_every_parameter():
    def stop(progress):
        return progress["done"] > 3

    model = S2MAMRegressor(time_limit=3.0, on_interrupt="keep", callbacks=[stop], verbose=1)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert copied.time_limit == 3.0
    assert copied.callbacks == [stop]


def test_stacking(numbers):
    table, full, _, _ = numbers
    stacked = StackingRegressor(
        [("ours", make("posterior", "regression")), ("ridge", Ridge())], cv=2
    ).fit(table, full)
    assert stacked.score(table, full) > 0.8


# ------------------------------------------------------------------------------ inspection


def test_permutation_importance_agrees_with_the_mask(numbers):
    table, full, y, model = numbers
    for target, scoring in ((full, None), (y, labeled_scorer("r2"))):
        found = permutation_importance(
            model, table, target, scoring=scoring, n_repeats=3, random_state=0
        )
        assert (found.importances_mean[:2] > 0.1).all()
        assert (np.abs(found.importances_mean[2:]) < 0.01).all()


def test_partial_dependence_is_the_contribution(numbers):
    """For an additive model both are the same curve, up to a constant."""
    table, _, _, model = numbers
    found = partial_dependence(model, table, ["a"], grid_resolution=7)
    grid = found["grid_values"][0]
    probe = pd.concat([table.iloc[[0]]] * 7, ignore_index=True).assign(a=grid)
    curve = model.contributions(probe)[:, 0]
    np.testing.assert_allclose(
        found["average"][0] - found["average"][0].mean(), curve - curve.mean(), atol=1e-9
    )


@CATEGORIES_WORK
def test_partial_dependence_of_classes_and_categories(classes):
    table, _, _, model = classes
    found = partial_dependence(
        model, table, ["group"], categorical_features=["group"], response_method="decision_function"
    )
    grid = pd.concat([table.iloc[[0]]] * 2, ignore_index=True)
    grid["group"] = pd.Categorical(found["grid_values"][0], categories=["high", "low"])
    steps = np.diff(model.contributions(grid)[:, 5])
    np.testing.assert_allclose(np.diff(found["average"][0]), steps, atol=1e-9)


@CATEGORIES_WORK
def test_partial_dependence_displays(numbers, classes):
    import matplotlib.pyplot as plt

    table, _, _, model = numbers
    shown = PartialDependenceDisplay.from_estimator(
        model, table, ["a", 1, ("a", "b")], grid_resolution=4
    )
    assert shown.axes_.size == 3
    table, _, _, model = classes
    shown = PartialDependenceDisplay.from_estimator(
        model, table, ["a", "group"], categorical_features=["group"], grid_resolution=4
    )
    assert shown.axes_.size == 2
    X, _, y = rows("multiclass")
    model = make("posterior", "multiclass").fit(X, y)
    PartialDependenceDisplay.from_estimator(
        model, X, [0], target=model.classes_[1], kind="both", grid_resolution=4
    )
    plt.close("all")


def test_html_is_that_of_scikit_learn(numbers):
    *_, model = numbers
    html = model._repr_html_()
    assert "sk-container" in html
    assert "S2MAMRegressor" in html
    ours = [kind for kind in type(model).__mro__ if kind.__module__.startswith("s2mam")]
    assert not any("_repr_html_" in vars(kind) for kind in ours)


# ----------------------------------------------------------------------------- calibration


def test_calibration_after_the_fit_uses_labelled_rows(classes):
    """scikit-learn takes a marker for a class; a fitted model in a frame is calibrated instead."""
    table, full, y, model = classes
    labeled = y != -1
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(table[labeled], y[labeled])
    chance = calibrated.predict_proba(table)
    np.testing.assert_array_equal(calibrated.classes_, [0, 1])
    assert log_loss(full, chance) < np.log(2)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_with_all_rows_labelled(classes, method):
    table, full, _, _ = classes
    model = make("posterior", "binary")
    calibrated = CalibratedClassifierCV(model, cv=2, method=method).fit(table, full)
    assert calibrated.score(table, full) > 0.8


# ------------------------------------------------------------------------ files and threads


@pytest.mark.parametrize("compress", [0, 3])
def test_joblib_files_have_the_same_bits(numbers, compress):
    table, _, _, model = numbers
    file = io.BytesIO()
    joblib.dump(model, file, compress=compress)
    file.seek(0)
    loaded = joblib.load(file)
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    np.testing.assert_array_equal(loaded.contributions(table), model.contributions(table))


@pytest.mark.parametrize("learner", ["posterior", "relaxed", "paper"])
def test_sixteen_threads_predict_the_same(learner):
    X, _, y = rows("multiclass")
    model = make(learner, "multiclass").fit(X, y)
    expected = (decide(model, X), model.predict_proba(X), model.contributions(X))
    start = threading.Barrier(16)
    wrong = []

    def ask():
        start.wait()
        for _ in range(3):
            found = (decide(model, X), model.predict_proba(X), model.contributions(X))
            if not all(map(np.array_equal, found, expected)):
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# -------------------------------------------------------------------------------- extremes


@pytest.mark.parametrize("learner", ["relaxed", "rloo", "paper", "base"])
def test_a_value_beyond_all_bounds_is_named_by_its_column(numbers, learner):
    table, _, y, _ = numbers
    bad = table.copy()
    bad.loc[3, "c"] = 1e200
    with pytest.raises(InvalidInputError, match=r"Column 'c' holds values beyond 1e\+140 in 1 row"):
        make(learner, "regression").fit(bad, y)
    with pytest.raises(InvalidInputError, match="Column 'x2'"):
        make(learner, "regression").set_params(scale=None).fit(bad.to_numpy(), y)


def test_extreme_values_at_predict_are_named_where_they_count(numbers):
    table, _, y, model = numbers
    bad = table.copy()
    bad.loc[[3, 4], "b"] = -1e300
    plain = make("relaxed", "regression").fit(table, y)
    for method in (plain.predict, plain.contributions):
        with pytest.raises(InvalidInputError, match=r"Column 'b' .* in 2 rows"):
            method(bad)
    bad = table.assign(c=1e300)
    np.testing.assert_array_equal(plain.predict(bad), plain.predict(table))
    assert np.isfinite(model.predict(bad)).all()
