"""CSAM: sparse additive machine with the correntropy-induced loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from s2mam._typing import FloatArray
from s2mam.baselines.base import ScalarClassifier
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.additive import AdditiveFunction, group_problem, solve_groups
from s2mam.baselines.shared.blocks import Blocks, KernelBlocks, SplineBlocks, spline_size
from s2mam.baselines.shared.parameters import choice, positive, whole
from s2mam.baselines.shared.unfinished import warn_unfinished
from s2mam.losses import SquaredLoss
from s2mam.solvers import GroupProblem, SolveResult

__all__ = ["CSAMClassifier"]

# A total weight this far below the number of rows is no data at all: every row is an outlier.
_NO_WEIGHT = 1e-12


@dataclass(frozen=True)
class CorrentropyLoss:
    """``B (1 - exp(-(1 - m)^2 / (2 s^2)))`` of margins ``m = y f``, with loss one at ``m = 0``.

    Close to ``(1 - m)^2`` for a large `width`; bounded, so that a wrong label costs little. It also
    charges margins above one.

    Examples
    --------
    >>> import numpy as np
    >>> CorrentropyLoss(1.0).values(np.array([0.0, 1.0])) + 0.0
    array([1., 0.])
    """

    width: float

    @property
    def peak(self) -> float:
        """``B``, the loss of a margin at minus infinity."""
        return float(-1.0 / np.expm1(-0.5 / self.width**2))

    def values(self, margins: FloatArray) -> FloatArray:
        """Loss of each row."""
        values: FloatArray = -self.peak * np.expm1(self._exponents(margins))
        return values

    def weights(self, margins: FloatArray) -> FloatArray:
        """Weight of each row's squared error in the majorising quadratic, at most one."""
        weights: FloatArray = np.exp(self._exponents(margins))
        return weights

    def _exponents(self, margins: FloatArray) -> FloatArray:
        exponents: FloatArray = -0.5 * ((1.0 - margins) / self.width) ** 2
        return exponents


class CSAMClassifier(ScalarClassifier):
    """Sparse additive machine with correntropy loss.

    Minimises ``mean(C(y f)) + lam * sum_j ||a_j||`` over functions
    ``f = sum_j sum_i a_ji k(x_ij, .)`` of the labelled rows, where `C` is bounded and close to the
    squared error for small errors. Half-quadratic steps: each is a group lasso with rows weighted
    by how well they fit, and never raises the objective. The problem is not convex; the better of
    two starts is kept, zero and the least-squares fit of the same functions. More than two classes
    are learned one against the rest.

    The published abstract gives the loss, the data-dependent functions and the weighted group
    penalty; the constants of the loss, equal weights of the columns, the optimiser and the widths
    are choices of this package.

    Parameters
    ----------
    lam : float
        Penalty, above zero. Kernel matrices grow with the number of labelled rows, so the penalty
        that has a given effect grows with its square root.
    width : float
        Scale `s` of the loss: errors well above it are treated as wrong labels.
    basis : {"kernel", "spline"}
        Gaussian kernels with each column's median distance as length, without a constant as in the
        published form; or natural cubic splines, which are centred and so come with a constant.
    df : int or "auto"
        Splines per column; by default three, five from 30 labels on, and fewer below 7.
    tol : float
        Stop when a step lowers the objective by at most this share.
    max_iter : int
        Most half-quadratic steps.
    scale, categorical, unlabeled
        As in all estimators of the package.

    Attributes
    ----------
    history_ : list of list of float
        Objective per half-quadratic step, one list per function.
    n_iter_ : int
        Length of the longest of these lists.
    feature_weights_ : ndarray of shape (p,)
        Root mean square of each column's function, zero where it is not used.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(80, 5))
    >>> model = CSAMClassifier(lam=1.0).fit(X, X[:, 1] > 0)
    >>> model.get_support(indices=True)
    array([1])
    """

    paper_name: ClassVar[str] = "CSAM"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "lam": (1e-4, 1e-3, 1e-2, 1e-1),
        "width": (0.5, 1.0, 2.0, 5.0),
    }

    def __init__(
        self,
        *,
        lam: float = 0.1,
        width: float = 1.0,
        basis: str = "kernel",
        df: int | str = "auto",
        tol: float = 1e-5,
        max_iter: int = 50,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.lam = lam
        self.width = width
        self.basis = basis
        self.df = df
        self.tol = tol
        self.max_iter = max_iter
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        self._blocks = self._make_blocks(rows)
        super()._learn(rows)
        self.history_ = [function.history for function in self._functions]
        self.n_iter_ = max(map(len, self.history_))

    def _make_blocks(self, rows: BaselineRows) -> Blocks:
        table = rows.table[rows.labeled]
        if choice("basis", self.basis, ("kernel", "spline")) == "kernel":
            return KernelBlocks.fit(table)
        return SplineBlocks.fit(table, spline_size(self.df, len(table), classification=True))

    def _learn_function(self, rows: BaselineRows, targets: FloatArray) -> AdditiveFunction:
        lam, tol = positive("lam", self.lam), positive("tol", self.tol)
        loss = CorrentropyLoss(positive("width", self.width))
        most, constant = whole("max_iter", self.max_iter), self.basis == "spline"
        problem = group_problem(SquaredLoss(), self._blocks, targets, lam, fit_intercept=constant)
        # without weights the squared problem is the limit of a wide loss
        squares = solve_groups(problem)
        ends = [
            _half_quadratic(problem, loss, start, squares, tol, most) for start in (None, squares)
        ]
        best, history = min(ends, key=lambda end: end[1][-1])
        coef = np.zeros(problem.features.shape[1]) if best is None else best.coef
        intercept = 0.0 if best is None else float(best.intercept)
        return AdditiveFunction(self._blocks, coef, intercept, history)

    def _evaluate(self, function: AdditiveFunction, table: FloatArray) -> FloatArray:
        return function.values(table)

    def _weights_of(self, function: AdditiveFunction) -> FloatArray:
        return function.norms()


def _half_quadratic(
    problem: GroupProblem,
    loss: CorrentropyLoss,
    start: SolveResult | None,
    guess: SolveResult,
    tol: float,
    most: int,
) -> tuple[SolveResult | None, list[float]]:
    """Reweighted group lassos until the objective settles; the point and all objectives.

    `start` (zero if None) gives the first weights; `guess` only speeds up the first group lasso.
    """
    signs, point = problem.target, start
    f = np.zeros(len(signs)) if start is None else problem.decision(start.coef, start.intercept)
    history = [_objective(problem, loss, point, f)]
    for _ in range(most):
        weights = loss.weights(signs * f)
        total = float(weights.sum())
        if total <= _NO_WEIGHT * len(signs):
            break
        # loss of the quadratic per unit of weight; the solvers take weights that sum to one
        unit = loss.peak * total / (2.0 * loss.width**2 * len(signs))
        step = replace(problem, weights=weights / total, penalties=problem.penalties / unit)
        moved = solve_groups(step, start=point or guess)
        f = step.decision(moved.coef, moved.intercept)
        objective = _objective(problem, loss, moved, f)
        if objective > history[-1]:  # settled to the precision of the group lasso
            break
        point = moved
        history.append(objective)
        if history[-2] - objective <= tol * abs(history[-2]):
            break
    else:
        warn_unfinished(history, most, tol)
    return point, history


def _objective(
    problem: GroupProblem, loss: CorrentropyLoss, point: SolveResult | None, f: FloatArray
) -> float:
    value = float(np.mean(loss.values(problem.target * f)))
    if point is None:
        return value
    return value + float(problem.penalties @ problem.layout.norms(point.coef))
