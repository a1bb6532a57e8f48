"""What one column of the table becomes: a block of features and the recipe to evaluate it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from s2mam._typing import FloatArray

__all__ = ["Block", "ColumnFactor", "empty_block", "leading", "principal_directions"]


@dataclass(frozen=True)
class Block:
    """Features of one column on the training rows and the way to compute them elsewhere.

    With q pivots and rank r, the features of a value z are
    ``k(z, pivots) @ transform + z * slope - shift``.

    Attributes
    ----------
    rows : (r, n) array
        Features of the training rows, transposed.
    pivots : (q,) array
        Values the kernel is compared with: Cholesky pivots, landmarks, or the levels of a
        categorical column; frequencies of the waves in a Fourier basis.
    transform : (q, r) array
        From kernel values to features.
    slope, shift : (r,) arrays
        The linear kernel's share, and what centring takes off.
    spectrum : (r,) array
        Squared norms of the features, largest first: eigenvalues of the (centred) kernel matrix.
    residual : float
        Upper bound on the trace of the kernel matrix that the block leaves out.
    """

    rows: FloatArray
    pivots: FloatArray
    transform: FloatArray
    slope: FloatArray
    shift: FloatArray
    spectrum: FloatArray
    residual: float


@dataclass(frozen=True)
class ColumnFactor:
    """Thin factor of one column's kernel matrix, before it is centred and turned.

    Attributes
    ----------
    rows : (q, n) array
        ``rows.T @ rows`` is the kernel matrix, or what stands for it; zero where missing.
    pivots : array
        Values that the kernel is compared with, or frequencies of waves.
    back : callable
        From directions (q, r) of the factor to the transform that gives ``k(z, pivots) @
        transform`` along them.
    residual : float
        Trace of the kernel matrix that the factor leaves out.
    """

    rows: FloatArray
    pivots: FloatArray
    back: Callable[[FloatArray], FloatArray]
    residual: float


def empty_block(n: int) -> Block:
    """Return the block of rank zero that a column without information gets.

    Examples
    --------
    >>> empty_block(3).rows.shape
    (0, 3)
    """
    nothing = np.empty(0)
    return Block(np.empty((0, n)), nothing, np.empty((0, 0)), nothing, nothing, nothing, 0.0)


def principal_directions(
    gram: FloatArray, *, budget: float, max_rank: int | None
) -> tuple[FloatArray, float]:
    """Return the leading eigenvectors of ``gram`` and the sum of the eigenvalues left out.

    Examples
    --------
    >>> import numpy as np
    >>> vectors, lost = principal_directions(np.diag([1.0, 4.0, 1e-9]), budget=1e-6, max_rank=None)
    >>> vectors.astype(int).tolist(), lost
    ([[0, 1], [1, 0], [0, 0]], 1e-09)
    """
    values, vectors = np.linalg.eigh(gram)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    return leading(values, vectors, noise=1e-14, budget=budget, max_rank=max_rank)


def leading(
    values: FloatArray, vectors: FloatArray, *, noise: float, budget: float, max_rank: int | None
) -> tuple[FloatArray, float]:
    """Return the first of the sorted directions and the sum of the values left out.

    As many trailing directions are dropped as fit in ``budget``; those below ``noise`` times the
    largest go in any case. Signs are fixed so that each vector's largest entry is positive.

    Examples
    --------
    >>> import numpy as np
    >>> leading(np.array([4.0, 1.0]), -np.eye(2), noise=1e-14, budget=0.0, max_rank=1)
    (array([[1.], [0.]]), 1.0)
    """
    rank = int(np.count_nonzero(values > noise * values[0]))
    tail = np.append(np.cumsum(values[::-1])[::-1], 0.0)  # tail[r] is lost when r are kept
    rank = min(rank, int(np.argmax(tail <= max(budget, 0.0))))
    if max_rank is not None:
        rank = min(rank, max_rank)
    kept = vectors[:, :rank]
    largest = np.take_along_axis(kept, np.abs(kept).argmax(axis=0)[None, :], axis=0)
    return np.where(largest < 0.0, -kept, kept), float(tail[rank])
