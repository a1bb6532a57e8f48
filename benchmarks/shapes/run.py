"""Kinds of columns, effects and targets that the learner was not made for, one by one.

    python benchmarks/shapes/run.py [summary] [--help]

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
from benchmarks.shapes.problems import TABLES, problem
from benchmarks.shapes.summary import summarize

PROTOCOL = """\
60 columns, of which three or five say something ("dense": all). Columns: normal, each like the one
before it (chained), from five hidden factors, t with 2 degrees of freedom (heavy), counts,
log-normal (skewed). Effects: five lines, all columns (dense), steps, bumps and waves, squares, a
product of two columns (which no additive model can learn). Targets: numbers with a signal-to-noise
ratio of 11, numbers with t noise (outliers), two classes, 12 % against the rest (rare), four
classes in order. 300 unlabelled rows, 1500 test rows. Peers as in the few-label study. Sparse and
far lines were added to the learner because of "lines" in this study (with other random numbers);
everything else here is as it was found.
"""

LABELS = (30, 100)
_PEERS = {
    "classification": ("extra_trees", "forest", "l1_logistic", "l2_logistic", "null"),
    "regression": ("extra_trees", "forest", "lasso", "gp", "null"),
}


def methods(task: str) -> dict[str, Method]:
    """Ours and some of the usual ones."""
    known = peers.CLASSIFICATION if task == "classification" else peers.REGRESSION
    return {"s2mam": ours.ours(), **{name: known[name] for name in _PEERS[task]}}


def make_cells(seeds: Sequence[int]) -> list[Cell]:
    """All cells, seed by seed."""
    return [
        {"table": table, "labels": labels, "method": method, "seed": seed}
        for seed in seeds
        for table in TABLES
        for labels in LABELS
        for method in methods(_task(table))
    ]


def _task(table: str) -> str:
    return "regression" if table.endswith(("numbers", "outliers")) else "classification"


def execute(cell: Cell) -> Row:
    """Scores of one cell."""
    given = problem(cell["table"], cell["labels"], cell["seed"])
    return score_problem(given, methods(given.task)[cell["method"]], cell["seed"])


STUDY = Study(
    name="shapes",
    protocol=PROTOCOL,
    folder=Path(__file__).resolve().parent,
    make_cells=make_cells,
    execute=execute,
    summarize=summarize,
    quick={"table": ("normal-lines-numbers", "normal-steps-two")},
)

if __name__ == "__main__":
    sys.exit(main(STUDY))
