"""Component functions of the generators, one column in, one term out."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from s2mam._typing import FloatArray


def additive_components(U: FloatArray) -> FloatArray:
    """The eight component functions of the additive regression problem, one per column.

    Parameters
    ----------
    U : ndarray of shape (n, 8)
        Values of the eight informative columns.

    Returns
    -------
    ndarray of shape (n, 8)

    Examples
    --------
    >>> additive_components(np.ones((1, 8))).round(2)
    array([[-1.82,  8.  ,  5.08,  2.21,  1.  ,  5.  ,  5.7 , -7.34]])
    """
    u = U.T
    return np.column_stack(
        [
            -2 * np.sin(2 * u[0]),
            8 * u[1] ** 2,
            7 * np.sin(u[2]) / (2 - np.sin(u[2])),
            6 * np.exp(-u[3]),
            u[4] ** 3 + 1.5 * (u[4] - 1) ** 2,
            5 * u[5],
            10 * np.sin(np.exp(-u[6] / 2)),
            -10 * ndtr((u[7] - 0.5) / 0.8),
        ]
    )


_SHAPES = (
    lambda u: 2 * np.sin(1.5 * u),
    lambda u: u**2 - 1,
    lambda u: 1.5 * u,
    lambda u: 3 * np.exp(-(u**2)) - 1.7,
)


def smooth_components(U: FloatArray) -> FloatArray:
    """Four smooth functions in turn (sine, parabola, line, bump), one per column.

    Parameters
    ----------
    U : ndarray of shape (n, k)
        Columns of about unit spread.

    Returns
    -------
    ndarray of shape (n, k)

    Examples
    --------
    >>> smooth_components(np.array([[0.0, 2.0, 2.0]]))
    array([[0., 3., 3.]])
    """
    columns = [_SHAPES[j % len(_SHAPES)](U[:, j]) for j in range(U.shape[1])]
    return np.column_stack(columns)
