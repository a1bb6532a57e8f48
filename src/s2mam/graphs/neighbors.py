"""The sparse graph: heat weights to the nearest rows only."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from s2mam._typing import FloatArray, IntArray
from s2mam.graphs.distances import MaskedRows

__all__ = ["nearest_rows", "neighbor_weights"]


def nearest_rows(rows: MaskedRows, n_neighbors: int) -> tuple[FloatArray, IntArray]:
    """Return squared distances and indices of each row's nearest other rows, nearest first.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.graphs.distances import mask_rows
    >>> rows = mask_rows(np.array([[0.0], [1.0], [3.0]]), np.ones(1), ("numeric",))
    >>> squared, index = nearest_rows(rows, 1)
    >>> squared.ravel(), index.ravel()
    (array([1., 1., 4.]), array([1, 0, 1]))
    """
    # d^2 + extra_k is a plain squared distance to a point with one more coordinate; extra_i is the
    # same for all candidates of row i, so it is added afterwards.
    stored = np.column_stack([rows.points, np.sqrt(rows.extra)])
    asking = np.column_stack([rows.points, np.zeros(rows.n)])
    search = NearestNeighbors(n_neighbors=n_neighbors + 1, algorithm="brute").fit(stored)
    distance, index = search.kneighbors(asking)
    # A row need not come first among its equals, nor at all: remove it by index, else the last.
    own = index == np.arange(rows.n)[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (rows.n, n_neighbors)
    squared = distance[~own].reshape(shape) ** 2 + rows.extra[:, None]
    return squared, index[~own].reshape(shape).astype(np.intp)


def neighbor_weights(
    rows: MaskedRows, n_neighbors: int, bandwidth: float | None
) -> tuple[sparse.csr_array, float]:
    """Return the symmetric sparse weights and the bandwidth used.

    Rows i and k share an edge when either is among the other's ``n_neighbors`` nearest. With
    ``bandwidth=None`` the typical farthest neighbour gets the weight e^-1.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.graphs.distances import mask_rows
    >>> rows = mask_rows(np.array([[0.0], [1.0], [3.0]]), np.ones(1), ("numeric",))
    >>> weights, mu = neighbor_weights(rows, 1, None)
    >>> weights.toarray().round(4), mu
    (array([[0.    , 0.3679, 0.    ],
           [0.3679, 0.    , 0.0183],
           [0.    , 0.0183, 0.    ]]), 1.0)
    """
    n, k = rows.n, min(n_neighbors, rows.n - 1)
    if k < 1:
        return sparse.csr_array((n, n)), 1.0 if bandwidth is None else bandwidth
    squared, index = nearest_rows(rows, k)
    mu = _reach(squared) if bandwidth is None else bandwidth
    with np.errstate(over="ignore"):
        heat = np.exp(-squared / mu / mu)
    start = np.arange(0, n * k + 1, k)
    directed = sparse.csr_array((heat.ravel(), index.ravel(), start), shape=(n, n))
    weights = directed.maximum(directed.T).tocsr()
    weights.sort_indices()
    return weights, mu


def _reach(squared: FloatArray) -> float:
    """Return the typical distance to the farthest neighbour that is not an equal row."""
    farthest = squared[:, -1]
    for candidates in (farthest, farthest[farthest > 0.0], squared[squared > 0.0]):
        if candidates.size and np.median(candidates) > 0.0:
            return float(np.sqrt(np.median(candidates)))
    return 1.0
