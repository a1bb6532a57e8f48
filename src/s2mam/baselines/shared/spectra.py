"""Soft thresholding of singular values, on the short side of a matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, svd

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError

__all__ = ["threshold_singular_values"]


def threshold_singular_values(M: FloatArray, t: float) -> FloatArray:
    """Return ``U max(S - t, 0) V'`` of the singular value decomposition ``M = U S V'``.

    It is the proximal map of t times the nuclear norm.

    Parameters
    ----------
    M : (n, p) array
        Any matrix.
    t : float
        Not negative.

    Returns
    -------
    (n, p) array

    Examples
    --------
    >>> import numpy as np
    >>> threshold_singular_values(np.diag([3.0, 1.0]), 2.0)
    array([[1., 0.],
           [0., 0.]])
    """
    matrix = np.asarray(M, dtype=np.float64)
    if t < 0:
        raise InvalidInputError(f"t={t} must not be negative.")
    # Squaring halves the digits of small singular values. Those below t vanish anyway, so the
    # Gram matrix is exact enough as long as t is well above the square root of the precision.
    if t > 1e-5 * np.linalg.norm(matrix):
        tall = matrix.shape[0] >= matrix.shape[1]
        side = matrix if tall else matrix.T
        shrunk = side @ _shrinker(side.T @ side, t)
        return shrunk if tall else shrunk.T
    left, values, right = svd(matrix, full_matrices=False, check_finite=False)
    result: FloatArray = (left * np.maximum(values - t, 0.0)) @ right
    return result


def _shrinker(gram: FloatArray, t: float) -> FloatArray:
    """V diag(1 - t / s) V' over the singular values s > t."""
    # scipy 1.11 asks for too little room when there is a single number to decompose.
    driver = "evd" if gram.shape[0] > 1 else "ev"
    squares, vectors = eigh(gram, driver=driver, check_finite=False)
    large = squares > t**2
    kept = vectors[:, large]
    result: FloatArray = (kept * (1.0 - t / np.sqrt(squares[large]))) @ kept.T
    return result
