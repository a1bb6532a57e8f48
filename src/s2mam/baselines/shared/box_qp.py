"""The quadratic program of support vector machines: a box and one equation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from s2mam._typing import FloatArray
from s2mam.exceptions import ConvergenceWarning
from s2mam.intake.notices import warn_user

__all__ = ["BoxSolution", "solve_box_qp"]

_MAX_STEPS = 100
_TOLERANCE = 1e-13
# Share of the way to the boundary that a step may go.
_INSIDE = 0.995


@dataclass(frozen=True)
class BoxSolution:
    """Solution of the program.

    Attributes
    ----------
    point : (l,) array
        The minimiser.
    multiplier : float
        Multiplier b of the equation: Q beta - 1 + b y is zero where 0 < beta < bound.
    gaps : list of float
        Complementarity per step, in units of the bound; it falls to zero.
    """

    point: FloatArray
    multiplier: float
    gaps: list[float]


@dataclass
class _State:
    point: FloatArray  # in (0, 1): beta over its bound
    multiplier: float
    lower: FloatArray  # multipliers of point >= 0
    upper: FloatArray  # multipliers of point <= 1


def solve_box_qp(quadratic: FloatArray, signs: FloatArray, bound: float) -> BoxSolution:
    """Minimise ``beta'Q beta / 2 - sum(beta)`` with ``y'beta = 0`` and ``0 <= beta <= bound``.

    A feasible interior-point method (predictor and corrector), which ill-conditioned Q do not
    slow down as they do pairwise updates; then the bounds that are active are met exactly.

    Parameters
    ----------
    quadratic : (l, l) array
        Q, symmetric and positive semi-definite.
    signs : (l,) array
        y, of +1 and -1; both occur.
    bound : float
        Upper bound, positive.

    Returns
    -------
    BoxSolution

    Examples
    --------
    >>> import numpy as np
    >>> solution = solve_box_qp(np.eye(2), np.array([1.0, -1.0]), bound=10.0)
    >>> solution.point.round(6), abs(round(solution.multiplier, 6))
    (array([1., 1.]), 0.0)
    """
    scaled = bound * quadratic
    state = _start(scaled, signs)
    gaps = [_gap(state)]
    limit = _TOLERANCE * (1.0 + np.abs(scaled).sum(axis=1).max())
    while gaps[-1] > limit and len(gaps) <= _MAX_STEPS:
        _step(state, scaled, signs)
        gaps.append(_gap(state))
    if gaps[-1] > max(1e-6, 1e3 * limit):
        warn_user(
            f"The support vector program stopped after {len(gaps) - 1} steps at gap "
            f"{gaps[-1]:.1e}; use larger penalties.",
            ConvergenceWarning,
        )
    point, multiplier = _polish(state, scaled, signs)
    return BoxSolution(bound * point, multiplier, gaps)


def _start(scaled: FloatArray, signs: FloatArray) -> _State:
    """A point inside the box that meets the equation, with multipliers that fit it."""
    positive = signs > 0
    n_positive, n_negative = np.count_nonzero(positive), np.count_nonzero(~positive)
    share = 0.5 * min(n_positive, n_negative)
    point = np.where(positive, share / n_positive, share / n_negative)
    slope = scaled @ point - 1.0
    room = max(1.0, float(np.abs(slope).max()))
    return _State(point, 0.0, np.maximum(slope, 0) + room, np.maximum(-slope, 0) + room)


def _gap(state: _State) -> float:
    return float(state.point @ state.lower + (1.0 - state.point) @ state.upper)


def _step(state: _State, scaled: FloatArray, signs: FloatArray) -> None:
    """One predictor-corrector step of Newton's method on the optimality conditions."""
    point, rest, lower, upper = state.point, 1.0 - state.point, state.lower, state.upper
    system = scaled.copy()
    system[np.diag_indices_from(system)] += lower / point + upper / rest
    factor = linalg.cho_factor(system, lower=True)
    toward = linalg.cho_solve(factor, signs)
    slope = scaled @ point - 1.0 + state.multiplier * signs - lower + upper

    def direction(
        near: FloatArray, far: FloatArray
    ) -> tuple[FloatArray, float, FloatArray, FloatArray]:
        """Solution for the wanted products near = lower * point and far = upper * rest."""
        right = -slope + (near / point - lower) - (far / rest - upper)
        plain = linalg.cho_solve(factor, right)
        shift = float((signs @ plain + signs @ point) / (signs @ toward))
        move = plain - shift * toward
        return (
            move,
            shift,
            (near - lower * move) / point - lower,
            (far + upper * move) / rest - upper,
        )

    zero = np.zeros_like(point)
    move, _, to_lower, to_upper = direction(zero, zero)
    reach = _reach(((point, move), (rest, -move), (lower, to_lower), (upper, to_upper)), 1.0)
    ahead = float(
        (point + reach * move) @ (lower + reach * to_lower)
        + (rest - reach * move) @ (upper + reach * to_upper)
    )
    now = _gap(state)
    target = now / (2 * point.size) * min(1.0, max(ahead, 0.0) / now) ** 3
    move, shift, to_lower, to_upper = direction(target - to_lower * move, target + to_upper * move)
    reach = _reach(((point, move), (rest, -move), (lower, to_lower), (upper, to_upper)), _INSIDE)
    state.point = point + reach * move
    state.multiplier += reach * shift
    state.lower = lower + reach * to_lower
    state.upper = upper + reach * to_upper


def _reach(pairs: tuple[tuple[FloatArray, FloatArray], ...], share: float) -> float:
    """Longest step, up to one, that goes only a share of the way to a boundary."""
    most = 1.0
    for value, change in pairs:
        falling = change < 0
        if falling.any():
            most = min(most, share * float((-value[falling] / change[falling]).min()))
    return most


def _polish(state: _State, scaled: FloatArray, signs: FloatArray) -> tuple[FloatArray, float]:
    """Meet the active bounds exactly when that keeps the point feasible and as good."""
    point = np.where(state.point < state.lower, 0.0, state.point)
    point[1.0 - state.point < state.upper] = 1.0
    free = np.flatnonzero((point > 0) & (point < 1))
    if free.size:
        system = np.zeros((free.size + 1, free.size + 1))
        system[:-1, :-1] = scaled[np.ix_(free, free)]
        system[:-1, -1] = system[-1, :-1] = signs[free]
        fixed = point.copy()
        fixed[free] = 0.0
        right = np.append(1.0 - scaled[free] @ fixed, -signs @ fixed)
        exact = np.linalg.lstsq(system, right, rcond=None)[0]
        point[free] = exact[:-1]
    valid = abs(signs @ point) < 1e-9 and point.min() >= 0 and point.max() <= 1
    if valid and _value(point, scaled) <= _value(state.point, scaled) + 1e-12:
        slope = scaled @ point - 1.0
        return point, _multiplier(point, slope, signs)
    return state.point, state.multiplier


def _value(point: FloatArray, scaled: FloatArray) -> float:
    return float(point @ scaled @ point / 2.0 - point.sum())


def _multiplier(point: FloatArray, slope: FloatArray, signs: FloatArray) -> float:
    """Median over the free entries, or the middle of the interval the bounds allow."""
    wanted = -slope * signs
    free = (point > 0) & (point < 1)
    if free.any():
        return float(np.median(wanted[free]))
    # slope + b y >= 0 at the lower bound and <= 0 at the upper one.
    from_below = (point == 0) == (signs > 0)
    return float((wanted[from_below].max() + wanted[~from_below].min()) / 2.0)
