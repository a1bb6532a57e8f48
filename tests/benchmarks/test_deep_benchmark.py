"""The benchmark of the networks runs from one command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks.deep.page import page

pytestmark = pytest.mark.torch
SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "deep" / "run.py"


def test_a_quick_run_writes_its_tables(tmp_path):
    options = ["--quick", "--systems", "FlexMatch*,null (reg*,DAN (reg*", "--devices", "cpu"]
    command = [sys.executable, str(SCRIPT), *options, "--output", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    cells = json.loads((tmp_path / "results.json").read_text())["cells"]
    assert [cell["name"] for cell in cells] == ["null", "FlexMatch", "DAN"]
    assert all(cell["seconds"] > 0 and cell["device"] == "cpu" for cell in cells)
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "## Regression, 500x20\n\n| system | 25 labels: R² | seeds | 25 labels: cpu, s |" in text
    assert "\n| DAN | " in text


def test_no_fit_starts_late(tmp_path):
    options = ["--quick", "--systems", "null*", "--start-within", "-1", "--output", str(tmp_path)]
    subprocess.run([sys.executable, str(SCRIPT), *options], check=True, capture_output=True)
    assert not (tmp_path / "results.json").exists()


def test_the_page_has_spreads_and_failures():
    def cell(score, seed, device="cpu", **more):
        row = {"system": "PLF (regression)", "name": "PLF", "task": "regression", "labels": 25}
        row |= {"size": "500x20", "seed": seed, "device": device, "score": score, "seconds": 2.0}
        return row | more

    facts = dict.fromkeys(
        ("protocol", "note", "machine", "gpu", "torch", "source", "commit", "command"), "x"
    )
    failed = cell(0.0, 2, "cuda", error="no memory")
    rows = [cell(0.9, 0), cell(0.1, 0, "cuda"), cell(0.3, 1, "cuda"), failed]
    text = page(rows, facts | {"versions": {"python": "3"}})
    assert "\n| PLF | 0.20 ± 0.14 | 2 | 2.0 | 2.0 |\n" in text
    assert "- PLF (regression), 500x20, 25, cuda, 2: no memory" in text
