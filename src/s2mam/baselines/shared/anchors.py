"""Anchor graphs: every row as a mixture of a few of its nearest anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from s2mam._typing import FloatArray
from s2mam.baselines.shared.parameters import choice, whole
from s2mam.baselines.shared.remember import remember
from s2mam.baselines.shared.simplex import project_simplex

__all__ = ["anchor_graph", "choose_anchors"]

# Accelerated projected gradient on problems of s unknowns; this many steps reach about 1e-6.
_LAE_STEPS = 100
_LAE_TOLERANCE = 1e-9


@remember(2)
def choose_anchors(table: FloatArray, m: int, random_state: Any = None) -> FloatArray:
    """Centres of k-means clusters, or the distinct rows when there are no more than m.

    Parameters
    ----------
    table : (n, q) array
        Rows.
    m : int
        Number of anchors.
    random_state : int, RandomState or None
        Seed of the clustering.

    Returns
    -------
    (min(m, distinct rows), q) array

    Examples
    --------
    >>> import numpy as np
    >>> choose_anchors(np.array([[0.0], [2.0], [0.0]]), m=5)
    array([[0.],
           [2.]])
    """
    whole("m", m)
    distinct: FloatArray = np.unique(table, axis=0)
    if distinct.shape[0] <= m:
        return distinct
    found = KMeans(m, n_init=1, max_iter=50, random_state=random_state).fit(table)
    centers: FloatArray = found.cluster_centers_
    return centers


@remember(2)
def anchor_graph(
    table: FloatArray, anchors: FloatArray, s: int = 3, weights: str = "lae"
) -> FloatArray:
    """(n, m) weights of the rows on their s nearest anchors; every row sums to one.

    Parameters
    ----------
    table : (n, q) array
        Rows.
    anchors : (m, q) array
        Anchors.
    s : int
        Anchors of each row; at most m are used.
    weights : {"lae", "gaussian"}
        Local reconstruction of the row by its anchors, or Gaussian weights as wide as the mean
        distance to the s-th anchor.

    Returns
    -------
    (n, m) array

    Examples
    --------
    >>> import numpy as np
    >>> rows, anchors = np.array([[0.25], [3.0]]), np.array([[0.0], [1.0], [4.0]])
    >>> anchor_graph(rows, anchors, s=2).round(3)
    array([[0.75 , 0.25 , 0.   ],
           [0.   , 0.333, 0.667]])
    """
    choice("weights", weights, ("lae", "gaussian"))
    s = min(whole("s", s), anchors.shape[0])
    squared = cdist(table, anchors, "sqeuclidean")
    nearest = np.argpartition(squared, s - 1, axis=1)[:, :s]
    if weights == "lae":
        mixture = _reconstruct(table, anchors[nearest])
    else:
        mixture = _gaussian(np.take_along_axis(squared, nearest, axis=1))
    graph: FloatArray = np.zeros_like(squared)
    np.put_along_axis(graph, nearest, mixture, axis=1)
    return graph


def _gaussian(squared: FloatArray) -> FloatArray:
    width = float(np.sqrt(squared.max(axis=1)).mean()) or 1.0
    # From the nearest on, so that a row far from all anchors does not underflow to zero.
    closeness = np.exp(-(squared - squared.min(axis=1, keepdims=True)) / width**2)
    mixture: FloatArray = closeness / closeness.sum(axis=1, keepdims=True)
    return mixture


def _reconstruct(table: FloatArray, near: FloatArray) -> FloatArray:
    """min ||x - sum_k z_k u_k||^2 over the simplex, for all rows at once."""
    offsets = near - table[:, None, :]
    gram = offsets @ offsets.transpose(0, 2, 1)
    top = np.linalg.eigvalsh(gram)[:, -1]
    scaled = gram / np.where(top > 0, top, 1.0)[:, None, None]
    mixture = np.full(near.shape[:2], 1.0 / near.shape[1])
    ahead, momentum = mixture, 1.0
    for _ in range(_LAE_STEPS):
        last = mixture
        mixture = project_simplex(ahead - (scaled @ ahead[..., None])[..., 0])
        faster = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = mixture + (momentum - 1.0) / faster * (mixture - last)
        momentum = faster
        if np.abs(mixture - last).max() < _LAE_TOLERANCE:
            break
    return mixture
