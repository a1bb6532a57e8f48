"""Tables whose columns run through chosen values, so that one call shows every component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from s2mam._typing import AnyArray
from s2mam.intake.columns import ColumnInfo, encode_categories
from s2mam.intake.frames import RawColumn

__all__ = ["column_grid", "grid_table", "observed_values", "usual_range", "usual_value"]

# Of a grid with far-out values, the share of points that stays where nearly all rows are.
_INSIDE = 0.8
# A range is cut only where the picture gains at least this much room for the rest.
_WORTH_CUTTING = 2.0


def column_grid(info: ColumnInfo, size: int, usual: tuple[float, float] | None = None) -> AnyArray:
    """Values of one column worth looking at.

    Parameters
    ----------
    info : ColumnInfo
        What is known of the column.
    size : int
        Number of values of a numeric column.
    usual : tuple of (float, float), optional
        Where nearly all rows are, see :func:`usual_range`: most values of the grid lie there.

    Returns
    -------
    ndarray of shape (g,)
        Evenly spaced numbers, or the categories; empty when all values are missing.

    Examples
    --------
    >>> column_grid(ColumnInfo("age", "numeric", low=20.0, high=80.0), 4)
    array([20., 40., 60., 80.])
    """
    if info.categories is not None:
        return np.array(info.categories, dtype=object)
    if np.isnan(info.low):
        return np.empty(0)  # nothing but missing values
    if info.kind == "constant":
        return np.array([info.low])
    low, high = (info.low, info.high) if usual is None else usual
    below, above = low - info.low, info.high - high
    if below + above <= 0.0 or size < 10:
        return np.linspace(info.low, info.high, size)
    outside = size - int(_INSIDE * size)
    left = round(outside * below / (below + above))
    parts = [
        np.linspace(info.low, low, left, endpoint=False),
        np.linspace(low, high, size - outside),
        np.linspace(info.high, high, outside - left, endpoint=False)[::-1],
    ]
    return np.unique(np.concatenate(parts))


def usual_range(values: AnyArray) -> tuple[float, float]:
    """Where nearly all numbers are: a picture of the rest is empty but for a few far-out ones.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers without missing ones, at least one.

    Returns
    -------
    tuple of (float, float)
        Smallest and largest number, unless a few of them stretch the range to more than twice
        the middle nine tenths with as much again to both sides.

    Examples
    --------
    >>> usual_range(np.arange(100.0))
    (0.0, 99.0)
    >>> usual_range(np.append(np.arange(100.0), 9000.0))
    (0.0, 185.0)
    """
    least, most = float(np.min(values)), float(np.max(values))
    low, high = (float(end) for end in np.quantile(values, [0.05, 0.95]))
    width = high - low
    low, high = max(least, low - width), min(most, high + width)
    if width == 0.0 or most - least < _WORTH_CUTTING * (high - low):
        return least, most
    return low, high


def grid_table(X: Any, grids: Sequence[AnyArray], size: int) -> Any:
    """A table like X whose columns run through their grids; the last row is missing throughout.

    Parameters
    ----------
    X : array-like or dataframe with p columns
        Says the library and the names.
    grids : sequence of p arrays
        Values of each column; longer ones are cut, shorter ones repeat their first value.
    size : int
        Number of rows, the last one included.

    Returns
    -------
    ndarray or dataframe of the library of X
    """
    padded = [_pad(np.asarray(values), size) for values in grids]
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        if all(isinstance(name, str) for name in frame.columns):
            data = {
                name: column.tolist() for name, column in zip(frame.columns, padded, strict=True)
            }
            return nw.from_dict(data, backend=frame.implementation).to_native()
    if all(column.dtype.kind == "f" for column in padded):
        return np.column_stack(padded)
    table = np.empty((size, len(padded)), dtype=object)
    for j, column in enumerate(padded):
        table[:, j] = column
    return table


def observed_values(X: Any, j: int, info: ColumnInfo) -> AnyArray:
    """Values of one column; positions in the grid for categories, NaN where missing.

    Parameters
    ----------
    X : array-like or dataframe
        The rows.
    j : int
        Position of the column.
    info : ColumnInfo
        What is known of it.

    Returns
    -------
    ndarray of shape (n,)
    """
    if nw.dependencies.is_into_dataframe(X):
        values = np.asarray(nw.from_native(X, eager_only=True)[:, int(j)].to_numpy())
    else:
        values = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)[:, j]
    column = RawColumn(info.name, values)
    if info.categories is None:
        return column.numbers()
    return encode_categories(column, info.categories)


def usual_value(X: Any, j: int, info: ColumnInfo) -> AnyArray:
    """Median of a numeric column, most frequent category of another, as a grid of one value.

    Parameters
    ----------
    X, j, info
        See :func:`observed_values`.

    Returns
    -------
    ndarray of shape (1,), or (0,) when all values are missing
    """
    values = observed_values(X, j, info)
    values = values[~np.isnan(values)]
    if not len(values):
        return np.empty(0)
    if info.categories is None:
        return np.array([np.median(values)])
    counts = np.bincount(values.astype(np.intp), minlength=len(info.categories))
    return np.array([info.categories[int(counts.argmax())]], dtype=object)


def _pad(values: AnyArray, size: int) -> AnyArray:
    missing = None if values.dtype.kind == "O" else np.nan
    column = np.full(size, missing, dtype=values.dtype if values.dtype.kind in "fO" else np.float64)
    if len(values):
        kept = values[: size - 1]
        column[: len(kept)] = kept
        # Rows between the end of a short grid and the last one are not read.
        column[len(kept) : -1] = values[0]
    return column
