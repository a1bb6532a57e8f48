"""Do the right columns come out? Ours, the paper's rule, greedy search and the usual methods.

    python benchmarks/selection/run.py [summary] [--help]

Writes ``results.jsonl`` (every finished cell at once; a second call goes on where the first one
stopped) and ``results.md`` beside this file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common.command import main
from benchmarks.common.methods import Task, common_scores, largest_class
from benchmarks.common.scores import (
    accuracy,
    mask_calibration,
    mean_squared_error,
    selection_scores,
    top_recall,
)
from benchmarks.common.store import Row
from benchmarks.common.study import Cell, Study
from benchmarks.selection.methods import RAW, methods
from benchmarks.selection.problems import SETTINGS, draw
from benchmarks.selection.summary import summarize

PROTOCOL = """\
200 training rows of which a few are labelled, 1000 fresh test rows. MSE against the noise-free
target (Friedman: noisy, floor 1) or accuracy. "C" methods are told the number of informative
columns; their precision and recall are those of the C columns ranked highest. For the others
precision, recall and F1 are those of the set they keep, and "top recall" that of their C highest
ranked columns. With duplicated columns any copy counts. "oracle" is our default on the informative
columns alone, "null" the mean or the largest class of the scored rows. N(100, 100) has standard
deviation 100 unless the reading says variance, which only changes methods that do not scale
("raw"). Where informative columns depend on each other and junk does not ("code", moons), the rows
alone give the junk away; the problems with junk in pairs, and "paper", do not have that hint. Peers
get columns standardised with all training rows and tune on labelled rows only. CPU seconds of the
fit, one thread. The authors' figures are those of their public code with leave-one-out as upper
objective and C given, 10 seeds of their own with 200 test rows.
"""


def make_cells(seeds: Sequence[int]) -> list[Cell]:
    """All cells, seed by seed, interpret last."""
    cells = [
        {"problem": name, "reading": reading, "method": method, "seed": seed}
        for seed in seeds
        for name, setting in SETTINGS.items()
        for method in methods(setting.task)
        for reading in _readings(method, setting.raw_differs)
    ]
    return sorted(cells, key=lambda cell: cell["method"] == "ebm_additive")


def execute(cell: Cell) -> Row:
    """Scores of one cell."""
    drawn = draw(cell["problem"], cell["seed"], reading=cell["reading"])
    problem = drawn.problem
    method = methods(problem.task, drawn.informative)[cell["method"]]
    task = Task(
        problem.X, problem.shown, problem.X_test, problem.task, cell["seed"], drawn.n_select
    )
    outcome = method(task)
    score = accuracy if task.is_classification else mean_squared_error
    scored = problem.y_test, problem.y[~problem.labeled]
    row = common_scores(outcome, *scored, score)
    if cell["method"] == "null" and task.is_classification:
        row = largest_class(row, *scored)
    if outcome.ranking is not None:
        row["top"] = top_recall(outcome.ranking, drawn.source)
    if outcome.selected is not None:
        row.update(selection_scores(outcome.selected, drawn.source))
    if cell["method"] == "s2mam" and outcome.ranking is not None:
        row["cal"] = mask_calibration(outcome.ranking, drawn.source >= 0)
    return row


def _readings(method: str, raw_differs: bool) -> tuple[str, ...]:
    if method in RAW:
        return ("sd", "variance") if raw_differs else ()
    return ("sd",)


STUDY = Study(
    name="selection",
    protocol=PROTOCOL,
    folder=Path(__file__).resolve().parent,
    make_cells=make_cells,
    execute=execute,
    summarize=summarize,
    quick={
        "problem": ("additive_50", "circle_code_10", "moons_5"),
        "method": ("s2mam*", "greedy*", "l*", "oracle", "null"),
    },
)

if __name__ == "__main__":
    sys.exit(main(STUDY))
