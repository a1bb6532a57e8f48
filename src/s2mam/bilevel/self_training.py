"""Lines that teach themselves: the classes they give to unlabelled rows become labels.

Where classes are clusters, rows far from the boundary are on the right side of it even when the
boundary is poor, and there are many of them. Lines of all columns are fitted to the labels, the
rows they are surest of get their class as a label, and so on with more and more rows. On tables
where this goes wrong the held-out labels give the result no weight.
"""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.atoms import Atoms
from s2mam.bilevel.refitting import LEAST_RIDGE, dual_ridge
from s2mam.masks.labeled_atoms import AtomFit

__all__ = ["self_trained_lines"]

# Rounds, and the share of the rows that the first fit may label; the last round labels all.
_ROUNDS, _SUREST = 6, 0.2
# Ridge as a share of the summed variance of all lines.
_RIDGE = 1.0


def self_trained_lines(
    atoms: Atoms, prior: FloatArray, rows: IntArray, target: FloatArray, weights: FloatArray
) -> AtomFit:
    """Lines of all columns, fitted to all rows with labels of their own.

    Parameters
    ----------
    atoms : Atoms
        Parts of all rows; only the straight ones are used.
    prior : (p,) array
        Prior weights of the columns.
    rows : (l,) array of int
        Labelled rows.
    target : (l, k) array
        Their class contrasts: plus and minus one, or one column per class.
    weights : (l,) array
        Their weights, as numbers of copies.

    Returns
    -------
    AtomFit
    """
    root = np.sqrt(prior)
    ridge = _Ridge(atoms.straight * root)
    values, counts = np.zeros((ridge.n_rows, target.shape[1])), np.zeros(ridge.n_rows)
    values[rows], counts[rows] = target, weights
    coef, intercept = ridge.fit(values, counts)
    for step in range(1, _ROUNDS + 1):
        values, margin = _decide(ridge.table @ coef + intercept)
        unsure = (1.0 - _SUREST) * (1.0 - step / _ROUNDS)
        counts = (margin >= np.quantile(margin, unsure)).astype(np.float64)
        values[rows], counts[rows] = target, weights
        coef, intercept = ridge.fit(values, counts)
    curved = np.zeros((prior.size, atoms.curved.shape[2], target.shape[1]))
    return AtomFit(root[:, None] * coef, curved, intercept)


def _decide(decision: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Classes as contrasts, and how far each row is from another class."""
    if decision.shape[1] == 1:
        return np.where(decision >= 0.0, 1.0, -1.0), np.abs(decision[:, 0])
    two_best = np.partition(decision, -2, axis=1)[:, -2:]
    classes: FloatArray = np.eye(decision.shape[1])[decision.argmax(axis=1)]
    return classes, two_best[:, 1] - two_best[:, 0]


class _Ridge:
    """Ridge regression of many targets on the same table, on whichever side is smaller."""

    def __init__(self, table: FloatArray) -> None:
        self.table = table
        self.n_rows, self.n_columns = table.shape
        self._kernel = table @ table.T if self.n_columns >= self.n_rows else None

    def fit(self, target: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients (p, k) and intercept (k,) of the rows that count."""
        if self._kernel is not None:
            dual, intercept = dual_ridge(self._kernel, target, counts, _RIDGE)
            return self.table.T @ dual, intercept
        total = float(counts.sum())
        share, root = counts / total, np.sqrt(counts)[:, None]
        mean, target_mean = share @ self.table, share @ target
        centred = (self.table - mean) * root
        gram = centred.T @ centred
        gram.flat[:: self.n_columns + 1] += max(_RIDGE * np.trace(gram) / total, LEAST_RIDGE)
        pull = centred.T @ ((target - target_mean) * root)
        coef = np.linalg.solve(gram, pull).astype(np.float64, copy=False)
        return coef, target_mean - mean @ coef
