"""Proximal gradient steps for a smooth loss of the decision values and a norm per group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.exceptions import ConvergenceWarning
from s2mam.intake.notices import warn_user
from s2mam.solvers.layout import GroupLayout

__all__ = ["ProximalProblem", "ProximalResult", "minimise"]

#: Value and gradient of the loss at (l,) decision values.
Smooth = Callable[[FloatArray], tuple[float, FloatArray]]

_GROWTH = 2.0
_DECAY = 0.9
_ROUNDING = 1e-14
# So many steps together must gain more than the tolerance.
_WINDOW = 100


@dataclass(frozen=True)
class ProximalProblem:
    """``min smooth(features @ b + c) + penalty * sum_g ||b_g||``, `c` free.

    Attributes
    ----------
    smooth : callable
        Value and gradient of a differentiable loss, convex or not.
    features : ndarray of shape (l, P)
        Blocks side by side.
    offsets : ndarray of shape (G + 1,)
        Where the blocks begin and end.
    penalty : float
        Of each group.
    """

    smooth: Smooth
    features: FloatArray
    offsets: IntArray
    penalty: float


@dataclass(frozen=True)
class ProximalResult:
    """Where the steps ended.

    Attributes
    ----------
    coef, intercept
        The point; groups that are out are exactly zero.
    history : list of float
        Objective per iteration; never rises.
    residual : float
        Norm of a subgradient at a point no worse than the last, in units of the first gradient.
    """

    coef: FloatArray
    intercept: float
    history: list[float]
    residual: float


class _Space:
    """Coefficients and intercept as one vector, with its penalty and proximal map."""

    def __init__(self, problem: ProximalProblem) -> None:
        self.smooth = problem.smooth
        rows = len(problem.features)
        # the intercept is a last group without penalty
        self.matrix = np.hstack([problem.features, np.ones((rows, 1))])
        self.layout = GroupLayout(np.append(problem.offsets, problem.offsets[-1] + 1))
        self.penalties = np.append(np.full(len(problem.offsets) - 1, problem.penalty), 0.0)

    def value(self, point: FloatArray) -> float:
        return self.smooth(self.matrix @ point)[0]

    def slope(self, point: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = self.smooth(self.matrix @ point)
        return value, self.matrix.T @ gradient

    def penalty(self, point: FloatArray) -> float:
        return float(self.penalties @ self.layout.norms(point))

    def shrink(self, point: FloatArray, step: float) -> FloatArray:
        norms = self.layout.norms(point)
        limits = step * self.penalties
        kept = norms > limits
        factors = np.where(kept, 1.0 - limits / np.where(kept, norms, 1.0), 0.0)
        shrunk: FloatArray = point * np.repeat(factors, self.layout.sizes)
        return shrunk


class _Descent:
    """Accelerated steps that never rise: one that would is replaced by a plain step."""

    def __init__(self, space: _Space, start: FloatArray) -> None:
        self.space = space
        self.point = start
        value, gradient = space.slope(start)
        self.objective = value + space.penalty(start)
        self.history = [self.objective]
        self.unit = max(float(np.linalg.norm(gradient)), 1e-300)
        self.bend = 1.0
        self.residual = np.inf
        self._rest()

    def _rest(self) -> None:
        self.ahead = self.point
        self.momentum = 1.0

    def step(self) -> bool:
        """One step; whether it moved."""
        target, value = self._land(self.ahead)
        objective = value + self.space.penalty(target)
        if objective > self.objective and self.momentum > 1.0:
            self._rest()
            target, value = self._land(self.ahead)
            objective = value + self.space.penalty(target)
        if objective > self.objective:
            return False  # a plain step falls unless rounding hides it
        self._move(target, objective)
        return True

    def gain(self) -> float:
        """Share of the objective that the last steps took away."""
        if len(self.history) <= _WINDOW:
            return np.inf
        before = self.history[-1 - _WINDOW]
        return (before - self.objective) / max(abs(before), 1e-300)

    def _land(self, base: FloatArray) -> tuple[FloatArray, float]:
        """Proximal step from `base` with a bound on the curvature that holds along it."""
        value, gradient = self.space.slope(base)
        slack = _ROUNDING * abs(value)
        while True:
            target = self.space.shrink(base - gradient / self.bend, 1.0 / self.bend)
            move = target - base
            length = float(move @ move)
            reached = self.space.value(target)
            model = value + float(gradient @ move) + 0.5 * self.bend * length
            if reached <= model + slack or length == 0.0:
                # the subgradient at the target is at most twice this for a curvature below bend
                self.residual = 2.0 * self.bend * np.sqrt(length) / self.unit
                return target, reached
            self.bend *= _GROWTH

    def _move(self, target: FloatArray, objective: float) -> None:
        last, self.point, self.objective = self.point, target, objective
        momentum = 0.5 + np.sqrt(0.25 + self.momentum**2)
        if float((self.ahead - target) @ (target - last)) > 0.0:  # momentum points uphill
            self._rest()
        else:
            self.ahead = target + (self.momentum - 1.0) / momentum * (target - last)
            self.momentum = momentum
        self.bend *= _DECAY
        self.history.append(objective)


def minimise(
    problem: ProximalProblem,
    coef: FloatArray,
    intercept: float,
    *,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    warn: bool = True,
) -> ProximalResult:
    """Accelerated proximal gradient descent with backtracking and restarts.

    Parameters
    ----------
    problem : ProximalProblem
        What is minimised.
    coef, intercept
        Where to start.
    tol : float
        Stop when the subgradient is at most this share of the first gradient, or when 100 steps
        together lower the objective by at most this share of it.
    max_iter : int
        Most steps.
    warn : bool
        Warn when `max_iter` steps did not suffice.

    Returns
    -------
    ProximalResult

    Examples
    --------
    >>> import numpy as np
    >>> target = np.array([3.0, -1.0, -2.0])
    >>> problem = ProximalProblem(
    ...     lambda f: (0.5 * float((f - target) @ (f - target)), f - target),
    ...     np.eye(3), np.arange(4), 1.0,
    ... )
    >>> result = minimise(problem, np.zeros(3), 0.0)
    >>> result.coef.round(3) + 0.0, round(result.intercept, 3)
    (array([3., 0., 0.]), -1.0)
    """
    descent = _Descent(_Space(problem), np.append(coef, intercept))
    for _ in range(max_iter):
        if not descent.step() or descent.residual <= tol or descent.gain() <= tol:
            break
    else:
        if warn:
            warn_user(
                f"max_iter={max_iter} proximal steps were too few to reach tol={tol:g}: the last "
                f"{_WINDOW} still lowered the objective by a share of {descent.gain():.1e}; raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
    return ProximalResult(
        coef=descent.point[:-1],
        intercept=float(descent.point[-1]),
        history=descent.history,
        residual=float(descent.residual),
    )
