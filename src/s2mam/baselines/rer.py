"""RER: robust linear regression on labels that spread over a learned graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.baselines.base import Baseline, BaselineClassifier, BaselineRegressor
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.adaptive_neighbors import squared_distances
from s2mam.baselines.shared.affinity import laplacian, neighbor_weights
from s2mam.baselines.shared.coding import code_targets
from s2mam.baselines.shared.hidden_labels import regress_hidden_labels
from s2mam.baselines.shared.keyed_table import KeyedTable
from s2mam.baselines.shared.parameters import nonnegative, positive, whole
from s2mam.baselines.shared.representation import (
    Representation,
    label_free_representation,
    represent,
    representation_cost,
)
from s2mam.baselines.shared.unfinished import warn_unfinished

__all__ = ["RERClassifier", "RERRegressor"]

# Norms count as at least this where their inverse is a weight.
_EPS = 1e-6
# Steps of the reweighted regression per round.
_REWEIGHTED = 3
# Iterations of the graph per round: it goes on where the round before stopped.
_GRAPH_STEPS = 10
# Rows beyond which the nuclear norm is left out: it costs an eigenvalue problem of their order.
_MOST_ROWS = 1000


@dataclass
class _State:
    coef: FloatArray  # (q, c) W
    intercept: FloatArray  # (c,) b
    values: FloatArray  # (n, c) F
    graph: FloatArray  # (n, n) shares G
    cost: float  # of the graph as a representation


@dataclass(frozen=True)
class _Problem:
    table: FloatArray
    labeled: IntArray
    targets: FloatArray
    penalty: float
    smoothness: float
    representation: float
    rank_weight: float

    def solve(self, max_iter: int, tol: float) -> tuple[_State, list[float]]:
        state, shares = self._start()
        objective = [np.inf]
        for _ in range(max_iter):
            smooth = self._smooth(state.graph)
            for _ in range(_REWEIGHTED):
                self._regress(state, smooth)
            shares = self._rebuild(state, shares)
            objective.append(self._objective(state))
            if objective[-2] - objective[-1] <= tol * objective[-1]:
                break
        else:
            warn_unfinished(objective, max_iter, tol)
        return state, objective[1:]

    def _start(self) -> tuple[_State, Representation | None]:
        n, q = self.table.shape
        shares = None
        if self._learns_graph():
            shares = label_free_representation(KeyedTable.of(self.table), self.rank_weight)
        graph = neighbor_weights(self.table, 10) if shares is None else shares.shares
        fit = self._fit(self._smooth(graph), np.full(n, 0.5), np.full(q, 0.5))
        return _State(*fit, graph, self._cost(graph)), shares

    def _learns_graph(self) -> bool:
        return self.representation > 0 and self.smoothness > 0 and self.table.shape[0] > 2

    def _smooth(self, graph: FloatArray) -> FloatArray:
        return self.smoothness * laplacian((graph + graph.T) / 2.0)

    def _cost(self, graph: FloatArray) -> float:
        if not self._learns_graph():
            return 0.0
        return representation_cost(self.table, graph, self.rank_weight)

    def _regress(self, state: _State, smooth: FloatArray) -> None:
        """One reweighted step: exact for W, b and the unknown values together."""
        rows = np.linalg.norm(self._residual(state), axis=1)
        columns = np.linalg.norm(state.coef, axis=1)
        weights = (0.5 / np.maximum(norms, _EPS) for norms in (rows, columns))
        state.coef, state.intercept, state.values = self._fit(smooth, *weights)

    def _fit(
        self, smooth: FloatArray, rows: FloatArray, columns: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        return regress_hidden_labels(
            self.table, self.labeled, self.targets, smooth, rows, self.penalty * columns
        )

    def _residual(self, state: _State) -> FloatArray:
        return self.table @ state.coef + state.intercept - state.values

    def _rebuild(self, state: _State, shares: Representation | None) -> Representation | None:
        if shares is None:
            return None
        price = self._price(state) / self.representation
        shares = represent(
            self.table, price, self.rank_weight, start=shares, max_iter=_GRAPH_STEPS, tol=5e-3
        )
        # The graph is found to a tolerance only: keep the old one when it is as good.
        cost = self._cost(shares.shares)
        change = float(((shares.shares - state.graph) * price).sum())
        if cost + change < state.cost:
            state.graph, state.cost = shares.shares, cost
        return shares

    def _price(self, state: _State) -> FloatArray:
        return 0.5 * self.smoothness * squared_distances(state.values, state.values)

    def _objective(self, state: _State) -> float:
        loss = float(np.linalg.norm(self._residual(state), axis=1).sum())
        loss += self.penalty * float(np.linalg.norm(state.coef, axis=1).sum())
        loss += float((state.graph * self._price(state)).sum())
        return loss + self.representation * state.cost


class _RER(Baseline):
    """What the classifier and the regressor share."""

    paper_name: ClassVar[str] = "RER"
    square_tables: ClassVar[int] = 31
    selects_columns: ClassVar[bool] = True
    # The loss is a sum and not a mean, so that ten labelled rows make penalties ten times as large.
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "penalty": (1e-2, 1e-1, 1.0),
        "smoothness": (1e-2, 1e-1, 1.0),
    }

    def __init__(
        self,
        *,
        penalty: float = 1e-1,
        smoothness: float = 1e-1,
        representation: float = 1e-2,
        rank_weight: Any = "auto",
        max_iter: int = 10,
        tol: float = 1e-3,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.penalty = penalty
        self.smoothness = smoothness
        self.representation = representation
        self.rank_weight = rank_weight
        self.max_iter = max_iter
        self.tol = tol
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        self._coding = code_targets(rows)
        problem = _Problem(
            table=rows.table,
            labeled=rows.labeled,
            targets=self._coding.matrix,
            penalty=positive("penalty", self.penalty),
            smoothness=nonnegative("smoothness", self.smoothness),
            representation=nonnegative("representation", self.representation),
            rank_weight=self._read_rank_weight(rows.n),
        )
        self._state, self.objective_ = problem.solve(
            whole("max_iter", self.max_iter), nonnegative("tol", self.tol)
        )
        self.n_iter_ = len(self.objective_)
        self._encoded_weights = np.linalg.norm(self._state.coef, axis=1)

    def _read_rank_weight(self, n: int) -> float:
        if self.rank_weight == "auto":
            return float(1.0 / np.sqrt(n)) if n <= _MOST_ROWS else 0.0
        return nonnegative("rank_weight", self.rank_weight)

    def _chosen(self, weights: FloatArray) -> BoolArray:
        # Reweighting brings coefficients near zero, not to zero.
        chosen: BoolArray = weights > 1e-2 * weights.max(initial=0.0)
        return chosen

    def _scores(self, table: FloatArray) -> FloatArray:
        return self._coding.scores(table @ self._state.coef + self._state.intercept)


class RERRegressor(_RER, BaselineRegressor):
    """Robust embedding regression, for numbers.

    A reconstruction: the article's abstract names adaptive graph weights, a low-rank
    representation behind the graph, and norms that are robust and select columns and rows; its
    formulas and code are not public. What is minimised here, over the linear function, the values
    F of the unlabelled rows and the graph Z in turn, is::

        ||X W + 1 b' - F||_{2,1} + penalty ||W||_{2,1} + smoothness tr(F' L_Z F)
            + representation (||X - Z X||_{2,1} + rank_weight ||Z||_*)

    with F equal to the labels where there are labels and the rows of Z on the simplex. A round is
    three reweighted regressions and ten iterations towards the best graph, of which every fifth
    thresholds singular values. The problem is not convex and ten rounds do not always end it, so
    these numbers have a part in the answer; five, fifteen and every one lead to objectives within
    a few percent and to the same accuracy on average, at two to three times the cost.

    Parameters
    ----------
    penalty : float
        Weight of the norms of the coefficients.
    smoothness : float
        Weight of the graph in the values.
    representation : float
        Weight of the terms that make the graph; with 0 the graph is one of nearest neighbours.
    rank_weight : float or "auto"
        Weight of the nuclear norm; "auto" is 1 / sqrt(n), and 0 beyond 1000 rows.
    max_iter : int
        Rounds at most.
    tol : float
        Stop when the objective falls by less than this share.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    feature_weights_ : (p,) array
        Norms of the coefficients.
    objective_ : list of float
        Objective after each round, falling.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> y = np.where(np.arange(30) < 20, 3 * X[:, 1], np.nan)
    >>> int(RERRegressor().fit(X, y).feature_weights_.argmax())
    1
    """


class RERClassifier(_RER, BaselineClassifier):
    """Robust embedding regression on one indicator per class.

    A reconstruction; objective and parameters as in :class:`RERRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> y = np.where(np.arange(30) < 20, X[:, 1] > 0, -1)
    >>> int(RERClassifier().fit(X, y).feature_weights_.argmax())
    1
    """
