"""The command line, run as a user does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import s2mam
from s2mam.cli import app

runner = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_classes(path: Path, *, mark: str = "", separator: str = ",") -> pd.DataFrame:
    """80 rows, text classes, 40 of them known; `size` and `colour` decide, `junk` does not."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue"], 80)
    table = pd.DataFrame(
        {"size": rng.normal(size=80), "colour": colour, "junk": rng.normal(size=80)}
    )
    score = 2 * table["size"] + np.where(colour == "red", 1.5, -1.5)
    truth = np.where(score > 0, "yes", "no")
    table["y"] = np.where(np.arange(80) % 2 == 0, truth, mark)
    table.to_csv(path, index=False, sep=separator)
    table["truth"] = truth
    return table


def test_version_and_help_with_examples():
    assert runner.invoke(app, ["--version"]).output.strip() == f"s2mam {s2mam.__version__}"
    for command in ([], ["demo"], ["fit"], ["predict"]):
        result = runner.invoke(app, [*command, "--help"])
        assert result.exit_code == 0
        assert "Examples:" in result.output


def test_demo_prints_the_table_and_writes_the_picture(folder: Path):
    result = runner.invoke(app, ["demo", "--paper-iterations", "2", "--output", "demo.png"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    found = {
        name: re.search(rf"^{re.escape(name)} +([\d.]+) % +([\d.]+) %", result.output, re.M)
        for name in ("S2MAM (default)", "oracle: told the real columns", "majority class")
    }
    assert all(found.values()), result.output
    ours, majority = found["S2MAM (default)"], found["majority class"]
    assert ours is not None
    assert majority is not None
    assert float(ours[2]) > float(majority[2]) + 30
    assert any(line.startswith("Wrote demo.png") for line in lines)
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "\x1b" not in result.output  # no colour codes in a pipe


def test_demo_refuses_a_missing_folder_before_it_works(folder: Path):
    result = runner.invoke(app, ["demo", "--output", "nowhere/demo.png"])
    assert result.exit_code == 1
    assert result.output.strip().splitlines() == [
        "s2mam: error: There is no folder 'nowhere' to write into."
    ]


@pytest.mark.parametrize(
    ("name", "separator", "mark", "options"),
    [("t.csv", ",", "", []), ("t.tsv", "\t", "?", ["--unlabeled", "?"])],
)
def test_fit_and_predict_classes(folder: Path, name, separator, mark, options):
    table = write_classes(folder / name, mark=mark, separator=separator)
    result = runner.invoke(app, ["fit", name, "--target", "y", "-o", "m.s2mam", *options])
    assert result.exit_code == 0, result.output
    assert "y: 40 of 80 cells filled, 2 classes, so classification." in result.output
    assert "size" in result.output
    assert runner.invoke(app, ["predict", "m.s2mam", name, "-o", "out.csv"]).exit_code == 0
    out = pd.read_csv(folder / "out.csv")
    assert list(out.columns) == ["prediction", "probability_no", "probability_yes"]
    assert len(out) == 80
    assert np.mean(out["prediction"] == table["truth"]) > 0.85
    # The file holds what the model says itself.
    X = pd.read_csv(folder / name, sep=separator)[["size", "colour", "junk"]]
    model = s2mam.load(folder / "m.s2mam")
    np.testing.assert_allclose(out["probability_yes"], model.predict_proba(X)[:, 1], rtol=1e-12)


def test_fit_and_predict_numbers_to_standard_output(folder: Path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    table["price"] = 3 * table["a"] + 0.1 * rng.normal(size=60)
    truth = table["price"].copy()
    table.loc[30:, "price"] = np.nan
    table.to_csv("t.csv", index=False)
    result = runner.invoke(app, ["fit", "t.csv", "--target", "price"])
    assert "numbers, so regression" in result.output
    result = runner.invoke(app, ["predict", "model.s2mam", "t.csv"])
    assert result.exit_code == 0
    header, *lines = result.output.splitlines()
    assert header == "prediction"
    assert np.corrcoef([float(line) for line in lines], truth)[0, 1] > 0.95


def test_whole_numbers_stay_whole_as_classes(folder: Path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=40)
    labels = np.where(np.arange(40) < 20, (x > 0).astype(int), -1)
    pd.DataFrame({"x": x, "y": labels}).to_csv("t.csv", index=False)
    result = runner.invoke(app, ["fit", "t.csv", "-t", "y", "-o", "m.s2mam"])
    assert "2 classes" in result.output, result.output
    assert s2mam.load("m.s2mam").classes_.tolist() == [0, 1]
    out = runner.invoke(app, ["predict", "m.s2mam", "t.csv"]).output
    assert out.splitlines()[0] == "prediction,probability_0,probability_1"
    # With another mark of unlabelled rows, -1 is a class like the others.
    result = runner.invoke(app, ["fit", "t.csv", "-t", "y", "-o", "m.s2mam", "--unlabeled", "?"])
    assert "3 classes" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "t.csv", "-t", "z"], "t.csv has no column 'z'; it has size, colour, junk, y."),
        (["fit", "t.csv", "-t", "y", "--task", "sort"], "--task sort is unknown"),
        (["fit", "t.csv", "-t", "empty"], "has no column 'empty'"),
        (["fit", "blank.csv", "-t", "y"], "No cell of 'y' is filled"),
        (["fit", "no_rows.csv", "-t", "y"], "no_rows.csv has no rows."),
        (["fit", "nothing.csv", "-t", "y"], "Cannot read nothing.csv as a table"),
        (["predict", "t.csv", "t.csv"], "t.csv"),
        (["fit", "t.csv", "-t", "y", "-o", "nowhere/m.s2mam"], "nowhere"),
    ],
)
def test_errors_are_one_line_and_exit_status_1(folder: Path, arguments, message):
    write_classes(folder / "t.csv")
    (folder / "blank.csv").write_text("x,y\n1,\n2,\n")
    (folder / "no_rows.csv").write_text("x,y\n")
    (folder / "nothing.csv").write_text("")
    result = runner.invoke(app, arguments)
    assert result.exit_code == 1
    assert message in result.output
    assert result.output.startswith("s2mam: error: ")
    assert len(result.output.strip().splitlines()) == 1


def test_predict_names_absent_columns(folder: Path):
    write_classes(folder / "t.csv")
    runner.invoke(app, ["fit", "t.csv", "-t", "y", "-o", "m.s2mam"])
    (folder / "new.csv").write_text("size,colour\n1.0,red\n")
    result = runner.invoke(app, ["predict", "m.s2mam", "new.csv"])
    assert result.exit_code == 1
    assert "new.csv lacks 1 columns of the model: junk." in result.output


def test_the_package_imports_without_the_modules_of_the_extras_and_the_command_line():
    # scikit-learn imports pandas and rich where it finds them, so they are taken away here.
    code = (
        "import sys\n"
        "for name in ('typer', 'rich', 'matplotlib', 'pandas'): sys.modules[name] = None\n"
        "import s2mam, s2mam.inspection\n"
        "print(s2mam.S2MAMRegressor(max_iter=2, random_state=0)"
        ".fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]).n_labeled_)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "4", done.stderr


def test_the_package_leaves_typer_and_matplotlib_alone():
    code = "import sys, s2mam, s2mam.inspection; print({'typer', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
