"""A table as an office exports it: every stumble of a first user has a test here."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import s2mam
from s2mam.cli.console import Console
from s2mam.cli.numbers import number_cells
from s2mam.cli.reading import read_table
from s2mam.cli.spelled import decimal_sign, read_spelled
from s2mam.cli.target import Task, read_target

N = 60
EURO = [f"€ {1 + i}.{100 + i},50" for i in range(N)]


@pytest.fixture
def office(folder):
    """Semicolons, a byte order mark, decimal commas, units, dates, names, a copy of the target."""
    rng = np.random.default_rng(0)
    size = rng.normal(27.0, 4.0, N)
    ill = np.where(size > 27.0, "ill", "well")
    known = np.arange(N) % 2 == 0
    gaps = ["k.A.", "?", "-", "unbekannt", "NA", ""]
    columns = {
        "Patient": [f"P-{1000 + 7 * i}" for i in range(N)],
        "Datum": [f"{1 + i % 28:02d}.{1 + i % 12:02d}.2023" for i in range(N)],
        "BMI": [
            gaps[i // 10] if i % 10 == 9 else f"{v:.1f}".replace(".", ",")
            for i, v in enumerate(size)
        ],
        "Feuchte": [f"{30 + i % 40},5 %" for i in range(N)],
        "Kosten": EURO,
        "Ort": [gaps[i % 3] if i % 12 == 0 else ["Köln", "Ulm"][i % 2] for i in range(N)],
        "Notiz": ["" if i % 20 == 0 else f"Besuch {i - (i == 7)}" for i in range(N)],
        "Wert": [str(i % 7) for i in range(N)],
        "wert": [f"0,{i:03d}" for i in range(N)],
        "Befund": [label if on else "" for label, on in zip(ill, known, strict=True)],
        "Code": [
            str(int(label == "ill")) if on else "" for label, on in zip(ill, known, strict=True)
        ],
    }
    names = [name.capitalize() if name == "wert" else name for name in columns]
    text = io.StringIO()
    lines = csv.writer(text, delimiter=";", lineterminator="\r\n")
    lines.writerow(names)
    lines.writerows(zip(*columns.values(), strict=True))
    path = folder / "office.csv"
    path.write_bytes(text.getvalue().encode("utf-8-sig"))
    return path


def test_the_table_is_read_as_meant(office):
    frame = read_table(office, Console(quiet=True), target="Befund")
    assert "Patient" in frame.columns  # no byte order mark in the name
    assert {"Wert", "Wert.1"} <= set(frame.columns)
    assert frame["Feuchte"].tolist()[:2] == [30.5, 31.5]
    assert frame["Kosten"].tolist()[:2] == [1100.5, 2101.5]
    assert frame["BMI"].dtype.kind == "f"
    assert frame["BMI"].isna().sum() == 6
    assert frame["Ort"].dropna().unique().tolist() == ["Ulm", "Köln"]


def test_fit_says_what_it_did_and_warns_of_the_copy(office, run):
    result = run("fit", office, "-t", "Befund", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["columns"] == ["BMI", "Feuchte", "Kosten", "Ort", "Wert", "Wert.1", "Code"]
    notes = " ".join(told["notes"])
    assert "dates, which need to be numbers: Datum" in notes
    assert "text that is different in every row: Patient" in notes
    assert "text that is different in nearly every row: Notiz" in notes
    assert "Kosten ('€ 1.100,50' is 1100.5)" in notes
    assert "Read '-', '?', 'k.A.', 'unbekannt' as missing in BMI, Ort." in notes
    assert told["warnings"] == [
        "column 'Code' says the same as the target in all 30 labelled rows; if it is made from it, "
        "say --drop Code."
    ]


def test_the_way_out_works_and_predictions_read_the_same_spellings(office, run, folder):
    assert run("fit", office, "-t", "Befund", "--drop", "Code", "-q").exit_code == 0
    model = s2mam.load("model.s2mam")
    frame = read_table(office, Console(quiet=True), target="Befund")
    expected = model.predict_proba(frame[list(model.feature_names_in_)])
    result = run("predict", "model.s2mam", office)
    made = pd.read_csv(io.StringIO(result.stdout))
    np.testing.assert_allclose(made[["probability_ill", "probability_well"]], expected)
    # One row alone, where no other cell tells the decimal sign.
    head, first = office.read_bytes().decode("utf-8-sig").splitlines()[:2]
    (folder / "one.csv").write_text(f"{head}\n{first}\n", encoding="utf-8")
    one = pd.read_csv(io.StringIO(run("predict", "model.s2mam", "one.csv").stdout))
    np.testing.assert_allclose(one["probability_ill"], expected[:1, 0])


def test_numbers_with_units_can_be_the_target(office, run):
    told = json.loads(run("fit", office, "-t", "Kosten", "--json", "--columns", "BMI").stdout)
    assert told["task"] == "regression"
    assert "Kosten: read '€ 1.100,50' as 1100.5." in told["notes"]


def test_columns_filled_only_where_the_target_is_known(folder, run):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=40), "later": rng.normal(size=40)})
    table["y"] = table["x"] + rng.normal(size=40)
    table.loc[20:, ["later", "y"]] = np.nan
    table.assign(twice=2 * table["y"] + 1).to_csv("t.csv", index=False)
    warned = json.loads(run("fit", "t.csv", "-t", "y", "--json").stdout)["warnings"]
    assert any("column 'twice' says the same as the target" in text for text in warned)
    assert any("column 'later' says something where the target is known" in w for w in warned)


def test_row_numbers_with_steps_and_numbers_called_id(folder, run, few):
    rng = np.random.default_rng(2)
    few["step"] = 100 - 5 * np.arange(80)
    few["customer id"] = rng.permutation(1000)[:80]
    few["holiday"] = rng.permutation(1000)[:80]  # no id, though it ends like a word with one
    few.to_csv("t.csv", index=False)
    warned = json.loads(run("fit", "t.csv", "-t", "y", "--json").stdout)["warnings"]
    assert warned == [
        "column 'step' counts the rows; if it only numbers them, say --drop step.",
        "column 'customer id' is a different whole number in every row; if it only numbers them, "
        "say --drop 'customer id'.",
    ]


def test_the_target_is_in_the_model_file_and_need_not_be_named_again(office, run):
    assert run("fit", office, "-t", "Befund", "--drop", "Code", "-q").exit_code == 0
    assert json.loads(run("info", "model.s2mam", "--json").stdout)["target"] == "Befund"
    assert "target: Befund" in run("info", "model.s2mam").stdout
    result = run("report", "model.s2mam", office, "--resamples", 0, "--folds", 0)
    assert result.exit_code == 0, result.output
    assert "Befund" in (office.parent / "report.html").read_text(encoding="utf-8")
    model = s2mam.load("model.s2mam")
    del model.target_name_
    model.save("nameless.s2mam")
    result = run("report", "nameless.s2mam", office)
    assert result.exit_code == 1
    assert "give it with --target" in result.stderr


def test_a_weak_selection_says_that_other_columns_are_used(folder, run):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 12))
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    table["y"] = X.sum(axis=1) + 3.0 * rng.normal(size=120)
    table.loc[30:, "y"] = np.nan
    table.to_csv("t.csv", index=False)
    told = json.loads(run("fit", "t.csv", "-t", "y", "--json").stdout)
    assert 0.0 < told["effect_share"] < 0.9
    text = run("fit", "t.csv", "-t", "y").stdout
    assert f"{100 * told['effect_share']:.0f} % of the effects; the rest comes lightly" in text


def test_a_likely_column_that_does_next_to_nothing_is_not_said_to_matter(folder, run, monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    table.assign(y=table["a"]).to_csv("t.csv", index=False)
    monkeypatch.setattr("s2mam.cli.fit._share_of_selected", lambda model, X: 0.001)
    text = run("fit", "t.csv", "-t", "y").stdout
    assert text.startswith("Likely columns, though the model rests on others")
    assert "less than 1 % of the effects" in text


@pytest.mark.parametrize(
    ("cells", "comma", "numbers"),
    [
        (["1,5", "-2,25"], False, [1.5, -2.25]),
        (["1,234", "5,678"], False, [1234.0, 5678.0]),
        (["1,234", "5,678"], True, [1.234, 5.678]),
        (["1,234", "0,5"], False, [1.234, 0.5]),
        (["1,234.5", "7"], True, [1234.5, 7.0]),
        (["1 234,5", "12 345"], False, [1234.5, 12345.0]),
        (["1'234.50", "3"], False, [1234.5, 3.0]),
        (["$1,200", "$ 950.5", "-$3"], False, [1200.0, 950.5, -3.0]),
        (["12 EUR", "3,5 EUR"], False, [12.0, 3.5]),
        (["1\u202f234", "−5"], False, [1234.0, -5.0]),
        (["5%", "7.5 %"], False, [5.0, 7.5]),
        (["1e3", "2,5"], False, [1000.0, 2.5]),
        (["27.07.2023"], False, None),
        (["5 %", "0.05"], False, None),
        (["1,5", "2.5"], False, None),
        (["12 34"], False, None),
        (["1,5 kg"], False, None),
        ([], False, None),
    ],
)
def test_spellings(cells, comma, numbers):
    read = read_spelled(cells, comma=comma)
    assert (None if read is None else read.numbers) == numbers


def test_a_sign_that_one_column_tells_holds_for_the_others(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n1,5;1.234;k.A.\n2,5;5.678;1,234\n3;9.000;2,345\n", encoding="utf-8")
    frame = read_table(path, Console(quiet=True))
    assert frame["b"].tolist() == [1234.0, 5678.0, 9000.0]
    assert frame["c"].tolist()[1:] == [1.234, 2.345]
    assert decimal_sign(["x", "1,5"]) is None


def test_plus_and_minus_are_categories():
    series = pd.Series(["+", "-", "-", "+", "?"])
    assert number_cells(series).numbers.isna().all()
    frame = pd.DataFrame({"rhesus": series, "other": ["a", "-", "b", "a", "c"]})
    from s2mam.cli.numbers import read_numbers

    read = read_numbers(frame, Console(quiet=True))
    assert read["rhesus"].tolist()[:4] == ["+", "-", "-", "+"]
    assert read["rhesus"].isna().tolist() == [False, False, False, False, True]
    assert read["other"].isna().tolist() == [False, True, False, False, False]


def test_percentages_as_classes_stay_text():
    labels = read_target(
        pd.Series(["5 %", "10 %", "5 %"], name="y"), Task.classification, None, Console(quiet=True)
    )
    assert labels.counts == {"10 %": 1, "5 %": 2}
