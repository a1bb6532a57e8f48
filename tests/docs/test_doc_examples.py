"""Every example of the gallery runs, in a few seconds."""

from __future__ import annotations

import runpy
import time
from pathlib import Path

import pytest
from page_blocks import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path, empty_folder: Path, capsys: pytest.CaptureFixture[str]):
    start = time.process_time()
    runpy.run_path(str(path))
    assert time.process_time() - start < 10.0
    assert capsys.readouterr().out
    assert list(empty_folder.iterdir()) == []  # an example leaves nothing behind
