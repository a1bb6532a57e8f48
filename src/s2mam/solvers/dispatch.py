"""One entrance to the solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from s2mam.exceptions import ConvergenceWarning, InvalidInputError
from s2mam.intake.notices import warn_user
from s2mam.solvers.admm import solve_admm
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.result import SolveResult, merge_results
from s2mam.solvers.scale_newton import solve_scale_newton

__all__ = ["METHODS", "solve"]

_RESCUE_SWEEPS = 5_000


def _solve_auto(
    problem: GroupProblem,
    *,
    start: SolveResult | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
) -> SolveResult:
    """Newton on the scales; where it ends without a certificate, ADMM goes on from its point."""
    limit = {} if max_iter is None else {"max_iter": max_iter}
    first = solve_scale_newton(problem, start=start, tol=tol, **limit)
    if first.stop_reason == "gap" or (first.stop_reason == "max_iter" and max_iter is not None):
        return first
    second = solve_admm(problem, start=first, tol=tol, max_iter=_RESCUE_SWEEPS)
    merged = merge_results(first, second, tol)
    # which of the two gave up matters to nobody but the first says why
    return merged if merged.stop_reason == "gap" else replace(merged, stop_reason=first.stop_reason)


# "bcd" is the name under which settings of other block solvers ask for the default one.
METHODS: dict[str, Callable[..., SolveResult]] = {
    "auto": _solve_auto,
    "newton": solve_scale_newton,
    "bcd": _solve_auto,
    "admm": solve_admm,
}


def solve(
    problem: GroupProblem,
    *,
    method: str = "auto",
    start: SolveResult | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
) -> SolveResult:
    """Minimise a :class:`GroupProblem` to a certified gap.

    Parameters
    ----------
    problem : GroupProblem
        What is minimised.
    method : {"auto", "newton", "bcd", "admm"}
        "newton" is Newton's method on the group scales, "admm" the paper's splitting. "auto" and
        "bcd" are "newton", continued by "admm" should it ever stall short of the tolerance.
    start : SolveResult, optional
        Warm start.
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int, optional
        Most iterations; each method has its own default.

    Returns
    -------
    SolveResult

    Warns
    -----
    ConvergenceWarning
        The gap did not reach the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> from s2mam.solvers import GroupProblem, solve
    >>> rng = np.random.default_rng(0)
    >>> features = rng.normal(size=(50, 6))
    >>> problem = GroupProblem(
    ...     SquaredLoss(), features, 3.0 * features[:, 0], np.full(50, 0.02),
    ...     np.array([0, 2, 4, 6]), np.full(3, 0.5),
    ... )
    >>> result = solve(problem)
    >>> result.stop_reason, (result.coef != 0).tolist()
    ('gap', [True, True, False, False, False, False])
    """
    if method not in METHODS:
        raise InvalidInputError(f"method must be one of {sorted(METHODS)}, not {method!r}.")
    if start is not None and start.coef.shape != problem.coef_shape:
        raise InvalidInputError(
            f"start has coefficients of shape {start.coef.shape}; expected {problem.coef_shape}."
        )
    limit = {} if max_iter is None else {"max_iter": max_iter}
    result = METHODS[method](problem, start=start, tol=tol, **limit)
    if result.stop_reason != "gap":
        warn_user(
            f"the {method!r} solver stopped ({result.stop_reason}) after {result.n_iter} "
            f"iterations with a duality gap of {result.gap:.2e} at objective "
            f"{result.objective:.6g}, above tol={tol:g} times the objective; raise max_iter or "
            "tol, or add a small ridge (quadratic) when penalties are zero or tiny.",
            ConvergenceWarning,
        )
    return result
