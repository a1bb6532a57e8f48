"""Graphs over the rows: dense Gaussian weights, nearest neighbours, and their Laplacians."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from s2mam._typing import FloatArray
from s2mam.baselines.shared.parameters import choice, positive, whole
from s2mam.baselines.shared.remember import remember
from s2mam.exceptions import DegenerateGraphWarning, InvalidInputError
from s2mam.graphs.diagnostics import find_degeneracy
from s2mam.intake.notices import warn_user

__all__ = [
    "cross_neighbor_weights",
    "gaussian_kernel",
    "graph_weights",
    "laplacian",
    "median_width",
    "neighbor_weights",
    "rbf_weights",
    "read_width",
]

# Rows that a median distance is taken over; more do not change it noticeably.
_MEDIAN_ROWS = 1000
# Graphs that say nothing about the rows, by the names of `find_degeneracy`.
_SAYS_NOTHING = {"no edges": "has no edges", "equal weights": "ties all rows to all others alike"}


@remember(2)
def median_width(table: FloatArray) -> float:
    """Median distance between two rows, or 1 when more than half of the pairs coincide.

    Examples
    --------
    >>> import numpy as np
    >>> median_width(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    step = -(-table.shape[0] // _MEDIAN_ROWS)
    some = table[:: max(step, 1)]
    upper = np.triu_indices(some.shape[0], k=1)
    if upper[0].size == 0:
        return 1.0
    middle = float(np.median(cdist(some, some)[upper]))
    return middle if middle > 0 else 1.0


def read_width(width: Any, table: FloatArray, name: str = "width") -> float:
    """The width as a number: a positive number, or "median" for the median distance."""
    if not isinstance(width, str):
        return positive(name, width)
    if width != "median":
        raise InvalidInputError(f"{name}={width!r} must be a positive number or 'median'.")
    return median_width(table)


def gaussian_kernel(rows: FloatArray, others: FloatArray, width: float) -> FloatArray:
    """(m, n) values exp(-distance^2 / width^2).

    Examples
    --------
    >>> import numpy as np
    >>> gaussian_kernel(np.zeros((1, 1)), np.array([[0.0], [2.0]]), width=2.0).round(3)
    array([[1.   , 0.368]])
    """
    values: FloatArray = np.exp(-cdist(rows, others, "sqeuclidean") / width**2)
    return values


def rbf_weights(table: FloatArray, width: Any = "median") -> FloatArray:
    """(n, n) weights exp(-distance^2 / width^2) between all rows, zero on the diagonal.

    Parameters
    ----------
    table : (n, q) array
        Rows.
    width : float or "median"
        Width; "median" is the median distance between rows.

    Returns
    -------
    (n, n) array
    """
    weights = gaussian_kernel(table, table, read_width(width, table))
    np.fill_diagonal(weights, 0.0)
    return weights


@remember(4)
def neighbor_weights(table: FloatArray, k: int, heat: bool = False) -> FloatArray:
    """(n, n) symmetric weights: positive where either row is among the k nearest of the other.

    Parameters
    ----------
    table : (n, q) array
        Rows.
    k : int
        Neighbours of each row, itself left out; at most n - 1 are used.
    heat : bool
        Gaussian weights, as wide as the mean distance to the k-th neighbour, instead of ones.

    Returns
    -------
    (n, n) array

    Examples
    --------
    >>> import numpy as np
    >>> neighbor_weights(np.array([[0.0], [1.0], [3.0]]), k=1)
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    n = table.shape[0]
    k = min(whole("k", k), n - 1)
    weights = np.zeros((n, n))
    if k == 0:
        return weights
    squared = cdist(table, table, "sqeuclidean")
    # By index, not by position: a duplicate of a row may come before the row itself.
    np.fill_diagonal(squared, np.inf)
    nearest = np.argpartition(squared, k - 1, axis=1)[:, :k]
    values = np.ones((n, k))
    if heat:
        near = np.take_along_axis(squared, nearest, axis=1)
        width = float(np.sqrt(near.max(axis=1)).mean())
        values = np.exp(-near / width**2) if width > 0 else values
    np.put_along_axis(weights, nearest, values, axis=1)
    symmetric: FloatArray = np.maximum(weights, weights.T)
    return symmetric


def cross_neighbor_weights(rows: FloatArray, others: FloatArray, k: int) -> FloatArray:
    """(m, n) weights: one on the k nearest of the n other rows.

    Examples
    --------
    >>> import numpy as np
    >>> cross_neighbor_weights(np.array([[2.5]]), np.array([[0.0], [1.0], [3.0]]), k=2)
    array([[0., 1., 1.]])
    """
    k = min(whole("k", k), others.shape[0])
    squared = cdist(rows, others, "sqeuclidean")
    nearest = np.argpartition(squared, k - 1, axis=1)[:, :k]
    weights: FloatArray = np.zeros_like(squared)
    np.put_along_axis(weights, nearest, 1.0, axis=1)
    return weights


def graph_weights(
    table: FloatArray,
    *,
    graph: str = "knn",
    width: Any = "median",
    n_neighbors: int = 10,
    name: str = "width",
) -> FloatArray:
    """Weights of the graph a method asks for; warns when it says nothing about the rows.

    Parameters
    ----------
    table : (n, q) array
        Rows.
    graph : {"knn", "rbf"}
        Nearest neighbours with weight one, or Gaussian weights between all rows.
    width : float or "median"
        Width of the Gaussian weights.
    n_neighbors : int
        Neighbours of each row.
    name : str
        What the method calls the width, for messages.

    Returns
    -------
    (n, n) array
    """
    if choice("graph", graph, ("knn", "rbf")) == "knn":
        # Equal weights still say who is near; every row has a neighbour.
        return neighbor_weights(table, whole("n_neighbors", n_neighbors))
    number = read_width(width, table, name)
    weights = rbf_weights(table, number)
    reason = find_degeneracy(weights, weights.sum(axis=1), table.shape[1])
    if reason in _SAYS_NOTHING:
        warn_user(
            f"The graph over {table.shape[0]} rows {_SAYS_NOTHING[reason]} at {name}={number:.3g}, "
            f"so unlabelled rows add nothing; use {name}='median' or graph='knn'.",
            DegenerateGraphWarning,
        )
    return weights


def laplacian(weights: FloatArray, normalized: bool = False) -> FloatArray:
    """Laplacian D - W of symmetric weights, or I - D^-1/2 W D^-1/2.

    Rows without edges are zero in both.

    Examples
    --------
    >>> import numpy as np
    >>> laplacian(np.array([[0.0, 2.0], [2.0, 0.0]]), normalized=True)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    degrees = weights.sum(axis=1)
    result: FloatArray = np.diag(degrees) - weights
    if normalized:
        inverse = np.zeros_like(degrees)
        np.divide(1.0, np.sqrt(degrees), out=inverse, where=degrees > 0)
        result = inverse[:, None] * result * inverse
    return result
