"""``s2mam predict`` and ``s2mam report``."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import s2mam
from s2mam.cli import report as report_module


def test_predictions_to_standard_output_in_order(run, model):
    table = model.parent / "all.csv"
    result = run("predict", model, table)
    assert result.exit_code == 0
    header, *lines = result.stdout.splitlines()
    assert header == "prediction"
    truth = pd.read_csv(table)["price"]
    assert np.corrcoef([float(line) for line in lines], truth)[0, 1] > 0.95


def test_kept_columns_and_the_score(folder, run, model):
    truth = pd.read_csv(model.parent / "all.csv")
    result = run(
        *("predict", model, model.parent / "all.csv", "--keep", "kind,price"),
        *("--target", "price", "-o", "p.tsv", "--json"),
    )
    told = json.loads(result.stdout)
    out = pd.read_csv("p.tsv", sep="\t", dtype={"kind": str})
    assert list(out.columns) == ["kind", "price", "prediction"]
    assert out["kind"].tolist() == truth["kind"].astype(str).tolist()
    error = np.sum((truth["price"] - out["prediction"]) ** 2)
    spread = np.sum((truth["price"] - truth["price"].mean()) ** 2)
    assert told["score"]["value"] == pytest.approx(1 - error / spread)
    assert told["score"]["rows"] == told["rows"] == 60


def test_the_accuracy_stands_beside_the_largest_class(folder, run, classes, few):
    few.to_csv("t.csv", index=False)
    classes.to_csv("all.csv", index=False)
    run("fit", "t.csv", "-t", "y", "-q")
    result = run("predict", "model.s2mam", "all.csv", "-t", "y", "--json")
    told = json.loads(result.stdout)
    made = pd.Series(told["columns"]["prediction"])
    assert told["score"]["value"] == pytest.approx(np.mean(made == classes["y"]))
    assert told["score"]["constant"] == pytest.approx(classes["y"].value_counts().max() / 80)


def test_categories_that_look_like_numbers_keep_their_meaning(folder, run, model):
    # In the table of the fit `kind` is text ("1", "2", "x"); here pandas alone would see numbers.
    (folder / "new.csv").write_text("a,b,kind\n0,0,1\n0,0,2\n")
    first, second = map(float, run("predict", model, "new.csv").stdout.splitlines()[1:])
    expected = s2mam.load(model).predict(
        pd.DataFrame({"a": [0.0, 0.0], "b": [0.0, 0.0], "kind": ["1", "2"]})
    )
    np.testing.assert_allclose([first, second], expected)
    assert first - second > 1.0


def test_odd_cells_of_numbers_are_missing(folder, run, model):
    (folder / "new.csv").write_text("a,b,kind\n?,0,1\n")
    (folder / "same.csv").write_text("a,b,kind\n,0,1\n")
    assert run("predict", model, "new.csv").stdout == run("predict", model, "same.csv").stdout


def test_models_without_names_take_tables_of_the_same_width(folder, run):
    X = np.random.default_rng(0).normal(size=(20, 2))
    s2mam.ManifoldAdditiveRegressor().fit(X, X[:, 0]).save("m.s2mam")
    (folder / "new.csv").write_text("a,b\n0,1\n")
    (folder / "wide.csv").write_text("a,b,c\n0,1,2\n")
    assert run("predict", "m.s2mam", "new.csv").exit_code == 0
    assert "without names, and wide.csv has 3" in run("predict", "m.s2mam", "wide.csv").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{m}", "new.csv"], "new.csv lacks 1 column of the model: kind; did you mean 'kinds'?"),
        (["new.csv", "{m}"], "The model comes first"),
        (["new.csv", "new.csv"], "new.csv is not a model file; s2mam fit writes them."),
        (["{m}", "{t}", "-o", "p.xlsx"], "give p.xlsx the ending .csv or .tsv"),
        (["{m}", "{t}", "-o", "no/p.csv"], "There is no folder 'no'"),
        (["{m}", "{t}", "-o", "{t}"], "is read from"),
        (["{m}", "{t}", "--keep", "ids"], "--keep names 'ids'"),
        (["{m}", "{t}", "--target", "prise"], "did you mean 'price'?"),
    ],
)
def test_errors(folder, run, model, arguments, message):
    (folder / "new.csv").write_text("a,b,kinds\n1,2,x\n")
    places = {"m": model, "t": model.parent / "t.csv"}
    result = run("predict", *(one.format(**places) for one in arguments))
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_failed_write_leaves_the_old_file(folder, run, model, monkeypatch):
    (folder / "p.csv").write_text("old")

    def full(self, path, **options):
        Path(path).write_text("half of")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    result = run("predict", model, model.parent / "t.csv", "-o", "p.csv")
    assert result.exit_code == 1
    assert "No space left" in result.stderr
    assert (folder / "p.csv").read_text() == "old"
    assert [path.name for path in folder.iterdir()] == ["p.csv"]


def test_report(folder, run, model):
    table = model.parent / "t.csv"
    command = ("report", model, table, "-t", "price", "--resamples", 0, "--folds", 0)
    result = run(*command, "-o", "r.html", "--test", model.parent / "all.csv", "--title", "Prices")
    assert result.exit_code == 0, result.output
    assert "Wrote r.html." in result.stdout
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Prices" in page
    assert run(*command, "-o", "no/r.html").exit_code == 1
    assert run(*command, "--test", "nofile.csv").exit_code == 2


def test_without_plotly_nothing_is_fitted(folder, run, few, model, monkeypatch):
    few.to_csv("t.csv", index=False)
    monkeypatch.setattr(report_module, "find_spec", lambda name: None)
    for command in (
        ("fit", "t.csv", "-t", "y", "--report", "r.html"),
        ("report", model, model.parent / "t.csv", "-t", "price"),
    ):
        result = run(*command)
        assert result.exit_code == 1
        assert "Reports need plotly; install it with: pip install plotly." in result.stderr
    assert [path.name for path in folder.iterdir()] == ["t.csv"]


def test_a_model_of_a_script_may_have_spaces_around_its_names(folder, run):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({" a": rng.normal(size=40), "b ": rng.choice(["1", "2"], 40)})
    model = s2mam.S2MAMRegressor(random_state=0).fit(X, X[" a"] + (X["b "] == "1"))
    model.save(folder / "m.s2mam")
    X.to_csv("t.csv", index=False)
    result = run("predict", "m.s2mam", "t.csv")
    assert result.exit_code == 0, result.stderr
    made = pd.read_csv(io.StringIO(result.stdout))["prediction"]
    np.testing.assert_allclose(made, model.predict(X))


def test_names_cannot_break_lines_or_colour_the_terminal(folder, run, few):
    few.rename(columns={"size": "si\nze\x1b[31m" + "e" * 500}).to_csv("t.csv", index=False)
    fitted = run("fit", "t.csv", "-t", "y", "-o", "m.s2mam")
    told = run("info", "m.s2mam")
    for text in (fitted.output, told.output):
        assert "\x1b" not in text
        assert "si ze\\x1b[31mee" in text
        assert max(map(len, text.splitlines())) < 200
