"""Missing values, with and without pandas loaded."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from s2mam.intake.missing import missing_mask


@pytest.mark.parametrize("loaded", [True, False])
def test_objects(monkeypatch, loaded):
    values = np.array([["a", None], [float("nan"), 0], [np.float64("nan"), False]], dtype=object)
    if not loaded:
        monkeypatch.delitem(sys.modules, "pandas")
    expected = [[False, True], [True, False], [True, False]]
    np.testing.assert_array_equal(missing_mask(values), expected)


def test_markers_of_pandas():
    values = np.array([pd.NA, pd.NaT, "NA", ""], dtype=object)
    assert missing_mask(values).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([1.0, np.nan, np.inf]), [False, True, False]),
        (np.array([1, 0]), [False, False]),
        (np.array(["nan", ""]), [False, False]),
        (np.array(["NaT", "2020"], dtype="datetime64[Y]"), [True, False]),
    ],
)
def test_other_types(values, expected):
    assert missing_mask(values).tolist() == expected
