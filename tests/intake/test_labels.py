"""Targets: markers of every kind, classes with their dtype, errors that name the row."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from s2mam.exceptions import InvalidInputError, NoLabelsError, S2MAMWarning
from s2mam.intake import find_unlabeled, read_classification_target, read_regression_target

MASK = [True, False, True, True]


@pytest.mark.parametrize(
    "y",
    [
        [1.0, np.nan, 2.0, 3.0],
        [1, None, 2, 3],
        np.array([1, None, 2, 3], dtype=object),
        np.array([1, np.nan, 2, 3], dtype=np.float32),
        pd.Series([1, pd.NA, 2, 3], dtype="Int64", index=[9, 8, 7, 6]),
        pd.Series([1, pd.NA, 2, 3], dtype=object),
        pl.Series([1, None, 2, 3]),
        pl.Series([1.0, float("nan"), 2.0, 3.0]),
    ],
)
def test_regression_markers(y):
    target = read_regression_target(y, n_rows=4)
    assert target.labeled.tolist() == MASK
    assert target.y.dtype == np.float64
    assert target.y.tolist() == [1.0, 2.0, 3.0]
    assert target.classes is None


def test_regression_keeps_minus_one_as_a_value():
    assert read_regression_target([-1, 2]).y.tolist() == [-1.0, 2.0]


@pytest.mark.parametrize(
    ("y", "marker"),
    [
        ([1.0, -999.0, 2.0, 3.0], -999),
        (np.array([1, "?", 2, 3], dtype=object), "?"),
        ([1.0, np.inf, 2.0, 3.0], np.inf),
        ([1.0, None, 2.0, 3.0], -999),
        ([1.0, np.nan, 2.0, 3.0], np.nan),
    ],
)
def test_regression_custom_marker(y, marker):
    assert read_regression_target(y, unlabeled=marker).labeled.tolist() == MASK


TEXT = ["b", None, "a", "b"]


@pytest.mark.parametrize(
    ("y", "dtype", "classes"),
    [
        (TEXT, object, ["a", "b"]),
        (["b", np.nan, "a", "b"], object, ["a", "b"]),
        (["b", -1, "a", "b"], object, ["a", "b"]),
        (np.array(["b", pd.NA, "a", "b"], dtype=object), object, ["a", "b"]),
        (pd.Series(TEXT), object, ["a", "b"]),
        (pd.Series(TEXT, dtype="category"), object, ["a", "b"]),
        (pd.Series(TEXT, dtype="string"), object, ["a", "b"]),
        (pl.Series(TEXT), object, ["a", "b"]),
        (pl.Series(TEXT, dtype=pl.Categorical), object, ["a", "b"]),
        ([1, -1, 0, 1], np.int64, [0, 1]),
        (np.array([1, -1, 0, 1], dtype=np.int8), np.int8, [0, 1]),
        ([1.0, np.nan, 0.0, 1.0], np.float64, [0.0, 1.0]),
        ([1.0, -1.0, 0.0, 1.0], np.float64, [0.0, 1.0]),
        ([1, None, 0, 1], np.int64, [0, 1]),
        (pd.Series([1, pd.NA, 0, 1], dtype="Int64"), np.int64, [0, 1]),
        (pl.Series([1, None, 0, 1]), np.int64, [0, 1]),
        ([True, None, False, True], np.bool_, [False, True]),
        (pd.Series([True, pd.NA, False, True], dtype="boolean"), np.bool_, [False, True]),
        (pl.Series([True, None, False, True]), np.bool_, [False, True]),
    ],
)
def test_class_markers(y, dtype, classes):
    target = read_classification_target(y, n_rows=4)
    assert target.labeled.tolist() == MASK
    assert target.classes.tolist() == classes
    assert target.classes.dtype == dtype
    assert target.y.tolist() == [1, 0, 1]
    assert target.values.tolist() == [classes[1], classes[0], classes[1]]


def test_text_arrays_keep_their_dtype():
    classes = read_classification_target(np.array(["one", "two"])).classes
    assert classes.dtype == np.dtype("<U3")
    assert read_classification_target(["one", "two"]).classes.dtype == np.dtype("<U3")


@pytest.mark.parametrize(
    ("y", "marker"),
    [
        (["b", "?", "a", "b"], "?"),
        (["b", "?", "a", "b"], np.str_("?")),
        (np.array(["b", "?", "a", "b"], dtype=object), "?"),
        ([1, 99, -1, 1], 99),
        ([1, 99, -1, 1], 99.0),
        ([1.0, 99.0, -1.0, 1.0], np.int64(99)),
        ([1.0, np.nan, -1.0, 1.0], np.nan),
        ([1.0, np.nan, -1.0, 1.0], pd.NA),
        ([1.0, np.nan, -1.0, 1.0], 99),
        (["b", None, "a", "b"], "?"),
    ],
)
def test_custom_class_marker(y, marker):
    target = read_classification_target(y, unlabeled=marker)
    assert target.labeled.tolist() == MASK
    assert len(target.classes) == 2


def test_marker_never_matches_another_type():
    assert read_classification_target([0, 1], unlabeled="0").labeled.all()
    assert read_classification_target(["0", "1"], unlabeled=0).labeled.all()
    assert read_classification_target(np.array([True, False]), unlabeled=1).labeled.all()
    assert read_classification_target([True, False, None], unlabeled=1).labeled.sum() == 2


def test_unlabeled_none_means_every_row_is_labelled():
    assert read_classification_target([-1, 1], unlabeled=None).classes.tolist() == [-1, 1]
    with pytest.raises(InvalidInputError, match="1 rows \\(first: row 1\\)"):
        read_regression_target([1.0, None], unlabeled=None)


def test_minus_one_as_a_class_warns_and_goes_on():
    with pytest.warns(S2MAMWarning, match="only one class left after -1"):
        target = read_classification_target([-1, 1, -1, 1])
    assert target.classes.tolist() == [1]


def test_single_class_without_minus_one_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_classification_target(["a", None]).classes.tolist() == ["a"]


def test_minus_one_as_text_warns_unless_all_classes_are_numbers():
    with pytest.warns(S2MAMWarning, match="'-1' was read as a class"):
        read_classification_target(np.array(["a", "-1", "b"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_classification_target(["1", "-1"]).classes) == 2


def test_warning_points_at_the_caller():
    with pytest.warns(S2MAMWarning) as caught:
        read_classification_target([-1, 1])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("read", [read_regression_target, read_classification_target])
def test_shared_refusals(read):
    with pytest.raises(NoLabelsError, match="None of the 3 rows"):
        read([None, np.nan, None])
    with pytest.raises(NoLabelsError):
        read([])
    with pytest.raises(InvalidInputError, match="y has 2 rows but X has 3"):
        read([0, 1], n_rows=3)
    with pytest.raises(InvalidInputError, match="1d array, got an array of shape \\(2, 2\\)"):
        read([[0, 1], [1, 0]])
    with pytest.raises(InvalidInputError, match="requires y to be passed"):
        read(None)
    with pytest.raises(InvalidInputError, match="Complex data not supported"):
        read(np.array([1j, 2]))
    with pytest.raises(InvalidInputError, match="infinity in 1 rows \\(first: row 2\\)"):
        read([0.0, np.nan, np.inf])
    with pytest.raises(InvalidInputError, match="single value"):
        read([0, 1], unlabeled=[0, 1])
    with pytest.raises(InvalidInputError, match="dates"):
        read(np.array(["2020-01-01"], dtype="datetime64[D]"))
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert read([[0], [1]]).labeled.tolist() == [True, True]


def test_text_in_a_regression_target_is_named():
    with pytest.raises(InvalidInputError, match="'high' in row 2"):
        read_regression_target([1.0, None, "high"])


def test_refused_classes():
    with pytest.raises(InvalidInputError, match="Unknown label type: continuous"):
        read_classification_target([0.5, 1.0, np.nan])
    with pytest.raises(InvalidInputError, match="Unknown label type: y mixes text"):
        read_classification_target([1, "a", None])
    with pytest.raises(InvalidInputError, match="Unknown label type"):
        read_classification_target(np.array([{1}, {2}], dtype=object))


def test_many_classes_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_classification_target(np.arange(30)).classes) == 30


def test_input_is_not_written_to():
    y = np.array([1.0, np.nan, -1.0])
    y.flags.writeable = False
    before = y.copy()
    read_classification_target(y, unlabeled=np.nan)
    read_regression_target(y)
    np.testing.assert_array_equal(y, before)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.one_of(st.none(), st.integers(-3, 5)), min_size=1, max_size=20))
def test_round_trip_of_classes(y):
    hidden = [value is None or value == -1 for value in y]
    assert find_unlabeled(y, classes=True).tolist() == hidden
    if all(hidden):
        with pytest.raises(NoLabelsError):
            read_classification_target(y)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", S2MAMWarning)
        target = read_classification_target(y)
    assert target.values.tolist() == [v for v, h in zip(y, hidden, strict=True) if not h]
    assert (np.diff(target.classes) > 0).all()
