"""Few labels on real data: ours against the usual methods, clean and with junk columns.

    S2MAM_DATA_HOME=<folder> python benchmarks/few_labels/run.py [summary] [--help]

Writes ``results.jsonl`` (every finished cell at once; a second call goes on where the first one
stopped) and ``results.md`` beside this file. Without a data folder only the sets of scikit-learn
are run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common import ours, peers
from benchmarks.common.command import main
from benchmarks.common.ebm import ebm
from benchmarks.common.methods import Method, largest_class
from benchmarks.common.scoring import score_problem
from benchmarks.common.splits import available, few_label_problem
from benchmarks.common.store import Row
from benchmarks.common.study import Cell, Study
from benchmarks.few_labels.summary import summarize

from s2mam.datasets import info

PROTOCOL = """\
10 labels a class (3 from ten classes on; classes with less than twice that many rows are left out)
or 50 labels (regression). At most 600 training rows (1000 from ten classes on) and 60 % of all,
labelled ones included; up to 1500 test rows; classes keep their share; rows of one group stay on
one side. "junk" adds 10 N(0, 1) and 10 N(100, 100) columns (100 is the standard deviation) to the
same rows and labels: columns that depend on nothing, which the rows alone give away. "shadow" adds
20 columns of the table with the rows shuffled together: they depend on one another as real columns
do and only the labels tell. Peers get mean-filled columns standardised with all training rows, tune
on labelled rows only (logistic: C by 3 folds on accuracy, lasso: 5 folds) and have scikit-learn's
defaults otherwise, 200 trees; gaussian process with scale, length and noise fitted; interpret's
defaults (ebm), or without pairs of columns (ebm_additive). Score: accuracy or R2 on the test rows,
and on the unlabelled training rows; log-loss; expected calibration error over 10 bins. "null" is
the mean, or the largest class of the scored rows. CPU seconds of the fit, one thread.
"""

_SLOW = {"ebm_additive": 1, "ebm": 2}


def methods(task: str) -> dict[str, Method]:
    """Methods of a task by name."""
    known = peers.CLASSIFICATION if task == "classification" else peers.REGRESSION
    mine = {"s2mam": ours.ours()} if ours.ready() else {}
    return {**mine, **known, "ebm_additive": ebm(pairs=False), "ebm": ebm()}


def make_cells(seeds: Sequence[int]) -> list[Cell]:
    """All cells, seed by seed, so that a run that is cut short has whole seeds; slow ones last."""
    cells = [
        {"data": name, "columns": columns, "method": method, "seed": seed}
        for seed in seeds
        for name in available()
        for columns in ("clean", "junk", "shadow")
        for method in methods(info(name).task)
    ]
    return sorted(cells, key=lambda cell: _SLOW.get(cell["method"], 0))


def execute(cell: Cell) -> Row:
    """Scores of one cell."""
    problem = few_label_problem(cell["data"], cell["seed"], columns=cell["columns"])
    row = score_problem(problem, methods(problem.task)[cell["method"]], cell["seed"])
    if cell["method"] == "null" and problem.task == "classification":
        return largest_class(row, problem.y_test, problem.y[~problem.labeled])
    return row


STUDY = Study(
    name="few_labels",
    protocol=PROTOCOL,
    folder=Path(__file__).resolve().parent,
    make_cells=make_cells,
    execute=execute,
    summarize=summarize,
    quick={"data": ("iris", "wine", "diabetes"), "method": ("s2mam", "l*", "svm", "extra_trees")},
)

if __name__ == "__main__":
    sys.exit(main(STUDY))
