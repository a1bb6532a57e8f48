"""Exported tables predict what the model predicts."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from s2mam import ManifoldAdditiveRegressor
from s2mam.exceptions import InvalidInputError
from s2mam.inspection import component_table, export_lookup, predict_from_lookup


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_exact_at_the_rows_for_classes_categories_and_missing_values(patients, tmp_path, ending):
    path = tmp_path / f"model.{ending}"
    table = export_lookup(patients.model, patients.X, path)
    decision = patients.model.decision_function(patients.X)
    assert table.outputs == ["class high", "class low", "class mid"]
    assert table.link == "softmax"
    for source in (path, str(path), table, table.to_dict()):
        np.testing.assert_allclose(
            predict_from_lookup(source, patients.X), decision, rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("grid", [20, 60])
def test_between_the_nodes_within_the_stated_error(numbers, grid):
    table = component_table(numbers.model, numbers.X, grid=grid)
    low, high = numbers.X.min(axis=0), numbers.X.max(axis=0)
    reach = 0.2 * (high - low)
    rng = np.random.default_rng(0)
    new = rng.uniform(low - reach, high + reach, (300, numbers.X.shape[1]))
    error = np.abs(predict_from_lookup(table, new) - numbers.model.predict(new)).max()
    # Half way between two nodes is not always the worst place.
    assert 0.0 < error <= 2.0 * table.interpolation_error
    finer = component_table(numbers.model, numbers.X, grid=4 * grid)
    assert finer.interpolation_error < table.interpolation_error


def test_nodes_of_the_table_are_exact_and_outside_is_held(moons):
    table = component_table(moons.model, moons.X, grid=30, margin=0.1)
    nodes = [row for row in table.rows if row["position"] == 0 and row["kind"] == "number"]
    rows = np.tile(moons.X[0], (len(nodes), 1))
    rows[:, 0] = [row["value"] for row in nodes]
    truth = moons.model.contributions(rows)[:, 0]
    np.testing.assert_allclose([row["contribution"] for row in nodes], truth, atol=1e-12)
    far = moons.X[:2].copy()
    far[:, 0] = nodes[-1]["value"], 1e6
    held = predict_from_lookup(table, far[[0, 0]])[0]
    far[1, 1:] = far[0, 1:]
    np.testing.assert_allclose(predict_from_lookup(table, far), held)
    assert table.link == "logistic"


def test_unknown_categories_count_as_missing(patients):
    table = component_table(patients.model, patients.X)
    rows = patients.X.iloc[:2].copy()
    rows["site"] = ["nowhere", None]
    np.testing.assert_allclose(
        predict_from_lookup(table, rows), patients.model.decision_function(rows), atol=1e-12
    )


def test_numbers_and_bools_as_categories_keep_their_type(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "code": rng.integers(0, 4, 60),
            "flag": rng.random(60) < 0.5,
            "text": rng.choice(["1", "x"], 60),
        }
    )
    y = np.array([0.0, 5.0, -5.0, 1.0])[X["code"]] + 2.0 * X["flag"] + (X["text"] == "1")
    model = ManifoldAdditiveRegressor(categorical=["code"], sparsity=1e-3, manifold=0.0).fit(X, y)
    for ending in ("csv", "json"):
        path = tmp_path / f"model.{ending}"
        table = export_lookup(model, X, path)
        np.testing.assert_allclose(predict_from_lookup(path, X), model.predict(X), atol=1e-12)
    assert table.interpolation_error == 0.0
    lines = (tmp_path / "model.csv").read_text().splitlines()
    assert any(line.startswith('2,text,category,"""1""",') for line in lines)
    columns = {name: X[name].to_list() for name in X}
    np.testing.assert_allclose(predict_from_lookup(table, columns), model.predict(X), atol=1e-12)


def test_columns_by_position_without_names_and_silent_columns_left_out(numbers):
    X = np.column_stack([numbers.X, np.full(len(numbers.X), 3.0)])
    model = ManifoldAdditiveRegressor(sparsity=0.05, manifold=0.0).fit(X, numbers.y)
    table = component_table(model, X, feature_names=list("abcdefgh"))
    listed = {row["column"] for row in table.rows} - {""}
    assert listed == {"abcdefgh"[j] for j in np.flatnonzero(model.support_)}
    assert table.columns == list("abcdefgh")
    np.testing.assert_allclose(predict_from_lookup(table, X), model.predict(X), atol=1e-12)


def test_a_model_of_the_intercept_alone():
    X = np.arange(10.0)[:, None]
    model = ManifoldAdditiveRegressor().fit(X, np.full(10, 4.0))
    table = component_table(model, X)
    assert len(table.rows) == 1
    np.testing.assert_allclose(predict_from_lookup(table, X), 4.0)
    np.testing.assert_allclose(predict_from_lookup(table, pd.DataFrame({"z": X[:, 0]})), 4.0)


def test_json_states_the_rule_and_the_error(patients, tmp_path):
    table = export_lookup(patients.model, patients.X, tmp_path / "model.json", grid=50)
    read = json.loads((tmp_path / "model.json").read_text())
    assert read["classes"] == ["high", "low", "mid"]
    assert read["interpolation_error"] == table.interpolation_error
    assert "interpolated linearly" in read["rule"]
    frame = table.to_frame()
    assert frame["kind"].unique().tolist() == ["intercept", "number", "missing", "category"]


def test_bad_input_is_named(patients, numbers, tmp_path):
    with pytest.raises(InvalidInputError, match=r"must end in \.csv or \.json"):
        export_lookup(patients.model, patients.X, tmp_path / "model.xlsx")
    with pytest.raises(InvalidInputError, match="grid=2 must be at least 4"):
        component_table(patients.model, patients.X, grid=2)
    with pytest.raises(InvalidInputError, match=r"margin=-1.* must not be negative"):
        component_table(patients.model, patients.X, margin=-1.0)
    table = component_table(patients.model, patients.X)
    with pytest.raises(InvalidInputError, match="X has no column 'age'"):
        predict_from_lookup(table, patients.X.drop(columns="age"))
    with pytest.raises(InvalidInputError, match="needs column"):
        predict_from_lookup(component_table(numbers.model, numbers.X), numbers.X[:, :2])
    (tmp_path / "other.csv").write_text("a,value\n1,\n")
    with pytest.raises(InvalidInputError, match="not a table of export_lookup"):
        predict_from_lookup(tmp_path / "other.csv", patients.X)
