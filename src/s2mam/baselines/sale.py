"""SALE: a linear embedding that keeps near rows of a class, and near rows at all, together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh, svd

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.baselines.base import BaselineClassifier
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.adaptive_neighbors import row_distances, squared_distances
from s2mam.baselines.shared.affinity import laplacian
from s2mam.baselines.shared.parameters import choice, nonnegative, positive, share, whole
from s2mam.baselines.shared.unfinished import warn_unfinished

__all__ = ["SALEClassifier"]

# Least squared distance, relative to the mean one: duplicates would get infinite weights.
_LEAST_DISTANCE = 1e-12
# Singular values below this share of the largest are rounding.
_NULL_SPACE = 1e-10


def class_graph(distances: FloatArray, codes: AnyArray, k: int) -> FloatArray:
    """(l, l) ones at the k nearest rows of the same class, at most all others of the class.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.baselines.shared.adaptive_neighbors import row_distances
    >>> class_graph(row_distances(np.array([[0.0], [1.0], [1.1]])), np.array([0, 0, 1]), 1)
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    graph = np.zeros_like(distances)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        k_class = min(k, members.size - 1)
        near = np.argsort(distances[np.ix_(members, members)], axis=1, kind="stable")
        graph[members[:, None], members[near[:, :k_class]]] = 1.0
    return graph


def inverse_graph(distances: FloatArray, k: int) -> FloatArray:
    """(n, n) rows that minimise sum_j s_j^2 d_j with sum one over k neighbours: s_j ~ 1 / d_j.

    Examples
    --------
    >>> import numpy as np
    >>> inverse_graph(np.array([[np.inf, 1.0, 3.0, 9.0]]), 2)
    array([[0.  , 0.75, 0.25, 0.  ]])
    """
    near = np.argpartition(distances, k - 1, axis=1)[:, :k]
    values = np.take_along_axis(distances, near, axis=1)
    inverse = 1.0 / np.maximum(values, _least(values))
    graph = np.zeros_like(distances)
    np.put_along_axis(graph, near, inverse / inverse.sum(axis=1, keepdims=True), axis=1)
    return graph


def _least(values: FloatArray) -> float:
    mean = float(values.mean())
    return _LEAST_DISTANCE * mean if mean > 0 else 1.0


@dataclass(frozen=True)
class _Problem:
    table: FloatArray  # centred, without null space
    labeled: IntArray
    codes: AnyArray
    scatter: FloatArray  # positive definite
    k_class: int
    k_all: int
    smoothness: float
    n_components: int

    def solve(self, max_iter: int, tol: float) -> tuple[FloatArray, list[float]]:
        """The projection and the objective after each round."""
        distances = row_distances(self.table)
        same = class_graph(self._own(distances), self.codes, self.k_class)
        shares = np.where(inverse_graph(distances, self.k_all) > 0, 1.0 / self.k_all, 0.0)
        objective: list[float] = []
        for _ in range(max_iter):
            projection = self._project(same, shares)
            distances = row_distances(self.table @ projection)
            same = class_graph(self._own(distances), self.codes, self.k_class)
            shares = inverse_graph(distances, self.k_all)
            objective.append(self._objective(distances, same, shares))
            if len(objective) > 1 and objective[-2] - objective[-1] <= tol * objective[-2]:
                break
        else:
            warn_unfinished(objective, max_iter, tol)
        return projection, objective

    def _own(self, distances: FloatArray) -> FloatArray:
        return distances[np.ix_(self.labeled, self.labeled)]

    def _project(self, same: FloatArray, shares: FloatArray) -> FloatArray:
        shown = self.table[self.labeled]
        # Both graphs are one-sided, and tr(X' L X) counts a pair of a symmetric one once.
        within = shown.T @ laplacian(same + same.T) @ shown
        if self.smoothness > 0:
            squares = shares**2
            local = laplacian(squares + squares.T)
            within += self.smoothness * (self.table.T @ local @ self.table)
        _, vectors = eigh(within, self.scatter, subset_by_index=[0, self.n_components - 1])
        projection: FloatArray = vectors
        return projection

    def _objective(self, distances: FloatArray, same: FloatArray, shares: FloatArray) -> float:
        own = self._own(distances)
        linked, near = same > 0, shares > 0
        local = float((shares[near] ** 2) @ distances[near])
        return float(own[linked].sum()) + self.smoothness * local


