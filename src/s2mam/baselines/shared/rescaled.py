"""Rescaled least squares: a linear map, column weights and missing labels, learned in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from s2mam._typing import FloatArray, IntArray
from s2mam.baselines.shared.simplex import project_simplex
from s2mam.baselines.shared.unfinished import warn_unfinished

__all__ = ["RescaledFit", "ScaledRidge", "column_shares", "rescaled_least_squares"]

# Added to squared row norms: keeps a column whose weight fell to zero able to come back. The
# objective with it is what the steps minimise, so that they still never raise it.
_FLOOR = 1e-10


@dataclass(frozen=True)
class RescaledFit:
    """Solution of rescaled least squares.

    Attributes
    ----------
    map : (q, c) array
        Linear map W.
    shift : (c,) array
        Its intercept.
    column_weights : (q,) array
        theta, on the simplex.
    objective : list of float
        Objective after every round; it never rises.
    """

    map: FloatArray
    shift: FloatArray
    column_weights: FloatArray
    objective: list[float]


class ScaledRidge:
    """Ridge regression on centred columns with a penalty of its own for each.

    Parameters
    ----------
    table : (n, q) array
        Columns.
    gamma : float
        Penalty.
    """

    def __init__(self, table: FloatArray, gamma: float) -> None:
        self.gamma = gamma
        self.mean = table.mean(axis=0)
        self.columns = table - self.mean
        self._tall = table.shape[0] >= table.shape[1]
        self._gram = self.columns.T @ self.columns if self._tall else np.empty((0, 0))

    def solve(self, labels: FloatArray, weights: FloatArray) -> FloatArray:
        """(q, c) minimiser of ``||XW - Y||^2 + gamma sum_j ||w_j||^2 / weights_j``, centred.

        Weights of zero are allowed and give rows of zero.
        """
        labels = labels - labels.mean(axis=0)
        root = np.sqrt(weights)
        if self._tall:
            system = root[:, None] * self._gram * root
            system[np.diag_indices_from(system)] += self.gamma
            right = root[:, None] * (self.columns.T @ labels)
            inner = _solve_definite(system, right)
            return np.asarray(root[:, None] * inner)
        system = (self.columns * weights) @ self.columns.T
        system[np.diag_indices_from(system)] += self.gamma
        inner = _solve_definite(system, labels)
        return np.asarray(weights[:, None] * (self.columns.T @ inner))


def _solve_definite(system: FloatArray, right: FloatArray) -> FloatArray:
    factor = linalg.cho_factor(system, overwrite_a=True, check_finite=False)
    solution: FloatArray = linalg.cho_solve(factor, right, check_finite=False)
    return solution


def column_shares(slopes: FloatArray, exponent: float) -> FloatArray:
    """Simplex weights that minimise ``sum_j ||w_j||^2 / theta_j^exponent``.

    Examples
    --------
    >>> import numpy as np
    >>> column_shares(np.array([[3.0], [1.0]]), exponent=1.0).round(3)
    array([0.75, 0.25])
    """
    powers = _square_norms(slopes) ** (1.0 / (exponent + 1.0))
    shares: FloatArray = powers / powers.sum()
    return shares


def _square_norms(slopes: FloatArray) -> FloatArray:
    return np.asarray((slopes**2).sum(axis=1) + _FLOOR)


def rescaled_least_squares(
    table: FloatArray,
    labeled: IntArray,
    targets: FloatArray,
    *,
    gamma: float,
    exponent: float = 1.0,
    simplex: bool = True,
    max_iter: int = 100,
    max_inner: int = 10,
    tol: float = 1e-6,
) -> RescaledFit:
    """Alternate between the map, the weights of the columns and the labels of unlabelled rows.

    Minimises ``||XW + 1b' - Y||^2 + gamma sum_j ||w_j||^2 / theta_j^exponent`` over W, b, theta on
    the simplex, and the unlabelled rows of Y in the convex hull of the labels. Without theta the
    penalty is ``gamma ||W||_{2,1}^2`` for exponent 1, and plain ridge for exponent 0.

    Parameters
    ----------
    table : (n, q) array
        Rows.
    labeled : (l,) array of int
        Positions of the labelled rows.
    targets : (l, c) array
        Indicators of the classes, or one column of numbers.
    gamma, exponent : float
        Penalty, and power of theta in it.
    simplex : bool
        Whether the hull of the labels is the simplex; else the interval of each column.
    max_iter, max_inner : int
        Rounds, and pairs of steps on W and theta in each.
    tol : float
        Relative fall of the objective that ends the rounds.

    Returns
    -------
    RescaledFit

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[-1.0, 1.0], [1.0, -1.0], [-2.0, -2.0], [2.0, 2.0]])
    >>> found = rescaled_least_squares(table, np.arange(4), table[:, :1], gamma=0.1, simplex=False)
    >>> found.column_weights.round(2)
    array([1., 0.])
    """
    q = table.shape[1]
    hidden = np.ones(table.shape[0], dtype=bool)
    hidden[labeled] = False
    labels = np.empty((table.shape[0], targets.shape[1]))
    labels[labeled] = targets
    labels[hidden] = 1.0 / targets.shape[1] if simplex else targets.mean(axis=0)
    lowest, highest = targets.min(axis=0), targets.max(axis=0)
    ridge = ScaledRidge(table, gamma)
    theta = np.full(q, 1.0 / q)
    objective: list[float] = []
    for _ in range(max_iter):
        slopes, theta = _inner(ridge, labels, theta, exponent, max_inner, 0.1 * tol)
        shift = labels.mean(axis=0) - ridge.mean @ slopes
        fitted = table @ slopes + shift
        if hidden.any():
            inside = project_simplex if simplex else lambda v: np.clip(v, lowest, highest)
            labels[hidden] = inside(fitted[hidden])
        objective.append(
            float(((fitted - labels) ** 2).sum()) + _penalty(slopes, theta, gamma, exponent)
        )
        if len(objective) > 1 and objective[-2] - objective[-1] <= tol * objective[-2]:
            break
    else:
        warn_unfinished(objective, max_iter, tol)
    return RescaledFit(slopes, shift, theta, objective)


def _penalty(slopes: FloatArray, theta: FloatArray, gamma: float, exponent: float) -> float:
    return gamma * float((_square_norms(slopes) / theta**exponent).sum())


def _inner(
    ridge: ScaledRidge,
    labels: FloatArray,
    theta: FloatArray,
    exponent: float,
    max_inner: int,
    tol: float,
) -> tuple[FloatArray, FloatArray]:
    """Steps on the map and the column weights in turn, for given labels."""
    last = np.inf
    for _ in range(max_inner):
        slopes = ridge.solve(labels, theta**exponent)
        theta = column_shares(slopes, exponent)
        misfit = ridge.columns @ slopes - (labels - labels.mean(axis=0))
        value = float((misfit**2).sum()) + _penalty(slopes, theta, ridge.gamma, exponent)
        if last - value <= tol * last:
            break
        last = value
    return slopes, theta
