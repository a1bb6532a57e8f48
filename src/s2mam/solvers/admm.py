"""The solver of the paper: ADMM with the splitting ``alpha = beta``.

``alpha`` carries the loss and the quadratic term, ``beta`` the norms (group soft threshold), so
``beta`` has exact zeros. Curved losses enter the ``alpha`` step through their quadratic upper bound
(majorised ADMM, which converges for every ``rho``); for the squared loss the bound is the loss.
One spectral factorisation of the fixed quadratic serves every step and every ``rho``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from s2mam._typing import FloatArray
from s2mam.solvers.gap import certify
from s2mam.solvers.linear import Definite
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.result import SolveResult

__all__ = ["solve_admm"]

_CHECK_EVERY = 10
_IMBALANCE = 3.0
# The theory asks for finitely many changes of rho.
_MAX_RHO_CHANGES = 40
_INTERCEPT_STEPS = 5
_TINY = 1e-300


def _norm(values: FloatArray) -> float:
    return float(np.linalg.norm(values))


class _Spectral:
    """``(A + rho I)^-1`` for every ``rho``, ``A = X'X + 2Q``, from one eigendecomposition."""

    def __init__(self, scaled: FloatArray, quadratic: FloatArray | None) -> None:
        rows, columns = scaled.shape
        self._scaled: FloatArray | None = None
        if quadratic is None and columns > rows:
            self._scaled = scaled
            self.values, self._vectors = np.linalg.eigh(scaled @ scaled.T)
        else:
            gram = scaled.T @ scaled
            if quadratic is not None:
                gram += 2.0 * quadratic
            self.values, self._vectors = np.linalg.eigh(gram)
        self.values = np.maximum(self.values, 0.0)

    def solve(self, right: FloatArray, rho: float) -> FloatArray:
        inner = right if self._scaled is None else self._scaled @ right
        shrunk = (inner.T @ self._vectors / (self.values + rho)).T
        solved: FloatArray = self._vectors @ shrunk
        if self._scaled is not None:
            # push-through identity: only the row space needs a factor
            solved = (right - self._scaled.T @ solved) / rho
        return solved


@dataclass
class _State:
    alpha: FloatArray
    beta: FloatArray
    dual: FloatArray
    decision: FloatArray
    rho: float
    changes: int = 0
    residuals: tuple[float, float] = field(default=(np.inf, np.inf))


