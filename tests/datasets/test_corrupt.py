"""Junk columns and hidden labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mam.datasets import corrupt, hide_labels
from s2mam.exceptions import InvalidInputError
from s2mam.intake import find_unlabeled


def test_arrays_get_columns_at_the_end():
    X = np.arange(4000.0).reshape(2000, 2)
    result = corrupt(X, n_uninformative=3, n_noisy=2, random_state=0)
    np.testing.assert_array_equal(result[:, :2], X)
    np.testing.assert_allclose(result[:, 2:5].std(axis=0), 1, rtol=0.1)
    np.testing.assert_allclose(result[:, 5:].std(axis=0), 100, rtol=0.1)
    other = corrupt(X, n_noisy=1, noisy_reading="variance", random_state=0)
    assert other[:, 2].std() == pytest.approx(10, rel=0.1)


def test_pandas_stays_pandas():
    X = pd.DataFrame({"u1": [1, 2], "t": ["a", "b"]}, index=[7, 3])
    result = corrupt(X, 2, 1, random_state=0)
    assert list(result.columns) == ["u1", "t", "u1_", "u2", "n1"]
    assert result.index.tolist() == [7, 3]
    pd.testing.assert_frame_equal(result[["u1", "t"]], X)
    assert list(X.columns) == ["u1", "t"]
    assert not result.isna().any().any()


def test_pandas_with_number_names_keeps_one_type_of_names():
    assert list(corrupt(pd.DataFrame(np.eye(2)), 1, 1).columns) == [0, 1, 2, 3]


def test_polars_stays_polars():
    result = corrupt(pl.DataFrame({"a": [1.0, 2.0]}), 1, 1, random_state=0)
    assert isinstance(result, pl.DataFrame)
    assert result.columns == ["a", "u1", "n1"]


def test_same_seed_same_junk_in_every_container():
    X = np.eye(3)
    array = corrupt(X, 1, 1, random_state=5)
    frame = corrupt(pd.DataFrame(X, columns=list("abc")), 1, 1, random_state=5)
    np.testing.assert_array_equal(array, frame.to_numpy())


def test_vectors_are_refused():
    with pytest.raises(InvalidInputError, match="rows and columns"):
        corrupt(np.ones(3))


@pytest.mark.parametrize(
    ("y", "marker"),
    [
        (np.array([1.5, 2.5, 3.5, 4.5]), "nan"),
        (np.array([0, 1, 0, 1]), -1),
        (np.array([0, 1, 0, 1], dtype=np.uint8), -1),
        (["a", "b", "a", "b"], None),
        (np.array(["a", "b", "a", "b"]), None),
        (np.array([True, False, True, False]), None),
        (np.array(["a", "b", "a", "b"], dtype=object), None),
    ],
)
def test_markers_by_type(y, marker):
    before = list(y)
    result = hide_labels(y, n_labeled=1, random_state=0)
    hidden = find_unlabeled(result, classes=True)
    assert hidden.sum() == 3
    if marker == "nan":
        assert np.isnan(result[hidden]).all()
    else:
        assert all(value == marker for value in result[hidden])
    kept = int(np.flatnonzero(~hidden)[0])
    assert result[kept] == y[kept]
    assert list(y) == before


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("int64", [0, 1, 0, 1]),
        ("Int64", [0, 1, 0, 1]),
        ("float64", [0.5, 1, 0, 1]),
        ("str", ["a", "b", "a", "b"]),
        ("category", ["a", "b", "a", "b"]),
        ("boolean", [True, False, True, False]),
        ("bool", [True, False, True, False]),
    ],
)
def test_pandas_series_stay_series(dtype, values):
    y = pd.Series(values, dtype=dtype, index=[4, 3, 2, 1], name="target")
    result = hide_labels(y, n_labeled=2, random_state=0)
    assert isinstance(result, pd.Series)
    assert result.index.tolist() == [4, 3, 2, 1]
    assert result.name == "target"
    if dtype != "bool":
        assert result.dtype == y.dtype
    assert find_unlabeled(result, classes=True).sum() == 2


@pytest.mark.parametrize("values", [[0, 1, 0, 1], [0.5, 1.0, 0.0, 1.0], ["a", "b", "a", "b"]])
def test_polars_series_stay_series(values):
    result = hide_labels(pl.Series("target", values), n_labeled=2, random_state=0)
    assert isinstance(result, pl.Series)
    assert result.name == "target"
    assert find_unlabeled(result, classes=True).sum() == 2


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 4), st.integers(0, 1000))
def test_per_class_is_exact(per_class, seed):
    y = np.repeat([0, 1, 2], [4, 9, 30])
    result = hide_labels(y, per_class=per_class, random_state=seed)
    kept = result != -1
    np.testing.assert_array_equal(np.bincount(y[kept]), [per_class] * 3)
    np.testing.assert_array_equal(result[kept], y[kept])


def test_share_per_class_keeps_at_least_one():
    y = np.repeat(["a", "b"], [10, 100])
    kept = hide_labels(y, per_class=0.05, random_state=0)
    assert [sum(kept == "a"), sum(kept == "b")] == [1, 5]


def test_fraction():
    y = np.linspace(0, 1, 40)
    assert np.isfinite(hide_labels(y, fraction=0.25, random_state=0)).sum() == 10
    assert np.isfinite(hide_labels(y, fraction=0.001, random_state=0)).sum() == 1


def test_rows_already_hidden_stay_hidden():
    y = np.array([0, -1, 1, -1, 1, 0])
    result = hide_labels(y, per_class=1, random_state=0)
    assert result[1] == result[3] == -1
    assert (result != -1).sum() == 2


def test_draws_depend_on_the_seed_only():
    y = np.arange(100.0)
    first = hide_labels(y, n_labeled=10, random_state=1)
    np.testing.assert_array_equal(first, hide_labels(y, n_labeled=10, random_state=1))
    kept = [np.isfinite(hide_labels(y, n_labeled=10, random_state=s)) for s in range(300)]
    # Every row has the same chance: 30 of 300 expected, sd 5.2.
    assert np.abs(np.sum(kept, axis=0) - 30).max() < 25


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one"),
        ({"n_labeled": 1, "fraction": 0.5}, "exactly one"),
        ({"n_labeled": 0}, "Cannot keep 0 labels"),
        ({"n_labeled": 2.5}, "n_labeled must be a whole number, got 2.5"),
        ({"n_labeled": 9}, "Cannot keep 9 labels: there are 4"),
        ({"per_class": 3}, "Cannot keep 3 labels of class np.int64\\(0\\)"),
        ({"per_class": 1.5}, "whole or below one"),
        ({"fraction": 1.5}, "fraction must lie"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        hide_labels([0, 0, 1, 1], **arguments)


def test_minus_one_as_a_class_is_refused():
    with pytest.raises(InvalidInputError, match="recode the classes"):
        hide_labels([-1, 1, -1, 1], per_class=1)
