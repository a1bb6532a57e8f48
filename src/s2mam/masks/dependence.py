"""What the rows say about the columns before any label is read: do they depend on one another?

A junk column is independent of all others; most real columns are not. Where some columns depend on
others and some do not, the independent ones get lower prior odds. Labels can overrule this. With
few rows the links of most real columns are too weak to be seen one by one; that there are too many
weak ones for a table with junk is seen from all columns together.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta, rankdata

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.masks.null_chance import null_probability

__all__ = ["column_dependence"]

_MAX_ROWS = 1000
_MAX_PARTNERS = 200
# Waves of the ranks that a column is described by: the first is monotone, the others bend.
_WAVES = 4
# Largest squared entry of a unit feature: one row in ten.
_MAX_LEVERAGE = 0.1
# Chance of a link so strong, anywhere in a table of independent columns, that is taken as proof.
_PROOF = 3e-3
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
        From 0 (its links are as likely chance as not) to 1 (they are none). All ones when there is
        no proof that two columns depend on each other: then dependence tells nothing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 3))
    >>> x[:, 1] += x[:, 0] ** 2
    >>> column_dependence(x, rng).round(1)
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
    log_tail = np.minimum(_log_tail(ranks, 1, partners), _log_tail(ranks, _WAVES, partners))
    log_pairs = np.log(p * partners.size / 2.0)
    proven = log_tail + log_pairs < np.log(_PROOF)
    if np.count_nonzero(proven) < 2:
        return np.ones(p)
    varied = log_tail < 0.0  # constant columns have no links and tell nothing about the others
    chance = np.ones(p)
    chance[varied] = null_probability(_log_any(log_tail[varied], 2 * (partners.size - 1)))
    # Many columns that are junk for all but one in a hundred would outweigh the few that are not.
    dependence = np.maximum(1.0 - 2.0 * chance, 0.0)
    dependence[proven] = 1.0
    return dependence


def _log_any(log_tail: FloatArray, count: int) -> FloatArray:
    """Log-chance that any of several tests has this tail or a smaller one."""
    # Without loss of digits where the tail is tiny: there the chance is their number times it.
    tail = np.exp(np.minimum(log_tail, -1e-12))
    exact = -np.expm1(count * np.log1p(-tail))
    large = exact > 1e-6
    result: FloatArray = np.where(
        large, np.log(np.where(large, exact, 1.0)), log_tail + np.log(count)
    )
    return result


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


def _log_tail(ranks: FloatArray, count: int, partners: IntArray) -> FloatArray:
    """Log-probability that one link of independent columns is as strong as a column's strongest.

    The features of a column are orthonormal, so that the squared correlations between two columns
    add up to Pillai's trace. With missing values the rows that both have count. The features of
    some columns at a time exist beside those of the partners.
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
    links *= np.outer(rows, rows[partners]) / np.square(np.maximum(common, 1.0))
    links[partners, np.arange(partners.size)] = 0.0
    least = np.zeros(p)
    for first in np.unique(sizes):
        for second in np.unique(sizes[partners]):
            pairs = np.outer(sizes == first, sizes[partners] == second)
            least = np.minimum(least, _smallest_tail(links, common, pairs, int(first), int(second)))
    return least


def _smallest_tail(
    traces: FloatArray, rows: FloatArray, pairs: BoolArray, first: int, second: int
) -> FloatArray:
    """Least log-tail of each column among pairs of so many features each; zero without any.

    The trace over its largest value is nearly a beta variable, and exactly one for one feature.
    """
    strongest = np.where(pairs, traces * rows, -1.0).argmax(axis=1)
    each = np.arange(traces.shape[0])
    trace, n = traces[each, strongest], rows[each, strongest]
    smaller = min(first, second)
    if smaller == 0:
        return np.zeros(traces.shape[0])
    rest = np.maximum(n - max(first, second) - 1.0, 1.0)
    tail = beta.logsf(
        np.minimum(trace / smaller, 1.0),
        smaller * (abs(first - second) + smaller) / 2.0,
        smaller * rest / 2.0,
    )
    return np.where(pairs[each, strongest], tail, 0.0)


def _links(left: FloatArray, right: FloatArray) -> FloatArray:
    """Sum of squared correlations between the features of every pair of columns."""
    p, n, r = left.shape
    q = right.shape[0]
    flat_right = right.transpose(1, 0, 2).reshape(n, q * r)
    flat = left.transpose(1, 0, 2).reshape(n, -1)
    squares = np.square(flat.T @ flat_right).reshape(p, r, q, r)
    return np.asarray(squares.sum(axis=(1, 3)), dtype=np.float64)
