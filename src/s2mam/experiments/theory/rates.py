"""Powers from measurements, and the powers the paper proves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2mam.exceptions import InvalidInputError

__all__ = ["Power", "best_theta", "fit_power", "paper_theta"]


@dataclass(frozen=True)
class Power:
    """y = factor * x ** exponent, fitted on logarithms.

    Attributes
    ----------
    exponent, factor : float
    error : float
        Standard error of the exponent; NaN for two points.
    """

    exponent: float
    factor: float
    error: float


def fit_power(x: Sequence[float], y: Sequence[float]) -> Power:
    """Least squares on logarithms.

    Parameters
    ----------
    x, y : sequence of float
        Positive, two or more.

    Examples
    --------
    >>> fit_power([1, 2, 4], [3, 6, 12]).exponent
    1.0
    """
    points = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(points[0]) < 2 or min(points[0].min(), points[1].min()) <= 0:
        raise InvalidInputError("A power needs two or more points with positive coordinates.")
    u, v = np.log(points[0]), np.log(points[1])
    spread = float(((u - u.mean()) ** 2).sum())
    slope = float(((u - u.mean()) * (v - v.mean())).sum()) / spread
    rest = v - v.mean() - slope * (u - u.mean())
    free = len(u) - 2
    error = float(np.sqrt(rest @ rest / free / spread)) if free else float("nan")
    return Power(round(slope, 10), float(np.exp(v.mean() - slope * u.mean())), error)


def paper_theta(delta: float, r: float, smoothness: float) -> float:
    """Theta of the paper's bound p ((l + u)^-Theta + l^-1/2) on the excess risk.

    Parameters
    ----------
    delta : float
        lambda_1 = (l + u)^-delta.
    r : float
        Regularity of the target in (0, 1/2]; lambda_2 = lambda_1^(1 - r).
    smoothness : float
        nu, the number of derivatives of the kernels; infinite for the Gaussian one.

    Examples
    --------
    >>> paper_theta(2 / 3, 0.5, float("inf")).__round__(6)
    0.333333
    """
    if not (delta > 0 and 0 < r <= 0.5 and smoothness > 0):
        raise InvalidInputError("Theta needs delta > 0, r in (0, 1/2] and smoothness > 0.")
    if smoothness <= 1:
        zeta = 2 / (1 + 2 * smoothness)
    elif smoothness <= 1.5:
        zeta = 2 / (1 + smoothness)
    else:
        zeta = 1 / smoothness
    return min(
        delta * r,
        1 + delta * (r - 1),
        delta * (5 * r / 2 - 3 / 2) + 1 / 2,
        2 / (2 + zeta),
        3 / 2 - delta * r,
        1 / 2,
    )


def best_theta(r: float, smoothness: float) -> tuple[float, float]:
    """The delta with the largest Theta, and that Theta.

    Examples
    --------
    >>> [round(value, 3) for value in best_theta(0.5, float("inf"))]
    [0.667, 0.333]
    """
    deltas = np.linspace(1e-3, 3.0, 3000)
    thetas = [paper_theta(float(delta), r, smoothness) for delta in deltas]
    best = int(np.argmax(thetas))
    return float(deltas[best]), thetas[best]
