"""Fitted columns as JSON values and numeric arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.exceptions import ModelFileError
from s2mam.intake.columns import ColumnInfo


def pack_columns(columns: list[ColumnInfo]) -> dict[str, Any]:
    """Flatten columns into values that need no pickle.

    Parameters
    ----------
    columns : list of ColumnInfo
        From a fitted reader.

    Returns
    -------
    dict
        Lists and dicts of JSON values, and one-dimensional arrays.

    Examples
    --------
    >>> state = pack_columns([ColumnInfo("x0", "numeric", center=2.0)])
    >>> unpack_columns(state)[0].center
    2.0
    """
    tables = [
        (np.empty(0), np.empty(0)) if column.knots is None else (column.knots, column.scores)
        for column in columns
    ]
    return {
        "names": [column.name for column in columns],
        "kinds": [column.kind for column in columns],
        "categories": [
            None if column.categories is None else list(column.categories) for column in columns
        ],
        "n_missing": [column.n_missing for column in columns],
        "center": np.array([column.center for column in columns]),
        "spread": np.array([column.scale for column in columns]),
        "low": np.array([column.low for column in columns]),
        "high": np.array([column.high for column in columns]),
        "knot_offsets": np.cumsum([0] + [len(knots) for knots, _ in tables]),
        "knots": np.concatenate([knots for knots, _ in tables]),
        "scores": np.concatenate([scores for _, scores in tables]),
    }


def unpack_columns(state: dict[str, Any]) -> list[ColumnInfo]:
    """Inverse of `pack_columns`.

    Parameters
    ----------
    state : dict
        From `pack_columns`, possibly written and read in between.

    Returns
    -------
    list of ColumnInfo
    """
    missing = {"names", "kinds", "categories", "center", "spread", "knots"} - state.keys()
    if missing:
        raise ModelFileError(f"The stored columns lack {sorted(missing)}; the file is damaged.")
    return [_unpack_column(state, j) for j in range(len(state["names"]))]


def _unpack_column(state: dict[str, Any], j: int) -> ColumnInfo:
    categories = state["categories"][j]
    start, stop = int(state["knot_offsets"][j]), int(state["knot_offsets"][j + 1])
    knots: FloatArray | None = None
    scores: FloatArray | None = None
    if stop > start:
        knots = np.asarray(state["knots"][start:stop], dtype=np.float64)
        scores = np.asarray(state["scores"][start:stop], dtype=np.float64)
    return ColumnInfo(
        name=str(state["names"][j]),
        kind=state["kinds"][j],
        center=float(state["center"][j]),
        scale=float(state["spread"][j]),
        categories=None if categories is None else tuple(categories),
        knots=knots,
        scores=scores,
        low=float(state["low"][j]),
        high=float(state["high"][j]),
        n_missing=int(state["n_missing"][j]),
    )
