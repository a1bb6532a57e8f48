"""A point of the plain iteration: coefficients, decision values, gradient, lower bound."""

from __future__ import annotations

import numpy as np

from s2mam._typing import AnyArray, FloatArray
from s2mam.losses.base import Loss
from s2mam.solvers.moving_point import MovingPoint
from s2mam.solvers.problem import GroupProblem

__all__ = ["PlainPoint"]

# Rows whose curvature has vanished would divide by zero; a larger curvature is only more careful.
_CURVATURE_FLOOR = 1e-12


class PlainPoint(MovingPoint):
    """Coefficients of a plain problem and what follows from them; moves in place.

    Coefficients ``coef`` and negative gradients ``pulls`` have one row per group.

    Parameters
    ----------
    problem : GroupProblem
        A scalar loss, groups of one width, no quadratic term, no weight zero.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> from s2mam.solvers import GroupProblem
    >>> from s2mam.solvers.plain_point import PlainPoint
    >>> point = PlainPoint(GroupProblem(
    ...     SquaredLoss(), np.eye(2), np.array([1.0, -1.0]), np.full(2, 0.5),
    ...     np.array([0, 2]), np.array([5.0]),
    ... ))
    >>> point.place(np.zeros((1, 2)), 0.0)
    >>> point.objective, point.lower_bound()  # the penalty is so large that zero is optimal
    (1.0, 1.0)
    """

    coef: FloatArray
    intercept: float
    decision: FloatArray
    pulls: FloatArray
    smooth: float
    penalty: float
    norms: FloatArray
    excess: FloatArray
    worst: float
    bend: FloatArray
    bend_root: FloatArray
    bend_total: float

    def __init__(self, problem: GroupProblem) -> None:
        self.loss: Loss = problem.loss
        self.rows: FloatArray = np.asarray(problem.features, dtype=np.float64).T
        self.target: AnyArray = np.asarray(problem.target)
        self.weights: FloatArray = np.asarray(problem.weights, dtype=np.float64)
        self.penalties: FloatArray = np.asarray(problem.penalties, dtype=np.float64)
        self.fit_intercept = problem.fit_intercept
        self.shape = (len(self.penalties), problem.layout.width)
        self.theta: FloatArray = self.weights

    def null_intercept(self) -> float:
        """The best constant, or zero without intercept."""
        if not self.fit_intercept:
            return 0.0
        return float(self.loss.null_intercept(self.target, self.weights))

    def _bend_at(self, decision: FloatArray) -> None:
        bend = self.loss.curvature(self.target, decision, self.weights)
        self.bend = np.maximum(bend, _CURVATURE_FLOOR * self.weights)
        self.bend_root = np.sqrt(self.bend)
        self.bend_total = float(self.bend.sum())

    def place(self, coef: FloatArray, intercept: float) -> None:
        """Go to some coefficients."""
        moved = coef.reshape(-1) @ self.rows if coef.any() else np.zeros(len(self.weights))
        self._bend_at(moved + intercept)
        self.intercept = intercept
        self.decide(moved)
        self.settle(coef, self.pulls_of(self.rows))

    def decide(self, moved: FloatArray) -> None:
        """Decision values ``moved`` plus an intercept, balanced by one Newton step; gradient there.

        Takes the array. The gradient is made exactly orthogonal to the constant.
        """
        moved += self.intercept
        theta = self.loss.gradient(self.target, moved, self.weights)
        if self.fit_intercept:
            shift = float(theta.sum()) / self.bend_total
            self.intercept -= shift
            moved -= shift
            theta = self.loss.gradient(self.target, moved, self.weights)
            theta -= (float(theta.sum()) / self.bend_total) * self.bend
        self.decision, self.theta = moved, theta

    def pulls_of(self, rows: FloatArray) -> FloatArray:
        """Negative gradients of the groups whose columns are ``rows``."""
        pulls: FloatArray = rows @ self.theta
        np.negative(pulls, out=pulls)
        return pulls.reshape(-1, self.shape[1])

    def settle(self, coef: FloatArray, pulls: FloatArray) -> None:
        """Evaluate the point of the decision values at hand."""
        self.coef, self.pulls = coef, pulls
        self._bend_at(self.decision)
        self.smooth = self.loss.value(self.target, self.decision, self.weights)
        self.penalty = float(self.penalties @ np.sqrt(np.einsum("gd,gd->g", coef, coef)))
        self.norms = np.sqrt(np.einsum("gd,gd->g", pulls, pulls))
        self.excess = self.norms / self.penalties
        self.worst = float(self.excess.max())

    def lower_bound(self) -> float:
        """Lower bound of the minimum that the gradient at hand proves.

        The certificate of :mod:`s2mam.solvers.gap`: the dual point, scaled to respect every
        penalty, in the conjugate of the loss.
        """
        scaled = self.theta / max(self.worst, 1.0)
        return -self.loss.conjugate(self.target, scaled, self.weights)
