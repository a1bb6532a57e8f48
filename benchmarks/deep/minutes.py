"""CPU minutes that each network took in the studies whose results are committed.

    python benchmarks/deep/minutes.py

Adds up the fits of ``benchmarks/paper`` (tuning included) and of ``benchmarks/deep_regression``,
and writes ``minutes.md``. Nothing is fitted, and torch is not needed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from benchmarks.common.store import ResultStore, cell_key
from benchmarks.common.tables import markdown

ROOT = Path(__file__).resolve().parents[2]
#: Names of the regression study that are not the paper's in small letters.
_NAMES = {"dkl": "SSDKL without unlabelled rows"}
_TEXT = """\
# CPU minutes of the networks

All fits of a network in the committed studies, one thread each, tuning included; the mean of a fit
depends on the tables of the study, so compare systems within a column. "–": not run there. Studies
marked "GPU" trained the networks on one; the minutes are of the processor that fed it.
Command: `python benchmarks/deep/minutes.py`.
"""


class Share(NamedTuple):
    """What a system took in a study."""

    system: str
    study: str
    seconds: float
    fits: int


def networks() -> set[str]:
    """Names of the paper for the systems that need torch."""
    from s2mam.baselines import all_baselines

    return {cls.paper_name for cls in all_baselines().values() if "torch" in cls.requires}


def of_cells(paths: Iterable[Path], names: Iterable[str]) -> list[Share]:
    """Shares of the paper's studies, from their cells; of two lines for a cell the last counts."""
    known, found = set(names), {}
    for path in paths:
        for row in ResultStore(path).rows():
            if row["cell"]["system"] in known:
                study = path.stem + (", GPU" if "device" in row else "")
                share = Share(row["cell"]["system"], study, float(row["seconds"]), 1)
                found[path.stem, cell_key(row["cell"])] = share
    return list(found.values())


def of_regression(path: Path, names: Iterable[str]) -> list[Share]:
    """Shares of the regression study, from its cells."""
    spelled = {name.lower(): name for name in names} | _NAMES
    return [
        Share(spelled[row["cell"]["method"]], "deep_regression", float(row["cpu"]), 1)
        for row in ResultStore(path).rows()
        if row["cell"]["method"] in spelled and "cpu" in row
    ]


def committed() -> list[Share]:
    """What the networks took in all committed studies."""
    names, studies = networks(), ROOT / "benchmarks"
    regression = studies / "deep_regression" / "results.jsonl"
    return of_cells(sorted(studies.glob("paper/*.jsonl")), names) + of_regression(regression, names)


def table(shares: list[Share]) -> str:
    """Minutes (fits) by system and study."""
    studies = sorted({share.study for share in shares})
    lines = []
    for system in sorted({share.system for share in shares}):
        own = [share for share in shares if share.system == system]
        cells = [_sum([share for share in own if share.study == study]) for study in studies]
        lines.append([system, *cells, _sum(own)])
    return markdown(["system", *(f"{study}: minutes (fits)" for study in studies), "all"], lines)


def _sum(shares: list[Share]) -> str:
    if not shares:
        return "–"
    minutes = sum(share.seconds for share in shares) / 60.0
    return f"{minutes:.1f} ({sum(share.fits for share in shares)})"


def main() -> int:
    """Write the table."""
    text = f"{_TEXT}\n{table(committed())}\n"
    Path(__file__).with_name("minutes.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
