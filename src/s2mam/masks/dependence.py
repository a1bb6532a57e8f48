"""What the rows say about the columns before any label is read: do they depend on one another?

A junk column is independent of all others; most real columns are not. Where some columns depend on
others and some do not, the independent ones get lower prior odds. Labels can overrule this.
"""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray, IntArray

__all__ = ["column_dependence"]

_MAX_ROWS = 1000
_MAX_PARTNERS = 200
# Standard deviations above the shuffled columns where dependence starts to count and is certain.
_DOUBT, _CERTAIN = 3.0, 8.0


def column_dependence(
    straight: FloatArray, curved: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Score how surely each column depends on another one.

    Parameters
    ----------
    straight : (n, p) array
        Straight parts of the columns (see :func:`s2mam.bases.atoms.split_atoms`).
    curved : (p, n, r) array
        Curved parts.
    rng : Generator
        For the shuffles that give the null distribution, and for the rows and partner columns used
        when there are very many.

    Returns
    -------
    (p,) array
        Between 0 (as independent as a shuffled column) and 1. All ones when fewer than two columns
        depend on each other: then dependence tells nothing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 3))
    >>> x[:, 1] += 2 * x[:, 0]
    >>> x = (x - x.mean(0)) / x.std(0)
    >>> column_dependence(x, np.zeros((3, 200, 1)), rng)
    array([1., 1., 0.])
    """
    n, p = straight.shape
    if p < 3 or n < 10:
        return np.ones(p)
    rows = np.arange(n) if n <= _MAX_ROWS else np.sort(rng.choice(n, _MAX_ROWS, replace=False))
    partners = (
        np.arange(p) if p <= _MAX_PARTNERS else np.sort(rng.choice(p, _MAX_PARTNERS, replace=False))
    )
    lines = straight[rows].T[:, :, None]
    whole = np.concatenate([lines, curved[:, rows]], axis=2)
    scores = np.maximum(
        _excess(lines, partners, rng),
        _excess(whole, partners, rng),
    )
    dependence = np.clip((scores - _DOUBT) / (_CERTAIN - _DOUBT), 0.0, 1.0)
    if np.count_nonzero(dependence > 0.5) < 2:
        return np.ones(p)
    return dependence


def _excess(features: FloatArray, partners: IntArray, rng: np.random.Generator) -> FloatArray:
    """Strongest link of each column, in standard deviations of the links of shuffled columns."""
    features = _unit_norm(features)
    shuffled = np.stack([block[rng.permutation(block.shape[0])] for block in features[partners]])
    observed = _links(features, features[partners])
    observed[partners, np.arange(partners.size)] = -np.inf
    null = _links(features, shuffled)
    null[partners, np.arange(partners.size)] = np.nan
    # The strongest of many links is large by chance: compare with the strongest shuffled ones.
    strongest = np.nanmax(null, axis=1)
    spread = max(float(np.std(strongest)), float(np.nanstd(null)) / 2.0, 1e-12)
    excess: FloatArray = (observed.max(axis=1) - float(np.mean(strongest))) / spread
    return excess


def _unit_norm(features: FloatArray) -> FloatArray:
    centred = features - features.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    result: FloatArray = centred / np.where(norms > 1e-12, norms, 1.0)
    return result


def _links(left: FloatArray, right: FloatArray) -> FloatArray:
    """Sum of squared correlations between the features of every pair of columns."""
    p, n, r = left.shape
    q = right.shape[0]
    flat_right = right.transpose(1, 0, 2).reshape(n, q * r)
    out = np.empty((p, q))
    step = max(1, 4_000_000 // max(1, q * r * r))
    for start in range(0, p, step):
        part = left[start : start + step]
        flat = part.transpose(1, 0, 2).reshape(n, -1)
        squares = np.square(flat.T @ flat_right).reshape(part.shape[0], r, q, r)
        out[start : start + step] = squares.sum(axis=(1, 3))
    return out
