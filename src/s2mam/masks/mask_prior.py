"""Prior of a mask over atoms: how many columns, which ones, and what a column contributes.

The size of the mask has one distribution. Given the size, the columns are alike, or some of them
are more likely than others because the rows say so. Rows can mislead, so neither is believed
alone: the prior is a mixture of the two. A mask that goes against the rows loses only the log of
the share of doubt, however many of its columns do; a mask that follows them gains as much as if
the unlikely columns were not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaln

from s2mam._typing import BoolArray, FloatArray, IntArray

__all__ = ["MaskPrior", "column_codes", "size_lift", "size_prior"]

# Prior of what a column that is in the model contributes: a line, only a curve, or both.
_SHAPES = np.log(np.array([1.0, 0.45, 0.1, 0.45]))
# How far the rows are believed about columns.
_BELIEF = 0.9
# Sizes beyond this have the lift of this one: no mask is that large where columns are screened.
_MOST = 400


def column_codes(mask: BoolArray) -> IntArray:
    """Per column 0 (off), 1 (straight), 2 (curved) or 3 (both), from a mask over 2p atoms."""
    p = mask.size // 2
    return mask[:p] + 2 * mask[p:].astype(np.intp)


def size_prior(p: int, n_select: int | None = None, *, strength: float = 3.0) -> FloatArray:
    """Log-prior of one mask by its number of columns, where columns are alike.

    Parameters
    ----------
    p : int
        Number of columns.
    n_select : int, optional
        Number of columns asked for; None spreads the prior over all sizes, small ones first
        (probability of size k proportional to 1/(k+1)).
    strength : float
        Log-prior lost per column more or less than `n_select`.

    Returns
    -------
    (p + 1,) array

    Examples
    --------
    >>> np.exp(size_prior(2)).round(3)
    array([0.545, 0.136, 0.182])
    """
    sizes = np.arange(p + 1)
    masks_of_size = _log_binomial(p, sizes)
    if n_select is None:
        log_prior = -np.log(sizes + 1.0) - masks_of_size
        result: FloatArray = log_prior - np.log(np.sum(1.0 / (sizes + 1.0)))
        return result
    peaked: FloatArray = -masks_of_size - strength * np.abs(sizes - n_select)
    return peaked


def size_lift(odds: FloatArray) -> FloatArray:
    """What a mask of each size gains where its columns have odds, so that sizes stay as likely.

    The log of the number of masks of a size over their number with each mask counted by the odds
    of its columns.

    Parameters
    ----------
    odds : (p,) array
        Log-odds of the columns.

    Returns
    -------
    (p + 1,) array

    Examples
    --------
    >>> size_lift(np.log([1.0, 0.5])).round(3)  # (1 + 1) / (1 + 0.5), 1 / 0.5
    array([0.   , 0.288, 0.693])
    """
    return _size_lift(np.asarray(odds, dtype=np.float64).tobytes())


@lru_cache(maxsize=8)  # the same for all folds
def _size_lift(odds: bytes) -> FloatArray:
    values = np.frombuffer(odds)
    p, top = values.size, min(values.size, _MOST)
    # Elementary symmetric polynomials of the odds, column by column.
    counted = np.full(top + 1, -np.inf)
    counted[0] = 0.0
    for value in values:
        counted[1:] = np.logaddexp(counted[1:], counted[:-1] + value)
    lift = _log_binomial(p, np.arange(top + 1)) - counted
    result: FloatArray = np.concatenate([lift, np.full(p - top, lift[-1])])
    result.flags.writeable = False
    return result


def _log_binomial(p: int, sizes: IntArray) -> FloatArray:
    result: FloatArray = gammaln(p + 1) - gammaln(sizes + 1) - gammaln(p - sizes + 1)
    return result


@dataclass(frozen=True)
class MaskPrior:
    """Prior of a mask.

    Attributes
    ----------
    size : array
        Log-prior of one mask with so many columns, where columns are alike.
    odds : (p,) array
        Log-odds of the columns, as the rows have it.
    lift : array
        See :func:`size_lift`; for odds that are all zero it is zero.

    Examples
    --------
    The second of two columns is unlikely: the mask that holds it alone loses at most the log of
    the doubt.

    >>> odds = np.array([0.0, -50.0])
    >>> prior = MaskPrior.of(size_prior(2), odds)
    >>> alike = MaskPrior.of(size_prior(2), np.zeros(2))
    >>> round(prior.value(np.array([0, 1])) - alike.value(np.array([0, 1])), 3)
    -2.303
    >>> round(prior.value(np.array([1, 0])) - alike.value(np.array([1, 0])), 3)
    0.642
    """

    size: FloatArray
    odds: FloatArray
    lift: FloatArray

    @classmethod
    def of(cls, size: FloatArray, odds: FloatArray) -> MaskPrior:
        """Prior over all columns, from the prior of sizes and the odds of columns."""
        return cls(size, odds, size_lift(odds))

    def value(self, codes: IntArray) -> float:
        """Log-prior of the columns in a mask."""
        inside = codes > 0
        columns = self._columns(np.count_nonzero(inside), self.odds[inside].sum())
        return float(columns + _SHAPES[codes].sum())

    def flip_gains(self, codes: IntArray) -> FloatArray:
        """Change of the log-prior for each of the 2p flips."""
        inside = codes > 0
        size, odds = np.count_nonzero(inside), self.odds[inside].sum()
        both = np.concatenate([codes, codes])
        flipped = np.concatenate([codes ^ 1, codes ^ 2])
        change = (flipped > 0).astype(np.intp) - (both > 0)
        new_size = np.clip(size + change, 0, self.size.size - 1)
        new = self._columns(new_size, odds + change * np.concatenate([self.odds, self.odds]))
        gains: FloatArray = new - self._columns(size, odds) + _SHAPES[flipped] - _SHAPES[both]
        return gains

    def _columns(self, size: Any, odds: Any) -> Any:
        """Log-prior of which columns are in, from their number and the sum of their odds."""
        told = self.lift[size] + odds
        return self.size[size] + np.logaddexp(np.log1p(-_BELIEF), np.log(_BELIEF) + told)
