"""A known additive model corrected by all labelled rows, from their moments alone.

The model is ``f = known A + F b + c``: the decisions that are known already, mixed, plus smooth
functions of the columns with a ridge. Folds of rows that the known model never saw choose the
ridge; an infinite one leaves the known model as it is, so that the correction can only help as far
as held-out rows tell. A graph term in this correction was tried and bought nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from s2mam._typing import FloatArray, IntArray
from s2mam.scale.features import FeatureMap
from s2mam.scale.moments import LabeledMoments
from s2mam.scale.tables import to_host

__all__ = ["Correction", "fit_correction"]

# Variance of the noise over the variance of a column's function, before the labels speak.
_RIDGES: Final = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
# Ridges, as a share of the diagonal, that keep a system solvable whose columns repeat each other.
_JITTERS: Final = (1e-12, 1e-9, 1e-6)


@dataclass(frozen=True)
class Correction:
    """The chosen fit.

    Attributes
    ----------
    mixing : (k, k) array
        A: the known decisions are multiplied by it.
    coef : (P, k) array
        b, on the features in the order of the design.
    intercept : (k,) array
        c.
    ridge : float
        What was chosen; where it is infinite, all coefficients are zero.
    held_out, before : float
        Mean squared error on held-out rows, of the fit and of the known model. The first is the
        smallest of all ridges tried, and so a little too good.
    without_fold : (folds, D, k) array
        The same fit without the rows of each fold, on the entries of the moments.
    """

    mixing: FloatArray
    coef: FloatArray
    intercept: FloatArray
    ridge: float
    held_out: float
    before: float
    without_fold: FloatArray

    def decide_held_out(self, entries: FloatArray, folds: IntArray) -> FloatArray:
        """Decisions (b, k) of rows by the fit without their fold.

        Parameters
        ----------
        entries : (D, b) array
            Of :meth:`s2mam.scale.moments.MomentPass.entries`.
        folds : (b,) array of int
            Fold of each row.
        """
        used = self.without_fold.shape[1]
        decisions: FloatArray = np.einsum(
            "bdk,db->bk", self.without_fold[folds], entries[:used], optimize=True
        )
        return decisions


@dataclass(frozen=True)
class _System:
    """Normal equations of some rows: gram (d, d), right-hand sides (d, k), energy of targets."""

    gram: FloatArray
    right: FloatArray
    energy: float
    mass: float

    def plus(self, other: _System) -> _System:
        return _System(
            self.gram + other.gram,
            self.right + other.right,
            self.energy + other.energy,
            self.mass + other.mass,
        )

    def minus(self, other: _System) -> _System:
        return _System(
            self.gram - other.gram,
            self.right - other.right,
            self.energy - other.energy,
            self.mass - other.mass,
        )

    def error(self, solution: FloatArray) -> float:
        """Sum of squared errors of a solution on these rows."""
        fitted = float(np.vdot(solution, self.gram @ solution))
        return self.energy - 2.0 * float(np.vdot(solution, self.right)) + fitted


def fit_correction(
    moments: LabeledMoments,
    features: FeatureMap,
    variances: FloatArray,
) -> Correction:
    """Choose and solve.

    Parameters
    ----------
    moments : LabeledMoments
        With the known decisions among the entries.
    features : FeatureMap
        The features among the entries.
    variances : (P,) array
        Prior variance of each feature's coefficient, relative to the others.

    Returns
    -------
    Correction
    """
    folds, k = _systems(moments, features)
    whole = folds[0]
    for fold in folds[1:]:
        whole = whole.plus(fold)
    trained = [(fold, whole.minus(fold)) for fold in folds]

    def held_out_error(ridge: float) -> float:
        errors = [fold.error(_solved(rest, ridge, variances, k)) for fold, rest in trained]
        return sum(errors) / whole.mass

    before = held_out_error(np.inf)
    held_out, ridge = min((held_out_error(ridge), ridge) for ridge in (np.inf, *_RIDGES))
    solution = _solved(whole, ridge, variances, k)
    padded = np.zeros((len(folds), 1 + k + features.n_rows, k))
    for at, (_, rest) in enumerate(trained):
        padded[at][_places(features, k)] = _solved(rest, ridge, variances, k)
    return Correction(
        mixing=solution[1 : 1 + k],
        coef=solution[1 + k :],
        intercept=solution[0],
        ridge=ridge,
        held_out=held_out,
        before=before,
        without_fold=padded,
    )


def _systems(moments: LabeledMoments, features: FeatureMap) -> tuple[list[_System], int]:
    """One system per fold, padding left out; and the number of outputs."""
    matrices = np.asarray(to_host(moments.matrices), dtype=np.float64)
    k = (matrices.shape[1] - 1 - features.n_rows) // 2
    entries = _places(features, k)
    targets = np.arange(matrices.shape[1] - k, matrices.shape[1])
    return [
        _System(
            matrix[np.ix_(entries, entries)],
            matrix[np.ix_(entries, targets)],
            float(np.trace(matrix[np.ix_(targets, targets)])),
            float(matrix[0, 0]),
        )
        for matrix in matrices[:-1]
    ], k


def _places(features: FeatureMap, k: int) -> IntArray:
    """Where the constant, the known decisions and the features are among the entries."""
    return np.concatenate([np.arange(1 + k), 1 + k + features.keep])


def _solved(system: _System, ridge: float, variances: FloatArray, k: int) -> FloatArray:
    """Ridge solution; an infinite ridge mixes the known decisions and corrects nothing."""
    free = 1 + k
    if np.isinf(ridge):
        solution = np.zeros(system.right.shape)
        solution[:free] = _solve(system.gram[:free, :free], system.right[:free])
        return solution
    matrix = system.gram.copy()
    at = np.arange(free, matrix.shape[0])
    matrix[at, at] += ridge / variances
    return _solve(matrix, system.right)


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    for factor in _factors(matrix):
        solution: FloatArray = cho_solve(factor, right, check_finite=False)
        return solution
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=np.float64)


def _factors(matrix: FloatArray) -> Iterator[tuple[FloatArray, bool]]:
    for jitter in _JITTERS:
        shifted = matrix + np.diag(jitter * np.diag(matrix))
        try:
            yield cho_factor(shifted, lower=True, check_finite=False)
        except LinAlgError:
            continue
