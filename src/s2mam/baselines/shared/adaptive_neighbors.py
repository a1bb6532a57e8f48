"""Graphs whose weights solve a small problem per row: probabilistic adaptive neighbours."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError

__all__ = [
    "adaptive_graph",
    "adaptive_penalties",
    "adaptive_weights",
    "row_distances",
    "squared_distances",
]


def adaptive_weights(squared_distances: FloatArray, k: int) -> FloatArray:
    """Return the k adaptive neighbour weights of each row.

    With the distances of a row sorted, d_1 <= d_2 <= ..., the weights are ``(d_{k+1} - d_j) /
    (k d_{k+1} - d_1 - ... - d_k)`` for the first k and zero for the others: the minimiser of
    ``sum_j d_j s_j + g s_j^2`` over the simplex, with the largest g that leaves k entries.

    Parameters
    ----------
    squared_distances : (m, n) array
        Distances to the candidates; infinity excludes one (a row's own entry).
    k : int
        Neighbours per row; at most the number of candidates minus one is used. A lone candidate
        gets all the weight, and k neighbours at the same distance share it.

    Returns
    -------
    (m, n) array
        Rows sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> adaptive_weights(np.array([[np.inf, 1.0, 2.0, 4.0]]), 2)
    array([[0. , 0.6, 0.4, 0. ]])
    """
    distances = np.asarray(squared_distances, dtype=np.float64)
    kept = _usable(distances, k)
    nearest = np.argpartition(distances, kept, axis=1)[:, : kept + 1]
    values = np.take_along_axis(distances, nearest, axis=1)
    farthest = values.max(axis=1, keepdims=True)  # d_{k+1}: its own weight comes out as zero
    gains = farthest - values
    total = gains.sum(axis=1, keepdims=True)
    # All k + 1 equally far (duplicate rows, or one candidate): no gain tells them apart.
    tied = total <= 1e-14 * np.maximum(farthest, np.finfo(np.float64).tiny)
    even = np.full_like(gains, 1.0 / max(kept, 1))
    if kept > 0:
        even[:, -1] = 0.0
    weights = np.zeros_like(distances)
    shares = np.where(tied, even, gains / np.where(tied, 1.0, total))
    np.put_along_axis(weights, nearest, shares, axis=1)
    return weights


def adaptive_penalties(squared_distances: FloatArray, k: int) -> FloatArray:
    """Return the g of each row in the problem that :func:`adaptive_weights` solves.

    Examples
    --------
    >>> import numpy as np
    >>> adaptive_penalties(np.array([[np.inf, 1.0, 2.0, 4.0]]), 2)
    array([2.5])
    """
    kept = _usable(squared_distances, k)
    values = np.partition(squared_distances, kept, axis=1)[:, : kept + 1]
    penalties: FloatArray = (values[:, -1:] - values).sum(axis=1) / 2.0
    return penalties


def _usable(distances: FloatArray, k: int) -> int:
    """Neighbours per row that all rows can have, one candidate beyond them left over."""
    if k < 1:
        raise InvalidInputError(f"k={k} must be at least 1.")
    candidates = int(np.isfinite(distances).sum(axis=1).min(initial=distances.shape[1]))
    if candidates < 1:
        raise InvalidInputError(
            f"A row has no neighbour to connect to (n_samples={distances.shape[1]}); pass at "
            "least two rows."
        )
    return min(k, candidates - 1)


def adaptive_graph(table: FloatArray, k: int) -> FloatArray:
    """Return the symmetric adaptive neighbour graph of the rows of a table.

    Parameters
    ----------
    table : (n, q) array
        Rows.
    k : int
        Neighbours per row.

    Returns
    -------
    (n, n) array
        Non-negative with a zero diagonal; ``(S + S') / 2`` of :func:`adaptive_weights`.

    Examples
    --------
    >>> import numpy as np
    >>> adaptive_graph(np.array([[0.0], [1.0], [5.0]]), 1)
    array([[0. , 1. , 0. ],
           [1. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    weights = adaptive_weights(row_distances(table), k)
    return (weights + weights.T) / 2.0


def squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the (m, n) squared Euclidean distances between the rows of two tables.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0], [2.0]]), np.array([[3.0]]))
    array([[9.],
           [1.]])
    """
    # Products of centred rows: one matrix product, without the cancellation of a far origin.
    center = right.mean(axis=0)
    a, b = left - center, right - center
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2.0 * (a @ b.T)
    result: FloatArray = np.maximum(squares, 0.0)
    return result


def row_distances(table: FloatArray) -> FloatArray:
    """Return the (n, n) squared distances within a table, infinite on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> row_distances(np.array([[0.0], [2.0]]))
    array([[inf,  4.],
           [ 4., inf]])
    """
    distances = squared_distances(table, table)
    np.fill_diagonal(distances, np.inf)
    return distances
