"""Values of unlabelled rows from a graph alone: harmonic functions and label spreading."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from s2mam._typing import BoolArray, FloatArray, IntArray

__all__ = ["harmonic_values", "spread_labels"]

# Relative to the largest degree: keeps nearly cut-off rows solvable and draws them to the mean.
_RIDGE = 1e-12


def harmonic_values(laplacian: FloatArray, labeled: IntArray, values: FloatArray) -> FloatArray:
    """Function that keeps the given values and is harmonic, L f = 0, on all other rows.

    Parameters
    ----------
    laplacian : (n, n) array
        D - W of symmetric weights.
    labeled : (l,) array of int
        Positions of the rows with a value.
    values : (l,) or (l, K) array
        Their values.

    Returns
    -------
    (n,) or (n, K) array
        Rows that no path joins to a labelled row get the mean of the labelled values.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> harmonic_values(path, np.array([0, 2]), np.array([0.0, 4.0])).round(6)
    array([0., 2., 4.])
    """
    values = np.asarray(values, dtype=np.float64)
    mean = values.mean(axis=0)
    result = np.empty((laplacian.shape[0], *values.shape[1:]))
    result[:] = mean
    result[labeled] = values
    free = _reached(laplacian, labeled)
    free[labeled] = False
    if not free.any():
        return result
    inner = np.array(laplacian[np.ix_(free, free)], dtype=np.float64)
    # Around the mean, so that the ridge draws weakly joined rows there and not to zero.
    pull = laplacian[np.ix_(np.flatnonzero(free), labeled)] @ (values - mean)
    inner[np.diag_indices_from(inner)] += _RIDGE * np.abs(inner.diagonal()).max()
    result[free] = mean - _solve_definite(inner, pull)
    return result


def _reached(laplacian: FloatArray, labeled: IntArray) -> BoolArray:
    """Rows in a component of the graph with a labelled row."""
    joined = laplacian != 0
    reached = np.zeros(laplacian.shape[0], dtype=bool)
    reached[labeled] = True
    front = np.flatnonzero(reached)
    while front.size:
        # Each row is in the front once, so that all steps together read the matrix once.
        new = joined[front].any(axis=0) & ~reached
        reached |= new
        front = np.flatnonzero(new)
    return reached


def spread_labels(weights: FloatArray, one_hot: FloatArray, alpha: float = 0.99) -> FloatArray:
    """Local and global consistency: the limit of F <- alpha S F + (1 - alpha) Y.

    Parameters
    ----------
    weights : (n, n) array
        Symmetric weights with a zero diagonal; S is D^-1/2 W D^-1/2.
    one_hot : (n, K) array
        Labels Y, zero rows where unlabelled.
    alpha : float in (0, 1)
        Share of the neighbours.

    Returns
    -------
    (n, K) array

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> spread_labels(weights, np.array([[1.0], [0.0]]), alpha=0.5).round(3)
    array([[0.667],
           [0.333]])
    """
    degrees = weights.sum(axis=1)
    inverse = np.zeros_like(degrees)
    np.divide(1.0, np.sqrt(degrees), out=inverse, where=degrees > 0)
    system = -alpha * (inverse[:, None] * weights * inverse)
    system[np.diag_indices_from(system)] += 1.0
    return _solve_definite(system, (1.0 - alpha) * one_hot)


def _solve_definite(system: FloatArray, right: FloatArray) -> FloatArray:
    """Solution with a positive definite matrix, without the search for its structure."""
    factor = linalg.cho_factor(system, overwrite_a=True, check_finite=False)
    solution: FloatArray = linalg.cho_solve(factor, right, check_finite=False)
    return solution
