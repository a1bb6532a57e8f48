"""Per-column location and spread: robust, standard, or normal scores of ranks.

All statistics depend on the rows only through the weighted empirical distribution of each column,
so an integer weight is the same as that many copies of the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import ndtri

from s2mam._typing import BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError

ScaleMethod: TypeAlias = Literal["robust", "standard", "rank"]

_IQR_OF_NORMAL = 1.3489795003921634
_RANK_STEPS = 2000  # a finer table would copy the training data into the model file
_ROUNDING = 1e-12  # of sums of shares
_BLOCK_ENTRIES = 2**22  # sorted blocks stay near 32 MB


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """Range, location and spread of each column, arrays of shape (p,).

    A column without two different values (up to rounding) has ``constant`` True, spread one.
    """

    low: FloatArray
    high: FloatArray
    center: FloatArray
    spread: FloatArray
    constant: BoolArray


def resolve_scale(scale: object) -> ScaleMethod | None:
    """Turn the user's `scale` parameter into a method name or None.

    Examples
    --------
    >>> resolve_scale(True), resolve_scale("rank"), resolve_scale(False)
    ('robust', 'rank', None)
    """
    if scale is None or scale is False:
        return None
    if scale is True:
        return "robust"
    for method in get_args(ScaleMethod):
        if isinstance(scale, str) and scale == method:
            return method  # type: ignore[no-any-return]
    raise InvalidInputError(
        f"scale must be 'robust', 'standard', 'rank', True, False or None, got {scale!r}."
    )


def column_statistics(
    X: FloatArray, method: ScaleMethod | None, row_weight: FloatArray | None = None
) -> ColumnStatistics:
    """Location and spread of every column, ignoring NaN.

    "robust" takes the median and the interquartile range over 1.349, or the standard deviation
    where more than half of the values are equal. "standard" takes mean and standard
    deviation. "rank" and None leave center 0, spread 1.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Finite values or NaN.
    method : {"robust", "standard", "rank"} or None
        Which statistics.
    row_weight : ndarray of shape (n,), optional
        Non-negative; a row of weight zero does not count at all.

    Returns
    -------
    ColumnStatistics

    Examples
    --------
    >>> stats = column_statistics(np.array([[1.0], [2.0], [4.0], [5.0]]), "standard")
    >>> stats.center, stats.spread.round(3)
    (array([3.]), array([1.581]))
    """
    weight = np.ones(len(X)) if row_weight is None else np.asarray(row_weight, dtype=np.float64)
    keep = weight > 0
    if not keep.all():
        X, weight = X[keep], weight[keep]
    p = X.shape[1]
    low, high, center, spread = np.full(p, np.nan), np.full(p, np.nan), np.zeros(p), np.ones(p)
    constant = np.ones(p, dtype=bool)
    for block in _column_blocks(X):
        columns = X[:, block]
        missing = np.isnan(columns)
        low[block], high[block] = _range(columns, missing)
        constant[block] = _is_constant(low[block], high[block])
        if method in ("robust", "standard"):
            share = np.where(missing, 0.0, weight[:, None])
            share /= np.maximum(share.sum(axis=0), np.finfo(np.float64).tiny)
            mean, sd = _mean_deviation(columns, share, low[block], high[block])
            center[block], spread[block] = (
                (mean, sd) if method == "standard" else _median_spread(columns, share, sd)
            )
    spread[constant] = 1.0
    center[np.isnan(low)] = 0.0
    return ColumnStatistics(low, high, center, spread, constant)


def rank_knots(
    values: FloatArray, row_weight: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Values and their normal scores, the table of a "rank" column.

    The score of a value is the normal quantile of its mid-rank: the share of rows below it plus
    half the share of rows equal to it. Values between knots are interpolated, outside clipped.

    Parameters
    ----------
    values : ndarray of shape (n,)
        One column; NaN is ignored.
    row_weight : ndarray of shape (n,), optional
        Non-negative weights of the rows.

    Returns
    -------
    knots, scores : ndarray of shape (k,)
        Both increasing.

    Examples
    --------
    >>> knots, scores = rank_knots(np.array([1.0, 10.0, 100.0]))
    >>> scores.round(3)
    array([-0.967,  0.   ,  0.967])
    """
    weight = np.ones(len(values)) if row_weight is None else row_weight
    keep = ~np.isnan(values) & (weight > 0)
    knots, inverse = np.unique(values[keep], return_inverse=True)
    share = np.bincount(inverse, weights=weight[keep], minlength=len(knots))
    share = share / share.sum()
    middle = np.cumsum(share) - share / 2
    if len(knots) > _RANK_STEPS:
        wanted = np.linspace(middle[0], middle[-1], _RANK_STEPS)
        regular = np.minimum(np.searchsorted(middle, wanted), len(knots) - 1)
        # Both ends of every larger jump, or the line across it would tilt its neighbours.
        jumps = np.flatnonzero(np.diff(middle) > 1 / _RANK_STEPS)
        chosen = np.unique(np.concatenate([regular, jumps, jumps + 1]))
        knots, middle = knots[chosen], middle[chosen]
    return knots, ndtri(middle)


