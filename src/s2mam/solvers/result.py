"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass

from s2mam._typing import FloatArray

__all__ = ["SolveResult"]


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
