"""The labelled rows as the mask posterior sees them: centred, weighted, split in atoms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.bases.curves import LazyCurves

__all__ = ["AtomFit", "LabeledAtoms", "labeled_atoms"]


@dataclass(frozen=True)
class AtomFit:
    """An additive model on the atoms of one view.

    Attributes
    ----------
    straight : (p, k) array
        Coefficients of the straight parts.
    curved : (p, r, k) array
        Coefficients of the curved parts.
    intercept : (k,) array
        Value where all parts are zero.
    """

    straight: FloatArray
    curved: FloatArray
    intercept: FloatArray

    def predict(self, straight: FloatArray, curved: FloatArray) -> FloatArray:
        """Decision values (m, k) of rows given by their parts (m, p) and (p, m, r)."""
        used = np.flatnonzero(np.abs(self.curved).sum(axis=(1, 2)) > 0.0)
        result: FloatArray = straight @ self.straight + self.intercept
        if used.size:
            rows = curved[used].transpose(1, 0, 2).reshape(straight.shape[0], -1)
            result += rows @ self.curved[used].reshape(rows.shape[1], -1)
        return result

    def scaled(self, factor: float) -> AtomFit:
        """The same model times a number."""
        return AtomFit(factor * self.straight, factor * self.curved, factor * self.intercept)

    def plus(self, other: AtomFit) -> AtomFit:
        """The sum of two models."""
        return AtomFit(
            self.straight + other.straight,
            self.curved + other.curved,
            self.intercept + other.intercept,
        )


@dataclass(frozen=True)
class LabeledAtoms:
    """Parts of the labelled rows with the intercept projected out.

    Rows are centred with the weighted mean and multiplied by the root of their weight: that is
    the same as a flat prior on the intercept and noise of variance 1/weight.

    Attributes
    ----------
    straight : (l, p) array
        Straight parts.
    curved : (p, l, r) array
        Curved parts.
    flat : (l, p * r) array
        The curved parts side by side.
    target : (l, k) array
        Targets, centred and weighted likewise.
    straight_mean, curved_mean, target_mean
        What was subtracted: (p,), (p, r) and (k,).
    freedom : float
        Sum of weights less one: the degrees of freedom of the scale.
    """

    straight: FloatArray
    curved: FloatArray
    flat: FloatArray
    target: FloatArray
    straight_mean: FloatArray
    curved_mean: FloatArray
    target_mean: FloatArray
    freedom: float

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return int(self.straight.shape[1])

    @property
    def usable(self) -> BoolArray:
        """True for the atoms that vary over the labelled rows: p straight, then p curved."""
        lines = np.square(self.straight).sum(axis=0)
        curves = np.square(self.curved).sum(axis=(1, 2))
        usable: BoolArray = np.concatenate([lines, curves]) > 1e-9
        return usable

    def gram(self, straight: FloatArray, curved: FloatArray) -> FloatArray:
        """Kernel matrix (l, l) for weights (p,) of the straight and of the curved parts."""
        lines, curves = np.flatnonzero(straight), np.flatnonzero(curved)
        rows_in_all = self.target.shape[0]
        matrix: FloatArray = np.zeros((rows_in_all, rows_in_all))
        if lines.size:
            left = self.straight[:, lines]
            matrix += (left * straight[lines]) @ left.T
        if curves.size:
            rows = self.curved[curves].transpose(1, 0, 2).reshape(rows_in_all, -1)
            matrix += (rows * np.repeat(curved[curves], self.curved.shape[2])) @ rows.T
        return matrix

    def fit(self, straight: FloatArray, curved: FloatArray, noise: float) -> AtomFit:
        """Ridge solution for given kernel weights and noise."""
        matrix = self.gram(straight, curved)
        matrix.flat[:: matrix.shape[0] + 1] += noise
        dual = np.linalg.solve(matrix, self.target)
        return self.expand(straight, curved, dual.astype(np.float64, copy=False))

    def expand(self, straight: FloatArray, curved: FloatArray, dual: FloatArray) -> AtomFit:
        """Model whose dual coefficients on the labelled rows are (l, k)."""
        lines = straight[:, None] * (self.straight.T @ dual)
        curves = np.zeros((*self.curved_mean.shape, dual.shape[1]))
        used = np.flatnonzero(curved)
        curves[used] = curved[used, None, None] * np.matmul(
            self.curved[used].transpose(0, 2, 1), dual
        )
        return self.anchored(lines, curves)

    def anchored(self, straight: FloatArray, curved: FloatArray) -> AtomFit:
        """Model with these coefficients and the mean of the targets as mean over the rows."""
        intercept = (
            self.target_mean
            - self.straight_mean @ straight
            - np.einsum("jr,jrk->k", self.curved_mean, curved)
        )
        return AtomFit(straight, curved, intercept)


def labeled_atoms(
    straight: FloatArray,
    curved: FloatArray | LazyCurves,
    rows: IntArray,
    target: FloatArray,
    weights: FloatArray,
) -> LabeledAtoms:
    """Take the labelled rows out of the atoms of all rows.

    Parameters
    ----------
    straight : (n, p) array
        Straight parts of all rows.
    curved : (p, n, r) array or LazyCurves
        Curved parts of all rows.
    rows : (l,) array of int
        The labelled rows.
    target : (l, k) array
        Their targets.
    weights : (l,) array
        Their positive weights; a weight of two is a row that was seen twice.

    Returns
    -------
    LabeledAtoms

    Examples
    --------
    >>> x = np.linspace(-1, 1, 5)[:, None]
    >>> atoms = labeled_atoms(x, np.zeros((1, 5, 1)), np.arange(5), 2 * x + 1, np.ones(5))
    >>> fit = atoms.fit(np.ones(1), np.zeros(1), noise=1e-9)
    >>> fit.straight.round(3), fit.intercept.round(3)
    (array([[2.]]), array([1.]))
    """
    share = weights / weights.sum()
    root = np.sqrt(weights)
    lines, curves = straight[rows], curved[:, rows]
    line_mean = share @ lines
    curve_mean = np.einsum("i,jir->jr", share, curves)
    target_mean = share @ target
    curves = (curves - curve_mean[:, None]) * root[:, None]
    return LabeledAtoms(
        straight=(lines - line_mean) * root[:, None],
        curved=curves,
        flat=np.ascontiguousarray(curves.transpose(1, 0, 2).reshape(rows.size, -1)),
        target=(target - target_mean) * root[:, None],
        straight_mean=line_mean,
        curved_mean=curve_mean,
        target_mean=target_mean,
        freedom=float(weights.sum()) - 1.0,
    )
