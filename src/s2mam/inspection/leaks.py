"""Columns that are no measurements: copies of the target, known only with it, row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray

__all__ = ["counts_rows", "filled_with_target", "repeats_target"]

# With fewer labels than this, chance alone can make a column repeat the target.
_ENOUGH = 10
_SAME = 0.9999


def repeats_target(values: FloatArray, labeled: BoolArray, y: Any) -> list[int]:
    """Columns that say the same as the target in every labelled row.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Numbers, or codes of categories; NaN where missing.
    labeled : ndarray of bool, shape (n,)
        Rows with a label.
    y : ndarray of shape (l,)
        Their labels: codes of classes (integers) or numbers.

    Returns
    -------
    list of int
        One-to-one with the classes, or on a straight line with the numbers.

    Examples
    --------
    >>> y = np.arange(12) % 2
    >>> values = np.column_stack([np.arange(12.0), 5.0 - 3.0 * y])
    >>> repeats_target(values, np.ones(12, dtype=bool), y)
    [1]
    """
    if len(y) < _ENOUGH or np.ptp(y) == 0:
        return []
    known = values[labeled]
    same = _same_classes if np.issubdtype(np.asarray(y).dtype, np.integer) else _same_numbers
    return [j for j in range(known.shape[1]) if same(known[:, j], y)]


def filled_with_target(values: FloatArray, labeled: BoolArray) -> list[int]:
    """Columns that are filled in the labelled rows and in no others.

    Parameters
    ----------
    values, labeled
        See :func:`repeats_target`.

    Returns
    -------
    list of int
        Such a column is often known only together with the target, and is of no use without it.

    Examples
    --------
    >>> labeled = np.arange(20) < 10
    >>> values = np.where(labeled, 1.0, np.nan)[:, None]
    >>> filled_with_target(values, labeled)
    [0]
    """
    if labeled.all() or labeled.sum() < _ENOUGH:
        return []
    filled = ~np.isnan(values)
    # A cell or two may be missing where the target is known; none is there where it is not.
    often = filled[labeled].mean(axis=0) >= 0.9
    return np.flatnonzero(often & ~filled[~labeled].any(axis=0)).tolist()


def counts_rows(values: FloatArray) -> list[int]:
    """Columns of whole numbers that go up or down by the same step from row to row.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Numbers, NaN where missing.

    Returns
    -------
    list of int

    Examples
    --------
    >>> counts_rows(np.array([[7.0, 1.0], [8.0, 2.0], [9.0, 2.0]]))
    [0]
    """
    if len(values) < 3:
        return []
    steps = np.diff(values, axis=0)
    even = (steps == steps[0]).all(axis=0) & (steps[0] != 0.0) & (values[0] % 1.0 == 0.0)
    return np.flatnonzero(even & (steps[0] % 1.0 == 0.0)).tolist()


def _same_classes(column: FloatArray, codes: Any) -> bool:
    if np.isnan(column).any():
        return False
    pairs = np.unique(np.column_stack([column, codes]), axis=0)
    return len(pairs) == len(np.unique(column)) == len(np.unique(codes))


def _same_numbers(column: FloatArray, y: Any) -> bool:
    there = ~np.isnan(column)
    if there.sum() < max(_ENOUGH, 0.9 * len(y)) or np.ptp(column[there]) == 0:
        return False
    if len(np.unique(y[there])) < 3:
        return False
    return bool(abs(np.corrcoef(column[there], y[there])[0, 1]) > _SAME)
