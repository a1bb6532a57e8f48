"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from s2mam._typing import FloatArray

__all__ = ["SolveResult", "merge_results"]


@dataclass(frozen=True)
class SolveResult:
    """A solution with its certificate.

    Attributes
    ----------
    coef : ndarray of shape (P,) or (P, K)
        Coefficients; groups that are out are exactly zero.
    intercept : float or ndarray of shape (K,)
        Unpenalised constant; zero when the problem has none.
    objective : float
        Objective at ``coef`` and ``intercept``.
    gap : float
        Duality gap: ``objective`` exceeds the minimum by at most this much (infinite while no
        feasible dual point is known).
    n_iter : int
        Iterations, one factorised linear system each (default solver) or one sweep (ADMM).
    stop_reason : str
        ``"gap"`` (certified to the tolerance), ``"max_iter"`` or ``"stalled"`` (no step of the
        arithmetic at hand lowers the objective any more).
    trace : list of float
        Objective of the best iterate after each iteration; never rises.
    """

    coef: FloatArray
    intercept: float | FloatArray
    objective: float
    gap: float
    n_iter: int
    stop_reason: str
    trace: list[float]


def merge_results(first: SolveResult, second: SolveResult, tol: float) -> SolveResult:
    """Result of a solver that went on from another: the better point, the better lower bound.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.result import SolveResult, merge_results
    >>> first = SolveResult(np.zeros(1), 0.0, 2.0, 0.5, 3, "stalled", [2.0])
    >>> second = SolveResult(np.ones(1), 0.0, 1.6, 0.9, 4, "max_iter", [1.6])
    >>> merged = merge_results(first, second, 0.1)
    >>> round(merged.gap, 6), merged.n_iter, merged.stop_reason, merged.trace
    (0.1, 7, 'gap', [2.0, 1.6])
    """
    best = min(first, second, key=lambda result: result.objective)
    bound = max(first.objective - first.gap, second.objective - second.gap)
    gap = max(0.0, best.objective - bound)
    return replace(
        best,
        gap=gap,
        n_iter=first.n_iter + second.n_iter,
        stop_reason="gap" if gap <= tol * abs(best.objective) else second.stop_reason,
        trace=[*first.trace, *(min(value, first.objective) for value in second.trace)],
    )
