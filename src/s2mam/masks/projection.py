"""Exact projection onto the budget set {0 <= s <= 1, sum s <= C}."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError

__all__ = ["budget_shift", "project_budget", "project_budgets"]


def project_budget(z: ArrayLike, budget: float) -> FloatArray:
    """Return the point of {0 <= s <= 1, sum s <= budget} that is nearest to ``z``.

    Parameters
    ----------
    z : (p,) array
        Any finite numbers.
    budget : float
        C, not negative. From p on only the box binds.

    Returns
    -------
    (p,) array
        ``clip(z - v, 0, 1)`` with the shift v of :func:`budget_shift`.

    Examples
    --------
    >>> project_budget([1.5, 0.8, 0.3, -0.2], 1.5)
    array([1. , 0.5, 0. , 0. ])
    """
    point = _read(z, budget)
    return np.clip(point - budget_shift(point, budget), 0.0, 1.0)


def budget_shift(z: ArrayLike, budget: float) -> float:
    """Return the smallest v >= 0 with ``sum clip(z - v, 0, 1) <= budget``.

    The sum falls piecewise linearly in v and bends only at the numbers z_i and z_i - 1. A binary
    search over the sorted breakpoints, each probe one sum, finds the linear piece that crosses
    the budget; there v solves one equation. O(p log p), no tolerance.

    Examples
    --------
    >>> budget_shift([2.0, 2.0, 0.1], 1.0)
    1.5
    """
    point = _read(z, budget)
    return float(_shifts(point[None], np.array([budget], dtype=np.float64))[0])


def project_budgets(z: FloatArray, budgets: FloatArray) -> FloatArray:
    """:func:`project_budget` of each row, with a budget each.

    Parameters
    ----------
    z : (b, p) array
        Finite numbers.
    budgets : (b,) array
        Not negative.

    Returns
    -------
    (b, p) array

    Examples
    --------
    >>> import numpy as np
    >>> project_budgets(np.array([[1.5, 0.8, 0.3], [0.5, 0.2, 0.1]]), np.array([1.5, 1.0]))
    array([[1. , 0.5, 0. ],
           [0.5, 0.2, 0.1]])
    """
    return np.clip(z - _shifts(z, budgets)[:, None], 0.0, 1.0)


def _shifts(z: FloatArray, budgets: FloatArray) -> FloatArray:
    """:func:`budget_shift` of each row of ``z``."""
    shifts: FloatArray = np.zeros(len(z))
    over = np.flatnonzero(np.clip(z, 0.0, 1.0).sum(axis=1) > budgets)
    if over.size == 0:
        return shifts
    point, budget = z[over], budgets[over, None]
    # Negative breakpoints are of no use: they become zeros, where the budget is exceeded.
    sides = np.hstack([np.zeros((over.size, 1)), point, point - 1.0])
    breakpoints = np.sort(np.maximum(sides, 0.0), axis=1)
    low = np.zeros((over.size, 1), dtype=np.intp)  # spent(low) > budget >= spent(high) = 0
    high = np.full_like(low, breakpoints.shape[1] - 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        shift = np.take_along_axis(breakpoints, middle, axis=1)
        spent = np.clip(point - shift, 0.0, 1.0).sum(axis=1, keepdims=True)
        low, high = np.where(spent > budget, middle, low), np.where(spent > budget, high, middle)
    left, right = (np.take_along_axis(breakpoints, at, axis=1) for at in (low, high))
    full = point - 1.0 >= right
    # At least one entry is partial: otherwise the sum could not fall between left and right.
    partial = (point > left) & ~full
    total = np.where(partial, point, 0.0).sum(axis=1, keepdims=True)
    shift = (total + full.sum(axis=1, keepdims=True) - budget) / partial.sum(axis=1, keepdims=True)
    shifts[over] = np.clip(shift, left, right)[:, 0]
    return shifts


def _read(z: ArrayLike, budget: float) -> FloatArray:
    point = np.asarray(z, dtype=np.float64)
    if point.ndim != 1 or not np.isfinite(point).all():
        raise InvalidInputError(
            f"z has shape {point.shape}; the projection needs a vector of finite numbers."
        )
    if not budget >= 0.0:
        raise InvalidInputError(f"budget={budget} must not be negative.")
    return point
