"""Deep semi-supervised regression with 100 labels, on four tables of the published SSDKL study.

    S2MAM_DATA_HOME=<folder> python benchmarks/deep_regression/run.py [summary] [--help]

Writes ``results.jsonl`` (every finished cell at once; a second call goes on where the first one
stopped) and ``results.md`` beside this file. The package need not be installed: Python, torch,
scikit-learn and narwhals are enough.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from benchmarks.common import ours
from benchmarks.common.command import main
from benchmarks.common.methods import Method, Outcome, Task, common_scores, cpu_clock, predicted
from benchmarks.common.splits import Problem
from benchmarks.common.store import Row
from benchmarks.common.study import Cell, Study
from benchmarks.deep_regression.summary import summarize

from s2mam._typing import AnyArray
from s2mam.baselines.coreg import CoregRegressor
from s2mam.baselines.m2 import M2Regressor
from s2mam.baselines.plf import PLFRegressor
from s2mam.baselines.ssdkl import SSDKLRegressor
from s2mam.baselines.vae import AVAERegressor, VAERegressor
from s2mam.datasets import load

DATA = ("skillcraft", "parkinsons_telemonitoring", "elevators", "protein")
LABELS, TEST, UNLABELED = 100, 1000, 2000

PROTOCOL = f"""\
Rows are shuffled with the seed: {LABELS} labels, {TEST} test rows, and of the rest at most
{UNLABELED} unlabelled rows (the published study takes all that are left; the cap keeps a cell below
two minutes of CPU). Rows of one person may be on both sides, as there. All methods are given the
same rows; columns are standardised with all training rows (s2mam scales by itself), targets with
the labels. RMSE on the test rows in the units of the data file. Settings are the defaults of the
package: SSDKL chooses its weight among 0.1, 1 and 10 on ten held-out labels; "dkl" is the same
without unlabelled rows (weight 0); "vae" has codes of length 2 as in the published study, "avae"
of length 32 and "m2" of 8. CPU seconds of the fit, one thread, import of torch left out.
"""


def _null(task: Task) -> Outcome:
    mean = np.nanmean(task.y)
    hidden = int(np.count_nonzero(~task.labeled))
    return Outcome(np.full(len(task.X_test), mean), np.full(hidden, mean), 0.0, "none")


def _baseline(make: Callable[[], Any]) -> Method:
    def method(task: Task) -> Outcome:
        model = make().set_params(random_state=task.seed)
        extra: Row = {}
        if getattr(model, "requires", ()):
            import torch  # before the clock starts

            extra["torch"] = torch.__version__
        with cpu_clock() as cpu:
            model.fit(task.X, task.y)
        extra["steps"] = int(model.n_iter_)
        if hasattr(model, "alpha_"):
            extra["alpha"] = float(model.alpha_)
        return predicted(model, task, cpu(), "standard", extra=extra)

    return method


METHODS: dict[str, Method] = {
    "null": _null,
    "dkl": _baseline(lambda: SSDKLRegressor(alpha=0.0)),
    "ssdkl": _baseline(SSDKLRegressor),
    "coreg": _baseline(CoregRegressor),
    "vae": _baseline(VAERegressor),
    "avae": _baseline(AVAERegressor),
    "m2": _baseline(M2Regressor),
    "plf": _baseline(PLFRegressor),
    "s2mam": ours.ours(),
}


def rmse(y: AnyArray, guess: AnyArray) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((y - guess) ** 2)))


def problem(name: str, seed: int) -> Problem:
    """Labels, unlabelled rows and test rows of a seed."""
    data = load(name, download=False)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y, dtype=float)
    order = np.random.RandomState(3000 + seed).permutation(len(y))
    test = order[LABELS : LABELS + TEST]
    rest = order[LABELS + TEST :][:UNLABELED]
    train = np.concatenate([order[:LABELS], rest])
    labeled = np.arange(len(train)) < LABELS
    return Problem(X[train], y[train], labeled, X[test], y[test], "regression")


def make_cells(seeds: Sequence[int]) -> list[Cell]:
    """All cells, seed by seed, so that a run that is cut short has whole seeds."""
    return [
        {"data": name, "method": method, "seed": seed}
        for seed in seeds
        for name in DATA
        for method in METHODS
    ]


def execute(cell: Cell) -> Row:
    """RMSE and seconds of one cell."""
    given = problem(cell["data"], cell["seed"])
    task = Task(given.X, given.shown, given.X_test, given.task, cell["seed"])
    outcome = METHODS[cell["method"]](task)
    return common_scores(outcome, given.y_test, given.y[~given.labeled], rmse)


STUDY = Study(
    name="deep_regression",
    protocol=PROTOCOL,
    folder=Path(__file__).resolve().parent,
    make_cells=make_cells,
    execute=execute,
    summarize=summarize,
    quick={"data": ("skillcraft",), "method": ("null", "dkl", "coreg", "s2mam")},
)

if __name__ == "__main__":
    sys.exit(main(STUDY))
