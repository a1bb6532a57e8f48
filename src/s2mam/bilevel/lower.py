"""The lower level: the sparse additive model on the graph of the masked rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.bases.design import Design
from s2mam.bilevel.graph_settings import GraphSettings
from s2mam.bilevel.screening import solve_screened
from s2mam.bilevel.solution import LowerSolution, StartPoint
from s2mam.exceptions import InvalidInputError
from s2mam.graphs import Laplacian
from s2mam.losses.base import Loss
from s2mam.masks.kernels import GraphTerm
from s2mam.solvers import GroupProblem, SolveResult, solve

__all__ = ["GraphSettings", "LowerLevel"]

# Features of a mask above which columns are screened, in a design that makes them when needed.
_SCREENED = 4000


@dataclass(frozen=True)
class LowerLevel:
    """``min loss(y, f) + sparsity sum_j tau_j ||a_j|| + manifold / n^2 f'Lf`` under a mask.

    Masked columns are dropped and one explicit unpenalised intercept is fitted; the graph is
    rebuilt from the masked rows. A real mask s scales the kernels, K = sum_j s_j K_j, and the
    inputs of the graph.

    Parameters
    ----------
    design : Design
        Feature blocks of all training rows; without rows, features are made when they are needed.
    table : (n, p) array
        The scaled rows the design was built from; the graph is built from them.
    labeled : (l,) array of int
        Rows that carry a label.
    target : (l,) array
        In the coding of the loss.
    weights : (l,) array
        Not negative, sum one.
    loss : Loss
    sparsity, manifold : float
        lambda_1 and lambda_2.
    tau : (p,) array, optional
        Relative penalties of the columns; ones by default.
    penalty : {"alpha", "rkhs"}
        Norm of a component: the paper's ||alpha^(j)||_2, or its norm in the kernel's space.
    graph : GraphSettings
    solver : str
        Method of :func:`s2mam.solvers.solve`.
    tol : float
        Relative duality gap of each solve.
    max_iter : int, optional
        Most iterations of each solve.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.bases import build_design
    >>> from s2mam.losses import SquaredLoss
    >>> Z = np.random.default_rng(0).normal(size=(40, 3))
    >>> lower = LowerLevel(
    ...     build_design(Z, ("numeric",) * 3), Z, np.arange(20), np.sin(2 * Z[:20, 0]),
    ...     np.full(20, 1 / 20), SquaredLoss(), sparsity=1e-3, manifold=1e-3,
    ... )
    >>> fit = lower.solve([True, False, False])
    >>> fit.columns, bool(fit.labeled_loss() < 0.1 * lower.null_loss)
    (array([0]), True)
    """

    design: Design
    table: FloatArray
    labeled: IntArray
    target: AnyArray
    weights: FloatArray
    loss: Loss
    sparsity: float
    manifold: float
    tau: FloatArray | None = None
    penalty: str = "rkhs"
    graph: GraphSettings = field(default_factory=GraphSettings)
    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int | None = None

    def __post_init__(self) -> None:
        if self.penalty not in ("alpha", "rkhs"):
            raise InvalidInputError(f'penalty={self.penalty!r} is unknown; use "alpha" or "rkhs".')
        for name in ("sparsity", "manifold"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise InvalidInputError(f"{name}={value} must be finite and not negative.")
        rows = self.table.shape[0]
        if self.design.features.shape[0] not in (0, rows):
            raise InvalidInputError(
                f"The design has {self.design.features.shape[0]} training rows and the table "
                f"{rows}; build the design from this table."
            )

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return self.design.n_columns

    @property
    def n_rows(self) -> int:
        """Number n of training rows, labelled or not."""
        return int(self.table.shape[0])

    @property
    def is_lazy(self) -> bool:
        """Whether the design holds no features of the training rows."""
        return int(self.design.features.shape[0]) == 0

    def features_of(self, columns: IntArray, rows: IntArray | None = None) -> FloatArray:
        """Features of all or some training rows in some columns, in their order."""
        if self.is_lazy:
            table = self.table if rows is None else self.table[rows]
            return self.design.evaluate(table, columns)
        if rows is not None and columns.size == self.n_columns:
            return self.design.features[rows]
        chosen = np.zeros(self.n_columns, dtype=bool)
        chosen[columns] = True
        held = self.design.features[:, np.repeat(chosen, self.design.ranks)]
        return held if rows is None else held[rows]

    @cached_property
    def null_loss(self) -> float:
        """Loss of the best constant."""
        constant = self.loss.null_intercept(self.target, self.weights)
        decision = np.broadcast_to(constant, (len(self.target), *np.shape(constant)))
        return float(self.loss.value(self.target, np.asarray(decision), self.weights))

    def laplacian(self, mask: ArrayLike) -> Laplacian:
        """Return the Laplacian of the graph between the masked rows."""
        weight = np.asarray(mask, dtype=np.float64)
        return self.graph.build(self.table, weight, self.design.kinds)

    def solve(
        self, mask: ArrayLike, start: LowerSolution | StartPoint | None = None
    ) -> LowerSolution:
        """Fit the model under a mask.

        Parameters
        ----------
        mask : (p,) array
            Binary, or real weights in [0, 1].
        start : LowerSolution or StartPoint, optional
            Solution under any other mask; coefficients of common columns are reused.
        """
        weight = self._read_mask(mask)
        columns = np.flatnonzero(weight)
        if self.screens(weight):
            return solve_screened(self, weight, start)
        chosen, scale = self._scales(weight)
        active = self.features_of(columns)
        problem = self._problem(weight, columns, active * scale)
        result = self._solve(problem, start, chosen, scale)
        coef = _by_rows(result.coef, scale)
        full = np.zeros((chosen.size, *coef.shape[1:]))
        full[chosen] = coef
        return LowerSolution(
            mask=weight,
            columns=columns,
            coef=coef,
            intercept=result.intercept,
            fitted=active @ coef + result.intercept,
            full_coef=full,
            problem=problem,
            result=result,
        )

    def problem(self, mask: ArrayLike) -> GroupProblem:
        """Return the problem that :meth:`solve` solves under a mask."""
        weight = self._read_mask(mask)
        _, scale = self._scales(weight)
        columns = np.flatnonzero(weight)
        return self._problem(weight, columns, self.features_of(columns) * scale)

    def screens(self, mask: FloatArray) -> bool:
        """Whether a fit under a mask is one over very many columns, of which few will be in."""
        active = int(self.design.ranks[mask > 0.0].sum())
        return self.is_lazy and active > _SCREENED and self.sparsity > 0.0

    def predict(self, solution: LowerSolution, Z: ArrayLike) -> FloatArray:
        """Return the decision values of new rows; masked columns are not even read."""
        features = self.design.evaluate(Z, solution.columns)
        decision: FloatArray = features @ solution.coef + solution.intercept
        return decision

    def subset(self, rows: IntArray) -> LowerLevel:
        """Return the lower level of some training rows (a batch), features unchanged."""
        rows = np.asarray(rows, dtype=np.intp)
        position = np.full(self.n_rows, -1)
        position[rows] = np.arange(rows.size)
        kept = position[self.labeled] >= 0
        weights = self.weights[kept]
        if not weights.sum() > 0.0:
            raise InvalidInputError(
                f"The batch of {rows.size} rows holds no labelled row; draw a larger batch."
            )
        return replace(
            self,
            design=self.design if self.is_lazy else self.design.of_rows(rows),
            table=self.table[rows],
            labeled=position[self.labeled][kept],
            target=self.target[kept],
            weights=weights / weights.sum(),
        )

    def graph_term(self, weight: float) -> GraphTerm:
        """Return the graph of masked rows as a prior for the smooth criteria."""

        def quadratic(mask: FloatArray) -> FloatArray:
            form = self.laplacian(mask).quadratic(self.features_of(np.flatnonzero(mask > 0.0)))
            return np.asarray(form / self.n_rows**2, dtype=np.float64)

        return GraphTerm(quadratic, weight)

    def _scales(self, weight: FloatArray) -> tuple[AnyArray, FloatArray]:
        """Features of the active columns, and the factor that puts each in the penalty's form."""
        chosen = np.repeat(weight > 0.0, self.design.ranks)
        scale = np.sqrt(np.repeat(weight, self.design.ranks)[chosen])
        if self.penalty == "alpha":
            scale = scale * np.sqrt(self.design.spectra[chosen])
        return chosen, scale

    def _problem(self, mask: FloatArray, columns: IntArray, features: FloatArray) -> GroupProblem:
        tau = np.ones(self.n_columns) if self.tau is None else np.asarray(self.tau, np.float64)
        quadratic = None
        if self.manifold > 0.0 and features.shape[1]:
            quadratic = self.manifold / self.n_rows**2 * self.laplacian(mask).quadratic(features)
        return GroupProblem(
            loss=self.loss,
            features=features[self.labeled],
            target=self.target,
            weights=self.weights,
            offsets=np.concatenate([[0], np.cumsum(self.design.ranks[columns])]).astype(np.intp),
            penalties=self.sparsity * tau[columns],
            quadratic=quadratic,
            fit_intercept=True,
        )

    def _solve(
        self,
        problem: GroupProblem,
        start: LowerSolution | StartPoint | None,
        chosen: AnyArray,
        scale: FloatArray,
    ) -> SolveResult:
        if not problem.features.shape[1]:
            return _null_result(problem, self.loss.null_intercept(self.target, self.weights))
        warm = None
        if start is not None:
            point = start.start_point() if isinstance(start, LowerSolution) else start
            warm = _start_result(problem, _by_rows(point.coef[chosen], 1.0 / scale), point)
        return solve(problem, method=self.solver, start=warm, tol=self.tol, max_iter=self.max_iter)

    def _read_mask(self, mask: ArrayLike) -> FloatArray:
        weight = np.asarray(mask, dtype=np.float64)
        if weight.shape != (self.n_columns,):
            raise InvalidInputError(
                f"mask has shape {weight.shape}; pass one entry per column ({self.n_columns})."
            )
        if not ((weight >= 0.0) & (weight <= 1.0)).all():
            raise InvalidInputError("mask has entries outside [0, 1]; clip them or pass booleans.")
        return weight


def _by_rows(values: FloatArray, factor: FloatArray) -> FloatArray:
    """Multiply coefficients, one or several per feature, by one factor per feature."""
    result: FloatArray = values * (factor if values.ndim == 1 else factor[:, None])
    return result


def _null_result(problem: GroupProblem, constant: Any) -> SolveResult:
    """The model of a mask without features: a constant."""
    intercept = float(constant) if np.ndim(constant) == 0 else np.asarray(constant)
    coef = np.zeros(problem.coef_shape)
    objective = problem.objective(coef, intercept)
    return SolveResult(coef, intercept, objective, 0.0, 0, "gap", [objective])


def _start_result(problem: GroupProblem, coef: FloatArray, point: StartPoint) -> SolveResult:
    objective = problem.objective(coef, point.intercept)
    return SolveResult(coef, point.intercept, objective, np.inf, 0, "start", [])
