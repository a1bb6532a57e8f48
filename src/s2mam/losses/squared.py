"""Squared error without the half, as the regression objective of the method is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from s2mam._typing import AnyArray, FloatArray

__all__ = ["SquaredLoss"]


@dataclass(frozen=True)
class SquaredLoss:
    """``sum_i w_i (y_i - f_i)^2``.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> SquaredLoss().value(np.array([1.0, 3.0]), np.array([1.0, 1.0]), np.array([0.5, 0.5]))
    2.0
    """

    name: ClassVar[str] = "squared"
    n_outputs: ClassVar[int] = 1
    is_quadratic: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 2.0

    def value(self, y: AnyArray, f: FloatArray, w: FloatArray) -> float:
        """Weighted mean of squared errors."""
        residual = y - f
        return float(w @ (residual * residual))

    def gradient(self, y: AnyArray, f: FloatArray, w: FloatArray) -> FloatArray:
        """Derivative with respect to the decision values."""
        gradient: FloatArray = 2.0 * w * (f - y)
        return gradient

    def curvature(self, y: AnyArray, f: FloatArray, w: FloatArray) -> FloatArray:
        """Second derivative, the same for every ``f``."""
        return 2.0 * w

    def conjugate(self, y: AnyArray, theta: FloatArray, w: FloatArray) -> float:
        """``sum theta y + theta^2 / (4 w)``; a row of weight zero admits ``theta = 0`` only."""
        weightless = w == 0.0
        if np.any(theta[weightless] != 0.0):
            return float("inf")
        return float(theta @ y + (theta * theta / np.where(weightless, 1.0, 4.0 * w)).sum())

    def null_intercept(self, y: AnyArray, w: FloatArray) -> FloatArray:
        """Weighted mean of the targets."""
        return np.asarray(w @ y, dtype=np.float64)

    def inverse_link(self, f: FloatArray) -> FloatArray:
        """Identity."""
        return f
