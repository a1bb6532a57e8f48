"""Tables: libraries, kinds, names, missing and unknown values, state."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, clone

from s2mam.exceptions import InvalidInputError, ModelFileError
from s2mam.intake import ColumnInfo, TableReader

CELLS = {
    "number": [1.0, 2.0, None, 4.0],
    "whole": [1, 2, 3, 5],
    "text": ["b", "a", None, "b"],
    "flag": [True, False, True, True],
    "same": [7, 7, 7, 7],
    "empty": [None, None, None, None],
}
CODED = np.array(
    [
        [1, 1, 1, 1, 0, 0],
        [2, 2, 0, 0, 0, 0],
        [np.nan, 3, np.nan, 1, 0, 0],
        [4, 5, 1, 1, 0, 0],
    ]
)
KINDS = ("numeric", "numeric", "categorical", "categorical", "constant", "constant")


def as_polars(cells):
    return pl.DataFrame(cells, schema_overrides={"empty": pl.Float64})


def as_objects(cells):
    return np.array(list(cells.values()), dtype=object).T


@pytest.mark.parametrize(
    "make", [pd.DataFrame, as_polars, as_objects, lambda c: as_objects(c).tolist()]
)
def test_same_numbers_from_every_library(make):
    table = make(CELLS)
    reader = TableReader(scale=None)
    np.testing.assert_array_equal(reader.fit_transform(table), CODED)
    assert reader.kinds_ == KINDS
    np.testing.assert_array_equal(reader.transform(table), CODED)
    assert reader.columns_[2].categories == ("a", "b")
    assert reader.columns_[2].n_missing == 1


def test_kinds_of_pandas_types():
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, pd.NA, 3], dtype="Int64"),
            "boolean": pd.array([True, pd.NA, False], dtype="boolean"),
            "ordered": pd.Categorical(
                ["lo", "hi", "lo"], categories=["lo", "mid", "hi"], ordered=True
            ),
            "codes": pd.Categorical([3, 1, None]),
            "string": pd.array(["x", pd.NA, "y"], dtype="string"),
            "numbers": np.array([1, None, 2.5], dtype=object),
            "decimal": np.array([Decimal(1), None, Decimal("2.5")], dtype=object),
            "sparse": pd.arrays.SparseArray([0.0, 1.0, 0.0]),
        }
    )
    reader = TableReader(scale=None)
    coded = reader.fit_transform(frame)
    kinds = dict(zip(frame.columns, reader.kinds_, strict=True))
    numeric = {name for name, kind in kinds.items() if kind == "numeric"}
    assert numeric == {"nullable", "numbers", "decimal", "sparse"}
    assert reader.columns_[2].categories == ("lo", "hi")
    np.testing.assert_array_equal(coded[:, 2], [0, 1, 0])
    np.testing.assert_array_equal(coded[:, 3], [1, 0, np.nan])
    np.testing.assert_array_equal(coded[:, 6], [1, np.nan, 2.5])


def test_polars_categories():
    frame = pl.DataFrame(
        {
            "category": pl.Series(["u", None, "v"], dtype=pl.Categorical),
            "enum": pl.Series(["u", None, "v"], dtype=pl.Enum(["v", "w", "u"])),
            "decimal": pl.Series([1, None, 2], dtype=pl.Decimal(10, 2)),
        }
    )
    reader = TableReader(scale=None)
    coded = reader.fit_transform(frame)
    assert reader.kinds_ == ("categorical", "categorical", "numeric")
    assert reader.columns_[1].categories == ("v", "u")
    np.testing.assert_array_equal(coded[:, 1], [1, np.nan, 0])


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.int8, np.uint16, bool, object, np.longdouble]
)
def test_numeric_arrays_of_every_dtype(dtype):
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype)
    reader = TableReader(scale="standard").fit(X)
    expected = TableReader(scale="standard").fit_transform(X.astype(float))
    if dtype is object:
        X = X.astype(int).astype(object)
    np.testing.assert_allclose(reader.transform(X), expected)
    assert reader.kinds_ == ("numeric", "numeric")


def test_layout_does_not_matter_and_input_is_untouched():
    base = np.random.default_rng(0).normal(size=(12, 6))
    base[2, 3] = np.nan
    expected = TableReader().fit_transform(base)
    frozen = base.copy()
    frozen.flags.writeable = False
    wide = np.zeros((24, 12))
    wide[::2, ::2] = base
    for X in (np.asfortranarray(base), frozen, wide[::2, ::2], base[::-1][::-1]):
        before = X.copy()
        np.testing.assert_array_equal(TableReader().fit_transform(X), expected)
        np.testing.assert_array_equal(X, before)
    unscaled = TableReader(scale=None)
    result = unscaled.fit_transform(base)
    assert not np.shares_memory(result, base)


def test_categorical_by_name_index_and_mask():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [5, 7, 5], "c": ["x", "y", "x"]})
    expected = ("numeric", "categorical", "categorical")
    for chosen in (["b"], [1], [-2], np.array([1]), [False, True, False]):
        assert TableReader(categorical=chosen).fit(frame).kinds_ == expected
    reader = TableReader(categorical=["b"]).fit(frame)
    assert reader.columns_[1].categories == (5, 7)
    coded = reader.transform(pd.DataFrame({"a": [1], "b": [7.0], "c": ["z"]}))
    assert coded[0, 1] == 1
    assert np.isnan(coded[0, 2])
    array = TableReader(categorical=[1]).fit(np.array([[1.0, 5], [2, 7], [3, np.nan]]))
    np.testing.assert_array_equal(array.transform([[1, 6], [1, 5]])[:, 1], [np.nan, 0])
    with pytest.raises(InvalidInputError, match=r"'z'.*3 columns: a, b, c"):
        TableReader(categorical=["z"]).fit(frame)
    with pytest.raises(InvalidInputError, match="categorical must be"):
        TableReader(categorical="b").fit(frame)


def test_text_is_refused_without_categories():
    frame = pd.DataFrame({"a": [1, 2], "c": ["x", "y"]})
    with pytest.raises(InvalidInputError, match="Column 'c' holds the text 'x' \\(row 0\\)"):
        TableReader(categorical=None).fit(frame)


def test_mixed_column_needs_to_be_named():
    X = np.array([[1, 0.5], ["one", 1.5], [2, 2.5]], dtype=object)
    with pytest.raises(InvalidInputError, match="Column 'x0' holds the text 'one' \\(row 1\\)"):
        TableReader().fit(X)
    reader = TableReader(categorical=[0]).fit(X)
    assert reader.columns_[0].categories == (1, 2, "one")


def test_text_where_numbers_were_seen():
    reader = TableReader().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}))
    with pytest.raises(InvalidInputError, match="Column 'b' holds the text"):
        reader.transform(pd.DataFrame({"a": [1.0], "b": ["oops"]}))


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X,
        lambda X: pd.DataFrame(X, columns=["first", "x1"]),
        lambda X: X.astype(object),
        lambda X: pd.DataFrame({"t": ["u", "v", "u"], "x1": X[:, 1]}),
    ],
)
def test_infinity_is_refused_by_column(make):
    good, bad = np.array([[1.0, 2], [3, 5], [0, 1]]), np.array([[1.0, 2], [3, -np.inf], [0, 1]])
    with pytest.raises(InvalidInputError, match=r"infinity.*column 'x1' \(1 rows, first: row 1\)"):
        TableReader().fit(make(bad))
    with pytest.raises(InvalidInputError, match="column 'x1'"):
        TableReader().fit(make(good)).transform(make(bad))


def test_huge_finite_values_are_not_infinite():
    X = np.full((3, 2), 1e308)
    X[0] = 0
    assert np.isfinite(TableReader().fit_transform(X)).all()


def test_shape_errors_are_those_of_scikit_learn():
    reader = TableReader().fit(np.eye(3))
    for call in (TableReader().fit, reader.transform):
        with pytest.raises(ValueError, match="Reshape your data"):
            call(np.ones(3))
        with pytest.raises(ValueError, match="0 sample"):
            call(np.empty((0, 3)))
        with pytest.raises(ValueError, match="Complex data not supported"):
            call(np.eye(3) * 1j)
    with pytest.raises(ValueError, match="0 sample"):
        TableReader().fit(pd.DataFrame({"a": []}))
    with pytest.raises(ValueError, match="0 feature"):
        TableReader().fit(pd.DataFrame(index=[0, 1]))
    with pytest.raises(ValueError, match="X has 2 features, but TableReader is expecting 3"):
        reader.transform(np.ones((1, 2)))
    with pytest.raises(TypeError, match=r"Column 'x0'.*argument must be"):
        TableReader().fit(np.array([[{}, 1], [2, 3]], dtype=object))
    with pytest.raises(InvalidInputError, match="Column 'day' holds dates"):
        TableReader().fit(pd.DataFrame({"day": pd.date_range("2020", periods=3)}))
    days = pd.DataFrame({"d": [pd.Timestamp("2020").date(), None]}, dtype=object)
    with pytest.raises(InvalidInputError, match="'d' holds a value of type date"):
        TableReader(categorical=["d"]).fit(days)


class Owner(BaseEstimator):
    """Bears names and counts."""


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("owner", [None, Owner()])
def test_names_are_checked(frame, owner):
    X = frame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    reader = TableReader().fit(X, estimator=owner)
    assert reader.feature_names_in_.tolist() == ["a", "b"]
    assert [column.name for column in reader.columns_] == ["a", "b"]
    if owner is not None:
        assert owner.feature_names_in_.tolist() == ["a", "b"]
        assert owner.n_features_in_ == 2
    with pytest.raises(ValueError, match="must be in the same order"):
        reader.transform(X[["b", "a"]], estimator=owner)
    with pytest.raises(ValueError, match="unseen at fit time:\n- c"):
        reader.transform(frame({"a": [1.0], "c": [3.0]}), estimator=owner)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        reader.transform(np.ones((1, 2)), estimator=owner)


def test_refit_without_names_forgets_them():
    owner = Owner()
    reader = TableReader().fit(pd.DataFrame({"a": [1.0, 2.0]}), estimator=owner)
    reader.fit(np.eye(2), estimator=owner)
    assert not hasattr(reader, "feature_names_in_")
    assert reader.n_features_in_ == 2


def test_frames_with_number_names_are_read_by_position():
    frame = pd.DataFrame([[1.0, "a"], [2.0, "b"]], columns=[10, 20])
    reader = TableReader().fit(frame)
    assert [column.name for column in reader.columns_] == ["x0", "x1"]
    assert reader.kinds_ == ("numeric", "categorical")


def test_weightless_rows_leave_no_trace():
    X = np.array([[1.0, "a"], [2.0, "b"], [9.0, "c"], [None, None]], dtype=object)
    reader = TableReader().fit(X, row_weight=np.array([1.0, 1.0, 0.0, 0.0]))
    assert reader.columns_[1].categories == ("a", "b")
    assert reader.columns_[0].high == 2.0
    assert [column.n_missing for column in reader.columns_] == [0, 0]
    for weight, message in ((np.zeros(4), "zero on all rows"), (np.ones(2), "has shape")):
        with pytest.raises(InvalidInputError, match=message):
            TableReader().fit(X, row_weight=weight)


def test_numbers_of_a_mixed_list_stay_numbers():
    reader = TableReader(scale=None).fit([[1.5, "a"], [2, "b"]])
    assert reader.kinds_ == ("numeric", "categorical")


@pytest.mark.parametrize("scale", ["robust", "standard", "rank", None])
@pytest.mark.parametrize("table", [pd.DataFrame(CELLS), as_objects(CELLS)])
def test_state_round_trip_through_json(scale, table):
    reader = TableReader(scale=scale).fit(table)
    state = reader.to_state()
    arrays = {key for key, value in state.items() if isinstance(value, np.ndarray)}
    assert all(state[key].dtype.kind in "fi" for key in arrays)
    plain = json.loads(json.dumps({k: v for k, v in state.items() if k not in arrays}))
    loaded = TableReader.from_state(plain | {key: state[key] for key in arrays})
    np.testing.assert_array_equal(loaded.transform(table), reader.transform(table))
    assert loaded.kinds_ == reader.kinds_
    assert loaded.n_features_in_ == 6
    assert hasattr(loaded, "feature_names_in_") == isinstance(table, pd.DataFrame)
    ranges = [[(c.low, c.high) for c in r.columns_[:2]] for r in (loaded, reader)]
    assert ranges[0] == ranges[1] == [(1, 4), (1, 5)]


def test_damaged_state_is_refused():
    state = TableReader().fit(np.eye(3)).to_state()
    del state["center"]
    with pytest.raises(ModelFileError, match="center"):
        TableReader.from_state(state)


def test_columns_encode_values_for_displays():
    reader = TableReader().fit(pd.DataFrame(CELLS))
    whole = reader.transform(pd.DataFrame(CELLS))
    for j, name in enumerate(CELLS):
        np.testing.assert_array_equal(reader.columns_[j].encode(CELLS[name]), whole[:, j])
    assert np.isnan(ColumnInfo("c", "categorical", categories=("a", "b")).encode(["z"])[0])


def test_clone_keeps_parameters_only():
    reader = TableReader(scale="rank", categorical=[0]).fit(np.eye(3))
    copy = clone(reader)
    assert copy.get_params() == {"scale": "rank", "categorical": [0]}
    assert not hasattr(copy, "columns_")
