"""The studies of the paper from the shell, under the same rules as the other commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from s2mam.experiments import System, systems
from s2mam.experiments.figure1 import draw_curves
from s2mam.experiments.studies import PROTOCOLS, make_protocol


def test_without_a_name_the_studies_are_listed(run):
    result = run("paper")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(PROTOCOLS)


def test_a_quick_table_is_printed_saved_and_resumed(run, tmp_path):
    command = ["paper", "table2", "--quick", "--systems", "null, S2MAM", "--repeats", "1"]
    command += ["--settings", "code_pu0_pn0", "--output", str(tmp_path)]
    first = run(*command)
    assert first.exit_code == 0, first.output
    assert "90.3 ± 3.4" in first.stdout
    assert "table2: 2/2" in first.stderr
    kept = (tmp_path / "table2.md").read_text()
    second = run(*command)
    assert second.stdout == first.stdout
    assert "2/2" not in second.stderr
    assert (tmp_path / "table2.md").read_text() == kept
    assert {path.suffix for path in tmp_path.iterdir()} == {".md", ".csv", ".json", ".jsonl"}


def test_figure_1_is_drawn(run, tmp_path):
    command = ["paper", "figure1", "--quick", "--systems", "null,S2MAM", "--repeats", "1"]
    result = run(*command, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    for name in ("figure1.png", "figure1_surfaces.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_a_part_of_figure_1_draws_the_whole_picture(run, tmp_path):
    part = ["--systems", "null", "--settings", "clean", "--repeats", "1", "-o", str(tmp_path)]
    result = run("paper", "figure1", *part)
    assert result.exit_code == 0, result.output
    whole = draw_curves(make_protocol("figure1"), tmp_path / "whole.png")
    assert (tmp_path / "figure1.png").read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table7"], "There is no study 'table7'"),
        (["adni"], "put the ADNI tables"),
        (["table2", "--systems", "SVM"], "Unknown system 'SVM'"),
        (["table2", "--systems", ","], "--systems names no system"),
        (["table2", "--settings", "x"], "No setting matches 'x'"),
        (["table2", "--time-limit", "0"], "time_limit=0 must be above 0"),
    ],
)
def test_errors_are_one_line(run, arguments, message, tmp_path, monkeypatch):
    monkeypatch.delenv("S2MAM_DATA_HOME", raising=False)
    result = run("paper", *arguments, "-o", tmp_path)
    assert result.exit_code == 1
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_a_folder_that_cannot_be_written_is_noticed_before_any_work(run, tmp_path):
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "results"
    for command in (["paper", "table2", "--quick", "--systems", "null"], ["experiments"]):
        command += ["convergence", "--quick"] if command == ["experiments"] else []
        result = run(*command, "-o", place)
        assert result.exit_code == 1
        [line] = result.stderr.splitlines()
        assert line.startswith(f"s2mam: error: The output folder {place} cannot be written (")
        assert result.stdout == ""


def test_a_system_named_twice_is_run_once(run, tmp_path):
    command = ["paper", "table2", "--systems", "null, null", "--repeats", "1", "-o", tmp_path]
    result = run(*command, "--settings", "code_pu0_pn0")
    assert "table2: 1/1" in result.stderr


def test_columns_as_they_are_have_tables_of_their_own(run, tmp_path):
    command = ["paper", "figure1", "--raw", "--quick", "--systems", "null,LapSVM"]
    result = run(*command, "--repeats", "1", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    endings = (".md", ".csv", ".json", ".jsonl", ".png", "_surfaces.png")
    assert {path.name for path in tmp_path.iterdir()} == {f"figure1_raw{e}" for e in endings}
    assert "## with X_n (accuracy, %; columns as they are)" in result.stdout


def test_names_of_systems_may_hold_commas(run, tmp_path):
    names = "draws: 5, polish,null, exact gradient, evidence, polish"
    command = ["paper", "ablation", "--quick", "--settings", "additive regression*", "--json"]
    result = run(*command, "--systems", names, "--repeats", "1", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    found = {line["system"] for line in json.loads(result.stdout)["table"]}
    assert found == {"draws: 5, polish", "null", "exact gradient, evidence, polish"}


def test_no_fits_side_by_side_are_a_wrong_option(run, tmp_path):
    for command in (["paper", "table2"], ["experiments", "generalization"], ["fit", "t.csv"]):
        result = run(*command, "--n-jobs", "0")
        assert result.exit_code == 2
        assert "give 1 or more, or -1 for all cores" in " ".join(result.stderr.split())


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_system_that_never_works_fails_the_command(run, tmp_path, monkeypatch, options):
    classes = {"classification": "sklearn.dummy:DummyClassifier"}
    never = System("never", classes, settings={"strategy": "none"})
    monkeypatch.setitem(systems._REGISTERED, "never", never)
    command = ["paper", "table2", "--settings", "code_pu0_pn0", "--systems", "null,never"]
    result = run(*command, "--repeats", "2", "-o", tmp_path, *options)
    assert result.exit_code == 1
    told = json.loads(result.stdout)["warnings"] if options else result.stderr.splitlines()[-1:]
    assert len(told) == 1
    assert "Every cell failed of never (InvalidParameterError" in told[0]
    assert (tmp_path / "table2.md").exists()


def test_the_theory_commands_write_three_files(run, tmp_path):
    result = run("experiments", "convergence", "--quick", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert "theorem" in result.stdout
    assert {path.suffix for path in tmp_path.iterdir()} == {".md", ".csv", ".png"}


def test_a_quick_look_at_the_cost_has_all_three_sizes(run, tmp_path):
    result = run("experiments", "complexity", "--quick", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    for size in ("n = 60 .. 120", "p = 8 .. 16", "C = 2 .. 4"):
        assert size in result.stdout


@pytest.mark.parametrize("command", ["convergence", "generalization", "complexity"])
def test_every_command_has_an_example(run, command):
    result = run("experiments", command, "--help")
    assert f"s2mam experiments {command} --quick" in result.stdout


def test_one_json_object_and_nothing_else(run, tmp_path):
    command = ["paper", "table2", "--quick", "--systems", "null", "--repeats", "1", "--json"]
    result = run(*command, "--settings", "code_pu0_pn0", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    told = json.loads(result.stdout)
    assert told["study"] == "table2"
    measured = [line for line in told["table"] if line["system"] == "null"]
    assert measured
    assert all(isinstance(line["test_mean"], float) for line in measured)
    assert [path.rsplit(".", 1)[1] for path in told["files"]] == ["md", "csv", "json", "jsonl"]
    failed = run("paper", "table7", "--json")
    assert json.loads(failed.stdout)["error"].startswith("There is no study 'table7'")


def test_debug_lets_errors_through(run):
    result = run("paper", "table7", "--debug")
    assert "There is no study 'table7'" in str(result.exception)
    assert result.stderr == ""


def test_a_reader_that_goes_away_is_no_error():
    command = [sys.executable, "-m", "s2mam", "paper"]
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""
