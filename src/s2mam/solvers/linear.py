"""Positive (semi)definite linear systems, by Cholesky where possible."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from s2mam._typing import FloatArray

__all__ = ["Definite", "gram", "solve_definite"]

_RANK_TOLERANCE = 1e-12


def gram(matrix: FloatArray) -> FloatArray:
    """``matrix' matrix``.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.linear import gram
    >>> gram(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[1., 2.],
           [2., 5.]])
    """
    # numpy recognises the product with the own transpose and computes one triangle only
    product: FloatArray = matrix.T @ matrix
    return product


class Definite:
    """Factor of a symmetric positive semidefinite matrix.

    A singular matrix is handled on its range (pseudo-inverse), which is what a consistent system
    needs. A matrix in single precision is factorised in single precision.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric, C-ordered.
    overwrite : bool
        Whether the factor may take the place of ``matrix``.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.linear import Definite
    >>> Definite(np.array([[4.0, 0.0], [0.0, 2.0]])).solve(np.array([4.0, 4.0]))
    array([1., 2.])
    """

    def __init__(self, matrix: FloatArray, *, overwrite: bool = False) -> None:
        self._root: FloatArray | None = None
        if not len(matrix):
            self._factor: FloatArray = matrix
            return
        diagonal = matrix.diagonal().copy()
        single = matrix.dtype == np.float32
        factorise = lapack.spotrf if single else lapack.dpotrf
        self._triangular = lapack.strtrs if single else lapack.dtrtrs
        # LAPACK reads columns: for a symmetric matrix the transpose saves it a copy
        self._factor, failed = factorise(matrix.T, lower=1, clean=0, overwrite_a=overwrite)
        if failed or _deficient(self._factor, diagonal):
            whole = np.tril(matrix, -1)  # the triangle the factor did not touch
            whole.ravel()[:: len(whole) + 1] = diagonal
            values, vectors = np.linalg.eigh(whole.astype(np.float64), UPLO="L")
            kept = values > _RANK_TOLERANCE * max(values[-1], 0.0)
            self._root = vectors[:, kept] / np.sqrt(values[kept])

    def half(self, right: FloatArray) -> FloatArray:
        """``Z`` with ``Z'Z = right' M^-1 right``."""
        if self._root is not None:
            projected: FloatArray = self._root.T @ right
            return projected
        if not right.size:
            return right
        solved: FloatArray = self._triangular(self._factor, right, lower=1)[0]
        return solved

    def back(self, half: FloatArray) -> FloatArray:
        """Second half of a solve: ``M^-1 right`` from ``half(right)``."""
        if self._root is not None:
            lifted: FloatArray = self._root @ half
            return lifted
        if not half.size:
            return half
        solved: FloatArray = self._triangular(self._factor, half, lower=1, trans=1)[0]
        return solved

    def solve(self, right: FloatArray) -> FloatArray:
        """``M^-1 right``."""
        return self.back(self.half(right))


def _deficient(factor: FloatArray, diagonal: FloatArray) -> bool:
    pivots = factor.diagonal()
    return bool((pivots * pivots <= _RANK_TOLERANCE * diagonal).any())


def solve_definite(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """``matrix^-1 right`` for one right-hand side, like ``Definite(matrix).solve(right)``.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.linear import solve_definite
    >>> solve_definite(np.array([[4.0, 0.0], [0.0, 2.0]]), np.array([4.0, 4.0]))
    array([1., 2.])
    """
    if not len(right):
        return right
    factor, solution, failed = lapack.dposv(matrix.T, right, lower=1)
    if failed or _deficient(factor, matrix.diagonal()):
        return Definite(matrix).solve(right)
    solved: FloatArray = solution
    return solved
