"""The lower level over very many columns: a working set, and a check that no column is missed.

The group penalty leaves most columns out. The problem is solved on a small set of columns; then the
pull of every other column at that solution is compared with its penalty, columns that would enter
are added, and so on until there are none. The duality gap of the result is that of the *whole*
problem: the dual point is scaled to the largest pull of any column, so a small gap proves that no
column with support was left out. Features of columns outside the set exist only while their pull is
computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.curves import column_chunks
from s2mam.bilevel.solution import LowerSolution, StartPoint
from s2mam.exceptions import ConvergenceWarning
from s2mam.graphs import Laplacian
from s2mam.intake.notices import warn_user
from s2mam.solvers import GroupProblem, SolveResult, solve
from s2mam.solvers.gap import certify
from s2mam.solvers.prepared import PreparedProblem

if TYPE_CHECKING:
    from s2mam.bilevel.lower import LowerLevel

__all__ = ["largest_pull", "solve_screened"]

# Columns that enter at once: so many, or as many as there are in the set already.
_ENTER: Final = 32
_ROUNDS: Final = 40


@dataclass(frozen=True)
class _Point:
    """A solution on some of the columns.

    Attributes
    ----------
    columns : array of int
        The working set, sorted.
    features : (n, P_W) array
        Its features, scaled as the penalty wants them.
    problem, result : GroupProblem, SolveResult
    rough : (n,) or (n, K) array, or None
        ``L f`` times manifold / n^2; None without a graph.
    """

    columns: IntArray
    features: FloatArray
    problem: GroupProblem
    result: SolveResult
    rough: FloatArray | None


def solve_screened(
    lower: LowerLevel,
    mask: FloatArray,
    start: LowerSolution | StartPoint | None = None,
    *,
    tol: float | None = None,
    graph: Laplacian | None = None,
) -> LowerSolution:
    """Fit under a mask with very many columns.

    Parameters
    ----------
    lower : LowerLevel
        Its ``sparsity`` is positive.
    mask : (p,) array
        Weights in [0, 1].
    start : LowerSolution or StartPoint, optional
        Its columns are the first working set.
    tol : float, optional
        Relative duality gap; by default that of the lower level.
    graph : Laplacian, optional
        Graph of the mask, where the caller has it.

    Returns
    -------
    LowerSolution
        ``problem`` and ``result`` are those of the last working set; the gap is that of all
        columns.
    """
    tol = lower.tol if tol is None else tol
    if lower.manifold > 0.0 and graph is None:
        graph = lower.laplacian(mask)
    coef, intercept = _start(lower, start)
    columns = _in_use(lower, coef)
    for _ in range(_ROUNDS):
        point = _solve_on(lower, mask, columns, graph, coef, intercept, tol)
        coef, intercept = _spread(lower, mask, point), point.result.intercept
        pulls = _pulls(lower, mask, point)
        gap = _gap(lower, mask, point, pulls)
        if gap <= tol * abs(point.result.objective):
            break
        outside = pulls.copy()
        outside[columns] = 0.0
        entering = np.argsort(-outside, kind="stable")[: max(_ENTER, columns.size)]
        entering = entering[outside[entering] > 1.0]
        if not entering.size:  # the solver itself stopped short of the tolerance
            break
        columns = np.union1d(columns, entering)
    else:
        warn_user(
            f"The search among {lower.n_columns} columns stopped after {_ROUNDS} rounds with a "
            f"gap of {gap:.3g}; raise sparsity.",
            ConvergenceWarning,
        )
    reason = "gap" if gap <= tol * abs(point.result.objective) else point.result.stop_reason
    result = replace(point.result, gap=gap, stop_reason=reason)
    return _solution(lower, mask, replace(point, result=result), coef)


def largest_pull(lower: LowerLevel, mask: FloatArray) -> float:
    """Smallest sparsity at which no column enters."""
    unit = replace(lower, sparsity=1.0, manifold=0.0)
    none = np.empty(0, dtype=np.intp)
    coef, intercept = _start(unit, None)
    point = _solve_on(unit, mask, none, None, coef, intercept, unit.tol)
    return float(_pulls(unit, mask, point).max(initial=0.0))


def _start(
    lower: LowerLevel, start: LowerSolution | StartPoint | None
) -> tuple[FloatArray, float | FloatArray]:
    if start is not None:
        point = start.start_point() if isinstance(start, LowerSolution) else start
        return point.coef, point.intercept
    outputs = lower.loss.n_outputs
    width = int(lower.design.offsets[-1])
    coef = np.zeros(width if outputs == 1 else (width, outputs))
    return coef, _plain(lower.loss.null_intercept(lower.target, lower.weights))


def _in_use(lower: LowerLevel, coef: FloatArray) -> IntArray:
    owner = np.repeat(np.arange(lower.n_columns), lower.design.ranks)
    size = np.abs(coef) if coef.ndim == 1 else np.abs(coef).sum(axis=1)
    return np.flatnonzero(np.bincount(owner, size, lower.n_columns) > 0.0)


def _solve_on(
    lower: LowerLevel,
    mask: FloatArray,
    columns: IntArray,
    graph: Laplacian | None,
    coef: FloatArray,
    intercept: float | FloatArray,
    tol: float,
) -> _Point:
    scale = _scale(lower, mask, columns)
    features = lower.features_of(columns) * scale
    share = lower.manifold / lower.n_rows**2
    quadratic = None if graph is None else share * graph.quadratic(features)
    problem = _problem(lower, columns, features[lower.labeled], quadratic)
    if columns.size:
        own = coef[_places(lower, columns)]
        own = own / (scale if own.ndim == 1 else scale[:, None])
        value = problem.objective(own, intercept)
        warm = SolveResult(own, intercept, value, np.inf, 0, "start", [])
        result = solve(problem, method=lower.solver, start=warm, tol=tol, max_iter=lower.max_iter)
    else:
        constant = _plain(lower.loss.null_intercept(lower.target, lower.weights))
        none = np.zeros(problem.coef_shape)
        result = SolveResult(none, constant, problem.objective(none, constant), 0.0, 0, "gap", [])
    rough = None if graph is None else share * graph.apply(features @ result.coef)
    return _Point(columns, features, problem, result, rough)


def _problem(
    lower: LowerLevel, columns: IntArray, features: FloatArray, quadratic: FloatArray | None
) -> GroupProblem:
    tau = np.ones(lower.n_columns) if lower.tau is None else np.asarray(lower.tau, np.float64)
    return GroupProblem(
        loss=lower.loss,
        features=features,
        target=lower.target,
        weights=lower.weights,
        offsets=np.concatenate([[0], np.cumsum(lower.design.ranks[columns])]).astype(np.intp),
        penalties=lower.sparsity * tau[columns],
        quadratic=quadratic,
        fit_intercept=True,
    )


def _pulls(lower: LowerLevel, mask: FloatArray, point: _Point) -> FloatArray:
    """Pull of every column at a point, in units of its penalty; columns pull in above one."""
    pulls = np.zeros(lower.n_columns)
    for columns in _runs(lower, mask):
        problem, smooth = _outside(lower, mask, columns, point)
        pulls[columns] = _certificate(problem, point, smooth, None)[0]
    return pulls


def _outside(
    lower: LowerLevel, mask: FloatArray, columns: IntArray, point: _Point
) -> tuple[GroupProblem, FloatArray | None]:
    """The problem of some columns alone, and what the graph pulls at them."""
    scale = _scale(lower, mask, columns)
    if point.rough is None:
        labeled = lower.features_of(columns, lower.labeled) * scale
        return _problem(lower, columns, labeled, None), None
    features = lower.features_of(columns) * scale
    return _problem(lower, columns, features[lower.labeled], None), features.T @ point.rough


def _certificate(
    problem: GroupProblem, point: _Point, smooth: FloatArray | None, coef: FloatArray | None
) -> tuple[FloatArray, float]:
    """Pulls in units of the penalties, and the lower bound they prove."""
    prepared = PreparedProblem(problem)
    decision = point.problem.decision(point.result.coef, point.result.intercept)
    decision = decision[np.flatnonzero(problem.weights)]
    certificate = certify(
        prepared,
        np.zeros(problem.coef_shape) if coef is None else coef,
        smooth,
        prepared.loss.gradient(prepared.target, decision, prepared.weights),
        prepared.bend_at(decision),
    )
    pulls = np.zeros(problem.layout.n_groups)
    pulls[prepared.penalised] = certificate.excess
    return pulls, certificate.bound


def _gap(lower: LowerLevel, mask: FloatArray, point: _Point, pulls: FloatArray) -> float:
    """Duality gap of the problem of all columns.

    The bound of the working set and the column outside that pulls most is one for all columns:
    both scale the same dual point, to the same largest pull.
    """
    outside = pulls.copy()
    outside[point.columns] = -1.0
    worst = np.array([int(outside.argmax())])
    other, smooth = _outside(lower, mask, worst, point)
    features = np.concatenate([point.problem.features, other.features], axis=1)
    coef = np.concatenate([point.result.coef, np.zeros(other.coef_shape)])
    if smooth is not None and point.rough is not None:
        smooth = np.concatenate([point.features.T @ point.rough, smooth])
    both = np.concatenate([point.columns, worst])
    _, bound = _certificate(_problem(lower, both, features, None), point, smooth, coef)
    return max(0.0, point.result.objective - bound)


def _runs(lower: LowerLevel, mask: FloatArray) -> Iterator[IntArray]:
    columns = np.flatnonzero((mask > 0.0) & (lower.design.ranks > 0))
    rows = lower.n_rows if lower.manifold > 0.0 else lower.labeled.size
    widest = int(lower.design.ranks.max(initial=1))
    for part in column_chunks(columns.size, rows * widest):
        yield columns[part]


def _places(lower: LowerLevel, columns: IntArray) -> IntArray:
    """Positions of the features of some columns among those of all."""
    blocks = [np.arange(*lower.design.offsets[j : j + 2]) for j in columns]
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.intp)


def _scale(lower: LowerLevel, mask: FloatArray, columns: IntArray) -> FloatArray:
    scale = np.sqrt(np.repeat(mask[columns], lower.design.ranks[columns]))
    if lower.penalty == "alpha":
        scale = scale * np.sqrt(lower.design.spectra[_places(lower, columns)])
    return np.asarray(scale, dtype=np.float64)


def _spread(lower: LowerLevel, mask: FloatArray, point: _Point) -> FloatArray:
    """Coefficients on the features of all columns."""
    scale = _scale(lower, mask, point.columns)
    coef = point.result.coef
    full = np.zeros((int(lower.design.offsets[-1]), *coef.shape[1:]))
    full[_places(lower, point.columns)] = coef * (scale if coef.ndim == 1 else scale[:, None])
    return full


def _solution(
    lower: LowerLevel, mask: FloatArray, point: _Point, coef: FloatArray
) -> LowerSolution:
    columns = np.flatnonzero(mask)
    return LowerSolution(
        mask=mask,
        columns=columns,
        coef=coef[np.repeat(mask > 0.0, lower.design.ranks)],
        intercept=point.result.intercept,
        fitted=point.features @ point.result.coef + point.result.intercept,
        full_coef=coef,
        problem=point.problem,
        result=point.result,
    )


def _plain(constant: Any) -> float | FloatArray:
    return float(constant) if np.ndim(constant) == 0 else np.asarray(constant)