class _Admm:
    def __init__(self, problem: GroupProblem) -> None:
        self.prepared = prepared = PreparedProblem(problem)
        self.bend = prepared.loss.curvature_bound * prepared.weights
        mean = prepared.weights @ prepared.features
        if not prepared.fit_intercept:
            mean = np.zeros_like(mean)
        self.mean = mean
        self.centred = prepared.features - mean
        self.spectral = _Spectral(self.centred * np.sqrt(self.bend)[:, None], prepared.quadratic)
        self.groups = np.repeat(np.arange(prepared.layout.n_groups), prepared.layout.sizes)

    def begin(self, start: SolveResult | None) -> _State:
        prepared = self.prepared
        values = self.spectral.values
        rho = float(np.sqrt(values.max(initial=0.0) * values.mean())) if values.size else 0.0
        rho = rho or 1.0
        coef = np.zeros(prepared.coef_shape)
        intercept: float | FloatArray = prepared.null_intercept()
        if start is not None:
            coef = np.array(start.coef, dtype=np.float64)
            intercept = start.intercept if prepared.fit_intercept else 0.0 * intercept
        decision = np.asarray(prepared.features @ coef + intercept)
        pulls = -(prepared.features.T @ self._gradient(decision))
        quadratic_coef = prepared.quadratic_times(coef)
        if quadratic_coef is not None:
            pulls -= 2.0 * quadratic_coef
        return _State(coef, coef.copy(), pulls / rho, decision, rho)

    def _gradient(self, decision: FloatArray) -> FloatArray:
        prepared = self.prepared
        return prepared.loss.gradient(prepared.target, decision, prepared.weights)

    def sweep(self, state: _State) -> None:
        """One pass: ``alpha``, ``beta``, scaled dual."""
        prepared, rho = self.prepared, state.rho
        bend = self.bend if prepared.scalar else self.bend[:, None]
        pull = bend * state.decision - self._gradient(state.decision)
        right = self.centred.T @ pull + rho * (state.beta - state.dual)
        state.alpha = self.spectral.solve(right, rho)
        state.decision = self.centred @ state.alpha
        if prepared.fit_intercept:
            state.decision = state.decision + pull.sum(axis=0) / self.bend.sum()
        before = state.beta
        state.beta = self._soft_threshold(state.alpha + state.dual, rho)
        apart = state.alpha - state.beta
        state.dual = state.dual + apart
        size = max(_norm(state.alpha), _norm(state.beta), _TINY)
        state.residuals = (
            _norm(apart) / size,
            _norm(state.beta - before) / max(_norm(state.dual), _TINY),
        )

    def _soft_threshold(self, values: FloatArray, rho: float) -> FloatArray:
        prepared = self.prepared
        norms = prepared.layout.norms(values)
        kept = np.maximum(1.0 - prepared.penalties / (rho * np.maximum(norms, _TINY)), 0.0)
        shrink = kept[self.groups]
        shrunk: FloatArray = values * (shrink if prepared.scalar else shrink[:, None])
        return shrunk

    def balance(self, state: _State) -> None:
        """Bring primal and dual residuals together by the penalty ``rho``."""
        primal, dual = state.residuals
        if state.changes >= _MAX_RHO_CHANGES:
            return
        factor = 2.0 if primal > _IMBALANCE * dual else 0.5 if dual > _IMBALANCE * primal else 1.0
        if factor != 1.0:
            state.rho *= factor
            state.dual = state.dual / factor
            state.changes += 1

    def intercept_at(self, state: _State) -> FloatArray:
        """Best intercept for ``beta``: Newton from the one that keeps the mean decision."""
        prepared = self.prepared
        if not prepared.fit_intercept:
            return np.zeros(() if prepared.scalar else (prepared.outputs,))
        fitted = prepared.features @ state.beta
        intercept: FloatArray = np.asarray(prepared.weights @ (state.decision - fitted))
        for _ in range(1 if prepared.loss.is_quadratic else _INTERCEPT_STEPS):
            slope = self._gradient(fitted + intercept).sum(axis=0)
            bend = prepared.curvature(fitted + intercept).sum(axis=0)
            if prepared.scalar:
                intercept = np.asarray(intercept - slope / bend)
            else:
                intercept = intercept - Definite(bend).solve(slope)
        return intercept


def solve_admm(
    problem: GroupProblem,
    *,
    start: SolveResult | None = None,
    tol: float = 1e-6,
    max_iter: int = 20_000,
) -> SolveResult:
    """Minimise a :class:`GroupProblem` by ADMM.

    Parameters
    ----------
    problem : GroupProblem
        What is minimised.
    start : SolveResult, optional
        Warm start for coefficients and, through the gradient, for the dual variable.
    tol : float
        Stop when the duality gap of ``beta`` is at most ``tol`` times its objective.
    max_iter : int
        Most sweeps.

    Returns
    -------
    SolveResult
        ``trace`` holds the best objective at each check of the gap (every tenth sweep).
    """
    admm = _Admm(problem)
    prepared = admm.prepared
    state = admm.begin(start)
    best: tuple[float, FloatArray, FloatArray] | None = None
    bound, reason, n_iter = -np.inf, "max_iter", 0
    trace: list[float] = []
    while True:
        intercept = admm.intercept_at(state)
        objective = problem.objective(state.beta, intercept)
        decision = prepared.features @ state.beta + intercept
        certificate = certify(
            prepared,
            state.beta,
            prepared.quadratic_times(state.beta),
            prepared.loss.gradient(prepared.target, decision, prepared.weights),
            prepared.bend_at(decision),
        )
        bound = max(bound, certificate.bound)
        if best is None or objective < best[0]:
            best = (objective, state.beta, intercept)
        trace.append(best[0])
        if best[0] - bound <= tol * abs(best[0]):
            reason = "gap"
            break
        if n_iter >= max_iter:
            break
        for _ in range(min(_CHECK_EVERY, max_iter - n_iter)):
            admm.sweep(state)
            n_iter += 1
        admm.balance(state)
    objective, coef, intercept = best
    return SolveResult(
        coef=coef,
        intercept=float(intercept) if intercept.ndim == 0 else intercept,
        objective=objective,
        gap=max(0.0, objective - bound),
        n_iter=n_iter,
        stop_reason=reason,
        trace=trace,
    )
