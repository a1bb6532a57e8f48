"""Cross entropy of the softmax for classes coded 0..K-1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_softmax, softmax, xlogy

from s2mam._typing import AnyArray, FloatArray

__all__ = ["MultinomialLoss"]

_SMALLEST_SHARE = 1e-10
# Rounding of dual points that lie on the border of the domain in exact arithmetic.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class MultinomialLoss:
    """``-sum_i w_i log softmax(f_i)[y_i]`` with ``f`` of shape ``(l, n_classes)``.

    Parameters
    ----------
    n_classes : int
        Number of classes ``K``.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import MultinomialLoss
    >>> loss = MultinomialLoss(3)
    >>> round(loss.value(np.array([0, 2]), np.zeros((2, 3)), np.array([0.5, 0.5])), 6)
    1.098612
    """

    n_classes: int
    name: ClassVar[str] = "multinomial"
    is_quadratic: ClassVar[bool] = False
    curvature_bound: ClassVar[float] = 0.5

    @property
    def n_outputs(self) -> int:
        """One decision value per class."""
        return self.n_classes

    def value(self, y: AnyArray, f: FloatArray, w: FloatArray) -> float:
        """Weighted cross entropy."""
        return float(-(w @ log_softmax(f, axis=1)[np.arange(len(y)), y]))

    def gradient(self, y: AnyArray, f: FloatArray, w: FloatArray) -> FloatArray:
        """Derivative with respect to the decision values, shape ``(l, K)``."""
        gradient: FloatArray = softmax(f, axis=1)
        rows = np.arange(len(y))
        gradient[rows, y] = 0.0
        # minus the sum of the other classes equals p_y - 1 without its cancellation
        gradient[rows, y] = -gradient.sum(axis=1)
        return gradient * w[:, None]

    def curvature(self, y: AnyArray, f: FloatArray, w: FloatArray) -> FloatArray:
        """``w (diag(p) - p p')`` row by row, shape ``(l, K, K)``."""
        p: FloatArray = softmax(f, axis=1)
        curvature: FloatArray = -p[:, :, None] * p[:, None, :]
        diagonal = np.arange(self.n_classes)
        curvature[:, diagonal, diagonal] += p
        return curvature * w[:, None, None]

    def conjugate(self, y: AnyArray, theta: FloatArray, w: FloatArray) -> float:
        """Negative entropy of ``theta / w + onehot(y)``, which must be a probability vector."""
        weightless = w == 0.0
        if np.any(theta[weightless] != 0.0):
            return float("inf")
        share = theta / np.where(weightless, 1.0, w)[:, None]
        if np.abs(share.sum(axis=1)).max() > _ROUNDING:
            return float("inf")
        share[np.arange(len(y)), y] += 1.0
        if share.min() < -_ROUNDING:
            return float("inf")
        share = np.maximum(share, 0.0)
        return float(w @ xlogy(share, share).sum(axis=1))

    def null_intercept(self, y: AnyArray, w: FloatArray) -> FloatArray:
        """Log shares of the classes, centred."""
        share = np.bincount(y, weights=w, minlength=self.n_classes)
        logs: FloatArray = np.log(np.maximum(share, _SMALLEST_SHARE))
        centred: FloatArray = logs - logs.mean()
        return centred

    def inverse_link(self, f: FloatArray) -> FloatArray:
        """Class probabilities."""
        probability: FloatArray = softmax(f, axis=1)
        return probability
