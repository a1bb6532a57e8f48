"""Runs that are cut short go on where they stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks.common.command import main, parse_filters, parse_seeds
from benchmarks.common.store import ResultStore
from benchmarks.common.study import Study, run_study, select

ROOT = Path(__file__).resolve().parents[2]


def make_cells(seeds):
    return [{"data": d, "method": m, "seed": s} for s in seeds for d in "xy" for m in ("a", "bad")]


def execute(cell):
    if cell["method"] == "bad":
        raise ValueError("no luck")
    return {"test": cell["seed"] + 0.5, "cpu": 0.0}


@pytest.fixture
def study(tmp_path):
    return Study(
        name="toy",
        protocol="A toy.",
        folder=tmp_path,
        make_cells=make_cells,
        execute=execute,
        summarize=lambda rows: f"{len(rows)} rows\n",
        quick={"data": ("x",)},
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_all_cells_are_run_once_and_failures_are_kept(study, n_jobs):
    store, cells = study.results(), make_cells(range(2))
    assert run_study(study, store, cells, n_jobs=n_jobs) == 8
    assert run_study(study, store, cells, n_jobs=n_jobs) == 0
    assert run_study(study, store, cells, n_jobs=n_jobs, retry_failed=True) == 4
    assert run_study(study, store, make_cells(range(3)), n_jobs=n_jobs) == 4
    rows = store.rows()
    assert sum("failure" in row for row in rows) == 6
    assert {row["test"] for row in rows if "test" in row} == {0.5, 1.5, 2.5}
    assert {row["run"] for row in rows} == set(store.runs())


def test_redo_runs_finished_cells_again(study):
    store, cells = study.results(), make_cells([0])
    run_study(study, store, cells, n_jobs=1)
    assert run_study(study, store, cells, n_jobs=1, redo=True) == 4
    assert len(store.rows()) == 4


def test_command_filters_cells_and_writes_the_summary(study, capsys):
    chosen = ["--seeds", "3", "--methods", "a", "--cells", "data=y"]
    assert main(study, [*chosen, "--n-jobs", "1"]) == 0
    assert len(study.results().rows()) == 3
    text = (study.folder / "results.md").read_text()
    assert text.startswith("3 rows")
    assert "numpy" in text
    assert main(study, ["--cells", "data=none"]) == 2
    assert "No cell" in capsys.readouterr().err


def test_quick_leaves_the_results_alone(study, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "quick"))
    assert main(study, ["--quick", "--n-jobs", "1"]) == 0
    assert not study.results().path.exists()
    assert len(ResultStore(tmp_path / "quick" / "s2mam-bench-toy-quick.jsonl").rows()) == 2


def test_summary_without_results_is_refused(study):
    assert main(study, ["summary"]) == 1


def test_seeds_and_filters_are_read():
    assert parse_seeds("3") == [0, 1, 2]
    assert parse_seeds("3-5") == [3, 4, 5]
    assert parse_seeds("1,4-5") == [1, 4, 5]
    wanted = parse_filters(["data=x,z", "method=b*"])
    assert select(make_cells([0]), wanted) == [{"data": "x", "method": "bad", "seed": 0}]
    assert select(make_cells([0]), {"unknown": ("x",)}) == []


SCRIPT = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from benchmarks.common.command import main
from benchmarks.common.study import Study

def execute(cell):
    time.sleep(0.2)
    return {{"test": float(cell["seed"]), "cpu": 0.0}}

main(Study("toy", "A toy.", Path({folder!r}), lambda seeds: [{{"method": "a", "seed": s}}
     for s in seeds], execute, lambda rows: "done", {{}}), ["--n-jobs", "1", "--seeds", "8"])
"""


def test_a_run_killed_hard_goes_on_where_it_stopped(tmp_path):
    script = SCRIPT.format(root=str(ROOT), folder=str(tmp_path))
    store = ResultStore(tmp_path / "results.jsonl")
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while len(store.rows()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = len(store.rows())
    assert 2 <= before < 8
    command = [sys.executable, "-c", script]
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{before} there already" in again.stderr
    assert sorted(row["cell"]["seed"] for row in store.rows()) == list(range(8))
    assert sum("cell" in line for line in store.lines()) == 8
