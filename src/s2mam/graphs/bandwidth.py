"""The bandwidth of the dense graph, taken from the masked distances."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import brentq

from s2mam._typing import FloatArray
from s2mam.graphs.distances import MaskedRows, product_factors

__all__ = ["degree_bandwidth"]

# Distances looked at: all pairs up to some 400 rows, then fewer rows against all others.
_PAIRS: Final = 160_000
# Squared distances below this share of the rows' squared norms are rounding: equal rows.
_EQUAL: Final = 1e-14
# Smallest squared distance, as a share of the largest, that the search resolves.
_TINY: Final = 1e-280


def degree_bandwidth(rows: MaskedRows, degree: float) -> float:
    """Return the mu with which a typical row has total weight ``degree`` on rows unlike itself.

    The weights are ``exp(-d^2 / mu^2)``; "typical" is the median row. Two properties make this rule
    better than a quantile of the distances. In many columns all distances are nearly equal, so that
    any quantile gives a graph of nearly equal weights; a fixed total weight forces the decay that
    singles out near rows. And the Laplacian has the same magnitude for every mask, so that one
    manifold weight means the same for all of them. Equal rows do not count, otherwise a few
    discrete columns would drive mu to zero. The target is at most half the number of rows that
    differ.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.graphs.distances import mask_rows
    >>> grid = mask_rows(np.arange(100.0)[:, None], np.ones(1), ("numeric",))
    >>> round(degree_bandwidth(grid, 5.0), 2)
    3.39
    """
    squared = _sampled_distances(rows)
    unlike = np.isfinite(squared)
    target = min(degree, float(np.median(np.count_nonzero(unlike, axis=1))) / 2.0)
    if target <= 0.0:  # the typical row equals all others
        found = squared[unlike]
        return float(np.sqrt(np.median(found))) if found.size else 1.0
    high = float(squared[unlike].max())
    squared /= high  # the search then works with ordinary numbers, whatever the scale of the rows
    low = max(float(squared.min()), _TINY)
    heat = np.empty_like(squared)

    def excess(log_mu2: float) -> float:
        np.multiply(squared, -np.exp(-log_mu2), out=heat)
        np.exp(heat, out=heat)
        return float(np.median(heat.sum(axis=1))) - target

    # At mu^2 = low / 800 every weight underflows to zero; at 4 every weight is e^-1/4 or more.
    start = float(np.log(low / 800.0))
    if excess(start) >= 0.0:  # distances of no common scale: the near ones vanish beside the far
        return float(np.exp(0.5 * start) * np.sqrt(high))
    root: float = brentq(excess, start, np.log(4.0), xtol=1e-4, rtol=1e-6)
    return float(np.exp(0.5 * root) * np.sqrt(high))


def _sampled_distances(rows: MaskedRows) -> FloatArray:
    """Return squared distances from some rows to all, infinite between equal rows.

    The rows are evenly spaced in the order of their norms: central and outlying ones in proportion,
    and the choice does not depend on the order in which rows are given.
    """
    left, right = product_factors(rows, 1.0)
    norms = right[:, -1]
    chosen = np.arange(rows.n)
    count = max(1, _PAIRS // rows.n)
    if count < rows.n:
        places = np.linspace(0.0, rows.n - 1.0, count).astype(np.intp)
        chosen = np.argsort(norms, kind="stable")[places]
    squared: FloatArray = left[chosen] @ right.T
    squared[squared <= _EQUAL * (norms[chosen, None] + norms)] = np.inf
    squared[np.arange(chosen.size), chosen] = np.inf
    return squared
