"""Help, ``s2mam info``, ``demo``, ``bench``, and the studies mounted beside them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import s2mam
from s2mam.cli import bench as bench_module
from s2mam.cli import contest

COMMANDS = ["fit", "predict", "report", "info", "demo", "bench", "paper"]
MORE = ["convergence", "generalization", "complexity"]


@pytest.mark.parametrize(
    "command",
    [[], *([c] for c in COMMANDS), ["experiments"], *(["experiments", c] for c in MORE)],
)
def test_help_has_examples(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.output
    assert f"s2mam {' '.join(command)}".strip() in result.output


def test_version_completion_and_no_arguments(run):
    assert run("--version").output.strip() == f"s2mam {s2mam.__version__}"
    assert "--install-completion" in run("--help").output
    assert "Usage" in run().output


def test_info_of_the_installation(run, monkeypatch):
    told = json.loads(run("info", "--json").stdout)
    assert told["packages"]["numpy"] == np.__version__
    from s2mam.cli import info as info_module

    real = info_module.version

    def version(name):
        if name == "openpyxl":
            raise info_module.PackageNotFoundError
        return real(name)

    monkeypatch.setattr(info_module, "version", version)
    assert re.search(r"openpyxl +absent; .*pip install openpyxl", run("info").stdout)


def test_info_of_a_model(run, model):
    told = json.loads(run("info", model, "--json").stdout)
    loaded = s2mam.load(model)
    assert told["kind"] == "S2MAMRegressor"
    assert (told["rows"], told["labeled"]) == (60, 30)
    probabilities = {one["name"]: one["probability"] for one in told["columns"]}
    expected = dict(zip(loaded.feature_names_in_, loaded.mask_probabilities_, strict=True))
    assert probabilities == pytest.approx(expected)
    text = run("info", model).stdout
    assert "fitted to 60 rows, 30 of them labelled" in text
    assert "3 columns: a, b, kind" in text


def test_info_of_data_sets(run):
    assert "351 rows, 34 columns" in run("info", "ionosphere").stdout
    listed = json.loads(run("info", "datasets", "--json").stdout)["datasets"]
    assert listed == s2mam.datasets.list_datasets()
    wrong = run("info", "ionosfere")
    assert wrong.exit_code == 1
    assert "did you mean 'ionosphere'?" in wrong.stderr


def test_demo_prints_the_table_and_writes_the_picture(folder, run):
    result = run("demo", "--paper-iterations", 2, "--output", "demo.png")
    assert result.exit_code == 0, result.output
    found = {
        name: re.search(rf"^{re.escape(name)} +([\d.]+) % +([\d.]+) %", result.stdout, re.M)
        for name in ("S2MAM (default)", "oracle: told the real columns", "majority class")
    }
    assert all(found.values()), result.output
    ours, majority = found["S2MAM (default)"], found["majority class"]
    assert float(ours[2]) > float(majority[2]) + 30
    assert any(line.startswith("Wrote demo.png") for line in result.stdout.splitlines())
    assert [path.name for path in folder.iterdir()] == ["demo.png"]
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "\x1b" not in result.output  # no colour codes in a pipe


def test_demo_refuses_a_missing_folder_before_it_works(folder, run):
    result = run("demo", "--output", "nowhere/demo.png")
    assert result.exit_code == 1
    assert result.output.strip().splitlines() == [
        "s2mam: error: There is no folder 'nowhere' to write into."
    ]


def test_bench_scores_hidden_rows(run, monkeypatch):
    small = {name: contest.PROBLEMS[name] for name in ("additive", "moons")}
    monkeypatch.setattr(contest, "PROBLEMS", small)
    result = run("bench", "--repeats", 1, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    scores = {(one["problem"], one["method"]): one["score"] for one in told["results"]}
    assert len(scores) == contest.count(1)
    assert scores["additive", "s2mam"] > scores["additive", "mean"] + 0.5
    assert scores["moons", "s2mam"] > scores["moons", "largest class"] + 0.2
    assert told["studies"] == bench_module.STUDIES


def test_bench_names_the_studies_of_the_repository(run, request):
    text = run("bench", "--list").stdout
    root = request.config.rootpath
    studies = re.findall(r"python (benchmarks/\w+/run\.py)", text)
    assert len(studies) >= 4
    assert [study for study in studies if not (root / study).is_file()] == []
    assert "s2mam paper" in text


def test_the_studies_are_mounted(run):
    assert "table2" in run("paper").stdout
    assert "convergence" in run("experiments", "--help").stdout
