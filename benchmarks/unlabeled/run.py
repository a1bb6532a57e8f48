"""What unlabelled rows buy, and whether they ever hurt: the same labels with none, some, all.

    S2MAM_DATA_HOME=<folder> python benchmarks/unlabeled/run.py [summary] [--help]

Writes ``results.jsonl`` (every finished cell at once; a second call goes on where the first one
stopped) and ``results.md`` beside this file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common import ours, peers
from benchmarks.common.command import main
from benchmarks.common.methods import Method
from benchmarks.common.scoring import score_problem
from benchmarks.common.store import Row
from benchmarks.common.study import Cell, Study
from benchmarks.unlabeled.problems import SIZES, growing, problem, safety
from benchmarks.unlabeled.summary import summarize

from s2mam.datasets import info

PROTOCOL = """\
The same labels and test rows with u = 0, 100 and 1000 unlabelled rows (a larger u contains the
smaller one), clean columns except for moons_junk (8 N(0, 1) and 10 N(100, 100) columns). Moons:
1000 test rows. digits, coil20, isolet: 3 labels a class, all rows beyond 1000 are the test. g50c:
its published splits of 50 labels; the 500 other rows are scored whether they train or not, so
u = 1000 means 500 there and seeds beyond 9 repeat. All other sets: the splits of the few-label
study, none of the unlabelled rows against all. Accuracy or R2 on the test rows. Label spreading
(neighbours, standardised columns) for reference. CPU seconds of the fit, one thread.
"""


def methods(task: str) -> dict[str, Method]:
    """Ours, and label spreading for classes."""
    mine = {"s2mam": ours.ours()} if ours.ready() else {}
    reference = {"label_spreading": peers.CLASSIFICATION["label_spreading"]}
    return {**mine, **(reference if task == "classification" else {})}


def make_cells(seeds: Sequence[int]) -> list[Cell]:
    """All cells, seed by seed."""
    plans = [(name, "classification", tuple(map(str, SIZES))) for name in growing()]
    plans += [(name, info(name).task, ("0", "all")) for name in safety()]
    return [
        {"data": name, "u": size, "method": method, "seed": seed}
        for seed in seeds
        for name, task, sizes in plans
        for size in sizes
        for method in methods(task)
    ]


def execute(cell: Cell) -> Row:
    """Scores of one cell."""
    given = problem(cell["data"], cell["seed"], cell["u"])
    return score_problem(given, methods(given.task)[cell["method"]], cell["seed"])


STUDY = Study(
    name="unlabeled",
    protocol=PROTOCOL,
    folder=Path(__file__).resolve().parent,
    make_cells=make_cells,
    execute=execute,
    summarize=summarize,
    quick={"data": ("moons_1", "moons_5", "iris", "diabetes")},
)

if __name__ == "__main__":
    sys.exit(main(STUDY))
