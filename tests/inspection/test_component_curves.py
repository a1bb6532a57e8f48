"""Component curves against the contributions of a fitted model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from s2mam import ManifoldAdditiveRegressor, S2MAMClassifier, S2MAMRegressor
from s2mam.datasets import make_friedman
from s2mam.exceptions import InvalidInputError
from s2mam.inspection import component_curves


@pytest.fixture(scope="module")
def friedman():
    data = make_friedman(n_samples=90, n_uninformative=2, n_noisy=1, random_state=0)
    return data.X, S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)


def mixed_table(n: int = 70) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "dose": rng.normal(100.0, 30.0, n),
            "site": rng.choice(["a", "b", "c"], n),
        }
    )
    table.loc[::7, "dose"] = np.nan
    level = table["site"].map({"a": -2.0, "b": 0.0, "c": 3.0}).to_numpy()
    return table, level + table["age"].to_numpy() / 20.0


def test_curve_is_the_contribution_whatever_the_other_columns_hold(friedman):
    X, model = friedman
    curve = component_curves(model, X, columns=[3], grid=17)[0]
    others = X[np.random.default_rng(1).integers(len(X), size=17)].copy()
    others[:, 3] = curve.grid
    np.testing.assert_allclose(curve.values, model.contributions(others)[:, 3], atol=1e-10)
    assert curve.grid[0] == X[:, 3].min()
    assert curve.grid[-1] == X[:, 3].max()
    np.testing.assert_allclose(curve.effect, model.contributions(X)[:, 3].std(), rtol=1e-12)
    np.testing.assert_array_equal(np.sort(curve.observed), np.sort(X[:, 3]))


def test_default_columns_are_the_selected_ones_by_effect(friedman):
    X, model = friedman
    curves = component_curves(model, X)
    assert {curve.column for curve in curves} == set(np.flatnonzero(model.support_))
    effects = [curve.effect for curve in curves]
    assert effects == sorted(effects, reverse=True)


@pytest.mark.parametrize("library", ["pandas", "polars", "array"])
def test_mixed_tables_keep_units_categories_and_missing_levels(library):
    frame, y = mixed_table()
    if library == "pandas":
        X = frame
    elif library == "polars":
        X = pl.DataFrame(frame.to_dict("list"), nan_to_null=True)
    else:
        X = frame.to_numpy(dtype=object)
    model = ManifoldAdditiveRegressor(sparsity=0.001, manifold=0.0).fit(X, y)
    age, dose, site = component_curves(model, X, columns=[0, 1, 2], grid=11)
    assert (age.kind, dose.kind, site.kind) == ("numeric", "numeric", "categorical")
    assert age.name == ("x0" if library == "array" else "age")
    assert site.grid.tolist() == ["a", "b", "c"]
    assert site.values[0] < site.values[1] < site.values[2]
    contributions = model.contributions(X)
    for code, label in enumerate(site.grid):
        rows = (frame["site"] == label).to_numpy()
        np.testing.assert_allclose(contributions[rows, 2], site.values[code], atol=1e-10)
    absent = frame["dose"].isna().to_numpy()
    assert dose.n_missing == absent.sum()
    np.testing.assert_allclose(contributions[absent, 1], dose.missing, atol=1e-10)
    assert len(dose.observed) == np.count_nonzero(~absent)


def test_numeric_codes_declared_categorical_become_bars():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, 4, 60), rng.normal(size=60)]).astype(float)
    y = np.array([0.0, 5.0, -5.0, 1.0])[X[:, 0].astype(int)]
    model = ManifoldAdditiveRegressor(categorical=[0], manifold=0.0).fit(X, y)
    curve = component_curves(model, X, columns=[0])[0]
    assert curve.kind == "categorical"
    assert curve.grid.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert np.argsort(curve.values).tolist() == [2, 0, 3, 1]


def test_one_curve_per_class_with_three_classes():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = S2MAMClassifier(max_iter=5, random_state=0).fit(X, y)
    curve = component_curves(model, X, columns=["x0"], grid=9)[0]
    assert curve.values.shape == (9, 3)
    assert np.shape(curve.missing) == (3,)
    assert curve.values[-1].argmax() == 2
    assert curve.values[0].argmax() == 0


def test_constant_and_empty_columns_have_flat_or_no_curves():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=40), np.full(40, 7.0), np.full(40, np.nan)])
    model = ManifoldAdditiveRegressor(manifold=0.0).fit(X, 2 * X[:, 0])
    _, constant, empty = component_curves(model, X, columns=[0, 1, 2])
    assert constant.grid.tolist() == [7.0]
    assert constant.values.tolist() == [0.0]
    assert empty.grid.size == 0


def test_given_names_serve_tables_without_any(friedman):
    X, model = friedman
    names = [f"gene {j}" for j in range(X.shape[1])]
    curve = component_curves(model, X, columns=["gene 3"], feature_names=names)[0]
    assert (curve.column, curve.name) == (3, "gene 3")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["nope"]}, "There is no column 'nope'; known: x0"),
        ({"columns": [99]}, "There is no column 99; the table has"),
        ({"grid": 1}, "grid=1 must be at least 2"),
        ({"feature_names": ["a"]}, "feature_names has 1 names for"),
    ],
)
def test_bad_arguments_are_named(friedman, options, message):
    X, model = friedman
    with pytest.raises(InvalidInputError, match=message):
        component_curves(model, X, **options)
