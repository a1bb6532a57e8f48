"""Pivoted Cholesky factors of many one-dimensional kernels at once, without any n x n matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.kernels import correlate

__all__ = ["CholeskyFactor", "pivoted_cholesky"]

_FIRST_CAPACITY: Final = 32
# A residual diagonal below this is rounding noise; a pivot taken from it would be meaningless.
_NOISE: Final = 1e-14


@dataclass(frozen=True)
class CholeskyFactor:
    """Low-rank factor of one column: ``rows.T @ rows`` is the kernel matrix up to ``residual``.

    Attributes
    ----------
    rows : (q, n) array
        The factor, one row per pivot, zero where the value is missing.
    pivots : (q,) array of int
        Positions of the pivots; ``rows[:, pivots]`` is upper triangular.
    residual : float
        Trace of the kernel matrix minus the trace of the factor's product, never negative.
    """

    rows: FloatArray
    pivots: IntArray
    residual: float


def pivoted_cholesky(
    values: FloatArray,
    counts: IntArray,
    lengths: FloatArray,
    *,
    kernel: str,
    tolerance: float,
    max_rank: int | None,
) -> list[CholeskyFactor]:
    """Factor the kernel matrices of all rows of ``values``, one column of the table per row.

    Parameters
    ----------
    values : (c, n) array
        Each row sorted, missing values last and replaced by any finite number.
    counts : (c,) array of int
        How many values of each row are present.
    lengths : (c,) array
        Kernel length per row.
    kernel : str
        A key of :data:`s2mam.bases.kernels.KERNELS`.
    tolerance : float
        A factor is complete when its residual trace is at most ``tolerance * count``.
    max_rank : int or None
        Upper limit on the number of pivots.

    Notes
    -----
    The loop runs over the rank, everything else is vectorised over columns. The first pivot is the
    median value, since the residual diagonal is constant there and its first maximum arbitrary.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0, 0.0, 1.0]])
    >>> one = np.ones(1)
    >>> [f] = pivoted_cholesky(
    ...     x, np.array([3]), one, kernel="gaussian", tolerance=1e-10, max_rank=None
    ... )
    >>> (f.rows.T @ f.rows).round(4)
    array([[1.    , 1.    , 0.6065],
           [1.    , 1.    , 0.6065],
           [0.6065, 0.6065, 1.    ]])
    """
    n_columns, n = values.shape
    present = np.arange(n) < counts[:, None]
    residual = present.astype(np.float64)
    limit = n if max_rank is None else min(n, max_rank)
    rows = np.empty((n_columns, min(limit, _FIRST_CAPACITY), n))
    pivots = np.zeros((n_columns, limit), dtype=np.intp)
    alive = np.arange(n_columns)  # which input column each entry of the batch belongs to
    done: dict[int, CholeskyFactor] = {}
    pivot = np.maximum(counts - 1, 0) // 2

    for rank in range(limit + 1):
        left = residual.sum(axis=1)
        finished = (left <= tolerance * counts) | (residual.max(axis=1, initial=0.0) <= _NOISE)
        if rank == limit:
            finished[:] = True
        for at in np.flatnonzero(finished):
            if int(alive[at]) not in done:
                factor = CholeskyFactor(
                    rows[at, :rank].copy(), pivots[at, :rank].copy(), float(left[at])
                )
                done[int(alive[at])] = factor
        if finished.all():
            break
        if 2 * np.count_nonzero(finished) > finished.size:  # stop carrying what is complete
            keep = ~finished
            values, counts, lengths = values[keep], counts[keep], lengths[keep]
            present, residual, rows = present[keep], residual[keep], rows[keep]
            pivots, alive, pivot = pivots[keep], alive[keep], pivot[keep]
        if rank == rows.shape[1]:
            rows = np.concatenate([rows, np.empty_like(rows)], axis=1)[:, :limit]
        if rank > 0:
            pivot = residual.argmax(axis=1)
        _append_row(rows, residual, rank, pivot, values, lengths, present, kernel)
        pivots[:, rank] = pivot
    return [done[column] for column in range(n_columns)]


def _append_row(
    rows: FloatArray,
    residual: FloatArray,
    rank: int,
    pivot: IntArray,
    values: FloatArray,
    lengths: FloatArray,
    present: np.ndarray,
    kernel: str,
) -> None:
    """Write row ``rank`` of every factor and take its squares off the residual diagonals."""
    batch = np.arange(values.shape[0])
    new = correlate(kernel, values, values[batch, pivot][:, None], lengths[:, None])
    if rank:
        old = rows[:, :rank]
        at_pivot = old[batch, :, pivot]
        new -= np.matmul(at_pivot[:, None, :], old)[:, 0]
    # A complete factor that still sits in the batch has no residual left: it gets a row of zeros.
    top = residual[batch, pivot]
    new *= np.where(top > _NOISE, 1.0 / np.sqrt(np.maximum(top, _NOISE)), 0.0)[:, None]
    new *= present
    rows[:, rank] = new
    np.multiply(new, new, out=new)
    residual -= new
    np.maximum(residual, 0.0, out=residual)
    residual[batch, pivot] = 0.0
