"""Positive (semi)definite linear systems, by Cholesky where possible."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from s2mam._typing import FloatArray

__all__ = ["Definite", "gram_lower"]

_RANK_TOLERANCE = 1e-12


def gram_lower(matrix: FloatArray) -> FloatArray:
    """``matrix' matrix``; only its lower triangle is promised.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.linear import gram_lower
    >>> np.tril(gram_lower(np.array([[1.0, 2.0], [0.0, 1.0]])))
    array([[1., 0.], [2., 5.]])
    """
    # numpy recognises the product with the own transpose and computes one triangle only
    gram: FloatArray = matrix.T @ matrix
    return gram


class Definite:
    """Factor of a symmetric positive semidefinite matrix given by its lower triangle.

    A singular matrix is handled on its range (pseudo-inverse), which is what a consistent system
    needs. A matrix in single precision is factorised in single precision.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.linear import Definite
    >>> Definite(np.array([[4.0, 0.0], [0.0, 2.0]])).solve(np.array([4.0, 4.0]))
    array([1., 2.])
    """

    def __init__(self, lower: FloatArray) -> None:
        self._root: FloatArray | None = None
        size = len(lower)
        if size == 0:
            self._factor: FloatArray = lower
            return
        diagonal = lower.diagonal().copy()
        # the transpose of a C-ordered array is what LAPACK wants: M = U'U
        single = lower.dtype == np.float32
        factorise = lapack.spotrf if single else lapack.dpotrf
        self._triangular = lapack.strtrs if single else lapack.dtrtrs
        self._factor, failed = factorise(lower.T, lower=0, clean=0)
        pivots = self._factor.diagonal()
        if failed or np.any(pivots * pivots <= _RANK_TOLERANCE * diagonal):
            values, vectors = np.linalg.eigh(lower.astype(np.float64), UPLO="L")
            kept = values > _RANK_TOLERANCE * max(values[-1], 0.0)
            self._root = vectors[:, kept] / np.sqrt(values[kept])

    def half(self, right: FloatArray) -> FloatArray:
        """``Z`` with ``Z'Z = right' M^-1 right``."""
        if self._root is not None:
            projected: FloatArray = self._root.T @ right
            return projected
        if not right.size:
            return right
        solved: FloatArray = self._triangular(self._factor, right, trans=1)[0]
        return solved

    def back(self, half: FloatArray) -> FloatArray:
        """Second half of a solve: ``M^-1 right`` from ``half(right)``."""
        if self._root is not None:
            lifted: FloatArray = self._root @ half
            return lifted
        if not half.size:
            return half
        solved: FloatArray = self._triangular(self._factor, half)[0]
        return solved

    def solve(self, right: FloatArray) -> FloatArray:
        """``M^-1 right``."""
        return self.back(self.half(right))
