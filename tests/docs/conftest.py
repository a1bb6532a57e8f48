"""Pages and examples write files and open figures: give them a folder, and close what they open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder of one page or example."""
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    yield tmp_path
    plt.close("all")
