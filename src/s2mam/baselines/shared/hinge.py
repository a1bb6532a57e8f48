"""The hinge loss with its corner rounded, for first-order methods."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray

__all__ = ["hinge_constant", "smoothed_hinge"]

#: Width of the rounded corner, that of the sparse additive machine.
WIDTH = 0.05


def smoothed_hinge(signs: FloatArray, f: FloatArray) -> tuple[float, FloatArray]:
    """Mean of ``max_{0 <= a <= 1} a (1 - s f) - WIDTH a^2 / 2`` and its gradient.

    It lies below the hinge ``max(0, 1 - s f)`` by at most ``WIDTH / 2``.

    Parameters
    ----------
    signs : ndarray of shape (l,)
        Classes as +1 and -1.
    f : ndarray of shape (l,)
        Decision values.

    Returns
    -------
    value : float
    gradient : ndarray of shape (l,)

    Examples
    --------
    >>> import numpy as np
    >>> value, gradient = smoothed_hinge(np.array([1.0, -1.0]), np.array([2.0, 0.0]))
    >>> round(value, 4), gradient.round(2) + 0.0
    (0.4875, array([0. , 0.5]))
    """
    short = 1.0 - signs * f
    pull = np.clip(short / WIDTH, 0.0, 1.0)
    value = float(np.mean(pull * short - 0.5 * WIDTH * pull * pull))
    return value, -signs * pull / len(f)


def hinge_constant(signs: FloatArray) -> float:
    """Best constant decision value; zero when the classes are equally frequent.

    Examples
    --------
    >>> import numpy as np
    >>> round(hinge_constant(np.array([1.0, 1.0, -1.0])), 3)
    0.975
    """
    share = float(np.mean(signs > 0.0))
    if share == 0.5:
        return 0.0
    side = 1.0 if share > 0.5 else -1.0
    larger = max(share, 1.0 - share)
    return side * (1.0 - WIDTH * (1.0 - larger) / larger)
