"""Newton's method on the group scales for plain problems with a quadratic loss."""

from __future__ import annotations

import os
import numpy as np

from s2mam.solvers.continuation import first_factor, next_factor
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.quadratic_iteration import QuadraticIteration
from s2mam.solvers.result import SolveResult

__all__ = ["solve_quadratic"]

# Duality gap of the ridge model that a move may leave over, as a share of the objective: at first
# and (times the tolerance) at last; between the two a share of the square of the relative gap.
_ROUGH = float(os.environ.get('ROUGH', 0.02))
_FINE = float(os.environ.get('FINE', 0.02))
_SHARE = float(os.environ.get('SHARE', 0.5))
# Energy up to which columns are left out of the factor: at last, at first, and as a share of the
# relative gap between the two.
_LEFT_OUT = eval(os.environ.get('LEFT', '(0.003, 0.03, 0.3)'))
# The merit may rise by this part of the gap: near the minimum the scales improve before it does.
_TOLERATED = 1e-3
# Factors after which the general iteration, slower but surer, has a try.
_PATIENCE = 25


def solve_quadratic(
    problem: GroupProblem,
    *,
    start: SolveResult | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> SolveResult:
    solver = QuadraticIteration(problem, start)
    point = solver.point
    best, coef, moved = point.objective, point.coef, point.moved
    trace, n_iter, reason = [best], 1, "max_iter"
    least, most, share = _LEFT_OUT
    solver.left_out = most
    going = start is None or solver.move(solver.scales, _ROUGH)
    bound = point.lower_bound()
    factor = first_factor(point.worst)
    idle = False
    while True:
        if point.objective < best:
            best, coef, moved = point.objective, point.coef, point.moved
        gap = best - bound
        if gap <= tol * abs(best):
            reason = "gap"
            break
        if n_iter >= max_iter:
            break
        if not going or idle or n_iter >= _PATIENCE:
            reason = "stalled"
            break
        relative = gap / abs(best) if best else 0.0
        accuracy = min(_ROUGH, max(_FINE * tol, _SHARE * relative * relative))
        solver.left_out = min(most, max(least, share * relative))
        count = solver.step(factor, accuracy, _TOLERATED * gap)
        going, n_iter = count > 0, n_iter + max(count, 1)
        before, bound = bound, max(bound, point.lower_bound())
        idle = factor == 1.0 and bound == before and point.objective >= best
        trace.append(min(best, point.objective))
        factor = next_factor(factor, point.worst)
    return SolveResult(
        coef=coef.reshape(-1),
        intercept=point.intercept(moved),
        objective=best,
        gap=max(0.0, best - bound),
        n_iter=n_iter,
        stop_reason=reason,
        trace=trace,
    )
