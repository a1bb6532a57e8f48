"""How things look: colours, dashes, lines and bars that stay readable in grey."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.exceptions import MissingDependencyError
from s2mam.inspection.components import ComponentCurve

__all__ = ["COLORS", "GREY", "draw_bars", "draw_lines", "pyplot", "short_name"]

# Okabe and Ito's colours, dark ones first; the dashes tell the lines apart without colour.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
GREY = "#BBBBBB"
_RUG_ROWS = 500


def pyplot() -> Any:
    """Matplotlib's pyplot, imported when first needed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError(
            "Pictures need matplotlib; install it with: pip install 's2mam[plot]'."
        ) from error
    return plt


def draw_lines(axis: Any, curve: ComponentCurve, values: FloatArray, labels: list[str]) -> None:
    """One line per class, and ticks where the rows are."""
    for k, label in enumerate(labels):
        axis.plot(
            curve.grid,
            values[:, k],
            color=COLORS[k % len(COLORS)],
            linestyle=DASHES[k % len(DASHES)],
            linewidth=1.8,
            label=label,
        )
    step = -(-len(curve.observed) // _RUG_ROWS) or 1
    rows = np.sort(curve.observed)[::step]
    # Ticks stand on the axis whatever the scale of the curves.
    axis.plot(
        rows,
        np.zeros(len(rows)),
        "|",
        color="black",
        alpha=0.4,
        markersize=5,
        transform=axis.get_xaxis_transform(),
        clip_on=False,
    )


def draw_bars(axis: Any, curve: ComponentCurve, values: FloatArray, labels: list[str]) -> None:
    """One bar per category and class, with the number of rows below."""
    at = np.arange(len(curve.grid))
    width = 0.8 / len(labels)
    hatches = ("", "//", "..", "xx", "\\\\", "++", "oo")
    for k, label in enumerate(labels):
        axis.bar(
            at + (k - (len(labels) - 1) / 2) * width,
            values[:, k],
            width,
            color=COLORS[k % len(COLORS)],
            hatch=hatches[k % len(hatches)],
            edgecolor="white",
            linewidth=0,
            label=label,
        )
    counts = np.bincount(curve.observed.astype(np.intp), minlength=len(curve.grid))
    ticks = [
        f"{short_name(str(value))}\n{count} rows"
        for value, count in zip(curve.grid, counts, strict=True)
    ]
    axis.set_xticks(at, ticks)


def short_name(name: str, width: int = 28) -> str:
    """A name that fits under a panel."""
    return name if len(name) <= width else name[: width - 1] + "…"
