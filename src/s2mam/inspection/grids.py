"""Tables whose columns run through chosen values, so that one call shows every component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from s2mam._typing import AnyArray
from s2mam.intake.columns import ColumnInfo, encode_categories
from s2mam.intake.frames import RawColumn

__all__ = ["column_grid", "grid_table", "observed_values", "usual_value"]


def column_grid(info: ColumnInfo, size: int) -> AnyArray:
    """Values of one column worth looking at.

    Parameters
    ----------
    info : ColumnInfo
        What is known of the column.
    size : int
        Number of values of a numeric column.

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
    return np.linspace(info.low, info.high, size)


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