class SALEClassifier(BaselineClassifier):
    """Adaptive local embedding for semi-supervised dimension reduction, then the nearest row.

    The projection W minimises the distances in the embedding between near labelled rows of one
    class, plus `smoothness` times those between near rows at all, weighted by squared shares that
    adapt to the embedding; subject to ``W' S W = I`` with the scatter S of the table. Graphs and
    projection are found in turn. A row gets the class whose labelled rows are nearest.

    The method asks for principal components first, without the null space of the table. With fewer
    rows than columns that is not enough: directions that hardly vary in the training rows are
    blown up until these rows, and no others, fall together by class. Only components that carry
    `variance` are therefore kept.

    Parameters
    ----------
    smoothness : float
        Weight alpha of the unlabelled part.
    n_components : int or "auto"
        Directions of the embedding; "auto" is the number of classes.
    n_same_class : int
        Neighbours of a labelled row in its class.
    n_neighbors : int
        Neighbours of any row.
    n_votes : int
        Nearest labelled rows of a class over which the distance to the class is averaged; 1 is
        the rule of the nearest row.
    scatter : {"labeled", "all"}
        Rows whose total scatter is kept. That of few labelled rows is singular and gets `ridge`.
    ridge : float
        Share of the mean variance added to each direction of the scatter.
    variance : float
        Share of the variance that the principal components keep; 1 removes the null space alone.
    max_iter : int
        Rounds at most.
    tol : float
        Stop when the objective falls by less than this share.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMClassifier`.

    Attributes
    ----------
    projection_ : (q, n_components) array
        W, for the scaled and encoded columns.
    objective_ : list of float
        Objective after each round, falling.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> y = np.where(np.arange(30) < 12, X[:, 1] > 0, -1)
    >>> model = SALEClassifier(n_components=1, smoothness=0.01).fit(X, y)
    >>> int(np.abs(model.projection_[:, 0]).argmax())
    1
    """

    paper_name: ClassVar[str] = "SALE"
    square_tables: ClassVar[int] = 5
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "smoothness": (1e-2, 1e-1, 1.0, 10.0),
        "n_neighbors": (5, 10),
    }

    def __init__(
        self,
        *,
        smoothness: float = 1.0,
        n_components: Any = "auto",
        n_same_class: int = 3,
        n_neighbors: int = 5,
        n_votes: int = 1,
        scatter: str = "labeled",
        ridge: float = 1e-6,
        variance: float = 0.95,
        max_iter: int = 20,
        tol: float = 1e-6,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.smoothness = smoothness
        self.n_components = n_components
        self.n_same_class = n_same_class
        self.n_neighbors = n_neighbors
        self.n_votes = n_votes
        self.scatter = scatter
        self.ridge = ridge
        self.variance = variance
        self.max_iter = max_iter
        self.tol = tol
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        whole("n_votes", self.n_votes)
        reduced, basis = _components(rows.table, share("variance", self.variance))
        problem = _Problem(
            table=reduced,
            labeled=rows.labeled,
            codes=rows.target,
            scatter=self._scatter(reduced, rows.labeled),
            k_class=whole("n_same_class", self.n_same_class),
            k_all=min(whole("n_neighbors", self.n_neighbors), rows.n - 1),
            smoothness=nonnegative("smoothness", self.smoothness),
            n_components=self._read_components(rows.n_classes, reduced.shape[1]),
        )
        projection, self.objective_ = problem.solve(
            whole("max_iter", self.max_iter), nonnegative("tol", self.tol)
        )
        self.n_iter_ = len(self.objective_)
        self.projection_ = basis @ projection
        self._codes = np.asarray(rows.target)
        self._known = rows.table[rows.labeled] @ self.projection_

    def _read_components(self, n_classes: int, most: int) -> int:
        if isinstance(self.n_components, str):
            choice("n_components", self.n_components, ("auto",))
            return min(n_classes, most)
        return min(whole("n_components", self.n_components), most)

    def _scatter(self, table: FloatArray, labeled: IntArray) -> FloatArray:
        kind = choice("scatter", self.scatter, ("labeled", "all"))
        shown = table[labeled] if kind == "labeled" else table
        centered = shown - shown.mean(axis=0)
        scatter: FloatArray = centered.T @ centered
        mean = float(np.trace(scatter)) / scatter.shape[0]
        extra = positive("ridge", self.ridge) * (mean if mean > 0 else 1.0)
        scatter[np.diag_indices_from(scatter)] += extra
        return scatter

    def _scores(self, table: FloatArray) -> FloatArray:
        distances = np.sqrt(squared_distances(table @ self.projection_, self._known))
        away = [
            np.sort(distances[:, self._codes == code], axis=1)[:, : self.n_votes].mean(axis=1)
            for code in range(self.classes_.size)
        ]
        return away[0] - away[1] if len(away) == 2 else -np.column_stack(away)


def _components(table: FloatArray, kept: float) -> tuple[FloatArray, FloatArray]:
    """Centred table in the basis of the principal components with this variance, and the basis."""
    centered = table - table.mean(axis=0)
    _, values, vectors = svd(centered, full_matrices=False, check_finite=False)
    rank = int(np.count_nonzero(values > _NULL_SPACE * max(values[0], 1e-300)))
    carried = np.cumsum(values[:rank] ** 2)
    if rank:
        # The last share is one up to rounding, and must not fall short of "all".
        rank = 1 + int(np.count_nonzero(carried[:-1] < kept * carried[-1] * (1.0 - 1e-12)))
    basis: FloatArray = vectors[: max(1, rank)].T
    return centered @ basis, basis
