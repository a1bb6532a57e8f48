"""Flexible manifold embedding on an anchor graph, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from s2mam._typing import FloatArray, IntArray

__all__ = ["CenteredRidge", "Embedding", "fast_embedding", "reduced_embedding"]


@dataclass(frozen=True)
class Embedding:
    """Soft labels of the rows and the linear map that follows them.

    Attributes
    ----------
    labels : (n, c) array
        Soft labels F of all rows.
    map : (q, c) array
        Linear map W.
    shift : (c,) array
        Its intercept b.
    """

    labels: FloatArray
    map: FloatArray
    shift: FloatArray


@dataclass(frozen=True)
class CenteredRidge:
    """Ridge regression on centred columns, in the directions of their singular vectors.

    Attributes
    ----------
    columns : (n, r) array
        ``columns @ columns.T`` maps labels to their fit, the mean left out.
    lift : (q, r) array
        ``lift @ columns.T`` maps labels to the slopes.
    mean : (q,) array
        Means of the columns.
    """

    columns: FloatArray
    lift: FloatArray
    mean: FloatArray

    @classmethod
    def of(cls, table: FloatArray, gamma: float) -> CenteredRidge:
        """Prepare the regression on the columns of a table."""
        mean = table.mean(axis=0)
        left, sizes, right = linalg.svd(table - mean, full_matrices=False)
        # Directions that rounding alone makes would count as real ones under a tiny penalty.
        real = sizes > 1e-10 * max(float(sizes[0]), np.finfo(np.float64).tiny)
        left, sizes, right = left[:, real], sizes[real], right[real]
        root = np.sqrt(sizes**2 + gamma)
        return cls(left * (sizes / root), right.T / root, mean)

    def regress(self, labels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The slopes and the shift that predict the labels."""
        slopes = self.lift @ (self.columns.T @ labels)
        return slopes, labels.mean(axis=0) - self.mean @ slopes


def fast_embedding(
    table: FloatArray,
    graph: FloatArray,
    labeled: IntArray,
    targets: FloatArray,
    *,
    mu: float,
    gamma: float,
    label_weight: float,
) -> Embedding:
    """f-FME in closed form, in time linear in the rows.

    Minimises ``tr F'LF + sum_labelled label_weight ||F_i - y_i||^2 + mu (||XW + 1b' - F||^2 +
    gamma ||W||^2)`` with ``L = I - B S^-1 B'`` of the anchor graph B, S = diag(B'1).

    Parameters
    ----------
    table : (n, q) array
        Rows.
    graph : (n, m) array
        Weights of the rows on the anchors; rows sum to one.
    labeled : (l,) array of int
        Positions of the labelled rows.
    targets : (l, c) array
        Their labels.
    mu, gamma, label_weight : float
        Weights of the linear fit, of its norm and of the labels; positive.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> graph = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> found = fast_embedding(table, graph, np.array([0, 2]), np.eye(2),
    ...                        mu=1e-6, gamma=1.0, label_weight=1e9)
    >>> found.labels.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    n = table.shape[0]
    graph = graph[:, graph.any(axis=0)]
    ridge = CenteredRidge.of(table, gamma)
    diagonal = np.full(n, mu + 1.0)
    diagonal[labeled] += label_weight
    # Constants cost nothing, so that the mean can be left out; rows that hardly anything
    # determines then end there and not at zero.
    center = targets.mean(axis=0)
    start = np.zeros((n, targets.shape[1]))
    start[labeled] = label_weight / diagonal[labeled][:, None] * (targets - center)
    # V - G N^-1 G' is the matrix of the normal equations; Woodbury inverts it on the small side.
    low = np.hstack([graph, np.ones((n, 1)), ridge.columns])
    rank = ridge.columns.shape[1]
    small = np.diag(np.concatenate([graph.sum(axis=0), [n / mu], np.full(rank, 1.0 / mu)]))
    small -= low.T @ (low / diagonal[:, None])
    labels = center + start + low @ _solve_positive(small, low.T @ start) / diagonal[:, None]
    return Embedding(labels, *ridge.regress(labels))


def reduced_embedding(
    anchors: FloatArray,
    graph: FloatArray,
    labeled: IntArray,
    targets: FloatArray,
    *,
    mu: float,
    gamma: float,
    label_weight: float,
) -> Embedding:
    """r-FME: the unknowns are the soft labels Q of the anchors, and rows take F = B Q.

    Minimises ``tr Q'LQ + sum_labelled label_weight ||(BQ)_i - y_i||^2 + mu (||ZW + 1b' - Q||^2 +
    gamma ||W||^2)`` with anchors Z and ``L = I - S^-1/2 B'B S^-1/2``. Parameters are those of
    :func:`fast_embedding`.

    Examples
    --------
    >>> import numpy as np
    >>> anchors, graph = np.array([[0.0], [5.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> found = reduced_embedding(anchors, graph, np.array([0, 1]), np.eye(2),
    ...                           mu=1e-6, gamma=1.0, label_weight=1e9)
    >>> found.labels.argmax(axis=1)
    array([0, 1])
    """
    used = graph.any(axis=0)
    graph, anchors = graph[:, used], anchors[used]
    m = anchors.shape[0]
    ridge = CenteredRidge.of(anchors, gamma)
    root = 1.0 / np.sqrt(graph.sum(axis=0))
    system = -(root[:, None] * (graph.T @ graph) * root)
    system += label_weight * (graph[labeled].T @ graph[labeled])
    system -= mu / m + mu * (ridge.columns @ ridge.columns.T)
    system[np.diag_indices(m)] += 1.0 + mu
    values = _solve_positive(system, label_weight * (graph[labeled].T @ targets))
    return Embedding(graph @ values, *ridge.regress(values))


def _solve_positive(system: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with a positive definite matrix whose scales may be many decades apart."""
    scale = 1.0 / np.sqrt(np.maximum(system.diagonal(), np.finfo(np.float64).tiny))
    balanced = scale[:, None] * system * scale
    try:
        solution = linalg.cho_solve(linalg.cho_factor(balanced), scale[:, None] * right)
    except linalg.LinAlgError:
        # Rounding made it singular: the smallest solution is as good as any.
        solution = linalg.lstsq(balanced, scale[:, None] * right)[0]
    result: FloatArray = scale[:, None] * solution
    return result
