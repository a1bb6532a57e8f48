"""``s2mam fit``, and the model file that comes out."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import s2mam
from s2mam.cli import reading


@pytest.mark.parametrize(
    ("name", "separator", "mark", "options"),
    [("t.csv", ",", "", []), ("t.tsv", "\t", "?", ["--unlabeled", "?"])],
)
def test_fit_and_predict_classes(folder, run, classes, few, name, separator, mark, options):
    few.to_csv(name, index=False, sep=separator, na_rep=mark)
    result = run("fit", name, "--target", "y", "-o", "m.s2mam", *options)
    assert result.exit_code == 0, result.output
    counts = few["y"].value_counts()
    told = f"2 classes (no: {counts['no']}, yes: {counts['yes']}), so classification."
    assert f"y: 40 of 80 rows labelled, {told}" in result.stderr
    assert result.stdout.startswith("Columns that matter, with their probability:")
    assert "size" in result.stdout
    assert run("predict", "m.s2mam", name, "-o", "out.csv").exit_code == 0
    out = pd.read_csv("out.csv")
    assert list(out.columns) == ["prediction", "probability_no", "probability_yes"]
    assert np.mean(out["prediction"] == classes["y"]) > 0.85
    # The file holds what the model says itself.
    model = s2mam.load("m.s2mam")
    expected = model.predict_proba(few[["size", "colour", "junk"]])[:, 1]
    np.testing.assert_allclose(out["probability_yes"], expected, rtol=1e-12)


@pytest.mark.parametrize("mark", ["-1", ""])
def test_whole_numbers_stay_whole_as_classes(folder, run, mark):
    x = np.random.default_rng(2).normal(size=40)
    labels = np.where(np.arange(40) < 20, (x > 0).astype(int).astype(str), mark)
    pd.DataFrame({"x": x, "y": labels}).to_csv("t.csv", index=False)
    result = run("fit", "t.csv", "-t", "y", "-o", "m.s2mam")
    assert "20 of 40 rows labelled, 2 classes" in result.stderr, result.output
    assert s2mam.load("m.s2mam").classes_.tolist() == [0, 1]
    out = run("predict", "m.s2mam", "t.csv").stdout
    assert out.splitlines()[0] == "prediction,probability_0,probability_1"
    # With another mark of unlabelled rows, -1 is a class like the others.
    if mark:
        told = json.loads(run("fit", "t.csv", "-t", "y", "--unlabeled", "?", "--json").stdout)
        assert list(told["classes"]) == ["-1", "0", "1"]


def test_json_is_one_object_and_nothing_else(folder, run, few):
    few.to_csv("t.csv", index=False)
    result = run("fit", "t.csv", "-t", "y", "--json", "--n-select", 2, "--drop", "junk")
    assert result.stderr == ""
    told = json.loads(result.stdout)
    assert told["columns"] == ["size", "colour"]
    assert {one["name"] for one in told["selected"]} == {"size", "colour"}
    assert (told["task"], told["rows"], told["labeled"]) == ("classification", 80, 40)
    assert told["classes"] == few["y"].value_counts().to_dict()
    assert told["model"] == "model.s2mam"
    assert any("classification" in note for note in told["notes"])
    failed = run("fit", "t.csv", "-t", "z", "--json")
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)["error"].startswith("t.csv has no column 'z'")


def test_columns_patterns_and_categories(folder, run):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({f"x{j}": rng.normal(size=30) for j in range(3)})
    table["ward"] = rng.integers(0, 3, 30)
    table["id"] = np.arange(100, 130)
    table["y"] = table["x0"] + table["ward"]
    table.to_csv("t.csv", index=False)
    command = ("fit", "t.csv", "-t", "y", "--json")
    told = json.loads(run(*command, "--columns", "x*, ward", "--categorical", "ward").stdout)
    assert told["columns"] == ["x0", "x1", "x2", "ward"]
    model = s2mam.load("model.s2mam")
    assert model.categorical == ["ward"]
    told = json.loads(run(*command, "--drop", "x1,x2").stdout)
    assert told["columns"] == ["x0", "ward", "id"]
    assert told["warnings"] == [
        "column 'id' counts the rows; if it only numbers them, say --drop id."
    ]


def test_what_cannot_be_learned_from_is_left_out(folder, run, few):
    few = few.assign(name=[f"person {i}" for i in range(80)])
    few.to_csv("t.csv")  # with the row numbers of pandas, which have no name
    result = run("fit", "t.csv", "-t", "y", "--json")
    told = json.loads(result.stdout)
    assert told["columns"] == ["size", "colour", "junk"]
    assert any("row number" in note and "column 1" in note for note in told["notes"])
    assert any("different in every row: name" in note for note in told["notes"])
    kept = run("fit", "t.csv", "-t", "y", "--json", "--categorical", "name")
    assert "name" in json.loads(kept.stdout)["columns"]


def test_columns_that_are_not_likely_are_not_said_to_matter(folder, run, few, monkeypatch):
    few.to_csv("t.csv", index=False)
    real = s2mam.S2MAMClassifier.fit

    def unsure(self, X, y):
        real(self, X, y)
        self.mask_probabilities_ = self.mask_probabilities_ * 0.5
        return self

    monkeypatch.setattr(s2mam.S2MAMClassifier, "fit", unsure)
    assert run("fit", "t.csv", "-t", "y").stdout.startswith("No column is likely by itself")


def test_the_settings_reach_the_estimator(folder, run, few):
    few.to_csv("t.csv", index=False)
    result = run(
        "fit", "t.csv", "-t", "y", "--drop", "colour", "--paper", "--seed", 7, "--time-limit", 1
    )
    assert result.exit_code == 0, result.output
    model = s2mam.load("model.s2mam")
    assert model.literal is True
    assert model.random_state == 7
    assert model.time_limit == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["t.csv", "-t", "z"], "t.csv has no column 'z'; it has size, colour, junk, y."),
        (["t.csv", "-t", "Y"], "did you mean 'y'?"),
        (
            ["t.csv", "-t", "y", "--task", "regression"],
            "'y' holds 'no' (19 cells, first: row 1) where",
        ),
        (["t.csv", "-t", "y", "--drop", "sise"], "--drop names 'sise', but there is no such"),
        (["t.csv", "-t", "y", "--drop", "size,colour,junk"], "no column left to learn 'y' from"),
        (["t.csv", "-t", "y", "--n-select", 9], "--n-select 9 is more than the 3 columns"),
        (["blank.csv", "-t", "y"], "No cell of 'y' is filled"),
        (["no_rows.csv", "-t", "y"], "no_rows.csv has no rows."),
        (["nothing.csv", "-t", "y"], "nothing.csv is empty."),
        (["headless.csv", "-t", "y"], "The first line of a table must hold the column names."),
        (["twice.csv", "-t", "y"], "two columns named 'y'"),
        (["t.csv", "-t", "y", "-o", "nowhere/m.s2mam"], "There is no folder 'nowhere'"),
        (["t.csv", "-t", "y", "-o", "t.csv"], "t.csv is read from"),
        (["t.csv", "-t", "y", "-o", "."], "is a folder"),
        (["t.csv", "-t", "y", "-o", "/dev/null"], "not a plain file"),
        (["t.csv", "-t", "y", "-o", "-"], "Only predictions go to standard output"),
    ],
)
def test_errors_are_one_line_and_exit_code_1(folder, run, few, arguments, message):
    few.to_csv("t.csv", index=False)
    (folder / "blank.csv").write_text("x,y\n1,\n2,\n")
    (folder / "no_rows.csv").write_text("x,y\n")
    (folder / "nothing.csv").write_text("\n\n")
    (folder / "headless.csv").write_text("1,2\n3,4\n")
    (folder / "twice.csv").write_text("x,y,y\n1,2,3\n")
    before = (folder / "t.csv").read_bytes()
    result = run("fit", *arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in result.stderr
    line = result.stderr.strip().splitlines()[-1]
    assert line.startswith("s2mam: error: ")
    assert "Traceback" not in result.stderr
    assert (folder / "t.csv").read_bytes() == before
    assert not (folder / "model.s2mam").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["nofile.csv", "-t", "y"],
        [".", "-t", "y"],
        ["t.csv"],
        ["t.csv", "-t", "y", "--task", "sort"],
        ["t.csv", "-t", "y", "--n-select", "0"],
    ],
)
def test_wrong_usage_is_one_line_with_exit_code_2(folder, run, few, arguments):
    few.to_csv("t.csv", index=False)
    result = run("fit", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("s2mam: error: ")
    assert line.endswith(" See s2mam fit -h.")
    assert json.loads(run("fit", *arguments, "--json").stdout).keys() == {"error"}


def test_a_fit_that_is_not_finite_writes_nothing(folder, run, few, monkeypatch):
    few.to_csv("t.csv", index=False)

    def broken(self, X, y):
        self.mask_probabilities_ = np.full(3, np.nan)

    monkeypatch.setattr(s2mam.S2MAMClassifier, "fit", broken)
    result = run("fit", "t.csv", "-t", "y")
    assert result.exit_code == 1
    assert "not finite" in result.stderr
    assert not (folder / "model.s2mam").exists()


def test_without_pandas_the_error_is_one_line(folder, run, few, monkeypatch):
    few.to_csv("t.csv", index=False)
    monkeypatch.setattr(reading, "find_spec", lambda name: None)
    result = run("fit", "t.csv", "-t", "y")
    assert result.stderr == (
        "s2mam: error: Tables need pandas; install it with: pip install pandas.\n"
    )
