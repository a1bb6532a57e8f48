"""Curvature of the loss at a point, with what linear systems need of it again and again."""

from __future__ import annotations

from dataclasses import dataclass

from s2mam._typing import FloatArray

__all__ = ["Bend"]


@dataclass(frozen=True)
class Bend:
    """Second derivative of the loss.

    Attributes
    ----------
    values : ndarray of shape (l,) or (l, K, K)
        Curvature, row by row.
    root : ndarray of shape (l,)
        Root of ``values``, for several outputs of their mean over the diagonal.
    total : float
        Sum of the squares of ``root``.
    free_units : ndarray of shape (f,)
        Steps along the free columns that bend the model by one.
    """

    values: FloatArray
    root: FloatArray
    total: float
    free_units: FloatArray
