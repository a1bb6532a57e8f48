"""Logistic loss for two classes coded 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_expit, xlogy

from s2mam._typing import AnyArray, FloatArray

__all__ = ["LogisticLoss"]

# With a single class the best constant is infinite; this keeps it finite and the loss near zero.
_SMALLEST_SHARE = 1e-10
# Rounding of dual points that lie on the border of the domain in exact arithmetic.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class LogisticLoss:
    """``sum_i w_i log(1 + exp(-(2 y_i - 1) f_i))`` with ``y`` in {0, 1}.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import LogisticLoss
    >>> round(LogisticLoss().value(np.array([0.0, 1.0]), np.zeros(2), np.array([0.5, 0.5])), 6)
    0.693147
    """

    name: ClassVar[str] = "logistic"
    n_outputs: ClassVar[int] = 1
    is_quadratic: ClassVar[bool] = False
    curvature_bound: ClassVar[float] = 0.25

    def value(self, y: AnyArray, f: FloatArray, w: FloatArray) -> float:
        """Weighted negative log likelihood."""
        return float(-(w @ log_expit((2.0 * y - 1.0) * f)))

    def gradient(self, y: AnyArray, f: FloatArray, w: FloatArray) -> FloatArray:
        """Derivative with respect to the decision values."""
        sign = 2.0 * y - 1.0
        # expit(-sign f) keeps its relative precision where expit(f) - y would cancel
        gradient: FloatArray = -w * sign * expit(-sign * f)
        return gradient

    def curvature(self, y: AnyArray, f: FloatArray, w: FloatArray) -> FloatArray:
        """Second derivative ``w p (1 - p)``."""
        curvature: FloatArray = w * expit(f) * expit(-f)
        return curvature

    def conjugate(self, y: AnyArray, theta: FloatArray, w: FloatArray) -> float:
        """Negative entropy of ``-(2y - 1) theta / w``, which must lie in [0, 1]."""
        weightless = w == 0.0
        if np.any(theta[weightless] != 0.0):
            return float("inf")
        share = -(2.0 * y - 1.0) * theta / np.where(weightless, 1.0, w)
        if share.min() < -_ROUNDING or share.max() > 1.0 + _ROUNDING:
            return float("inf")
        share = np.clip(share, 0.0, 1.0)
        return float(w @ (xlogy(share, share) + xlogy(1.0 - share, 1.0 - share)))

    def null_intercept(self, y: AnyArray, w: FloatArray) -> FloatArray:
        """Log odds of the weighted share of class 1."""
        share = np.clip(w @ y, _SMALLEST_SHARE, 1.0 - _SMALLEST_SHARE)
        return np.asarray(np.log(share / (1.0 - share)), dtype=np.float64)

    def inverse_link(self, f: FloatArray) -> FloatArray:
        """Probability of class 1."""
        probability: FloatArray = expit(f)
        return probability
