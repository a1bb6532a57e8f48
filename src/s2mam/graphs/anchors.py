"""The anchor graph: rows are neighbours when they lean on the same anchors.

Every row is a mixture of its nearest anchors, Z with rows that sum to one. The weights
``W = Z diag(Z'1)^-1 Z'`` are nowhere negative and their rows sum to one, so I - W is positive
semidefinite by construction; it costs O(n) products and no search for neighbours.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy import sparse

from s2mam._typing import FloatArray
from s2mam.graphs.diagonal import diagonal
from s2mam.graphs.distances import MaskedRows
from s2mam.graphs.factored import FactoredWeights
from s2mam.graphs.landmarks import choose_landmarks, landmark_count, squared_to

__all__ = ["anchor_mixture", "anchor_weights"]

#: Anchors that a row leans on.
_NEAREST: Final = 5
_CHUNK: Final = 2**21


def anchor_weights(
    rows: MaskedRows, bandwidth: float, *, degree: float, n_anchors: int | None = None
) -> FactoredWeights:
    """Weights of the anchor graph, every row with the same sum ``degree``.

    Parameters
    ----------
    rows : MaskedRows
        The rows.
    bandwidth : float
        mu of the weights ``exp(-d^2 / mu^2)`` of a row on its nearest anchors.
    degree : float
        Sum of the weights of every row; it puts the Laplacian on the scale of the other graphs.
    n_anchors : int, optional
        Number of anchors; by default it grows with the root of the number of rows.

    Returns
    -------
    FactoredWeights

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.graphs.distances import mask_rows
    >>> rows = mask_rows(np.linspace(0, 1, 200)[:, None], np.ones(1), ("numeric",))
    >>> weights = anchor_weights(rows, 0.1, degree=5.0)
    >>> bool(np.allclose(weights.sums(), 5.0))
    True
    """
    anchors = choose_landmarks(rows.points, n_anchors or landmark_count(rows.n))
    mixture = anchor_mixture(rows.points, anchors, bandwidth)
    popularity = np.asarray(mixture.sum(axis=0)).ravel()
    scale = np.sqrt(degree / np.where(popularity > 0.0, popularity, 1.0))
    return FactoredWeights(sparse.csr_array(mixture @ diagonal(scale)))


def anchor_mixture(points: FloatArray, anchors: FloatArray, bandwidth: float) -> sparse.csr_array:
    """Z (n, m): each row's shares of its nearest anchors, which sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> anchor_mixture(np.array([[0.25], [1.0]]), np.array([[0.0], [1.0]]), 1.0).toarray().round(3)
    array([[0.622, 0.378],
           [0.269, 0.731]])
    """
    n, m = points.shape[0], anchors.shape[0]
    k = min(_NEAREST, m)
    shrink = min(max(bandwidth, 1e-150), 1e150) ** -2
    step = max(1, _CHUNK // m)
    index, shares = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    for start in range(0, n, step):
        part = slice(start, start + step)
        squared = squared_to(points[part], anchors)
        near = np.argpartition(squared, k - 1, axis=1)[:, :k]
        near.sort(axis=1)
        found = np.take_along_axis(squared, near, axis=1)
        # From the nearest on: a row far from all anchors must not lose all its weights.
        found -= found.min(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            heat = np.exp(-found * shrink)
        index[part], shares[part] = near, heat / heat.sum(axis=1, keepdims=True)
    starts = np.arange(0, n * k + 1, k)
    return sparse.csr_array((shares.ravel(), index.ravel(), starts), shape=(n, m))
