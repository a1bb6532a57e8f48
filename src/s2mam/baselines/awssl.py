"""AWSSL: column weights, an adaptive graph and labels, learned in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.svm import SVC, SVR

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.baselines.base import Baseline, BaselineClassifier, BaselineRegressor
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.adaptive_neighbors import (
    adaptive_penalties,
    adaptive_weights,
    row_distances,
    squared_distances,
)
from s2mam.baselines.shared.affinity import laplacian
from s2mam.baselines.shared.coding import TargetCoding, code_targets
from s2mam.baselines.shared.column_budget import read_budget, top_columns
from s2mam.baselines.shared.harmonic import harmonic_values
from s2mam.baselines.shared.parameters import choice, nonnegative, positive, whole
from s2mam.baselines.shared.unfinished import warn_unfinished
from s2mam.exceptions import InvalidInputError

__all__ = ["AWSSLClassifier", "AWSSLRegressor"]

# Least spread of a column over the graph, relative to the largest one: without it a column that
# is constant within every component of the graph would take all the weight.
_LEAST_SPREAD = 1e-8


def column_spreads(table: FloatArray, graph: FloatArray) -> FloatArray:
    """(q,) sums h_j = sum_ab s_ab (x_aj - x_bj)^2 of a symmetric graph.

    Examples
    --------
    >>> import numpy as np
    >>> column_spreads(np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([8., 0.])
    """
    spreads = graph.sum(axis=1) @ table**2 - (table * (graph @ table)).sum(axis=0)
    result: FloatArray = 2.0 * np.maximum(spreads, 0.0)
    return result


def column_weights(table: FloatArray, graph: FloatArray) -> FloatArray:
    """(q,) weights that minimise sum_j theta_j^2 h_j over the simplex: theta_j ~ 1 / h_j.

    Constant columns get no weight.

    Examples
    --------
    >>> import numpy as np
    >>> column_weights(np.array([[0.0, 1.0], [2.0, 2.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([0.2, 0.8])
    """
    varies = np.ptp(table, axis=0) > 0
    if not varies.any():
        return np.full(table.shape[1], 1.0 / table.shape[1])
    spreads = column_spreads(table, graph)
    floor = _LEAST_SPREAD * max(float(spreads.max()), np.finfo(np.float64).tiny)
    inverse = np.where(varies, 1.0 / np.maximum(spreads, floor), 0.0)
    result: FloatArray = inverse / inverse.sum()
    return result


@dataclass(frozen=True)
class _Solution:
    weights: FloatArray  # (q,) theta
    values: FloatArray  # (n, c) F
    objective: list[float]


@dataclass(frozen=True)
class _Problem:
    table: FloatArray
    labeled: IntArray
    targets: FloatArray
    n_neighbors: int
    smoothness: float
    damping: float

    def solve(self, max_iter: int, tol: float) -> _Solution:
        weights = self._start()
        values, distances = self._labels(row_distances(self.table * weights))
        objective: list[float] = []
        for _ in range(max_iter):
            joint = distances + self.smoothness * squared_distances(values, values)
            one_sided = adaptive_weights(joint, self.n_neighbors)
            objective.append(self._objective(joint, one_sided))
            graph = (one_sided + one_sided.T) / 2.0
            values = harmonic_values(laplacian(graph), self.labeled, self.targets)
            step = column_weights(self.table, graph)
            weights = self.damping * weights + (1.0 - self.damping) * step
            distances = row_distances(self.table * weights)
            if len(objective) > 1 and abs(objective[-2] - objective[-1]) <= tol * objective[-2]:
                break
        else:
            warn_unfinished(objective, max_iter, tol)
        return _Solution(weights, values, objective)

    def _start(self) -> FloatArray:
        varies = np.ptp(self.table, axis=0) > 0
        even: FloatArray = np.where(varies | ~varies.any(), 1.0, 0.0)
        even /= even.sum()
        return even

    def _labels(self, distances: FloatArray) -> tuple[FloatArray, FloatArray]:
        one_sided = adaptive_weights(distances, self.n_neighbors)
        graph = laplacian((one_sided + one_sided.T) / 2.0)
        return harmonic_values(graph, self.labeled, self.targets), distances

    def _objective(self, joint: FloatArray, one_sided: FloatArray) -> float:
        linked = one_sided > 0
        fit = float(joint[linked] @ one_sided[linked])
        penalties = adaptive_penalties(joint, self.n_neighbors)
        return fit + float(penalties @ (one_sided**2).sum(axis=1))


class _AWSSL(Baseline):
    """What the classifier and the regressor share."""

    paper_name: ClassVar[str] = "AWSSL"
    square_tables: ClassVar[int] = 7
    inductive: ClassVar[bool] = False
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "smoothness": (1e-2, 1e-1, 1.0, 10.0),
        "n_neighbors": (5, 10),
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 10,
        smoothness: float = 0.1,
        damping: float = 0.0,
        prediction: str = "graph",
        n_features_to_select: Any = "auto",
        max_iter: int = 50,
        tol: float = 1e-6,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothness = smoothness
        self.damping = damping
        self.prediction = prediction
        self.n_features_to_select = n_features_to_select
        self.max_iter = max_iter
        self.tol = tol
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        prediction = choice("prediction", self.prediction, ("graph", "select"))
        size = read_budget(self.n_features_to_select, rows.labeled.size, rows.table.shape[1])
        self._table, self._coding = rows.table, code_targets(rows)
        solution = self._problem(rows, self._coding).solve(
            whole("max_iter", self.max_iter), positive("tol", self.tol)
        )
        self.objective_, self.n_iter_ = solution.objective, len(solution.objective)
        self._theta, self._values = solution.weights, solution.values
        self._encoded_weights, self._cut = solution.weights, 1.0 / rows.table.shape[1]
        if prediction == "select":
            self._follow(rows, top_columns(solution.weights, size))

    def _problem(self, rows: BaselineRows, coding: TargetCoding) -> _Problem:
        damping = nonnegative("damping", self.damping)
        if damping >= 1.0:
            raise InvalidInputError(f"damping={self.damping!r} must be below 1.")
        return _Problem(
            table=rows.table,
            labeled=rows.labeled,
            targets=coding.matrix,
            n_neighbors=whole("n_neighbors", self.n_neighbors),
            smoothness=nonnegative("smoothness", self.smoothness),
            damping=damping,
        )

    def _follow(self, rows: BaselineRows, columns: IntArray) -> None:
        """Train the machine that follows the selection."""
        self._columns = columns
        self._machine = SVC(decision_function_shape="ovr") if rows.n_classes else SVR()
        target = rows.target if rows.n_classes else self._coding.matrix[:, 0]
        self._machine.fit(rows.table[np.ix_(rows.labeled, columns)], target)
        kept = np.zeros_like(self._theta)
        # A weight of zero (constant columns) would not count as selected.
        kept[columns] = np.maximum(self._theta[columns], np.finfo(np.float64).tiny)
        self._encoded_weights, self._cut = kept, 0.0

    def _chosen(self, weights: FloatArray) -> BoolArray:
        # By the graph all columns that vary weigh something: those above an even share count.
        chosen: BoolArray = weights > self._cut * (1.0 + 1e-9)
        return chosen

    def _scores(self, table: FloatArray) -> FloatArray:
        if self.prediction == "select":
            return self._machine_scores(table)
        distances = squared_distances(table * self._theta, self._table * self._theta)
        return self._coding.scores(adaptive_weights(distances, self.n_neighbors) @ self._values)

    def _machine_scores(self, table: FloatArray) -> FloatArray:
        inputs = table[:, self._columns]
        if self._coding.n_classes:
            scores: FloatArray = self._machine.decision_function(inputs)
            return scores
        return self._coding.scores(self._machine.predict(inputs)[:, None])

    def _training_scores(self, rows: BaselineRows) -> FloatArray:
        if self.prediction == "select":
            return self._machine_scores(rows.table)
        return self._coding.scores(self._values)


class AWSSLRegressor(_AWSSL, BaselineRegressor):
    """Auto-weighted columns and an adaptive graph, for numbers.

    The objective, its updates and the extension to new rows are a reconstruction: the article's
    abstract is public, its formulas are not. In turn, each step exact for the others fixed::

        min  sum_ij s_ij (||theta * (x_i - x_j)||^2 + smoothness ||f_i - f_j||^2) + g_i s_ij^2

    over graphs whose rows lie on the simplex with `n_neighbors` entries (which sets g_i), column
    weights theta on the simplex, and values F that equal the labels where there are labels.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of a row.
    smoothness : float
        Weight of the labels in the distances the graph is built from.
    damping : float in [0, 1)
        Share of the old column weights kept in a step. One column may take nearly all the weight;
        which one then depends on the path, and so on the damping.
    prediction : {"graph", "select"}
        New rows by their adaptive neighbours among the rows of the fit, or all rows by a support
        vector machine on the columns with the largest weights.
    n_features_to_select : int or "auto"
        Columns for "select"; "auto" is l / log(l) for l labelled rows.
    max_iter : int
        Rounds at most.
    tol : float
        Stop when the objective changes by less than this share.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    feature_weights_ : (p,) array
        Column weights theta.
    support_ : (p,) array of bool
        Columns with more than an even share of the weight.
    objective_ : list of float
        Objective of each round. The g_i follow the distances, so it need not fall.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0)[:, None]
    >>> y = np.full(12, np.nan)
    >>> y[[0, 11]] = 0.0, 11.0
    >>> AWSSLRegressor(n_neighbors=2).fit(X, y).transduction_[[0, 11]]
    array([ 0., 11.])
    """


class AWSSLClassifier(_AWSSL, BaselineClassifier):
    """Auto-weighted columns and an adaptive graph, for classes.

    A reconstruction; objective and parameters as in :class:`AWSSLRegressor`, with one column of
    F per class.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.arange(5.0), 20.0 + np.arange(5.0)][:, None]
    >>> y = np.full(10, -1)
    >>> y[0], y[9] = 0, 1
    >>> AWSSLClassifier(n_neighbors=2).fit(X, y).transduction_
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
