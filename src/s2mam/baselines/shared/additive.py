"""An additive function, and the certified fit of one by a loss and a norm per column."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.baselines.shared.blocks import Blocks
from s2mam.losses.base import Loss
from s2mam.solvers import GroupProblem, SolveResult, solve, solve_scale_newton
from s2mam.solvers.layout import GroupLayout

__all__ = ["AdditiveFunction", "group_problem", "solve_groups", "standardized"]


@dataclass(frozen=True)
class AdditiveFunction:
    """``intercept + sum_j f_j(x_j)``.

    Attributes
    ----------
    blocks : Blocks
        Functions of each column.
    coef : ndarray of shape (P,)
        Their coefficients, zero throughout the block of a column that is not used.
    intercept : float
        Constant.
    history : list of float
        Objective per iteration of the fit.
    """

    blocks: Blocks
    coef: FloatArray
    intercept: float
    history: list[float]

    @property
    def used(self) -> IntArray:
        """Columns with a function that is not zero."""
        return np.flatnonzero(GroupLayout(self.blocks.offsets).norms(self.coef))

    def values(self, table: FloatArray) -> FloatArray:
        """(m,) values on rows of the encoded table."""
        used = self.used
        if not used.size:
            return np.full(len(table), self.intercept)
        active = GroupLayout(self.blocks.offsets).columns(used)
        values: FloatArray = self.blocks.evaluate(table, used) @ self.coef[active] + self.intercept
        return values

    def norms(self) -> FloatArray:
        """(q,) ``sqrt(mean(f_j^2))`` on the rows of the fit."""
        layout, used = GroupLayout(self.blocks.offsets), self.used
        norms = np.zeros(layout.n_groups)
        if used.size:
            active = layout.columns(used)
            terms = self.blocks.features[:, active] * self.coef[active]
            norms[used] = np.sqrt(np.mean(layout.sum_columns(terms, used) ** 2, axis=0))
        return norms

    def scaled(self, center: float, spread: float) -> AdditiveFunction:
        """The function ``center + spread * f``."""
        return replace(
            self, coef=spread * self.coef, intercept=float(center + spread * self.intercept)
        )


def standardized(target: AnyArray) -> tuple[FloatArray, float, float]:
    """Targets in standard deviations from their mean, with mean and deviation.

    Penalties of a model of such targets have no unit.

    Examples
    --------
    >>> import numpy as np
    >>> standardized(np.array([1.0, 3.0]))
    (array([-1.,  1.]), 2.0, 1.0)
    """
    center = float(target.mean())
    apart = np.asarray(target - center, dtype=np.float64)
    largest = float(np.max(np.abs(apart), initial=0.0))
    # the mean of equal numbers may be off by rounding; that is no spread
    if largest <= 1e-14 * abs(center) or largest == 0.0:
        return np.zeros_like(apart), center, 1.0
    spread = largest * float(np.sqrt(np.mean((apart / largest) ** 2)))
    return apart / spread, center, spread


def group_problem(
    loss: Loss, blocks: Blocks, target: FloatArray, penalty: float, *, fit_intercept: bool = True
) -> GroupProblem:
    """Mean loss plus ``penalty * sum_j ||coef_j||``."""
    rows, groups = len(blocks.features), len(blocks.offsets) - 1
    return GroupProblem(
        loss=loss,
        features=blocks.features,
        target=target,
        weights=np.full(rows, 1.0 / rows),
        offsets=blocks.offsets,
        penalties=np.full(groups, penalty),
        fit_intercept=fit_intercept,
    )


def solve_groups(
    problem: GroupProblem, *, start: SolveResult | None = None, tol: float = 1e-6
) -> SolveResult:
    """Minimiser whose gap is at most `tol` of the objective, or of the empty model's.

    With a tiny penalty the fit interpolates, the objective nears zero and a gap relative to it is
    beyond the reach of rounding; relative to the empty model it still means the same prediction.
    """
    result = solve_scale_newton(problem, start=start, tol=tol)
    intercept = problem.loss.null_intercept(problem.target, problem.weights)
    nothing = np.zeros(len(problem.weights)) + intercept * problem.fit_intercept
    empty = problem.loss.value(problem.target, nothing, problem.weights)
    if result.gap <= tol * max(abs(result.objective), empty):
        return result
    return solve(problem, start=result, tol=tol)
