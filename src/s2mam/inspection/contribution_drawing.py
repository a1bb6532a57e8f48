"""Waterfalls and strips of contributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.inspection.drawing import COLORS, GREY, bare
from s2mam.inspection.numbers import alike

__all__ = ["draw_strips", "draw_waterfall"]


def draw_waterfall(axis: Any, labels: list[str], steps: FloatArray, start: float) -> None:
    """Bars from the intercept (top) to the decision (bottom).

    Parameters
    ----------
    axis : matplotlib Axes
        Where to draw.
    labels : list of str
        One per step.
    steps : ndarray
        What each adds.
    start : float
        The intercept.
    """
    ends = start + np.cumsum(steps)
    begins = np.concatenate([[start], ends[:-1]])
    at = np.arange(len(steps))
    # Colour and hatch say the sign, and so does the number beside the bar.
    for up, color, hatch in ((True, COLORS[0], ""), (False, COLORS[1], "///")):
        chosen = (steps >= 0) == up
        axis.barh(
            at[chosen],
            steps[chosen],
            left=begins[chosen],
            height=0.7,
            color=color,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
        )
    for k in range(len(steps)):
        axis.plot([ends[k]] * 2, [k - 0.35, k + 1.35 - (k == len(steps) - 1)], color="0.4", lw=0.8)
    decision = float(ends[-1]) if len(steps) else start
    axis.axvline(start, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
    span = float(np.ptp(np.concatenate([[start], ends]))) or 1.0
    texts = alike([start, decision, *steps.tolist()])
    for k, step in enumerate(steps):
        right = max(begins[k], ends[k]) + 0.015 * span
        axis.text(
            right, k, ("+" if step >= 0 else "") + texts[k + 2], va="center", fontsize="x-small"
        )
    axis.set_yticks(
        [-1, *at, len(steps)],
        [f"intercept  {texts[0]}", *labels, f"decision  {texts[1]}"],
        fontsize="small",
    )
    axis.plot([start], [-1], "o", color="black", markersize=5)
    axis.plot([decision], [len(steps)], "D", color="black", markersize=6)
    axis.set_ylim(len(steps) + 0.6, -1.6)
    low, high = (
        min(start, float(ends.min(initial=start))),
        max(start, float(ends.max(initial=start))),
    )
    axis.set_xlim(low - 0.06 * span, high + 0.12 * span)
    bare(axis)


def draw_strips(
    axis: Any, labels: list[str], lines: FloatArray, start: float, quantity: str
) -> None:
    """One strip of colour per line, rows sorted by their decision, which is drawn above.

    Parameters
    ----------
    axis : matplotlib Axes
        Where to draw.
    labels : list of str
        One per line.
    lines : ndarray of shape (lines, rows)
        What each line adds to each row.
    start : float
        The intercept.
    quantity : str
        Name of the decision.
    """
    decision = start + lines.sum(axis=0)
    order = np.argsort(decision, kind="stable")
    reach = float(np.abs(lines).max()) or 1.0
    image = axis.imshow(
        lines[:, order],
        aspect="auto",
        # From dark to light, so that the sign can be read in grey too.
        cmap="cividis",
        vmin=-reach,
        vmax=reach,
        interpolation="nearest",
    )
    axis.set_yticks(np.arange(len(labels)), labels, fontsize="small")
    axis.tick_params(axis="x", labelsize="small")
    bar = axis.figure.colorbar(image, ax=axis, pad=0.015, fraction=0.04)
    bar.ax.tick_params(labelsize="x-small")
    bar.ax.set_title("adds", fontsize="x-small", pad=3)
    above = axis.inset_axes((0.0, 1.03, 1.0, 0.28), sharex=axis)
    above.plot(np.arange(order.size), decision[order], color="black", linewidth=1.4)
    above.axhline(start, color=GREY, linewidth=0.8, linestyle="--")
    # Inside the panel: a title above it would be cut off at the edge of the figure.
    above.text(0.01, 0.95, quantity, fontsize="x-small", va="top", transform=above.transAxes)
    above.tick_params(labelbottom=False, labelsize="x-small")
    bare(above)
