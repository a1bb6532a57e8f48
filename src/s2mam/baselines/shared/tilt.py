"""Tilted means: losses weighted by the exponential of themselves."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit

from s2mam._typing import FloatArray

__all__ = ["logistic_losses", "squared_losses", "tilted_mean", "tilted_weights"]

# Below this tilt the mean of the losses is exact to rounding, and the logarithm is not.
_UNTILTED = 1e-9


def tilted_mean(losses: FloatArray, t: float) -> float:
    """``log(mean(exp(t * losses))) / t``; the mean itself at ``t = 0``.

    Between the smallest loss (t to minus infinity) and the largest (t to infinity).

    Examples
    --------
    >>> import numpy as np
    >>> [round(tilted_mean(np.array([0.0, 1.0]), t), 3) for t in (-1e3, 0.0, 1e3)]
    [0.001, 0.5, 0.999]
    """
    if abs(t) < _UNTILTED:
        return float(losses.mean())
    # the extreme term comes out of the sum, so that no exponential overflows
    extreme = float(losses.max() if t > 0 else losses.min())
    return extreme + float(np.log(np.mean(np.exp(t * (losses - extreme))))) / t


def tilted_weights(losses: FloatArray, t: float) -> FloatArray:
    """Derivative of `tilted_mean` with respect to each loss; non-negative, sum one.

    Examples
    --------
    >>> import numpy as np
    >>> tilted_weights(np.array([0.0, np.log(3.0)]), 1.0)
    array([0.25, 0.75])
    """
    exponents = t * losses
    raw = np.exp(exponents - exponents.max())
    weights: FloatArray = raw / raw.sum()
    return weights


def squared_losses(target: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Half squared errors and their derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> squared_losses(np.array([1.0]), np.array([3.0]))
    (array([2.]), array([2.]))
    """
    apart = f - target
    return 0.5 * apart * apart, apart


def logistic_losses(signs: FloatArray, f: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logistic losses of classes +1 and -1, and their derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> losses, slopes = logistic_losses(np.array([1.0]), np.array([0.0]))
    >>> losses.round(3), slopes
    (array([0.693]), array([-0.5]))
    """
    margins = signs * f
    return -log_expit(margins), -signs * expit(-margins)
