"""Landmark features of single columns: the kernel seen from a few of its values.

Quantiles of a column are its landmarks. What the kernel says about all rows is what it says about
them, to an error that falls faster than any power of their number; the pivoted factor of
:mod:`s2mam.bases.cholesky` chooses its landmarks one after the other and stops at a tolerance, here
their number is fixed and all columns are done in one go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.block import ColumnFactor
from s2mam.bases.kernels import correlate

__all__ = ["N_LANDMARKS", "column_landmarks", "nystrom_factors"]

#: Landmarks of a column.
N_LANDMARKS: Final = 32
# Directions of the landmarks below this share of the largest are rounding.
_NOISE: Final = 1e-12


def column_landmarks(values: FloatArray, count: int) -> FloatArray:
    """Distinct values of one sorted column: half by quantiles, half evenly over its range.

    Quantiles alone leave the tails of a column to chance.

    Examples
    --------
    >>> column_landmarks(np.array([0.0, 0.0, 1.0]), 8)
    array([0., 1.])
    >>> column_landmarks(np.arange(100.0), 4)
    array([ 0., 33., 66., 99.])
    """
    distinct = np.unique(values)
    if distinct.size <= count:
        return distinct
    half = count // 2
    by_rank = values[np.rint(np.linspace(0, values.size - 1, count - half)).astype(np.intp)]
    even = np.linspace(distinct[0], distinct[-1], half + 2)[1:-1]
    nearest = np.clip(np.searchsorted(distinct, even), 1, distinct.size - 1)
    left = even - distinct[nearest - 1] < distinct[nearest] - even
    return np.unique(np.concatenate([by_rank, distinct[nearest - left]]))


def nystrom_factors(
    values: FloatArray,
    counts: IntArray,
    lengths: FloatArray,
    *,
    kernel: str,
    n_landmarks: int = N_LANDMARKS,
) -> list[ColumnFactor]:
    """Landmark features of columns given as rows of ``values``.

    Parameters
    ----------
    values : (c, n) array
        Sorted, present values first, any finite number after them.
    counts : (c,) array of int
        How many values are present.
    lengths : (c,) array
        Kernel lengths.
    kernel : str
        A key of :data:`s2mam.bases.kernels.KERNELS`.
    n_landmarks : int
        Most landmarks of a column.

    Examples
    --------
    >>> x = np.linspace(-2.0, 2.0, 60)[None]
    >>> [factor] = nystrom_factors(x, np.array([60]), np.ones(1), kernel="gaussian")
    >>> exact = np.exp(-0.5 * (x - x.T) ** 2)
    >>> bool(np.abs(factor.rows.T @ factor.rows - exact).max() < 1e-9)
    True
    """
    factors = []
    for at, count in enumerate(counts):
        landmarks = column_landmarks(values[at, :count], n_landmarks)
        length = lengths[at : at + 1]
        among = correlate(kernel, landmarks[:, None], landmarks, length)
        spread, axes = np.linalg.eigh(among) if landmarks.size else (np.empty(0), among)
        kept = spread > _NOISE * spread.max(initial=0.0)
        turn = axes[:, kept] / np.sqrt(spread[kept])
        rows = turn.T @ correlate(kernel, landmarks[:, None], values[at], length)
        rows[:, count:] = 0.0
        residual = max(0.0, float(count - np.einsum("ij,ij->", rows, rows)))
        factors.append(ColumnFactor(rows, landmarks, _turned_by(turn), residual))
    return factors


def _turned_by(turn: FloatArray) -> Callable[[FloatArray], FloatArray]:
    def back(vectors: FloatArray) -> FloatArray:
        product: FloatArray = turn @ vectors
        return product

    return back
