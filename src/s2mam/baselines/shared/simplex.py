"""Euclidean projection onto the probability simplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError

__all__ = ["project_simplex"]


def project_simplex(v: ArrayLike) -> FloatArray:
    """Return the nearest point of {s >= 0, sum s = 1} to a vector, or to each row of a matrix.

    Exact, by sorting: the answer is ``max(v - t, 0)`` with the one t that makes the sum one.

    Parameters
    ----------
    v : (p,) or (n, p) array
        Numbers; an entry of minus infinity is excluded and stays zero. Each row needs a finite
        entry.

    Returns
    -------
    array of the shape of `v`

    Examples
    --------
    >>> import numpy as np
    >>> project_simplex([0.8, 0.6, -1.0]).round(3)
    array([0.6, 0.4, 0. ])
    >>> project_simplex([[-np.inf, 3.0], [0.0, 0.0]])
    array([[0. , 1. ],
           [0.5, 0.5]])
    """
    points = np.asarray(v, dtype=np.float64)
    if points.ndim not in (1, 2) or points.shape[-1] == 0:
        raise InvalidInputError(
            f"v has shape {points.shape}; pass a vector or a matrix with at least one column."
        )
    top = points.max(axis=-1, keepdims=True)
    if not np.isfinite(top).all():
        raise InvalidInputError(
            "v has a row without a finite largest entry; replace missing and infinite values."
        )
    # The shift t is never below the largest entry minus one, so that lower entries end at zero
    # wherever they are: clipping there changes nothing and takes minus infinity out of the sums.
    shifted = np.maximum(points - top, -1.0)
    if points.shape[-1] == 2:  # a line: no need to sort, and two classes are the usual case
        first = 0.5 * (1.0 + shifted[..., 0] - shifted[..., 1])
        return np.stack([first, 1.0 - first], axis=-1)
    falling = np.sort(shifted, axis=-1)[..., ::-1]
    shifts = (np.cumsum(falling, axis=-1) - 1.0) / np.arange(1, points.shape[-1] + 1)
    # The right number of active entries is the one with the largest shift.
    result: FloatArray = np.maximum(shifted - shifts.max(axis=-1, keepdims=True), 0.0)
    return result
