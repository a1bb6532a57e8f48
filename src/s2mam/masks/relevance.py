"""Relevance weights: the expected mask improved step by step from "all columns alike".

Each step multiplies an atom's kernel weight by the ratio of the two terms of the evidence gradient
at the expected mask. Every step raises the evidence (majorise-minimise), the first ones already
push junk columns down, and many steps lead to a sparse mask: stopping early is the hedge between
"all columns, lightly" and "these few".
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.masks.labeled_atoms import LabeledAtoms

__all__ = ["relevance_path"]

_PRUNE_EVERY = 8
_NEGLIGIBLE = 1e-6


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
        Weight of a curved part relative to the straight part, at the start; zero leaves the
        curved parts out.

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
    p = atoms.n_columns
    features, owner = _features(atoms, curves=curve_share > 0.0)
    trace = _by_atom(np.square(features).sum(axis=0), owner, 2 * p) / max(atoms.freedom + 1.0, 1.0)
    weights = np.concatenate([start, curve_share * start]) * (trace > 1e-9)
    if not weights.any():
        weights[owner] = 1.0
    trace = trace + 1e-12
    weights = weights / (weights @ trace)
    path: dict[int, tuple[FloatArray, FloatArray]] = {}
    for step in range(max(keep) + 1):
        if step % _PRUNE_EVERY == _PRUNE_EVERY - 1:
            # Atoms that are on their way to zero are not worth their share of the products.
            alive = weights * trace > _NEGLIGIBLE
            weights = np.where(alive, weights, 0.0)
            features, owner = features[:, alive[owner]], owner[alive[owner]]
        matrix = (features * weights[owner]) @ features.T
        matrix.flat[:: matrix.shape[0] + 1] += noise
        inverse = np.linalg.inv(matrix).astype(np.float64, copy=False)
        dual: FloatArray = inverse @ atoms.target
        scale = float(np.sum(atoms.target * dual))
        if step in keep:
            path[step] = (weights.copy(), dual)
        if scale <= 1e-300:
            path.update({later: (weights.copy(), dual) for later in keep if later > step})
            break
        if step < max(keep):
            weights = weights * _gains(atoms, features, owner, inverse, dual, noise, trace, scale)
            weights = weights / (weights @ trace)
    return path


def _features(atoms: LabeledAtoms, *, curves: bool) -> tuple[FloatArray, IntArray]:
    """Features of the atoms side by side, and the atom each of them belongs to."""
    p, rank = atoms.n_columns, atoms.curved.shape[2]
    if not curves:
        return atoms.straight, np.arange(p)
    owner = np.concatenate([np.arange(p), np.repeat(np.arange(p, 2 * p), rank)])
    return np.hstack([atoms.straight, atoms.flat]), owner


def _gains(
    atoms: LabeledAtoms,
    features: FloatArray,
    owner: IntArray,
    inverse: FloatArray,
    dual: FloatArray,
    noise: float,
    trace: FloatArray,
    scale: float,
) -> FloatArray:
    """Ratio of what each atom explains to what it was expected to explain.

    The noise is tied to the total variance, so it is a part of every atom's kernel.
    """
    n_atoms = trace.size
    explained = _by_atom(np.square(features.T @ dual).sum(axis=1), owner, n_atoms)
    explained += noise * trace * float(np.square(dual).sum())
    expected = _by_atom(np.einsum("if,if->f", features, inverse @ features), owner, n_atoms)
    # Copies of a row and the intercept are directions that the inverse does not show.
    hidden = atoms.freedom - inverse.shape[0]
    expected += noise * trace * (float(np.trace(inverse)) + hidden / noise)
    gains: FloatArray = explained * (atoms.freedom / scale) / expected
    return gains


def _by_atom(values: FloatArray, owner: IntArray, n_atoms: int) -> FloatArray:
    """Sum a value per feature over the features of each atom."""
    return np.bincount(owner, values, n_atoms).astype(np.float64, copy=False)
