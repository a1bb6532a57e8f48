"""SpAM: sparse additive models, a group lasso over spline functions of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from s2mam._typing import FloatArray
from s2mam.baselines.base import BaselineRegressor, ScalarClassifier
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.additive import (
    AdditiveFunction,
    group_problem,
    solve_groups,
    standardized,
)
from s2mam.baselines.shared.blocks import Blocks, SplineBlocks, spline_size
from s2mam.baselines.shared.hinge import hinge_constant, smoothed_hinge
from s2mam.baselines.shared.parameters import choice, nonnegative, positive, whole
from s2mam.baselines.shared.proximal import ProximalProblem, minimise
from s2mam.losses import LogisticLoss, SquaredLoss
from s2mam.solvers import lambda_max
from s2mam.solvers.layout import GroupLayout

__all__ = ["SpAMClassifier", "SpAMRegressor"]

_GRID: Mapping[str, Sequence[Any]] = {"lam": (1e-4, 1e-3, 1e-2, 1e-1)}

# Fall of the hinge's penalty from one problem to the next, and how exactly those on the way count.
_FALL = 0.3
_ROUGH = 1e-2


@dataclass(frozen=True)
class _Fit:
    """A function with the smallest penalty that would empty it."""

    function: AdditiveFunction
    lambda_max: float


class SpAMRegressor(BaselineRegressor):
    """Sparse additive regression.

    Minimises ``mean((y - f)^2) / 2 + lam * sum_j ||f_j||``, where ``||f_j||`` is the root mean
    square of the function over the labelled rows, ``f_j`` is a natural cubic spline and `y` is
    measured in standard deviations, so that `lam` has no unit. The fixed point of sparse
    backfitting with these spline smoothers is the minimum of this convex problem, which is solved
    here to a certified duality gap.

    Parameters
    ----------
    lam : float
        Penalty; in units of ``sqrt(l)`` times the penalty of the R package SAM.
    df : int or "auto"
        Functions per column; by default three, and fewer below 7 labels.
    tol : float
        Duality gap, relative to the objective.
    scale, categorical, unlabeled
        As in all estimators of the package.

    Attributes
    ----------
    lambda_max_ : float
        Smallest `lam` at which no column is used.
    history_ : list of float
        Objective per iteration.
    feature_weights_ : ndarray of shape (p,)
        Root mean square of each column's function, zero where it is not used.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(80, 5))
    >>> model = SpAMRegressor(lam=0.2).fit(X, np.sin(3 * X[:, 1]))
    >>> model.get_support(indices=True)
    array([1])
    """

    paper_name: ClassVar[str] = "SpAM"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = _GRID

    def __init__(
        self,
        *,
        lam: float = 0.1,
        df: int | str = "auto",
        tol: float = 1e-6,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.lam = lam
        self.df = df
        self.tol = tol
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        lam, tol = nonnegative("lam", self.lam), positive("tol", self.tol)
        df = spline_size(self.df, rows.labeled.size, classification=False)
        blocks = SplineBlocks.fit(rows.table[rows.labeled], df)
        target, center, spread = standardized(rows.target)
        fit = _fit_squared(blocks, target, lam, tol)
        self._function = fit.function.scaled(center, spread)
        self._encoded_weights = self._function.norms()
        self.lambda_max_ = fit.lambda_max
        self.history_ = fit.function.history

    def _scores(self, table: FloatArray) -> FloatArray:
        return self._function.values(table)


class SpAMClassifier(ScalarClassifier):
    """Sparse additive classification.

    Minimises ``mean(loss) + lam * sum_j ||f_j||``, where ``||f_j||`` is the root mean square of
    the function over the labelled rows and ``f_j`` is a natural cubic spline. More than two
    classes are learned one against the rest.

    Parameters
    ----------
    lam : float
        Penalty, above zero.
    df : int or "auto"
        Functions per column; by default three, five from 30 labels on, and fewer below 7.
    loss : {"logistic", "squared", "hinge"}
        "squared" is half the squared error of the classes as +1 and -1. "hinge" is the hinge loss
        with its corner rounded over a width of 0.05 (the sparse additive machine).
    tol : float
        Duality gap, relative to the objective; for the hinge, subgradient relative to that of the
        empty model.
    max_iter : int
        Most steps of the hinge.
    scale, categorical, unlabeled
        As in all estimators of the package.

    Attributes
    ----------
    lambda_max_ : float
        Smallest `lam` at which no column is used.
    history_ : list of list of float
        Objective per iteration, one list per function.
    n_iter_ : int
        Length of the longest of these lists.
    feature_weights_ : ndarray of shape (p,)
        Root mean square of each column's function, zero where it is not used.

    Notes
    -----
    The R package SAM penalises the coefficients of its spline basis as they are for these losses;
    the functions' own norms, used here for all losses, do not depend on the choice of the basis.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(80, 5))
    >>> model = SpAMClassifier(lam=0.1).fit(X, np.abs(X[:, 1]) > 0.5)
    >>> model.get_support(indices=True)
    array([1])
    """

    paper_name: ClassVar[str] = "SpAM"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = _GRID

    def __init__(
        self,
        *,
        lam: float = 0.1,
        df: int | str = "auto",
        loss: str = "logistic",
        tol: float = 1e-6,
        max_iter: int = 20_000,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.lam = lam
        self.df = df
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        choice("loss", self.loss, ("logistic", "squared", "hinge"))
        df = spline_size(self.df, rows.labeled.size, classification=True)
        self._blocks = SplineBlocks.fit(rows.table[rows.labeled], df)
        super()._learn(rows)
        self.lambda_max_ = max(fit.lambda_max for fit in self._functions)
        self.history_ = [fit.function.history for fit in self._functions]
        self.n_iter_ = max(map(len, self.history_))

    def _learn_function(self, rows: BaselineRows, targets: FloatArray) -> _Fit:
        lam, tol = positive("lam", self.lam), positive("tol", self.tol)
        if self.loss == "squared":
            return _fit_squared(self._blocks, targets, lam, tol)
        if self.loss == "logistic":
            return _fit_logistic(self._blocks, targets, lam, tol)
        return _fit_hinge(self._blocks, targets, lam, tol, whole("max_iter", self.max_iter))

    def _evaluate(self, function: _Fit, table: FloatArray) -> FloatArray:
        return function.function.values(table)

    def _weights_of(self, function: _Fit) -> FloatArray:
        return function.function.norms()


def _fit_squared(blocks: Blocks, target: FloatArray, lam: float, tol: float) -> _Fit:
    # the solvers' squared loss has no half, hence the factor two
    problem = group_problem(SquaredLoss(), blocks, target, 2.0 * lam)
    result = solve_groups(problem, tol=tol)
    history = [0.5 * value for value in result.trace]
    function = AdditiveFunction(blocks, result.coef, float(result.intercept), history)
    unit = problem.with_penalties(np.ones_like(problem.penalties))
    return _Fit(function, 0.5 * lambda_max(unit))


def _fit_logistic(blocks: Blocks, signs: FloatArray, lam: float, tol: float) -> _Fit:
    problem = group_problem(LogisticLoss(), blocks, 0.5 * (signs + 1.0), lam)
    result = solve_groups(problem, tol=tol)
    function = AdditiveFunction(blocks, result.coef, float(result.intercept), result.trace)
    return _Fit(function, lambda_max(problem.with_penalties(np.ones_like(problem.penalties))))


def _fit_hinge(blocks: Blocks, signs: FloatArray, lam: float, tol: float, max_iter: int) -> _Fit:
    features = blocks.features
    coef, intercept = np.zeros(features.shape[1]), hinge_constant(signs)
    slope = features.T @ smoothed_hinge(signs, np.full(len(signs), intercept))[1]
    largest = float(np.max(GroupLayout(blocks.offsets).norms(slope), initial=0.0))

    def problem(penalty: float) -> ProximalProblem:
        return ProximalProblem(
            lambda f: smoothed_hinge(signs, f), features, blocks.offsets, penalty
        )

    # small penalties are approached through larger ones: few functions are in on the way
    penalty = _FALL * largest
    while penalty > lam / _FALL:
        rough = minimise(problem(penalty), coef, intercept, tol=_ROUGH, max_iter=200, warn=False)
        coef, intercept = rough.coef, rough.intercept
        penalty *= _FALL
    result = minimise(problem(lam), coef, intercept, tol=tol, max_iter=max_iter)
    function = AdditiveFunction(blocks, result.coef, result.intercept, result.history)
    return _Fit(function, largest)
