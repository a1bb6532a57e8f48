"""Targets as a matrix that methods with one column per class fit, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2mam._typing import FloatArray
from s2mam.baselines.rows import BaselineRows

__all__ = ["TargetCoding", "code_targets"]


@dataclass(frozen=True)
class TargetCoding:
    """Coded targets of the labelled rows.

    Attributes
    ----------
    matrix : (l, c) array
        One indicator column per class, or one column of standardised numbers.
    center, spread : float
        What the numbers were standardised by.
    n_classes : int
        Classes, or 0 for regression.
    """

    matrix: FloatArray
    center: float
    spread: float
    n_classes: int

    def scores(self, values: FloatArray) -> FloatArray:
        """Scores as baselines return them, from (m, c) fitted values of the columns."""
        if self.n_classes == 0:
            return self.center + self.spread * values[:, 0]
        return values[:, 1] - values[:, 0] if self.n_classes == 2 else values


def code_targets(rows: BaselineRows) -> TargetCoding:
    """Code the labels of the rows of a fit.

    Examples
    --------
    >>> import numpy as np
    >>> rows = BaselineRows(np.zeros((3, 1)), np.array([0, 2]), np.array([1.0, 5.0]), 0)
    >>> coding = code_targets(rows)
    >>> coding.matrix[:, 0]
    array([-1.,  1.])
    >>> coding.scores(coding.matrix)
    array([1., 5.])
    """
    if rows.n_classes > 0:
        return TargetCoding(rows.one_hot[rows.labeled], 0.0, 1.0, rows.n_classes)
    numbers = np.asarray(rows.target, dtype=np.float64)
    center, spread = float(numbers.mean()), float(numbers.std())
    # Equal numbers but for rounding have nothing to standardise.
    spread = spread if spread > 1e-12 * max(1.0, abs(center)) else 1.0
    return TargetCoding(((numbers - center) / spread)[:, None], center, spread, 0)
