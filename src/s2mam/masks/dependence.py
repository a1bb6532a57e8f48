"""What the rows say about the columns before any label is read: do they depend on one another?

A junk column is independent of all others; most real columns are not. Where some columns depend on
others and some do not, the independent ones get lower prior odds. Labels can overrule this.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2, rankdata

from s2mam._typing import FloatArray, IntArray

__all__ = ["column_dependence"]

_MAX_ROWS = 1000
_MAX_PARTNERS = 200
# Waves of the ranks that a column is described by: the first is monotone, the others bend.
_WAVES = 4
# Largest squared entry of a unit feature: one row in ten.
_MAX_LEVERAGE = 0.1
# Chance of a link as strong as the column's strongest, anywhere in a table of independent columns,
# at which dependence starts to count and is taken as certain.
_DOUBT, _CERTAIN = 1e-1, 1e-4
# Products of features that are held at once.
_LINKS = 4_000_000


def column_dependence(table: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Score how surely each column depends on another one.

    Parameters
    ----------
    table : (n, p) array
        Numbers or category codes, NaN where missing. Only the order of the values counts.
    rng : Generator
        For the rows and partner columns that are used when there are very many.

    Returns
    -------
    (p,) array
        Between 0 (its links may be chance) and 1 (they are not). All ones when fewer than two
        columns depend on each other: then dependence tells nothing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 3))
    >>> x[:, 1] += x[:, 0] ** 2
    >>> column_dependence(x, rng)
    array([1., 1., 0.])
    """
    n, p = table.shape
    if p < 3 or n < 20:
        return np.ones(p)
    rows = np.arange(n) if n <= _MAX_ROWS else np.sort(rng.choice(n, _MAX_ROWS, replace=False))
    partners = (
        np.arange(p) if p <= _MAX_PARTNERS else np.sort(rng.choice(p, _MAX_PARTNERS, replace=False))
    )
    ranks = _ranks(table[rows])
    log_chance = np.minimum(_log_chance(ranks, 1, partners), _log_chance(ranks, _WAVES, partners))
    doubt, certain = np.log(_DOUBT), np.log(_CERTAIN)
    dependence: FloatArray = np.clip((doubt - log_chance) / (doubt - certain), 0.0, 1.0)
    if np.count_nonzero(dependence > 0.5) < 2:
        return np.ones(p)
    return dependence


def _ranks(table: FloatArray) -> FloatArray:
    """Mid-ranks in (0, 1), NaN where missing."""
    present = np.count_nonzero(~np.isnan(table), axis=0)
    ranks: FloatArray = rankdata(table, axis=0, nan_policy="omit")
    positions: FloatArray = (ranks - 0.5) / np.maximum(present, 1)
    return positions


def _waves(ranks: FloatArray, count: int) -> FloatArray:
    """Orthonormal features (p, n, count) of the ranks; fewer than `count` where values are few."""
    angles = np.pi * ranks.T[:, :, None] * np.arange(1, count + 1)
    missing = np.isnan(angles)
    waves = np.where(missing, 0.0, np.cos(np.where(missing, 0.0, angles)))
    shares = np.maximum(np.count_nonzero(~missing, axis=1, keepdims=True), 1)
    waves = np.where(missing, 0.0, waves - waves.sum(axis=1, keepdims=True) / shares)
    values, vectors = np.linalg.eigh(np.matmul(waves.transpose(0, 2, 1), waves))
    kept = values > 1e-6 * ranks.shape[0]
    scale = np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    result: FloatArray = np.matmul(waves, vectors * scale[:, None, :])
    # A feature that hangs on a few rows coincides with another by chance too easily.
    result *= np.square(result).max(axis=1, keepdims=True) < _MAX_LEVERAGE
    return result


def _log_chance(ranks: FloatArray, count: int, partners: IntArray) -> FloatArray:
    """Log-probability of the strongest link of each column if all columns were independent.

    The features of a column are orthonormal, so n times the squared correlations between two
    independent columns add up to a chi-squared variable; the bound over all pairs is Bonferroni's.
    With missing values n is the product of the two columns' rows over the rows they share. The
    features of some columns at a time exist beside those of the partners.
    """
    p = ranks.shape[1]
    seen = (~np.isnan(ranks)).astype(np.float64)
    rows, common = seen.sum(axis=0), seen.T @ seen[:, partners]
    right = _waves(ranks[:, partners], count)
    links, sizes = np.empty((p, partners.size)), np.empty(p, dtype=np.intp)
    step = max(1, _LINKS // max(1, partners.size * count * count))
    for start in range(0, p, step):
        run = slice(start, start + step)
        left = _waves(ranks[:, run], count)
        links[run] = _links(left, right)
        sizes[run] = np.count_nonzero(np.abs(left).sum(axis=1) > 0.0, axis=1)
    links *= np.outer(rows, rows[partners]) / np.maximum(common, 1.0)
    links[partners, np.arange(partners.size)] = 0.0
    freedom = np.maximum(np.outer(sizes, sizes[partners]), 1)
    pairs = p * partners.size / 2.0
    log_chance: FloatArray = _smallest_tail(links, freedom) + np.log(pairs)
    return log_chance


def _smallest_tail(links: FloatArray, freedom: IntArray) -> FloatArray:
    """Least log-probability of a row's links; of those with equal freedom the largest has it."""
    least = np.zeros(links.shape[0])
    for degrees in np.unique(freedom):
        largest = np.where(freedom == degrees, links, -1.0).max(axis=1)
        least = np.where(largest >= 0.0, np.minimum(least, chi2.logsf(largest, degrees)), least)
    return least


def _links(left: FloatArray, right: FloatArray) -> FloatArray:
    """Sum of squared correlations between the features of every pair of columns."""
    p, n, r = left.shape
    q = right.shape[0]
    flat_right = right.transpose(1, 0, 2).reshape(n, q * r)
    flat = left.transpose(1, 0, 2).reshape(n, -1)
    squares = np.square(flat.T @ flat_right).reshape(p, r, q, r)
    return np.asarray(squares.sum(axis=(1, 3)), dtype=np.float64)
