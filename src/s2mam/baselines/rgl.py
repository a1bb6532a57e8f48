"""RGL: a graph learned from the low-rank part of the table, then label spreading on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix

from s2mam._typing import FloatArray
from s2mam.baselines.base import BaselineClassifier
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.adaptive_neighbors import (
    adaptive_weights,
    row_distances,
    squared_distances,
)
from s2mam.baselines.shared.affinity import laplacian
from s2mam.baselines.shared.coding import TargetCoding, code_targets
from s2mam.baselines.shared.harmonic import spread_labels
from s2mam.baselines.shared.keyed_table import KeyedTable
from s2mam.baselines.shared.parameters import nonnegative, positive, whole
from s2mam.baselines.shared.spectra import threshold_singular_values
from s2mam.baselines.shared.unfinished import warn_unfinished
from s2mam.exceptions import InvalidInputError

__all__ = ["RGLClassifier"]

# Growth of the penalty per iteration and its ceiling, beyond which the solves lose digits.
_GROWTH, _CEILING = 1.1, 1e8


@dataclass(frozen=True)
class RobustGraph:
    """What :func:`learn_graph` finds.

    Attributes
    ----------
    clean : (n, q) array
        Low-rank part of the table.
    graph : (n, n) sparse array
        Symmetric weights.
    residuals : list of float
        Largest violation of the constraints per iteration.
    """

    clean: FloatArray
    graph: Any
    residuals: list[float]


# The graph does not depend on the labels: leave-one-out fits over the same table share it.
@lru_cache(maxsize=16)
def learn_graph(
    keyed: KeyedTable,
    *,
    sparsity: float,
    smoothness: float,
    n_neighbors: int,
    penalty: float,
    max_iter: int,
    tol: float,
) -> RobustGraph:
    """Split a table into a low-rank and a sparse part, with a graph over the low-rank rows.

    ``min ||D||_* + sparsity ||E||_1 + smoothness tr(D' L_S D) + g ||S||^2`` with ``X = D + E`` and
    the rows of S on the simplex, by the alternating direction method; g follows from
    `n_neighbors`.

    Parameters
    ----------
    keyed : KeyedTable
        The table X.
    sparsity, smoothness : float
        Weights of the sparse part and of the graph.
    n_neighbors : int
        Neighbours of a row.
    penalty : float
        First penalty of the constraints.
    max_iter : int
        Iterations at most.
    tol : float
        Largest violation of the constraints to stop at.

    Returns
    -------
    RobustGraph

    Examples
    --------
    >>> import numpy as np
    >>> options = dict(sparsity=0.5, smoothness=0.0, n_neighbors=1, penalty=0.3)
    >>> found = learn_graph(KeyedTable.of(np.ones((4, 3))), max_iter=200, tol=1e-6, **options)
    >>> found.clean.round(3)[0]
    array([1., 1., 1.])
    """
    table = keyed.table
    dual_split, dual_copy = np.zeros_like(table), np.zeros_like(table)
    sparse, copy = np.zeros_like(table), np.zeros_like(table)
    residuals: list[float] = []
    for _ in range(max_iter):
        middle = (table + copy - sparse - (dual_split + dual_copy) / penalty) / 2.0
        clean = threshold_singular_values(middle, 0.5 / penalty)
        rest = table - clean - dual_split / penalty
        sparse = np.sign(rest) * np.maximum(np.abs(rest) - sparsity / penalty, 0.0)
        copy = clean + dual_copy / penalty
        if smoothness > 0:
            copy = _smooth(copy, 2.0 * smoothness / penalty, _graph(clean, n_neighbors))
        split_gap, copy_gap = clean + sparse - table, clean - copy
        dual_split += penalty * split_gap
        dual_copy += penalty * copy_gap
        penalty = min(_GROWTH * penalty, _CEILING)
        residuals.append(float(max(np.abs(split_gap).max(), np.abs(copy_gap).max())))
        if residuals[-1] < tol:
            break
    else:
        warn_unfinished(residuals, max_iter, tol)
    return RobustGraph(clean, csr_matrix(_graph(clean, n_neighbors)), residuals)


def _graph(clean: FloatArray, n_neighbors: int) -> FloatArray:
    weights = adaptive_weights(row_distances(clean), n_neighbors)
    return (weights + weights.T) / 2.0


def _smooth(values: FloatArray, strength: float, graph: FloatArray) -> FloatArray:
    """Solution Z of (I + strength L) Z = values."""
    system = strength * laplacian(graph)
    system[np.diag_indices_from(system)] += 1.0
    factor = cho_factor(system, overwrite_a=True, check_finite=False)
    smooth: FloatArray = cho_solve(factor, values, check_finite=False)
    return smooth


class RGLClassifier(BaselineClassifier):
    """Robust graph learning from noisy data, with labels spread over the learned graph.

    The table is split into a low-rank and a sparse part while a graph of adaptive neighbours is
    learned over the rows of the low-rank part; labels then spread over the graph. The paper that
    names this system describes it in one line as label ranking regression and propagation; the
    article it cites is this method, and the article is what is implemented.

    The method is transductive. New rows are answered by their adaptive neighbours among the clean
    rows of the fit, an extension of ours.

    Parameters
    ----------
    smoothness : float
        Weight beta of the graph in the split.
    sparsity : float or "auto"
        Weight alpha of the sparse part; "auto" is 1 / sqrt(max(n, columns)), which suits columns
        of unit size.
    n_neighbors : int
        Neighbours of a row.
    spreading : float in (0, 1)
        Share of the neighbours in a row's label.
    penalty : float or "auto"
        First penalty of the constraints; it grows by a tenth per iteration. "auto" is 1.25 over
        the largest singular value of the table; far above it the split freezes too early.
    max_iter : int
        Iterations at most.
    tol : float
        Largest violation of the constraints to stop at.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMClassifier`.

    Attributes
    ----------
    history_ : list of float
        Violation of the constraints per iteration.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.arange(5.0), 20.0 + np.arange(5.0)][:, None] * np.ones(3)
    >>> y = np.full(10, -1)
    >>> y[0], y[9] = 0, 1
    >>> RGLClassifier(n_neighbors=2).fit(X, y).transduction_
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """

    paper_name: ClassVar[str] = "RGL"
    square_tables: ClassVar[int] = 4
    inductive: ClassVar[bool] = False
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "smoothness": (1e-4, 1e-3, 1e-2, 1e-1),
        "n_neighbors": (5, 10),
    }

    def __init__(
        self,
        *,
        smoothness: float = 1e-2,
        sparsity: Any = "auto",
        n_neighbors: int = 5,
        spreading: float = 0.99,
        penalty: Any = "auto",
        max_iter: int = 200,
        tol: float = 1e-5,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.smoothness = smoothness
        self.sparsity = sparsity
        self.n_neighbors = n_neighbors
        self.spreading = spreading
        self.penalty = penalty
        self.max_iter = max_iter
        self.tol = tol
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    _coding: TargetCoding

    def _learn(self, rows: BaselineRows) -> None:
        if not 0.0 < nonnegative("spreading", self.spreading) < 1.0:
            raise InvalidInputError(f"spreading={self.spreading!r} must lie between 0 and 1.")
        found = learn_graph(
            KeyedTable.of(rows.table),
            sparsity=self._sparsity(rows.table),
            smoothness=nonnegative("smoothness", self.smoothness),
            n_neighbors=whole("n_neighbors", self.n_neighbors),
            penalty=self._penalty(rows.table),
            max_iter=whole("max_iter", self.max_iter),
            tol=positive("tol", self.tol),
        )
        self._coding = code_targets(rows)
        self._clean = found.clean
        self._values = spread_labels(found.graph.toarray(), rows.one_hot, self.spreading)
        self.history_, self.n_iter_ = list(found.residuals), len(found.residuals)

    def _sparsity(self, table: FloatArray) -> float:
        if self.sparsity == "auto":
            return float(1.0 / np.sqrt(max(table.shape)))
        return positive("sparsity", self.sparsity)

    def _penalty(self, table: FloatArray) -> float:
        if self.penalty != "auto":
            return positive("penalty", self.penalty)
        size = float(np.linalg.norm(table, 2))
        return 1.25 / size if size > 0 else 1.0

    def _scores(self, table: FloatArray) -> FloatArray:
        weights = adaptive_weights(squared_distances(table, self._clean), self.n_neighbors)
        return self._coding.scores(weights @ self._values)

    def _training_scores(self, rows: BaselineRows) -> FloatArray:
        return self._coding.scores(self._values)
