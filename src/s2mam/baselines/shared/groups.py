"""Shrinkage of whole vectors and rows: the proximal maps of sums of Euclidean norms."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray

__all__ = ["group_threshold", "shrink_rows"]


def group_threshold(v: FloatArray, t: float) -> FloatArray:
    """Minimiser of ``||x - v||^2 / 2 + t ||x||``, that is ``max(0, 1 - t / ||v||) v``.

    Parameters
    ----------
    v : ndarray
        A vector, or an array whose entries form one group (Frobenius norm).
    t : float
        Non-negative threshold.

    Returns
    -------
    ndarray
        Same shape as `v`; exactly zero when ``||v|| <= t``.

    Examples
    --------
    >>> import numpy as np
    >>> group_threshold(np.array([3.0, 4.0]), 2.5)
    array([1.5, 2. ])
    >>> group_threshold(np.array([3.0, 4.0]), 5.0)
    array([0., 0.])
    """
    norm = float(np.linalg.norm(v))
    if norm <= t:
        return np.zeros_like(v, dtype=np.float64)
    return (1.0 - t / norm) * v


def shrink_rows(M: FloatArray, t: float | FloatArray) -> FloatArray:
    """`group_threshold` of every row of a matrix.

    Parameters
    ----------
    M : ndarray of shape (m, k)
        Each row is a group.
    t : float or ndarray of shape (m,)
        Non-negative threshold, common or one per row.

    Returns
    -------
    ndarray of shape (m, k)

    Examples
    --------
    >>> import numpy as np
    >>> shrink_rows(np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]]), 1.0)
    array([[2.4, 3.2],
           [0. , 0. ],
           [0. , 0. ]])
    """
    norms = np.linalg.norm(M, axis=1)
    kept = norms > t
    factors = np.where(kept, 1.0 - t / np.where(kept, norms, 1.0), 0.0)
    return factors[:, None] * M
