"""COREG: two nearest-neighbour regressors that label rows for each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from s2mam._typing import FloatArray, IntArray
from s2mam.baselines.base import BaselineRegressor
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.parameters import positive, whole
from s2mam.exceptions import InvalidInputError

__all__ = ["CoregRegressor"]


def minkowski_powers(table: FloatArray, row: FloatArray, order: float) -> FloatArray:
    """(n,) Minkowski distances to one row, to the power of their order (which keeps their order).

    Examples
    --------
    >>> import numpy as np
    >>> minkowski_powers(np.array([[3.0, 4.0], [1.0, 0.0]]), np.zeros(2), 2)
    array([25.,  1.])
    """
    gaps = np.abs(table - row)
    # Products are far quicker than powers, and 2 and 5 are the orders of the article.
    if order == 2:
        powers = gaps * gaps
    elif order == 5:
        squares = gaps * gaps
        powers = squares * squares * gaps
    else:
        powers = gaps**order
    total: FloatArray = powers.sum(axis=1)
    return total


class NeighborLearner:
    """Nearest-neighbour regressor over rows of one table, to which rows can be added.

    Equal distances are settled by the order in which the members came.

    Parameters
    ----------
    table : (n, q) array
        All rows.
    members : (l,) array of int
        Rows with a target at the start.
    targets : (l,) array
    k : int
        Neighbours; all members as long as there are fewer.
    order : float
        Minkowski order of the distance.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[0.0], [1.0], [3.0], [0.4]])
    >>> learner = NeighborLearner(table, np.arange(3), np.array([0.0, 2.0, 4.0]), 2, 2.0)
    >>> learner.gains(np.array([3]))
    (array([1.]), array([1.5]))
    """

    def __init__(
        self, table: FloatArray, members: IntArray, targets: FloatArray, k: int, order: float
    ) -> None:
        self.table, self.k, self.order = table, k, order
        self.members: list[int] = []
        self.targets: list[float] = []
        self._columns: list[FloatArray] = []
        for row, target in zip(members, targets, strict=True):
            self._append(int(row), float(target))
        self._refit()

    def add(self, row: int, target: float) -> None:
        """Add a member."""
        self._append(row, target)
        self._refit()

    def gains(self, pool: IntArray) -> tuple[FloatArray, FloatArray]:
        """Predictions of pool rows and how much each, once added, would help its neighbours.

        The gain of a row is the fall in squared error over its nearest members. With the row
        added a member's prediction changes only if the row is closer than its k-th neighbour,
        which it then replaces: no refit is needed.
        """
        distances = self._distances[pool]
        near = self._nearest(distances)
        predicted = self._y[near].mean(axis=1)
        before = self._fitted[near]
        if self._y.size < self.k:
            after = (self._y.size * before + predicted[:, None]) / (self._y.size + 1)
        else:
            closer = np.take_along_axis(distances, near, axis=1) < self._last_distance[near]
            change = (predicted[:, None] - self._last_target[near]) / self.k
            after = before + np.where(closer, change, 0.0)
        truth = self._y[near]
        return predicted, ((truth - before) ** 2 - (truth - after) ** 2).sum(axis=1)

    def predict(self, table: FloatArray) -> FloatArray:
        """(m,) means of the nearest members' targets."""
        rows = self.table[self.members]
        distances = [minkowski_powers(table, row, self.order) for row in rows]
        means: FloatArray = self._y[self._nearest(np.column_stack(distances))].mean(axis=1)
        return means

    def _append(self, row: int, target: float) -> None:
        self.members.append(row)
        self.targets.append(target)
        self._columns.append(minkowski_powers(self.table, self.table[row], self.order))

    def _refit(self) -> None:
        self._distances = np.column_stack(self._columns)
        self._y = np.array(self.targets)
        own = self._distances[self.members]
        near = self._nearest(own)
        self._fitted = self._y[near].mean(axis=1)
        self._last_target = self._y[near[:, -1]]
        self._last_distance = np.take_along_axis(own, near[:, -1:], axis=1)[:, 0]

    def _nearest(self, distances: FloatArray) -> IntArray:
        """(m, k) positions of the nearest members, nearest first."""
        return np.argsort(distances, axis=1, kind="stable")[:, : self.k]


class CoregRegressor(BaselineRegressor):
    """Co-training of two nearest-neighbour regressors with different distances.

    In each round either regressor looks for the unlabelled row of a random pool whose predicted
    label, once added, would most lower its error on the row's neighbours, and hands that row with
    the label to the other one. The prediction is the mean of the two.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of both regressors.
    orders : pair of float
        Minkowski orders of their distances.
    pool_size : int
        Unlabelled rows looked at in a round.
    max_iter : int
        Rounds at most; with 0 the answer is the mean of the two plain regressors.
    random_state : int, RandomState instance or None
        Draws the pools.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    n_iter_ : int
        Rounds.
    n_pseudo_labels_ : tuple of int
        Rows the first and the second regressor were given.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(10.0)[:, None]
    >>> y = np.where(np.arange(10) % 3 == 0, X[:, 0], np.nan)
    >>> CoregRegressor(n_neighbors=2, max_iter=0).fit(X, y).predict([[1.0], [8.0]])
    array([1.5, 7.5])
    """

    paper_name: ClassVar[str] = "COREG"
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"n_neighbors": (2, 3, 5)}

    def __init__(
        self,
        *,
        n_neighbors: int = 3,
        orders: tuple[float, float] = (2, 5),
        pool_size: int = 100,
        max_iter: int = 100,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.orders = orders
        self.pool_size = pool_size
        self.max_iter = max_iter
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        k = whole("n_neighbors", self.n_neighbors)
        targets = np.asarray(rows.target, dtype=np.float64)
        self._learners = [
            NeighborLearner(rows.table, rows.labeled, targets, k, order)
            for order in self._read_orders()
        ]
        pool_size = whole("pool_size", self.pool_size)
        rounds = whole("max_iter", self.max_iter, least=0)
        rng = check_random_state(self.random_state)
        waiting, self.n_iter_ = rows.unlabeled, 0
        while self.n_iter_ < rounds:
            self.n_iter_ += 1
            pool = rng.permutation(waiting)[:pool_size]
            taken = self._exchange(pool) if pool.size else []
            if not taken:
                break
            waiting = np.setdiff1d(waiting, taken)
        given = [len(learner.members) - rows.labeled.size for learner in self._learners]
        self.n_pseudo_labels_ = (given[0], given[1])

    def _read_orders(self) -> list[float]:
        if len(self.orders) != 2:
            raise InvalidInputError(f"orders={self.orders!r} must be a pair of numbers.")
        return [positive("orders", order) for order in self.orders]

    def _exchange(self, pool: IntArray) -> list[int]:
        """Let each regressor pick a row for the other one; return the rows."""
        picks: list[tuple[NeighborLearner, int, float]] = []
        for giver, receiver in (self._learners, self._learners[::-1]):
            predicted, gains = giver.gains(pool)
            gains[np.isin(pool, [row for _, row, _ in picks])] = -np.inf
            best = int(np.argmax(gains))
            if gains[best] > 0:
                picks.append((receiver, int(pool[best]), float(predicted[best])))
        for receiver, row, target in picks:
            receiver.add(row, target)
        return [row for _, row, _ in picks]

    def _scores(self, table: FloatArray) -> FloatArray:
        first, second = (learner.predict(table) for learner in self._learners)
        return (first + second) / 2.0
