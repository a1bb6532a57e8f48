"""Lasso and its logistic form: linear models that select columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from s2mam._typing import FloatArray
from s2mam.baselines.base import BaselineRegressor, ScalarClassifier
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.additive import solve_groups, standardized
from s2mam.baselines.shared.parameters import positive
from s2mam.losses import LogisticLoss
from s2mam.solvers import GroupProblem

__all__ = ["L1LogisticClassifier", "LassoRegressor"]

_GRID: Mapping[str, Sequence[Any]] = {"lam": (1e-4, 1e-3, 1e-2, 1e-1)}
# Coordinate descent crawls on a few rows of many columns; its sweeps cost microseconds there.
_MOST_SWEEPS = 100_000


class LassoRegressor(BaselineRegressor):
    """Lasso of scikit-learn on the labelled rows.

    Minimises ``mean((y - b0 - x'b)^2) / 2 + lam * ||b||_1`` with `y` in standard deviations, so
    that `lam` has no unit.

    Parameters
    ----------
    lam : float
        Penalty, above zero.
    tol : float
        Duality gap, relative to the mean square of `y`.
    scale, categorical, unlabeled
        As in all estimators of the package.

    Attributes
    ----------
    coef_ : ndarray of shape (q,)
        Coefficients of the encoded columns.
    intercept_ : float
        Constant.
    feature_weights_ : ndarray of shape (p,)
        Absolute coefficient of each column.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> LassoRegressor(lam=0.3).fit(X, 2 * X[:, 1]).get_support(indices=True)
    array([1])
    """

    paper_name: ClassVar[str] = "Lasso"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = _GRID

    def __init__(
        self,
        *,
        lam: float = 0.1,
        tol: float = 1e-5,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.lam = lam
        self.tol = tol
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        lam, tol = positive("lam", self.lam), positive("tol", self.tol)
        target, center, spread = standardized(rows.target)
        model = Lasso(alpha=lam, tol=tol, max_iter=_MOST_SWEEPS)
        with warnings.catch_warnings():
            if not target.any():  # scikit-learn 1.6 does not see that a gap of zero is one
                warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(rows.table[rows.labeled], target)
        self.coef_: FloatArray = spread * model.coef_
        self.intercept_ = center + spread * float(model.intercept_)
        self._encoded_weights = np.abs(self.coef_)

    def _scores(self, table: FloatArray) -> FloatArray:
        return table @ self.coef_ + self.intercept_


@dataclass(frozen=True)
class _Plane:
    coef: FloatArray
    intercept: float
    history: list[float]


class L1LogisticClassifier(ScalarClassifier):
    """Logistic regression with the l1 norm as penalty.

    Minimises ``mean(log(1 + exp(-y (b0 + x'b)))) + lam * ||b||_1`` with `b0` free. Solved by the
    package's own certified solver: the coordinate descent of scikit-learn also penalises the
    constant, and its stochastic solver leaves the selection to chance. More than two classes are
    learned one against the rest.

    Parameters
    ----------
    lam : float
        Penalty, above zero; in scikit-learn's terms ``C = 1 / (l * lam)`` for `l` labelled rows.
    tol : float
        Duality gap, relative to the objective.
    scale, categorical, unlabeled
        As in all estimators of the package.

    Attributes
    ----------
    coef_ : ndarray of shape (1, q) or (n_classes, q)
        Coefficients of the encoded columns.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constants.
    history_ : list of list of float
        Objective per iteration, one list per function.
    feature_weights_ : ndarray of shape (p,)
        Largest absolute coefficient of each column.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> L1LogisticClassifier(lam=0.2).fit(X, X[:, 1] > 0).get_support(indices=True)
    array([1])
    """

    paper_name: ClassVar[str] = "l1-logistic"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = _GRID

    def __init__(
        self,
        *,
        lam: float = 0.1,
        tol: float = 1e-6,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.lam = lam
        self.tol = tol
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        super()._learn(rows)
        self.coef_ = np.array([plane.coef for plane in self._functions])
        self.intercept_ = np.array([plane.intercept for plane in self._functions])
        self.history_ = [plane.history for plane in self._functions]

    def _learn_function(self, rows: BaselineRows, targets: FloatArray) -> _Plane:
        lam, tol = positive("lam", self.lam), positive("tol", self.tol)
        table = rows.table[rows.labeled]
        count, columns = table.shape
        problem = GroupProblem(
            loss=LogisticLoss(),
            features=table,
            target=0.5 * (targets + 1.0),
            weights=np.full(count, 1.0 / count),
            offsets=np.arange(columns + 1),
            penalties=np.full(columns, lam),
        )
        result = solve_groups(problem, tol=tol)
        return _Plane(result.coef, float(result.intercept), result.trace)

    def _evaluate(self, function: _Plane, table: FloatArray) -> FloatArray:
        values: FloatArray = table @ function.coef + function.intercept
        return values

    def _weights_of(self, function: _Plane) -> FloatArray:
        return function.coef
