"""lambda_1 and lambda_2 from the data: the approximate leave-one-out loss over a grid."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bilevel.lower import LowerLevel
from s2mam.bilevel.screening import largest_pull, solve_screened
from s2mam.bilevel.solution import LowerSolution, loo_of
from s2mam.exceptions import ConvergenceWarning
from s2mam.solvers import GroupProblem, SolveResult, lambda_max, solve

__all__ = ["tune"]

_SPARSITIES = np.geomspace(0.5, 1e-3, 8)
_MANIFOLDS = np.array([0.0, 1e-3, 1e-2, 1e-1, 1.0])
# Above this many features the quadratic form of the graph would not fit in memory.
_MAX_FEATURES = 4000
# Enough to compare penalties; the final fit is solved to the caller's tolerance.
_TOLERANCE = 1e-3


def tune(
    lower: LowerLevel, mask: FloatArray, *, sparsity: float | None, manifold: float | None
) -> tuple[LowerLevel, LowerSolution]:
    """Fit under a mask with penalties chosen by the approximate leave-one-out loss.

    Parameters
    ----------
    lower : LowerLevel
        Its own `sparsity` and `manifold` are ignored.
    mask : (p,) array
        The mask.
    sparsity, manifold : float or None
        Fixed values; None takes the best of a grid that runs relative to the smallest sparsity
        that silences all columns, and to the number of rows.

    Returns
    -------
    LowerLevel
        With the chosen penalties.
    LowerSolution
        Its fit under the mask.
    """
    if sparsity is None or manifold is None:
        sparsity, manifold = _best_penalties(lower, mask, sparsity, manifold)
    chosen = replace(lower, sparsity=sparsity, manifold=manifold)
    return chosen, chosen.solve(mask)


def _best_penalties(
    lower: LowerLevel, mask: FloatArray, sparsity: float | None, manifold: float | None
) -> tuple[float, float]:
    features = int(np.repeat(np.asarray(mask) > 0, lower.design.ranks).sum())
    manifolds = [manifold] if manifold is not None else list(lower.n_rows * _MANIFOLDS)
    if manifold is None and features > _MAX_FEATURES:
        manifolds = [0.0]
    if replace(lower, sparsity=1.0).screens(np.asarray(mask, dtype=np.float64)):
        return _best_screened(lower, mask, sparsity, float(manifolds[0]))
    # One graph serves all penalties: the problem is built once with both set to one.
    unit = replace(lower, sparsity=1.0, manifold=1.0 if max(manifolds) > 0 else 0.0).problem(mask)
    if not unit.features.shape[1]:
        return sparsity or 0.0, manifold or 0.0
    best = (np.inf, 0.0, 0.0)
    for graph in manifolds:
        quadratic = None if unit.quadratic is None else float(graph) * unit.quadratic
        problem = replace(unit, quadratic=quadratic)
        values = [sparsity] if sparsity is not None else _sparsities(problem, lower)
        start: SolveResult | None = None
        for value in values:
            point = replace(problem, penalties=float(value) * unit.penalties)
            start = _rough(point, lower, start)
            best = min(best, (loo_of(point, start), float(value), float(graph)))
    return best[1], best[2]


def _best_screened(
    lower: LowerLevel, mask: FloatArray, sparsity: float | None, manifold: float
) -> tuple[float, float]:
    """The same along one path, each point on a working set of columns."""
    values = [sparsity] if sparsity is not None else list(_SPARSITIES * largest_pull(lower, mask))
    weight = np.asarray(mask, dtype=np.float64)
    graph = lower.laplacian(weight) if manifold > 0.0 else None
    best, start = (np.inf, 0.0), None
    for value in values:
        level = replace(lower, sparsity=float(value), manifold=manifold)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            start = solve_screened(level, weight, start, tol=_TOLERANCE, graph=graph)
        best = min(best, (start.approximate_loo(), float(value)))
    return best[1], manifold


def _sparsities(problem: GroupProblem, lower: LowerLevel) -> list[float]:
    largest = lambda_max(problem)
    # Columns that do not vary over the labelled rows pull on the labels by rounding alone.
    if largest <= 1e-8 * np.sqrt(lower.null_loss):
        return [1.0]
    return list(largest * _SPARSITIES)


def _rough(problem: GroupProblem, lower: LowerLevel, start: SolveResult | None) -> SolveResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve(
            problem, method=lower.solver, start=start, tol=_TOLERANCE, max_iter=lower.max_iter
        )
