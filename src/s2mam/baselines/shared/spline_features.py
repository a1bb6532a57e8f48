"""Penalised spline features of every column, whose inner products are a kernel."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline

from s2mam._typing import FloatArray

__all__ = ["SplineFeatures"]

_DEGREE = 3


class SplineFeatures:
    """Straight line and penalised cubic spline of each column, with the same say for all columns.

    The inner products of the features are the mean over the columns of two kernels each: of the
    line, and of B-splines with the penalty of second differences. Both have mean one on the
    diagonal, so that the line is shrunk as well: a part that is not shrunk would take its values
    from the labelled rows alone.

    Parameters
    ----------
    table : (n, q) array
        Columns to learn ranges and means from.
    n_basis : int
        B-splines of a column, at least 4.

    Examples
    --------
    >>> import numpy as np
    >>> features = SplineFeatures(np.linspace(0.0, 1.0, 9)[:, None], n_basis=6)
    >>> values = features.values(np.array([[0.5]]))
    >>> values.shape
    (1, 5)
    """

    def __init__(self, table: FloatArray, n_basis: int) -> None:
        self._lowest, self._highest = table.min(axis=0), table.max(axis=0)
        self._varies = np.flatnonzero(self._highest > self._lowest)
        differences = np.diff(np.eye(n_basis), 2, axis=0)
        sizes, vectors = np.linalg.eigh(differences.T @ differences)
        # Without the two directions of straight lines, which the penalty does not see.
        self._curves = vectors[:, 2:] / np.sqrt(sizes[2:])
        inner = np.linspace(0.0, 1.0, n_basis - _DEGREE + 1)
        self._knots = inner[0] + (inner[1] - inner[0]) * np.arange(-_DEGREE, n_basis + 1)
        raw = self._raw(table)
        self._mean = raw.mean(axis=0)
        squares = ((raw - self._mean) ** 2).mean(axis=0)
        line, curve = squares[..., :1], squares[..., 1:].sum(axis=-1, keepdims=True)
        power = np.concatenate([line, np.broadcast_to(curve, squares[..., 1:].shape)], axis=-1)
        tiny = np.finfo(np.float64).tiny
        self._scale = 1.0 / np.sqrt(2.0 * max(self._varies.size, 1) * np.maximum(power, tiny))

    def values(self, table: FloatArray) -> FloatArray:
        """(m, F) features; curves are flat outside the range of the fit, lines go on."""
        features = (self._raw(table) - self._mean) * self._scale
        return np.asarray(features.reshape(table.shape[0], -1))

    def _raw(self, table: FloatArray) -> FloatArray:
        """(m, columns that vary, 1 + curves) before centring and scaling."""
        if not self._varies.size:
            return np.zeros((table.shape[0], 0, 1 + self._curves.shape[1]))
        low, high = self._lowest[self._varies], self._highest[self._varies]
        units = (table[:, self._varies] - low) / (high - low)
        # The knots at the ends, which rounding can put a little off zero and one.
        first, last = self._knots[_DEGREE], self._knots[-_DEGREE - 1]
        inside = np.clip(units, first, last).ravel()
        basis = BSpline.design_matrix(inside, self._knots, _DEGREE) @ self._curves
        curves = basis.reshape(*units.shape, self._curves.shape[1])
        return np.concatenate([units[..., None], curves], axis=-1)
