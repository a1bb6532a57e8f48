from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from s2mam.cli_paper import app, register
from s2mam.experiments.studies import PROTOCOLS

RUN = CliRunner()


def test_without_a_name_the_studies_are_listed():
    result = RUN.invoke(app, ["paper"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(PROTOCOLS)


def test_a_quick_table_is_printed_saved_and_resumed(tmp_path):
    command = ["paper", "table2", "--quick", "--systems", "null, S2MAM", "--repeats", "1"]
    command += ["--settings", "code_pu0_pn0", "--output", str(tmp_path)]
    first = RUN.invoke(app, command)
    assert first.exit_code == 0, first.output
    assert "90.3 ± 3.4" in first.stdout
    assert "table2: 2/2" in first.stderr
    kept = (tmp_path / "table2.md").read_text()
    second = RUN.invoke(app, command)
    assert second.stdout == first.stdout
    assert "2/2" not in second.stderr
    assert (tmp_path / "table2.md").read_text() == kept
    assert {path.suffix for path in tmp_path.iterdir()} == {".md", ".csv", ".json", ".jsonl"}


def test_figure_1_is_drawn(tmp_path):
    command = ["paper", "figure1", "--quick", "--systems", "null,S2MAM", "--repeats", "1"]
    result = RUN.invoke(app, [*command, "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "figure1.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table7"], "There is no study 'table7'"),
        (["adni"], "put the ADNI tables"),
        (["table2", "--systems", "SVM"], "Unknown system 'SVM'"),
        (["table2", "--systems", ","], "--systems names no system"),
        (["table2", "--settings", "x"], "No setting matches 'x'"),
    ],
)
def test_errors_are_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.delenv("S2MAM_DATA_HOME", raising=False)
    result = RUN.invoke(app, ["paper", *arguments, "-o", str(tmp_path)])
    assert result.exit_code == 1
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_the_theory_commands_write_three_files(tmp_path):
    result = RUN.invoke(app, ["experiments", "convergence", "--quick", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "theorem" in result.stdout
    assert {path.suffix for path in tmp_path.iterdir()} == {".md", ".csv", ".png"}


@pytest.mark.parametrize("command", ["convergence", "generalization", "complexity"])
def test_every_command_has_an_example(command):
    result = RUN.invoke(app, ["experiments", command, "--help"])
    assert f"s2mam experiments {command} --quick" in result.stdout


def test_both_commands_can_be_mounted():
    root = typer.Typer()
    register(root)
    assert RUN.invoke(root, ["paper"]).exit_code == 0
    assert RUN.invoke(root, ["experiments", "--help"]).exit_code == 0
