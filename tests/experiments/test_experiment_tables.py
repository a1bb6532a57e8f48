from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from experiment_systems import friedman, moons

from s2mam.exceptions import InvalidInputError
from s2mam.experiments import Protocol
from s2mam.experiments.claims import Claim, read_claims
from s2mam.experiments.progress import watch
from s2mam.experiments.summary import summarize
from s2mam.experiments.tables import csv_text, line_rows, study_text

SETTING = replace(moons("code_pu0_pn0"), claim="pu0_pn0")
STUDY = Protocol("table2", "Title", (SETTING,), ("null", "S2MAM (PAPER)"), 2, claims="table2")


def record(system, repeat, test, **more):
    cell = {"setting": SETTING.name, "system": system, "repeat": repeat, "mark": "m"}
    scores = {} if test is None else {"test": test, "unlabeled": test + 1}
    return {"cell": cell, "scores": scores, "seconds": 2.0, "version": "1", **more}


RECORDS = [
    record("null", 0, 50.0),
    record("null", 1, 60.0),
    record("S2MAM (PAPER)", 0, 80.0),
    record("S2MAM (PAPER)", 1, None, error="ValueError: no"),
]


@pytest.mark.parametrize(
    ("name", "key", "claim"),
    [
        ("table2", ("pu10_pn10", "LapSVM", "unlabeled"), Claim(55.137, 8.414, None)),
        ("adni", ("ADAS_r50_pn10", "SSDKL", "test"), Claim(0.730, 0.481, None)),
        ("images", ("CelebA-HQ", "FlexMatch", "test"), Claim(91.85, 0.445, 35.2)),
        ("agedb", ("AgeDB", "SemiReward", "test"), Claim(16.215, 0.65, 22.1)),
    ],
)
def test_claims_are_those_of_the_paper(name, key, claim):
    assert read_claims(name)[key] == claim


def test_supervised_systems_have_no_claim_for_unlabelled_rows():
    assert ("pu0_pn0", "l1-SVM", "unlabeled") not in read_claims("table2")
    assert len(read_claims("table2")) == 88
    with pytest.raises(InvalidInputError, match="no claims called 'table9'"):
        read_claims("table9")


def test_lines_hold_our_moments_and_the_claim():
    lines = {line.system: line for line in summarize(STUDY, RECORDS)}
    null = lines["null"]
    assert null.scores["test"].mean == 55.0
    assert null.scores["test"].sd == pytest.approx(50**0.5)
    assert null.claims == {}
    paper = lines["S2MAM (PAPER)"]
    assert paper.claims["test"].mean == 90.309
    assert paper.failed == 1
    assert paper.error == "ValueError: no"
    assert "S2MAM" not in lines
    assert lines["LapSVM"].scores == {}
    assert lines["LapSVM"].claims["unlabeled"].mean == 88.814


def test_the_text_shows_everything():
    text = study_text(STUDY, summarize(STUDY, RECORDS), ["1"])
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines()]
    rows = {row[0]: row for row in rows if len(row) > 2}
    assert rows["null"][1:3] == ["55.0 ± 7.1", "-"]
    assert rows["S2MAM (PAPER)"][1:3] == ["80.0", "90.3 ± 3.4"]
    assert rows["S2MAM (PAPER)"][-1] == "1 (1 failed)"
    assert rows["LapSVM"][-1] == "not run"
    assert "failed in 1 cells of code_pu0_pn0: ValueError: no" in text


def test_errors_have_their_median_beside():
    setting = friedman()
    study = Protocol("try", "Title", (setting,), ("null",), 3)
    cell = {"setting": setting.name, "system": "null", "mark": "m"}
    records = [
        {"cell": {**cell, "repeat": k}, "scores": {"test": error}, "seconds": 1.0, "version": "1"}
        for k, error in enumerate([0.5, 0.4, 157.0])
    ]
    lines = summarize(study, records)
    rows = [row.split("|") for row in study_text(study, lines, ["1"]).splitlines()]
    [header] = [row for row in rows if row[1:2] and row[1].strip() == "system"]
    [null] = [row for row in rows if row[1:2] and row[1].strip() == "null"]
    told = {name.strip(): cell.strip() for name, cell in zip(header, null, strict=True)}
    assert told["test"] == "52.6 ± 90.4"
    assert told["median"] == "0.500"
    assert line_rows(lines)[0]["test_median"] == 0.5


def test_csv_can_be_read_back():
    found = csv.DictReader(io.StringIO(csv_text(line_rows(summarize(STUDY, RECORDS)))))
    rows = {row["system"]: row for row in found}
    assert float(rows["null"]["test_sd"]) == pytest.approx(50**0.5, rel=1e-5)
    assert rows["null"]["test_paper_mean"] == ""
    assert rows["S2MAM (PAPER)"]["test_sd"] == ""
    assert rows["S2MAM (PAPER)"]["unlabeled_paper_mean"] == "89.979"
    assert rows["LapSVM"]["cells"] == "0"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(monkeypatch):
    shown = {}
    for kind in (Terminal, io.StringIO):
        stream = kind()
        with watch(2, "study", stream) as advance:
            advance("first")
            advance("second")
        shown[kind] = stream.getvalue()
    assert "2/2" in shown[Terminal]
    assert shown[Terminal] != shown[io.StringIO]
    assert shown[io.StringIO] == "study: 2/2, 0 s, second\n"
    monkeypatch.setitem(__import__("sys").modules, "rich.console", None)
    stream = Terminal()
    with watch(1, "study", stream) as advance:
        advance("only")
    assert stream.getvalue() == "study: 1/1, 0 s, only\n"
