"""Rows as points: labelled ones large and marked by class, unlabelled ones small and grey."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import AnyArray, BoolArray
from s2mam.inspection.drawing import COLORS, MARKERS
from s2mam.inspection.surface_values import RowPositions

__all__ = ["draw_rows"]


def draw_rows(
    axis: Any, rows: RowPositions, classes: AnyArray | None, *, legend: bool = True
) -> None:
    """Scatter the rows on two or three columns.

    Parameters
    ----------
    axis : matplotlib Axes
        With as many dimensions as the rows have columns.
    rows : RowPositions
        The rows; those with a missing value are left out.
    classes : ndarray or None
        Classes of a classifier; labels of a regression are not shown, their rows are.
    legend : bool
        Whether to say what the marks mean.
    """
    shown: BoolArray = ~np.isnan(rows.positions.sum(axis=1))
    plain = shown & ~rows.labeled
    solid = {} if rows.positions.shape[1] == 2 else {"depthshade": False}
    axis.scatter(
        *rows.positions[plain].T,
        s=9,
        color="0.3",
        marker="o",
        linewidth=0,
        zorder=3,
        label="unlabelled" if rows.labels is not None else "rows",
        **solid,
    )
    if rows.labels is not None:
        labeled = rows.positions[rows.labeled]
        kept = shown[rows.labeled]
        groups = [(0, kept, "labelled")]
        if classes is not None:
            groups = [(k, kept & (rows.labels == k), str(label)) for k, label in enumerate(classes)]
        for k, members, name in groups:
            axis.scatter(
                *labeled[members].T,
                s=55,
                marker=MARKERS[k % len(MARKERS)],
                color=COLORS[k % len(COLORS)],
                edgecolor="black",
                linewidth=0.8,
                zorder=4,
                label=name,
                **solid,
            )
    if legend:
        axis.legend(
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=4,
            frameon=False,
            fontsize="small",
            handletextpad=0.2,
        )
