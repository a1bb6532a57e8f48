"""Labels spread along a graph: local and global consistency, by conjugate gradients."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray
from s2mam.graphs.laplacian import Laplacian

__all__ = ["propagate"]


def propagate(
    graph: Laplacian, seeds: FloatArray, *, alpha: float = 0.95, tol: float = 1e-4
) -> FloatArray:
    """Solve ``(I - alpha S) F = (1 - alpha) seeds`` with S the normalised weights.

    Parameters
    ----------
    graph : Laplacian
        Any graph; only its weights and degrees are used.
    seeds : (n, k) array
        Labels of labelled rows, zero elsewhere.
    alpha : float in (0, 1)
        Share of a row's value that comes from its neighbours.
    tol : float
        Relative residual to stop at.

    Returns
    -------
    (n, k) array
        Rows that no label reaches stay zero.

    Examples
    --------
    >>> from s2mam.graphs import build_graph
    >>> rows = np.r_[np.linspace(0, 1, 20), np.linspace(9, 10, 20)][:, None]
    >>> seeds = np.zeros((40, 1)); seeds[0], seeds[39] = 1.0, -1.0
    >>> spread = propagate(build_graph(rows, kind="neighbors", n_neighbors=3), seeds)
    >>> bool((spread[:20] > 0).all() and (spread[20:] < 0).all())
    True
    """
    scaled = graph.normalized_weights()
    target = (1.0 - alpha) * seeds
    # I - alpha S has eigenvalues in [1 - alpha, 1 + alpha], so plain conjugate gradients take a
    # number of steps that depends on alpha alone, all right-hand sides at once.
    spread = target.copy()
    residual = target - (spread - alpha * (scaled @ spread))
    direction = residual.copy()
    squared = np.einsum("ik,ik->k", residual, residual)
    goal = tol**2 * np.maximum(np.einsum("ik,ik->k", target, target), 1e-300)
    for _ in range(10 * int(np.ceil(1.0 / (1.0 - alpha)))):
        if np.all(squared <= goal):
            break
        image = direction - alpha * (scaled @ direction)
        step = squared / np.maximum(np.einsum("ik,ik->k", direction, image), 1e-300)
        spread += step * direction
        residual -= step * image
        new = np.einsum("ik,ik->k", residual, residual)
        direction = residual + (new / np.maximum(squared, 1e-300)) * direction
        squared = new
    return spread
