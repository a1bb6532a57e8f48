"""A solution of the lower level, as the upper level and the estimators read it."""

from __future__ import annotations

from dataclasses import dataclass

from s2mam._typing import FloatArray, IntArray
from s2mam.masks.alo import approximate_loo
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.result import SolveResult

__all__ = ["LowerSolution", "StartPoint"]


@dataclass(frozen=True)
class StartPoint:
    """Where the next solve starts: coefficients on all design features, zeros where masked.

    Attributes
    ----------
    coef : (P,) or (P, K) array
    intercept : float or (K,) array
    """

    coef: FloatArray
    intercept: float | FloatArray


@dataclass(frozen=True)
class LowerSolution:
    """The additive model fitted under one mask.

    Attributes
    ----------
    mask : (p,) array
        Binary, or real weights of the column kernels.
    columns : array of int
        Columns with a positive mask, in order.
    coef : (P_active,) or (P_active, K) array
        Coefficients on the design's own features of these columns, whatever the penalty's
        parametrisation: ``design.evaluate(Z, columns) @ coef + intercept`` predicts.
    intercept : float or (K,) array
    fitted : (n,) or (n, K) array
        Decision values of all training rows.
    full_coef : (P,) or (P, K) array
        ``coef`` with zeros for the other columns.
    problem, result : GroupProblem, SolveResult
        What was solved and the solver's answer in its own parametrisation.
    """

    mask: FloatArray
    columns: IntArray
    coef: FloatArray
    intercept: float | FloatArray
    fitted: FloatArray
    full_coef: FloatArray
    problem: GroupProblem
    result: SolveResult

    def start_point(self) -> StartPoint:
        """Return what a later solve, under another mask, can start from."""
        return StartPoint(self.full_coef, self.intercept)

    def labeled_loss(self) -> float:
        """Return the loss on the labelled rows the model was fitted to."""
        return labeled_loss(self.problem, self.result)

    def approximate_loo(self) -> float:
        """Return the approximate leave-one-out loss."""
        return loo_of(self.problem, self.result)


def labeled_loss(problem: GroupProblem, result: SolveResult) -> float:
    """Return the loss term of a solved problem."""
    decision = problem.decision(result.coef, result.intercept)
    return float(problem.loss.value(problem.target, decision, problem.weights))


def loo_of(problem: GroupProblem, result: SolveResult) -> float:
    """Return the approximate leave-one-out loss of a solved problem."""
    return approximate_loo(
        problem.loss,
        problem.target,
        problem.weights,
        problem.features,
        problem.offsets,
        result.coef,
        result.intercept,
        problem.penalties,
        problem.quadratic,
    )
