"""Newton's method on the group scales for plain problems, with little bookkeeping.

The iteration of :mod:`s2mam.solvers.scale_newton` for one decision value per row, groups of one
width, all of them penalised, and no quadratic term. Coefficients are corrected from where they are
instead of solved for anew, so the products of one correction also give the certificate; the
corrections differ between curved losses (:mod:`s2mam.solvers.plain_iteration`) and quadratic ones
(:mod:`s2mam.solvers.quadratic_iteration`). Whatever is out of the ordinary ends the iteration, and
the general one goes on from its best point.
"""

from __future__ import annotations

import numpy as np

from s2mam.solvers.continuation import first_factor, next_factor
from s2mam.solvers.plain_iteration import PlainIteration
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.quadratic_iteration import QuadraticIteration
from s2mam.solvers.result import SolveResult

__all__ = ["is_plain", "solve_plain"]

# What a correction may leave over, as a share of the gradient: at first, and (times the tolerance)
# at last; between the two the square of the relative gap, which the step of the scales leaves over
# as well.
_ROUGH = 0.05
_FINE = 0.03
# Energy up to which columns are left out of the factor: at last, at first, and as a share of the
# relative gap between the two.
_LEFT_OUT = (0.003, 0.03, 0.3)
# The merit may rise by this part of the gap: near the minimum the scales improve before it does.
_TOLERATED = 1e-3
# Factors after which the general iteration, slower but surer, has a try.
_PATIENCE = 25


def is_plain(problem: GroupProblem) -> bool:
    """Whether :func:`solve_plain` is made for a problem.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> from s2mam.solvers import GroupProblem
    >>> from s2mam.solvers.plain import is_plain
    >>> problem = GroupProblem(
    ...     SquaredLoss(), np.eye(2), np.zeros(2), np.full(2, 0.5), np.arange(3), np.ones(2)
    ... )
    >>> is_plain(problem), is_plain(problem.with_penalties(np.array([0.0, 1.0])))
    (True, False)
    """
    return (
        problem.loss.n_outputs == 1
        and problem.quadratic is None
        and problem.layout.width > 0
        and bool(problem.penalties.all())
        and bool(np.all(problem.weights))
    )


def solve_plain(
    problem: GroupProblem,
    *,
    start: SolveResult | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> SolveResult:
    """Minimise a plain problem (see :func:`is_plain`).

    Parameters and result are those of :func:`s2mam.solvers.scale_newton.solve_scale_newton`; the
    ``stop_reason`` "stalled" says that the general iteration should go on from here.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> from s2mam.solvers import GroupProblem
    >>> from s2mam.solvers.plain import solve_plain
    >>> problem = GroupProblem(
    ...     SquaredLoss(), np.eye(2), np.array([2.0, 0.1]), np.full(2, 0.5), np.arange(3),
    ...     np.ones(2), fit_intercept=False,
    ... )
    >>> solve_plain(problem).coef.round(6)
    array([1., 0.])
    """
    kind = QuadraticIteration if problem.loss.is_quadratic else PlainIteration
    solver: QuadraticIteration | PlainIteration = kind(problem, start)
    point = solver.point
    best, coef, intercept = point.objective, point.coef, point.intercept
    trace, n_iter, reason = [best], 1, "max_iter"
    least, most, share = _LEFT_OUT
    solver.left_out = most
    going = start is None or solver.move(solver.scales, _ROUGH)
    bound = point.lower_bound()
    factor = first_factor(point.worst, solver.first_share)
    idle = False
    while True:
        if point.objective < best:
            best, coef, intercept = point.objective, point.coef, point.intercept
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
        accuracy = min(_ROUGH, max(_FINE * tol, relative * relative))
        solver.left_out = min(most, max(least, share * relative))
        tolerated = _TOLERATED * gap if gap < np.inf else 0.0
        count = solver.step(factor, accuracy, tolerated)
        going, n_iter = count > 0, n_iter + max(count, 1)
        before, bound = bound, max(bound, point.lower_bound())
        idle = factor == 1.0 and bound == before and point.objective >= best
        trace.append(min(best, point.objective))
        factor = next_factor(factor, point.worst)
    return SolveResult(
        coef=coef.reshape(-1),
        intercept=intercept,
        objective=best,
        gap=max(0.0, best - bound),
        n_iter=n_iter,
        stop_reason=reason,
        trace=trace,
    )
