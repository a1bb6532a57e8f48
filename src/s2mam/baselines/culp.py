"""Culp's semi-supervised additive models: smoothers that are fitted to their own predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, logit

from s2mam._typing import FloatArray
from s2mam.baselines.base import Baseline, BaselineRegressor, ScalarClassifier
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.affinity import (
    cross_neighbor_weights,
    gaussian_kernel,
    graph_weights,
    read_width,
)
from s2mam.baselines.shared.parameters import choice, positive, whole
from s2mam.baselines.shared.propagation import (
    FixedPoint,
    Spread,
    additive_fixed_point,
    labeled_hat,
    row_smoother,
    spread_averages,
)
from s2mam.baselines.shared.spline_features import SplineFeatures
from s2mam.exceptions import InvalidInputError

__all__ = ["CulpAdditiveClassifier", "CulpAdditiveRegressor"]

# Smoothing that generalised cross validation chooses from, strongest first: ties go there.
_SMOOTHINGS = (1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3)
# Scores beyond this have probabilities of zero and one in print, and weights too small to use.
_MOST_SCORE = 8.0
_MOST_STEPS = 25
_SMALL_CHANGE = 1e-3


@dataclass(frozen=True)
class _Function:
    """Additive part (coefficients of the spline features) and averages of what it leaves."""

    coef: FloatArray
    rest: FloatArray  # (n,) values minus additive part
    importance: FloatArray  # (n,)
    fitted: FloatArray  # (n,)
    changes: list[float]


class _Culp(Baseline):
    """Smoothers, their fixed point and its extension to new rows."""

    paper_name: ClassVar[str] = "Culp"
    square_tables: ClassVar[int] = 5
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "smoothing": (1e-2, 1e-1, 1.0, 1e1),
        "n_neighbors": (5, 10),
    }

    def __init__(
        self,
        *,
        smoothing: float | str = "gcv",
        n_basis: int = 8,
        graph: str | None = "knn",
        n_neighbors: int = 10,
        width: float | str = "median",
        shrinkage: float = 1.0,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.smoothing = smoothing
        self.n_basis = n_basis
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.width = width
        self.shrinkage = shrinkage
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _prepare(self, rows: BaselineRows, targets: FloatArray) -> None:
        """Features, kernel and graph of the rows, and the smoothing."""
        if positive("shrinkage", self.shrinkage) > 1.0:
            raise InvalidInputError(f"shrinkage={self.shrinkage!r} must be in (0, 1].")
        self._table = rows.table
        self._features = SplineFeatures(rows.table, whole("n_basis", self.n_basis, least=4))
        values = self._features.values(rows.table)
        self._labeled_values = values[rows.labeled]
        self._kernel = values @ self._labeled_values.T
        self._weights = np.zeros((rows.n, rows.n))
        if self.graph is not None:
            choice("graph", self.graph, ("knn", "rbf"))
            self._width = read_width(self.width, rows.table)
            self._weights = graph_weights(
                rows.table, graph=self.graph, width=self._width, n_neighbors=self.n_neighbors
            )
        self.smoothing_ = self._read_smoothing(rows, targets)

    def _forget(self) -> None:
        """Drop what only the fit needs."""
        del self._labeled_values, self._kernel, self._weights

    def _read_smoothing(self, rows: BaselineRows, targets: FloatArray) -> float:
        if not isinstance(self.smoothing, str):
            return positive("smoothing", self.smoothing)
        choice("smoothing", self.smoothing, ("gcv",))
        spread = self._spread(rows, np.ones(rows.n))
        return min(_SMOOTHINGS, key=lambda one: self._cross_validation(spread, targets, one))

    def _cross_validation(self, spread: Spread, targets: FloatArray, smoothing: float) -> float:
        """Generalised cross validation of the labelled rows, of the linear fit."""
        hat = labeled_hat(self._kernel, spread, np.ones(targets.size), smoothing)
        left = 1.0 - float(hat.trace()) / targets.size
        if left <= 1e-6:
            return np.inf
        misfit = targets - hat @ targets
        return float(misfit @ misfit) / left**2

    def _spread(self, rows: BaselineRows, importance: FloatArray) -> Spread:
        averages = row_smoother(self._weights, importance)
        return spread_averages(averages, rows.labeled, importance, shrinkage=self.shrinkage)

    def _fixed_point(
        self, rows: BaselineRows, values: FloatArray, importance: FloatArray
    ) -> tuple[FixedPoint, float]:
        """The fixed point and the spectral radius of its averages."""
        spread = self._spread(rows, importance)
        known = importance[rows.labeled]
        found = additive_fixed_point(self._kernel, spread, values, known, self.smoothing_)
        return found, spread.radius

    def _function(
        self, found: FixedPoint, importance: FloatArray, changes: list[float]
    ) -> _Function:
        coef = self._labeled_values.T @ found.coef
        return _Function(coef, found.rest, importance, found.fitted, changes)

    def _extend(self, function: _Function, table: FloatArray) -> FloatArray:
        """Values at new rows."""
        if self.graph is None:
            weights = np.zeros((table.shape[0], self._table.shape[0]))
        elif self.graph == "knn":
            weights = cross_neighbor_weights(table, self._table, self.n_neighbors)
        else:
            weights = gaussian_kernel(table, self._table, self._width)
        averages = row_smoother(weights, function.importance) @ function.rest
        return np.asarray(self._features.values(table) @ function.coef + averages)


class CulpAdditiveRegressor(_Culp, BaselineRegressor):
    """Additive model fitted to the labels and to its own predictions of the unlabelled rows.

    After Culp and Michailidis (2008) and Culp, Michailidis and Johnson (2009): penalised splines
    of the columns and averages over a graph are backfitted, and unlabelled rows take the values
    that the joint smoother R reproduces, ``y_U = (I - R_UU)^-1 R_UL y_L``. The splines alone
    would give the fit to the labelled rows only, because the fixed point of a penalised least
    squares smoother is just that; it is the graph that brings in the unlabelled rows. No columns
    are selected. The papers leave the smoothers open: one smoothing for all columns and the
    penalty on straight lines are choices of ours, and so is the way `shrinkage` enters, of which
    the 2011 paper could not be checked. O(u^3) in the unlabelled rows.

    Parameters
    ----------
    smoothing : float or "gcv"
        Penalty of the splines; "gcv" takes it by generalised cross validation.
    n_basis : int
        B-splines of a column.
    graph : {"knn", "rbf"} or None
        Nearest neighbours, Gaussian weights between all rows, or splines alone.
    n_neighbors : int
        Neighbours of each row (graph="knn").
    width : float or "median"
        Width of the weights (graph="rbf"); "median" is the median distance.
    shrinkage : float in (0, 1]
        Factor of the averages over unlabelled rows; less than one draws them to the mean.
    scale, categorical, unlabeled
        As in the estimators of this package.

    Attributes
    ----------
    smoothing_ : float
        Smoothing in use.
    spectral_radius_ : float
        Of the averages over unlabelled rows; one where some have no path to a labelled row.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 1.0, 21)[:, None]
    >>> y = np.where(np.arange(21) % 5 == 0, X[:, 0], np.nan)
    >>> model = CulpAdditiveRegressor(n_neighbors=2).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.5) < 0.1)
    True
    """

    def _learn(self, rows: BaselineRows) -> None:
        targets = np.asarray(rows.target, dtype=np.float64)
        self._prepare(rows, targets)
        importance = np.ones(rows.n)
        found, self.spectral_radius_ = self._fixed_point(rows, targets, importance)
        self._model = self._function(found, importance, [])
        self._forget()

    def _training_scores(self, rows: BaselineRows) -> FloatArray:
        return self._model.fitted

    def _scores(self, table: FloatArray) -> FloatArray:
        return self._extend(self._model, table)


class CulpAdditiveClassifier(_Culp, ScalarClassifier):
    """Propagated scoring (Culp, 2011): logistic scoring with propagation in every step.

    Each step fits the working response of the labelled rows by the smoother of
    :class:`CulpAdditiveRegressor`, weighted by p (1 - p), and lets the unlabelled rows take their
    fixed point; more than two classes one against the rest. Smoothing is chosen on the linear fit
    of the labels +1 and -1 of the last class. Parameters are those of the regressor.

    Attributes
    ----------
    smoothing_ : float
        Smoothing in use.
    spectral_radius_ : float
        As in the regressor, the largest of all functions in their last step.
    history_ : list of list of float
        Largest change of a score per step, of each function.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.linspace(0, 1, 10), np.linspace(3, 4, 10)][:, None]
    >>> y = np.r_[0, [-1] * 9, 1, [-1] * 9]
    >>> CulpAdditiveClassifier(n_neighbors=3).fit(X, y).predict([[1.0], [3.5]])
    array([0, 1])
    """

    def _learn(self, rows: BaselineRows) -> None:
        last = np.where(np.asarray(rows.target) == rows.n_classes - 1, 1.0, -1.0)
        self._prepare(rows, last)
        self.spectral_radius_ = 0.0
        super()._learn(rows)
        self.history_ = [one.changes for one in self._functions]
        self._forget()

    def _learn_function(self, rows: BaselineRows, targets: FloatArray) -> _Function:
        hits = (targets + 1.0) / 2.0
        scores = np.full(rows.n, logit(hits.mean()))
        changes: list[float] = []
        for _ in range(_MOST_STEPS):
            chance = expit(scores)
            importance = chance * (1.0 - chance)
            seen = rows.labeled
            response = scores[seen] + (hits - chance[seen]) / importance[seen]
            found, radius = self._fixed_point(rows, response, importance)
            fresh = np.clip(found.fitted, -_MOST_SCORE, _MOST_SCORE)
            changes.append(float(np.abs(fresh - scores).max()))
            scores = fresh
            if changes[-1] < _SMALL_CHANGE:
                break
        self.spectral_radius_ = max(self.spectral_radius_, radius)
        return self._function(found, importance, changes)

    def _training_scores(self, rows: BaselineRows) -> FloatArray:
        scores = np.column_stack([one.fitted for one in self._functions])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _evaluate(self, function: _Function, table: FloatArray) -> FloatArray:
        return self._extend(function, table)
