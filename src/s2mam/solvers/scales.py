"""The step of the group scales: a Newton step under non-negativity.

At the minimum every group has ``||p_g|| = penalty_g`` (``p`` the negative gradient) or scale
zero. Newton's method on ``1 / ||p_g|| = 1 / penalty_g`` needs a handful of steps where Newton on
``||p_g||^2`` needs dozens: the inverse norm is nearly linear in the scale, the old trick of
trust-region solvers.
"""

from __future__ import annotations

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.solvers.linear import solve_definite

__all__ = ["propose_norms", "propose_scales"]

_REGULARISATION = 1e-10
_MAX_PIVOTS = 50


def propose_scales(
    response: FloatArray, norms: FloatArray, penalties: FloatArray, scales: FloatArray
) -> FloatArray:
    """New non-negative scales from a Newton step.

    Parameters
    ----------
    response : ndarray of shape (m, m)
        ``-1/2 d||p_g||^2 / d scale_h``, positive semidefinite.
    norms : ndarray of shape (m,)
        ``||p_g||``, positive.
    penalties : ndarray of shape (m,)
        Targets of ``norms``, positive.
    scales : ndarray of shape (m,)
        Current scales.

    Examples
    --------
    One group with ``||p|| = 4 / (1 + 2 scale)``: the step is exact.

    >>> import numpy as np
    >>> from s2mam.solvers.scales import propose_scales
    >>> propose_scales(np.array([[32.0]]), np.array([4.0]), np.ones(1), np.zeros(1))
    array([1.5])
    """
    squares = norms * norms
    slope = 0.5 * (squares - penalties * penalties)
    step = _bounded_step(response, squares * (norms / penalties - 1.0), scales)
    if slope @ step < 0.0:
        # uphill: the plain Newton step always points downhill
        step = _bounded_step(response, slope, scales)
    return np.maximum(scales + step, 0.0)


def propose_norms(
    answers: FloatArray, norms: FloatArray, penalties: FloatArray, scales: FloatArray
) -> FloatArray:
    """New non-negative scales from a Newton step in the norms of the coefficients.

    Like :func:`propose_scales`, with a matrix that knows how far each group will move: a group
    whose gradient falls from its norm to its penalty moves the others by that much less than the
    slope in its scale says. Groups far from their penalties at once are judged better so.

    Parameters
    ----------
    answers : ndarray of shape (m, m)
        ``-d||p_g|| / d||b_h||``, positive semidefinite.
    norms, penalties, scales : ndarray of shape (m,)
        As in :func:`propose_scales`.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.scales import propose_norms
    >>> propose_norms(np.array([[2.0]]), np.array([4.0]), np.ones(1), np.zeros(1))
    array([1.5])
    """
    step = _bounded_step(answers, norms - penalties, penalties * scales) / penalties
    slope = 0.5 * (norms * norms - penalties * penalties)
    if slope @ step < 0.0:
        response = answers * (norms[:, None] * norms)
        step = _bounded_step(response, slope, scales)
    return np.maximum(scales + step, 0.0)


def _bounded_step(response: FloatArray, right: FloatArray, scales: FloatArray) -> FloatArray:
    """Minimise ``d' response d / 2 - right'd`` subject to ``scales + d >= 0``.

    Block pivoting: all violated bounds and multipliers change sides at once; when their number
    stops falling, only the last one does, which cannot cycle.
    """
    count = len(scales)
    matrix = response.copy()
    matrix.reshape(-1)[:: count + 1] *= 1.0 + _REGULARISATION
    inside = (scales > 0.0) | (right > 0.0)
    threshold = 1e-12 * float(np.abs(right).max())
    fewest, patience = count + 1, 3
    for _ in range(_MAX_PIVOTS):
        free = inside.nonzero()[0]
        # inside a scale below zero is wrong, outside a pull towards more of it
        if len(free) == count:
            step = solve_definite(matrix, right)
            wrong = scales + step < 0.0
        else:
            step = _step_inside(matrix, right, scales, inside, free)
            wrong = np.where(inside, scales + step < 0.0, right - matrix @ step > threshold)
        violations = int(np.count_nonzero(wrong))
        if violations == 0:
            break
        if violations < fewest:
            fewest, patience = violations, 3
        else:
            patience -= 1
        if patience > 0:
            inside = inside ^ wrong
        else:
            last = wrong.nonzero()[0][-1]
            inside[last] = not inside[last]
    return step


def _step_inside(
    matrix: FloatArray, right: FloatArray, scales: FloatArray, inside: BoolArray, free: IntArray
) -> FloatArray:
    """Step of the scales inside, given that those outside go to zero."""
    step = np.where(inside, 0.0, -scales)
    reduced = right[free]
    if step.any():
        reduced -= (matrix @ step)[free]
    step[free] = solve_definite(matrix.take(free, axis=0).take(free, axis=1), reduced)
    return step
