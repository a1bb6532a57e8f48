"""Relevance weights: the expected mask improved step by step from "all columns alike".

Each step multiplies an atom's kernel weight by the ratio of the two terms of the evidence gradient
at the expected mask. Every step raises the evidence (majorise-minimise), the first ones already
push junk columns down, and many steps lead to a sparse mask: stopping early is the hedge between
"all columns, lightly" and "these few".
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from s2mam._typing import FloatArray
from s2mam.masks.labeled_atoms import LabeledAtoms

__all__ = ["relevance_path"]


def relevance_path(
    atoms: LabeledAtoms,
    start: FloatArray,
    *,
    noise: float,
    keep: Collection[int],
    curve_share: float = 0.3,
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Relevance weights after given numbers of steps.

    Parameters
    ----------
    atoms : LabeledAtoms
        The labelled rows.
    start : (p,) array
        Positive prior weight of each column.
    noise : float
        Noise variance as a multiple of the variance of the whole additive function.
    keep : collection of int
        Numbers of steps to return the weights of; zero is the start.
    curve_share : float
        Weight of a curved part relative to the straight part, at the start.

    Returns
    -------
    dict
        Number of steps to (kernel weights (2p,), straight parts first; dual coefficients (l, k)).
        Weights are normalised so that the function has unit variance over the labelled rows.

    Examples
    --------
    >>> from s2mam.masks.labeled_atoms import labeled_atoms
    >>> x = np.random.default_rng(0).normal(size=(40, 3))
    >>> none = np.zeros((3, 40, 1))
    >>> atoms = labeled_atoms(x, none, np.arange(40), x[:, :1], np.ones(40))
    >>> weights, _ = relevance_path(atoms, np.ones(3), noise=0.1, keep=[8])[8]
    >>> bool(weights[0] > 10 * weights[1:3].max())
    True
    """
    p, rank = atoms.n_columns, atoms.curved.shape[2]
    rows, k = atoms.target.shape
    features = np.hstack([atoms.straight, atoms.flat])
    trace = _by_atom(np.square(features).sum(axis=0), p, rank) / max(atoms.freedom + 1.0, 1.0)
    weights = np.concatenate([start, curve_share * start]) * (trace > 1e-9)
    if not weights.any():
        weights[:] = 1.0
    trace = trace + 1e-12
    weights = weights / (weights @ trace)
    owner = np.concatenate([np.arange(p), np.repeat(np.arange(p, 2 * p), rank)])
    diagonal = np.diag_indices(rows)
    path: dict[int, tuple[FloatArray, FloatArray]] = {}
    for step in range(max(keep) + 1):
        matrix = (features * weights[owner]) @ features.T
        matrix[diagonal] += noise
        inverse = np.linalg.inv(matrix)
        dual = inverse @ atoms.target
        if step in keep:
            path[step] = (weights.copy(), dual)
        if step == max(keep):
            break
        scale = float(np.sum(atoms.target * dual))
        if scale <= 1e-300:
            path.update({later: (weights.copy(), dual) for later in keep if later > step})
            break
        # The noise is tied to the total variance, so it is a part of every atom's kernel.
        explained = _by_atom(np.square(features.T @ dual).sum(axis=1), p, rank)
        explained = explained + noise * trace * float(np.square(dual).sum())
        expected = _by_atom(np.einsum("if,if->f", features, inverse @ features), p, rank)
        expected = expected + noise * trace * float(np.trace(inverse))
        weights = weights * (explained * atoms.freedom * k / scale) / (k * expected)
        weights = weights / (weights @ trace)
    return path


def _by_atom(values: FloatArray, p: int, rank: int) -> FloatArray:
    """Sum a value per feature over the features of each atom."""
    return np.concatenate([values[:p], values[p:].reshape(p, rank).sum(axis=1)])
