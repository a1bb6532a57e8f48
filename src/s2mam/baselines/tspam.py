"""TSpAM: sparse additive models under a tilted loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from s2mam._typing import FloatArray
from s2mam.baselines.base import BaselineRegressor, ScalarClassifier
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.additive import (
    AdditiveFunction,
    group_problem,
    solve_groups,
    standardized,
)
from s2mam.baselines.shared.blocks import Blocks, FourierBlocks, SplineBlocks, spline_size
from s2mam.baselines.shared.parameters import choice, nonnegative, positive, whole
from s2mam.baselines.shared.proximal import ProximalProblem, minimise
from s2mam.baselines.shared.tilt import (
    logistic_losses,
    squared_losses,
    tilted_mean,
    tilted_weights,
)
from s2mam.exceptions import InvalidInputError
from s2mam.losses import LogisticLoss, SquaredLoss

__all__ = ["TSpAMClassifier", "TSpAMRegressor"]

#: Losses and their derivatives at decision values.
Losses = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

# The path to the tilt: its first step and the growth of the tilt from step to step.
_FIRST_TILT = 0.5
_TILT_GROWTH = 1.5
# On the way to the tilt the subgradient need only be this small.
_ROUGH = 1e-3
_GRID: Mapping[str, Sequence[Any]] = {
    "lam": (1e-4, 1e-3, 1e-2, 1e-1),
    "t": (-2.0, -0.5, 0.5, 2.0),
}


class _Tilted:
    """Parameters and steps that both tasks share."""

    def __init__(
        self,
        *,
        lam: float = 0.01,
        t: float = -1.0,
        basis: str = "spline",
        df: int | str = "auto",
        n_components: int = 20,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.lam = lam
        self.t = t
        self.basis = basis
        self.df = df
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _make_blocks(self, rows: BaselineRows) -> Blocks:
        table = rows.table[rows.labeled]
        if choice("basis", self.basis, ("spline", "fourier")) == "fourier":
            size = whole("n_components", self.n_components)
            return FourierBlocks.fit(table, size, check_random_state(self.random_state))
        classes = rows.n_classes > 0
        return SplineBlocks.fit(table, spline_size(self.df, len(table), classification=classes))

    def _fit_tilted(
        self, blocks: Blocks, losses: Losses, start: AdditiveFunction, lam: float
    ) -> AdditiveFunction:
        """Follow the solution from the plain mean to the tilt."""
        tol, most = positive("tol", self.tol), whole("max_iter", self.max_iter)
        coef, intercept, features = start.coef, start.intercept, blocks.features
        history = start.history
        for tilt, last in _tilts(_finite("t", self.t)):
            problem = ProximalProblem(_smooth(losses, tilt), features, blocks.offsets, lam)
            result = minimise(
                problem,
                coef,
                intercept,
                tol=tol if last else max(tol, _ROUGH),
                max_iter=most,
                warn=last,
            )
            coef, intercept, history = result.coef, result.intercept, result.history
        return AdditiveFunction(blocks, coef, intercept, history)


class TSpAMRegressor(_Tilted, BaselineRegressor):
    """Tilted sparse additive regression.

    Minimises ``log(mean(exp(t * loss))) / t + lam * sum_j ||coef_j||`` with half the squared error
    as loss, of targets in standard deviations (the tilt has the unit of one over the loss). A
    negative `t` gives rows with large errors less weight, a positive one more, and zero is SpAM.
    The solution at ``t = 0`` is found to a certified gap and followed to `t` in small steps by
    accelerated proximal gradients; for negative `t` the problem is not convex and the end of that
    path is taken.

    The abstract of the published method names the tilted risk, the sparse penalty and stochastic
    proximal steps on random Fourier features; the constants, the bases and the deterministic
    solver here are choices of this package.

    Parameters
    ----------
    lam : float
        Penalty.
    t : float
        Tilt.
    basis : {"spline", "fourier"}
        Natural cubic splines, or random Fourier features of a Gaussian kernel.
    df : int or "auto"
        Splines per column; by default three, and fewer below 7 labels.
    n_components : int
        Fourier features per column.
    tol : float
        Subgradient relative to the first gradient, or gain of 100 steps relative to the objective.
    max_iter : int
        Most proximal steps per tilt.
    random_state : int, RandomState or None
        Of the Fourier features.
    scale, categorical, unlabeled
        As in all estimators of the package.

    Attributes
    ----------
    history_ : list of float
        Objective per step at the final tilt.
    n_iter_ : int
        Length of this list.
    row_weights_ : ndarray of shape (l,)
        Weights of the labelled rows at the solution; they sum to one.
    feature_weights_ : ndarray of shape (p,)
        Root mean square of each column's function, zero where it is not used.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(80, 5))
    >>> y = np.sin(3 * X[:, 1])
    >>> y[:8] += 10.0
    >>> model = TSpAMRegressor(lam=0.05, t=-2.0).fit(X, y)
    >>> model.get_support(indices=True), bool(model.row_weights_[:8].max() < 1e-3)
    (array([1]), True)
    """

    paper_name: ClassVar[str] = "TSpAM"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = _GRID

    def _learn(self, rows: BaselineRows) -> None:
        lam = nonnegative("lam", self.lam)
        target, center, spread = standardized(rows.target)
        blocks = self._make_blocks(rows)
        plain = solve_groups(group_problem(SquaredLoss(), blocks, target, 2.0 * lam))
        history = [0.5 * value for value in plain.trace]
        start = AdditiveFunction(blocks, plain.coef, float(plain.intercept), history)
        found = self._fit_tilted(blocks, lambda f: squared_losses(target, f), start, lam)
        losses, _ = squared_losses(target, blocks.features @ found.coef + found.intercept)
        self.row_weights_ = tilted_weights(losses, float(self.t))
        self._function = found.scaled(center, spread)
        self._encoded_weights = self._function.norms()
        self.history_ = found.history
        self.n_iter_ = len(found.history)

    def _scores(self, table: FloatArray) -> FloatArray:
        return self._function.values(table)


class TSpAMClassifier(_Tilted, ScalarClassifier):
    """Tilted sparse additive classification.

    As :class:`TSpAMRegressor` with the logistic loss; more than two classes are learned one
    against the rest.

    Parameters
    ----------
    lam : float
        Penalty, above zero.
    t : float
        Tilt; negative against wrong labels, positive against rare classes.
    basis : {"spline", "fourier"}
        Natural cubic splines, or random Fourier features of a Gaussian kernel.
    df : int or "auto"
        Splines per column; by default three, five from 30 labels on, and fewer below 7.
    n_components : int
        Fourier features per column.
    tol : float
        Subgradient relative to the first gradient, or gain of 100 steps relative to the objective.
    max_iter : int
        Most proximal steps per tilt.
    random_state : int, RandomState or None
        Of the Fourier features.
    scale, categorical, unlabeled
        As in all estimators of the package.

    Attributes
    ----------
    history_ : list of list of float
        Objective per step at the final tilt, one list per function.
    n_iter_ : int
        Length of the longest of these lists.
    feature_weights_ : ndarray of shape (p,)
        Root mean square of each column's function, zero where it is not used.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(80, 5))
    >>> model = TSpAMClassifier(lam=0.05).fit(X, np.abs(X[:, 1]) > 0.5)
    >>> model.get_support(indices=True)
    array([1])
    """

    paper_name: ClassVar[str] = "TSpAM"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = _GRID

    def _learn(self, rows: BaselineRows) -> None:
        self._blocks = self._make_blocks(rows)
        super()._learn(rows)
        self.history_ = [function.history for function in self._functions]
        self.n_iter_ = max(map(len, self.history_))

    def _learn_function(self, rows: BaselineRows, targets: FloatArray) -> AdditiveFunction:
        lam, blocks = positive("lam", self.lam), self._blocks
        codes = 0.5 * (targets + 1.0)
        plain = solve_groups(group_problem(LogisticLoss(), blocks, codes, lam))
        start = AdditiveFunction(blocks, plain.coef, float(plain.intercept), plain.trace)
        return self._fit_tilted(blocks, lambda f: logistic_losses(targets, f), start, lam)

    def _evaluate(self, function: AdditiveFunction, table: FloatArray) -> FloatArray:
        return function.values(table)

    def _weights_of(self, function: AdditiveFunction) -> FloatArray:
        return function.norms()


def _smooth(losses: Losses, t: float) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    def smooth(f: FloatArray) -> tuple[float, FloatArray]:
        values, slopes = losses(f)
        return tilted_mean(values, t), tilted_weights(values, t) * slopes

    return smooth


def _tilts(t: float) -> list[tuple[float, bool]]:
    """Tilts on the way from zero, each with whether it is the last; none for zero itself."""
    if t == 0.0:
        return []
    sizes = [_FIRST_TILT]
    while sizes[-1] < abs(t):
        sizes.append(_TILT_GROWTH * sizes[-1])
    return [(float(np.copysign(size, t)), False) for size in sizes[:-1]] + [(t, True)]


def _finite(name: str, value: Any) -> float:
    known = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if known and np.isfinite(value):
        return float(value)
    raise InvalidInputError(f"{name}={value!r} must be a finite number.")
