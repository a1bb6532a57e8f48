"""The benchmark of the networks runs from one command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

pytestmark = pytest.mark.torch
SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "deep" / "run.py"


def test_a_quick_run_writes_its_tables(tmp_path):
    options = ["--quick", "--systems", "FlexMatch,DAN (reg*", "--devices", "cpu"]
    command = [sys.executable, str(SCRIPT), *options, "--output", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    cells = json.loads((tmp_path / "results.json").read_text())["cells"]
    assert [cell["system"] for cell in cells] == ["DAN (regression)", "FlexMatch"]
    assert all(cell["seconds"] > 0 and cell["device"] == "cpu" for cell in cells)
    assert "| FlexMatch | 500x20 |" in (tmp_path / "results.md").read_text(encoding="utf-8")
