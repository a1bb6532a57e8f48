"""Are the mask probabilities honest? The calibration curve of the selection study, as a picture.

    python benchmarks/selection/calibration.py

Reads the rows of the default, size unknown, in ``results.jsonl`` and ``more_seeds.jsonl`` (run
``run.py`` first) and writes ``calibration.png`` beside this file. Problems with copies or
interactions are left out: being selected and being informative are different things there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common.scores import MASK_BINS
from benchmarks.common.store import ResultStore
from benchmarks.selection.problems import SETTINGS
from benchmarks.selection.summary import NOT_CALIBRATED

from s2mam._typing import FloatArray

FOLDER = Path(__file__).resolve().parent
#: Edges of the bins that are drawn; those of the rows are joined.
EDGES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
DRAWS = 500


def main() -> int:
    """Draw the picture."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.2), sharey=True, layout="constrained")
    for axis, task in zip(axes, ("regression", "classification"), strict=True):
        tables = read(task)
        _panel(axis, task, tables)
        print(f"{task}: {len(tables)} fits")
    axes[0].set_ylabel("share of informative columns")
    figure.savefig(FOLDER / "calibration.png", dpi=120)
    return 0


def read(task: str) -> FloatArray:
    """Tables (fits, bins, 3) of columns, informative columns and summed probabilities."""
    files = [FOLDER / name for name in ("results.jsonl", "more_seeds.jsonl")]
    rows = [row for path in files for row in ResultStore(path).rows() if "cal" in row]
    return np.array([row["cal"] for row in rows if _counts(row["cell"]["problem"], task)], float)


def joined(tables: FloatArray) -> FloatArray:
    """The same tables with the bins of EDGES."""
    starts = [MASK_BINS.index(edge) for edge in EDGES[:-1]]
    return np.add.reduceat(tables, starts, axis=1)


def shares(tables: FloatArray) -> FloatArray:
    """Mean probability and share of informative columns (bins, 2) over all fits."""
    columns, informative, total = np.moveaxis(tables.sum(axis=0), -1, 0)
    known = np.where(columns > 0, columns, np.nan)
    return np.column_stack([total / known, informative / known])


def bands(tables: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Quantiles (2, bins) of the share over draws of whole fits: columns of a fit go together."""
    draws = [
        shares(tables[rng.integers(len(tables), size=len(tables))])[:, 1] for _ in range(DRAWS)
    ]
    quantiles: FloatArray = np.nanquantile(np.array(draws), [0.025, 0.975], axis=0)
    return quantiles


def _counts(problem: str, task: str) -> bool:
    return problem not in NOT_CALIBRATED and SETTINGS[problem].task == task


def _panel(axis: Any, task: str, tables: FloatArray) -> None:
    tables = joined(tables)
    said, true = shares(tables).T
    low, high = bands(tables, np.random.default_rng(0))
    axis.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=0)
    length = np.maximum([true - low, high - true], 0.0)
    axis.errorbar(said, true, yerr=length, fmt="o-", capsize=3, color="C0")
    for x, y, count in zip(said, true, tables[:, :, 0].sum(axis=0), strict=True):
        axis.annotate(f"{count:.0f}", (x, y), xytext=(5, -11), textcoords="offset points", size=7)
    title = {"regression": "numbers", "classification": "classes"}[task]
    axis.set(title=f"{title}, {len(tables)} fits", xlabel="mask probability")


if __name__ == "__main__":
    sys.exit(main())
