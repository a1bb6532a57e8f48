"""How the default solver comes to its penalties and its groups: from larger and from fewer ones.

Penalties are multiplied by a factor that falls to one.
"""

from __future__ import annotations

import numpy as np

from s2mam._typing import BoolArray, FloatArray

__all__ = ["entering", "entering_by_norms", "first_factor", "next_factor"]

# Penalties start at most this factor below what empties the model, and fall by _FALL once the
# gradient norms exceed the current ones by less than _LOOSE.
_START = 0.05
_FALL = 0.3
_LOOSE = 0.5
# Most groups that want to enter are echoes of a few: at most _ENTER come into an empty model at
# once, at most _GROWTH times as many as are inside into a small one (up to one per _CROWD rows),
# and at most as many as are inside into a large one.
_ENTER = 20
_GROWTH = 4
_CROWD = 5
# Steps in the norms of the coefficients know echoes better, and take more of them at once: so many,
# or so many for each time that the largest gradient norm exceeds its penalty (up to the crowd).
_ENTER_BY_NORMS = 30
_ENTER_PER_EXCESS = 2.0


def first_factor(worst: float, share: float = _START) -> float:
    """Factor to begin with; ``worst`` is the largest gradient norm over its penalty.

    At most ``share`` of what empties the model.

    Examples
    --------
    >>> from s2mam.solvers.continuation import first_factor
    >>> first_factor(10.0), first_factor(100.0)
    (1.0, 5.0)
    """
    return max(1.0, share * worst)


def next_factor(factor: float, worst: float) -> float:
    """Factor to go on with.

    Examples
    --------
    >>> from s2mam.solvers.continuation import next_factor
    >>> next_factor(5.0, 9.0), next_factor(5.0, 6.0), next_factor(1.0, 1.0)
    (5.0, 1.5, 1.0)
    """
    return max(1.0, _FALL * factor) if worst < (1.0 + _LOOSE) * factor else factor


def entering(excess: FloatArray, inside: BoolArray, factor: float, rows: int) -> BoolArray:
    """Groups whose gradient exceeds the penalty, the largest ones when they are many.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.continuation import entering
    >>> entering(np.array([3.0, 1.5, 0.5]), np.array([True, False, False]), 1.0, 100)
    array([False,  True, False])
    """
    count = int(np.count_nonzero(inside))
    room = max(_ENTER, count, min(_GROWTH * count, rows // _CROWD))
    return _largest(excess, inside, factor, room)


def entering_by_norms(excess: FloatArray, inside: BoolArray, factor: float, rows: int) -> BoolArray:
    """Like :func:`entering`, for steps in the norms of the coefficients.

    A model grows the faster the further its gradients are from the penalties: near the end most of
    what wants to enter is an echo.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.continuation import entering_by_norms
    >>> entering_by_norms(np.array([3.0, 1.5, 0.5]), np.array([True, False, False]), 1.0, 100)
    array([False,  True, False])
    """
    count = int(np.count_nonzero(inside))
    worst = float(excess.max()) / factor
    wanted = max(_ENTER_PER_EXCESS * worst, min(float(_GROWTH), worst - 1.0) * count)
    room = max(_ENTER_BY_NORMS, count, int(min(wanted, rows // _CROWD)))
    return _largest(excess, inside, factor, room)


def _largest(excess: FloatArray, inside: BoolArray, factor: float, room: int) -> BoolArray:
    """The ``room`` largest, or so, of those outside that exceed ``factor``."""
    outside = np.where(inside, 0.0, excess)
    chosen: BoolArray = outside > factor
    if np.count_nonzero(chosen) > room:
        chosen = outside >= np.partition(outside, -room)[-room]
    return chosen
