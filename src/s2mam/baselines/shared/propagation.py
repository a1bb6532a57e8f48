"""Additive smoothers that are fitted to the labels and to their own predictions elsewhere.

A spline part ``T = K (K + s W^-1)^-1`` and row averages S are backfitted to values z, which gives
``f = T (z - S (z - f))``, and rows without a value take the fit. With the rest r = z - f that
means: the rest is reproduced by the averages on those rows, ``r_U = (S r)_U``, so that their part
of ``K^-1 f = W (r - S r) / s`` is zero. What remains is one linear system for the averages and one
as small as the labelled rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from s2mam._typing import FloatArray, IntArray

__all__ = [
    "FixedPoint",
    "Spread",
    "additive_fixed_point",
    "labeled_hat",
    "row_smoother",
    "spread_averages",
]

_POWER_STEPS = 50


def row_smoother(weights: FloatArray, importance: FloatArray) -> FloatArray:
    """Row averages of neighbours: graph weights times the importance of the rows averaged over.

    Rows without neighbours take the average of all.

    Parameters
    ----------
    weights : (m, n) array
        Weights of m rows on the n rows of the fit, not negative.
    importance : (n,) array
        Positive weights of the rows of the fit.

    Returns
    -------
    (m, n) array
        Every row sums to one.

    Examples
    --------
    >>> import numpy as np
    >>> row_smoother(np.array([[0.0, 3.0], [0.0, 0.0]]), np.ones(2))
    array([[0. , 1. ],
           [0.5, 0.5]])
    """
    weighted = weights * importance
    weighted[weighted.sum(axis=1) <= 0] = importance
    result: FloatArray = weighted / weighted.sum(axis=1, keepdims=True)
    return result


@dataclass(frozen=True)
class Spread:
    """How averages carry values of labelled rows to the others.

    Attributes
    ----------
    labeled : (l,) array of int
        Positions of the labelled rows.
    reach : (n, l) array
        Maps labelled values to all rows; the identity on the labelled ones.
    defect : (l, l) array
        Labelled values minus their averages, ``(I - S) reach`` on the labelled rows.
    radius : float
        Spectral radius of the block of S of the other rows; one where some have no path to a
        labelled row.
    """

    labeled: IntArray
    reach: FloatArray
    defect: FloatArray
    radius: float


def spread_averages(
    averages: FloatArray, labeled: IntArray, importance: FloatArray, *, shrinkage: float = 1.0
) -> Spread:
    """Fixed point ``v_U = S_UL v_L + g S_UU v_U`` of averages, as a linear map of v_L.

    Parameters
    ----------
    averages : (n, n) array
        S; rows sum to one.
    labeled : (l,) array of int
        Positions of the labelled rows.
    importance : (n,) array
        Weights of the mean of the labelled values, which rows that no label reaches take.
    shrinkage : float in (0, 1]
        g; less than one draws unlabelled rows to that mean.

    Returns
    -------
    Spread

    Examples
    --------
    >>> import numpy as np
    >>> path = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
    >>> spread_averages(path, np.array([0, 2]), np.ones(3)).reach
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """
    n = averages.shape[0]
    hidden = np.setdiff1d(np.arange(n), labeled)
    block = averages[np.ix_(hidden, hidden)]
    pull = _solve(np.eye(hidden.size) - shrinkage * block, averages[np.ix_(hidden, labeled)])
    mean = importance[labeled] / importance[labeled].sum()
    reach = np.zeros((n, labeled.size))
    reach[labeled] = np.eye(labeled.size)
    reach[hidden] = pull + np.outer(1.0 - pull.sum(axis=1), mean)
    return Spread(
        labeled, reach, np.eye(labeled.size) - averages[labeled] @ reach, _spectral_radius(block)
    )


def _solve(system: FloatArray, right: FloatArray) -> FloatArray:
    if not system.size:
        return np.zeros(right.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error", linalg.LinAlgWarning)
        try:
            return np.asarray(linalg.solve(system, right))
        except (linalg.LinAlgError, linalg.LinAlgWarning):
            # A part of the graph without labels: its values are free, and zero gives the mean.
            return np.asarray(linalg.lstsq(system, right, cond=1e-12)[0])


def _spectral_radius(block: FloatArray) -> float:
    """By the power method, which suits entries that are not negative."""
    vector = np.ones(block.shape[0])
    growth = 0.0
    for _ in range(_POWER_STEPS):
        vector = block @ vector
        growth = float(vector.max(initial=0.0))
        if growth == 0.0:
            break
        vector /= growth
    return growth


@dataclass(frozen=True)
class FixedPoint:
    """Additive part and averages at the fixed point.

    Attributes
    ----------
    coef : (l,) array
        Coefficients of the kernel expansion of the additive part; those of other rows are zero.
    rest : (n,) array
        Values minus the additive part, which the averages are taken of.
    fitted : (n,) array
        Fit of all rows.
    """

    coef: FloatArray
    rest: FloatArray
    fitted: FloatArray


def additive_fixed_point(
    kernel: FloatArray,
    spread: Spread,
    values: FloatArray,
    importance: FloatArray,
    smoothing: float,
) -> FixedPoint:
    """Backfit splines and averages to the values, where rows without one take the fit.

    Parameters
    ----------
    kernel : (n, l) array
        Kernel between all rows and the labelled ones.
    spread : Spread
        Of the averages.
    values : (l,) array
        Values of the labelled rows.
    importance : (l,) array
        Their weights.
    smoothing : float
        Penalty of the additive part, positive.

    Returns
    -------
    FixedPoint

    Examples
    --------
    >>> import numpy as np
    >>> spread = spread_averages(np.full((3, 3), 1 / 3), np.array([0, 1]), np.ones(3))
    >>> kernel = np.zeros((3, 2))
    >>> additive_fixed_point(kernel, spread, np.array([1.0, 2.0]), np.ones(2), 1.0).fitted
    array([1.5, 1.5, 1.5])
    """
    weighted, system = _labeled_system(kernel, spread, importance, smoothing)
    near = linalg.solve(system, values)
    coef, rest = weighted @ near, spread.reach @ near
    fitted = rest + kernel @ coef
    fitted[spread.labeled] = values - spread.defect @ near
    return FixedPoint(coef, rest, fitted)


def labeled_hat(
    kernel: FloatArray, spread: Spread, importance: FloatArray, smoothing: float
) -> FloatArray:
    """(l, l) matrix that maps the values of the labelled rows to their fit.

    Parameters are those of :func:`additive_fixed_point`.

    Examples
    --------
    >>> import numpy as np
    >>> spread = spread_averages(np.full((3, 3), 1 / 3), np.array([0, 1]), np.ones(3))
    >>> labeled_hat(np.zeros((3, 2)), spread, np.ones(2), 1.0)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    _, system = _labeled_system(kernel, spread, importance, smoothing)
    return np.asarray(np.eye(importance.size) - spread.defect @ linalg.inv(system))


def _labeled_system(
    kernel: FloatArray, spread: Spread, importance: FloatArray, smoothing: float
) -> tuple[FloatArray, FloatArray]:
    """Coefficients per unit of the rest, and the system that gives the rest of labelled rows."""
    weighted = importance[:, None] * spread.defect / smoothing
    system = kernel[spread.labeled] @ weighted
    system[np.diag_indices_from(system)] += 1.0
    return weighted, system