def _column_blocks(X: FloatArray) -> Iterator[slice]:
    width = max(1, _BLOCK_ENTRIES // max(1, len(X)))
    for start in range(0, X.shape[1], width):
        yield slice(start, start + width)


def _range(columns: FloatArray, missing: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest value of each column, NaN where there is none."""
    low = np.where(missing, np.inf, columns).min(axis=0, initial=np.inf)
    high = np.where(missing, -np.inf, columns).max(axis=0, initial=-np.inf)
    empty = low > high
    low[empty] = high[empty] = np.nan
    return low, high


def _is_constant(low: FloatArray, high: FloatArray) -> BoolArray:
    """True where the range is empty, zero or mere rounding of equal numbers."""
    rounding = 2 * np.finfo(np.float64).eps * np.maximum(np.abs(low), np.abs(high))
    return ~(high / 2 - low / 2 > rounding)


def _mean_deviation(
    columns: FloatArray, share: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation, from deviations in units of the range.

    The middle of the range as origin keeps a large offset from eating the digits, and the unit
    rules out overflow and underflow at any scale.
    """
    origin = low / 2 + high / 2
    unit = np.where(high > low, high / 2 - low / 2, 1.0)
    deviation = np.where(share > 0, (columns - origin) / unit, 0.0)
    mean = (share * deviation).sum(axis=0)
    sd = np.sqrt((share * (deviation - mean) ** 2).sum(axis=0))
    return origin + mean * unit, sd * unit


def _median_spread(
    columns: FloatArray, share: FloatArray, sd: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Median and interquartile range over 1.349, or `sd` where one value has the majority."""
    lower, median, upper = _quantiles(columns, share, (0.25, 0.5, 0.75))
    spread = (upper - lower) / _IQR_OF_NORMAL
    # A value that more than half of the rows share is the median.
    majority = np.where(columns == median, share, 0.0).sum(axis=0) > 0.5 + _ROUNDING
    return median, np.where(majority | ~(spread > 0), sd, spread)


def _quantiles(
    columns: FloatArray, share: FloatArray, levels: tuple[float, ...]
) -> list[FloatArray]:
    """Quantiles of the weighted distribution, averaged where it is flat at the level.

    This definition is symmetric under a change of sign and depends on shares alone.
    """
    if share.min() == share.max():  # equal weights, nothing missing: no sorting of weights
        return list(np.quantile(columns, levels, axis=0, method="averaged_inverted_cdf"))
    order = np.argsort(columns, axis=0, kind="stable")  # NaN last, with share zero
    ordered = np.take_along_axis(columns, order, axis=0)
    below = np.cumsum(np.take_along_axis(share, order, axis=0), axis=0)
    result = []
    for level in levels:
        first = np.argmax(below >= level - _ROUNDING, axis=0)[None, :]
        last = np.argmax(below > level + _ROUNDING, axis=0)[None, :]
        lower, upper = (np.take_along_axis(ordered, row, axis=0)[0] for row in (first, last))
        result.append(lower / 2 + upper / 2)
    return result
