"""How things look: colours, dashes, lines and bars that stay readable in grey."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import MissingDependencyError
from s2mam.inspection.components import ComponentCurve
from s2mam.inspection.numbers import number

__all__ = [
    "COLORS",
    "DASHES",
    "GREY",
    "HATCHES",
    "MARKERS",
    "bare",
    "draw_bars",
    "draw_lines",
    "pyplot",
    "short_name",
]

# Okabe and Ito's colours, dark ones first; dashes, markers and hatches tell classes apart without.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo")
GREY = "#BBBBBB"
_RUG_ROWS = 500
_STRIP_BINS = 60
# Height of the density strip, as a share of the panel.
_STRIP = 0.045
_BAND_ALPHA = 0.18

Ends = tuple[FloatArray, FloatArray]


def pyplot() -> Any:
    """Matplotlib's pyplot, imported when first needed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError(
            "Pictures need matplotlib; install it with: pip install 's2mam[plot]'."
        ) from error
    return plt


def bare(axis: Any) -> None:
    """No frame above and to the right, small ticks."""
    axis.tick_params(labelsize="small")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def draw_lines(
    axis: Any,
    curve: ComponentCurve,
    values: FloatArray,
    labels: list[str],
    ends: Ends | None = None,
) -> None:
    """One line per class with its band, ticks and a strip where the rows are, marks if missing."""
    for k, label in enumerate(labels):
        look = {"color": COLORS[k % len(COLORS)], "linestyle": DASHES[k % len(DASHES)]}
        if ends is not None:
            low, high = ends[0][:, k], ends[1][:, k]
            axis.fill_between(
                curve.grid, low, high, color=look["color"], alpha=_BAND_ALPHA, linewidth=0
            )
            for end in (low, high):
                axis.plot(curve.grid, end, linewidth=0.6, alpha=0.7, **look)
        axis.plot(curve.grid, values[:, k], linewidth=1.8, label=label, **look)
    first, last = curve.usual_range
    near = curve.observed[(curve.observed >= first) & (curve.observed <= last)]
    _draw_strip(axis, near)
    _draw_rug(axis, near)
    if curve.n_beyond:
        _cut_view(axis, curve)
    if curve.n_missing:
        _draw_missing(axis, curve)


def draw_bars(
    axis: Any,
    curve: ComponentCurve,
    values: FloatArray,
    labels: list[str],
    ends: Ends | None = None,
) -> None:
    """One bar per category and class with the number of rows below; missing values come last."""
    counts = np.bincount(curve.observed.astype(np.intp), minlength=len(curve.grid)).tolist()
    names = [str(value) for value in curve.grid]
    if curve.n_missing:
        values = np.vstack([values, np.atleast_1d(curve.missing)])
        names, counts = [*names, "missing"], [*counts, curve.n_missing]
    at = np.arange(len(names))
    width = 0.8 / len(labels)
    for k, label in enumerate(labels):
        center = at + (k - (len(labels) - 1) / 2) * width
        axis.bar(
            center,
            values[:, k],
            width,
            color=COLORS[k % len(COLORS)],
            hatch=HATCHES[k % len(HATCHES)],
            edgecolor="white",
            linewidth=0,
            label=label,
        )
        if ends is not None:
            low, high = ends[0][:, k], ends[1][:, k]
            axis.vlines(center[: len(low)], low, high, color="black", linewidth=1.2)
            for end in (low, high):
                axis.plot(center[: len(end)], end, "_", color="black", markersize=5)
    _name_categories(axis, names, counts)


def short_name(name: str, width: int = 28) -> str:
    """A name that fits under a panel, on one line."""
    name = " ".join(name.split())
    return name if len(name) <= width else name[: width - 1] + "…"


def _draw_rug(axis: Any, observed: AnyArray) -> None:
    step = -(-len(observed) // _RUG_ROWS) or 1
    rows = np.sort(observed)[::step]
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


def _draw_strip(axis: Any, observed: AnyArray) -> None:
    """How many rows there are along the axis: the darker, the more."""
    if len(observed) < 2 or np.ptp(observed) == 0:
        return
    counts, edges = np.histogram(observed, bins=min(_STRIP_BINS, 2 + len(observed) // 4))
    axis.pcolormesh(
        edges,
        [0.012, 0.012 + _STRIP],
        counts[None, :],
        cmap="Greys",
        vmin=0,
        vmax=1.4 * counts.max(),
        transform=axis.get_xaxis_transform(),
        zorder=0.5,
        rasterized=True,
    )


def _cut_view(axis: Any, curve: ComponentCurve) -> None:
    """Show where nearly all rows are, and say how many lie beyond and how far."""
    low, high = curve.usual_range
    margin = 0.05 * (high - low)
    axis.set_xlim(low - margin, high + margin)
    for place, align, outside, arrow in (
        (0.01, "left", curve.observed[curve.observed < low], "← {}, from {}"),
        (0.99, "right", curve.observed[curve.observed > high], "{}, to {} →"),
    ):
        if len(outside):
            rows = f"{len(outside)} row" + ("" if len(outside) == 1 else "s")
            end = outside.min() if align == "left" else outside.max()
            axis.text(
                place,
                0.99,
                arrow.format(rows, number(end, 4)),
                fontsize="x-small",
                ha=align,
                va="top",
                transform=axis.transAxes,
            )


def _draw_missing(axis: Any, curve: ComponentCurve) -> None:
    """A mark beside the panel at what a missing value adds, and their number along it."""
    beside = axis.get_yaxis_transform()
    for k, level in enumerate(np.atleast_1d(curve.missing)):
        axis.plot(
            [1.05],
            [level],
            marker=MARKERS[k % len(MARKERS)],
            color=COLORS[k % len(COLORS)],
            markerfacecolor="white",
            markersize=6,
            linestyle="none",
            transform=beside,
            clip_on=False,
        )
    axis.text(
        1.09,
        0.5,
        f"missing: {curve.n_missing} rows",
        fontsize="x-small",
        rotation=90,
        ha="left",
        va="center",
        transform=axis.transAxes,
    )


def _name_categories(axis: Any, names: list[str], counts: list[int]) -> None:
    crowded = sum(max(len(name), 6) for name in names) > 34
    ticks = [
        f"{short_name(name, 16)} ({count})" if crowded else f"{short_name(name)}\n{count} rows"
        for name, count in zip(names, counts, strict=True)
    ]
    axis.set_xticks(np.arange(len(names)), ticks)
    if crowded:
        axis.tick_params(axis="x", labelrotation=45)
        for tick in axis.get_xticklabels():
            tick.set_horizontalalignment("right")
            tick.set_rotation_mode("anchor")
