"""One-dimensional Mercer kernels with k(x, x) = 1, and their lengths from the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError

__all__ = ["KERNELS", "auto_lengths", "correlate", "kernel_matrix", "require_kernel"]

# Beyond this many lengths every kernel here is exactly zero in double precision; the cut keeps
# squares finite and turns the product inf * 0 of the Matern forms into a plain zero.
_FAR: Final = 1e3
# Order statistics that stand for a column when its length is chosen: 528 pairs, tails included.
_QUANTILES: Final = 33


def _gaussian(t: FloatArray) -> FloatArray:
    np.multiply(t, t, out=t)
    t *= -0.5
    return np.exp(t, out=t)


def _matern32(t: FloatArray) -> FloatArray:
    t *= np.sqrt(3.0)
    decay = np.exp(-t)
    t += 1.0
    t *= decay
    return t


def _matern52(t: FloatArray) -> FloatArray:
    t *= np.sqrt(5.0)
    decay = np.exp(-t)
    t += t * t / 3.0 + 1.0
    t *= decay
    return t


def _laplacian(t: FloatArray) -> FloatArray:
    np.negative(t, out=t)
    return np.exp(t, out=t)


#: Kernel name -> function of the scaled distance |x - x'| / length, which it may overwrite.
KERNELS: Final[dict[str, Callable[[FloatArray], FloatArray]]] = {
    "gaussian": _gaussian,
    "matern32": _matern32,
    "matern52": _matern52,
    "laplacian": _laplacian,
}


def correlate(kernel: str, x: FloatArray, centre: FloatArray, length: FloatArray) -> FloatArray:
    """Return k(x, centre), the three arrays broadcast against each other.

    Examples
    --------
    >>> import numpy as np
    >>> correlate("gaussian", np.array([0.0, 1.0]), np.array(0.0), np.array(1.0)).round(4)
    array([1.    , 0.6065])
    """
    with np.errstate(over="ignore"):  # an infinite distance is a kernel value of zero
        t = np.abs(x - centre)
        t /= length
    np.minimum(t, _FAR, out=t)
    return KERNELS[kernel](t)


def kernel_matrix(
    x: FloatArray,
    y: FloatArray,
    *,
    kernel: str = "gaussian",
    length: float = 1.0,
    linear: float = 0.0,
) -> FloatArray:
    """Return the explicit (len(x), len(y)) matrix of one column's kernel.

    The package itself never forms it for the training rows; it serves checks and small oracles.

    Examples
    --------
    >>> import numpy as np
    >>> kernel_matrix(np.array([0.0, 2.0]), np.array([2.0]), linear=1.0).round(4)
    array([[0.1353],
           [5.    ]])
    """
    rows, columns = np.atleast_1d(x)[:, None], np.atleast_1d(y)[None, :]
    base = correlate(require_kernel(kernel), rows, columns, np.asarray(length, dtype=np.float64))
    result: FloatArray = base + linear * rows * columns
    return result


def require_kernel(kernel: str) -> str:
    """Return ``kernel`` when it is known, else raise with the list of those that are."""
    if kernel not in KERNELS:
        raise InvalidInputError(f"kernel={kernel!r} is unknown; use one of {sorted(KERNELS)}.")
    return kernel


def auto_lengths(Z: FloatArray, kinds: Sequence[str]) -> FloatArray:
    """Return one kernel length per column: the median distance between unequal values.

    The median runs over all pairs of 33 order statistics, from the smallest to the largest, so it
    is deterministic, blind to the order of rows, and cheap. Pairs of equal values are left out:
    otherwise a rare indicator or a column that is mostly zero would get the length zero. An
    indicator gets the gap between its two values, a standard normal column about one. Columns
    without two distinct values, and all columns that are not numeric, get the length one.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.column_stack([np.arange(100.0), np.arange(100) == 7, np.full(100, 3.0)])
    >>> auto_lengths(Z, ("numeric",) * 3).round(1)
    array([30.,  1.,  1.])
    """
    lengths = np.ones(Z.shape[1])
    numeric = np.flatnonzero(np.asarray(kinds, dtype=object) == "numeric")
    first, second = np.triu_indices(_QUANTILES, k=1)
    chunk = max(1, 2**21 // first.size)
    for start in range(0, numeric.size, chunk):
        columns = numeric[start : start + chunk]
        lengths[columns] = _median_gaps(Z[:, columns], first, second)
    return lengths


def _median_gaps(values: FloatArray, first: np.ndarray, second: np.ndarray) -> FloatArray:
    ordered = np.sort(values, axis=0)  # missing values end up last
    last = np.maximum(np.count_nonzero(~np.isnan(values), axis=0) - 1, 0)
    share = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    share[0], share[-1] = 0.0, 1.0  # no value is too rare to make its column vary
    positions = np.rint(share[:, None] * last).astype(np.intp)
    points = np.nan_to_num(np.take_along_axis(ordered, positions, axis=0), nan=0.0)
    with np.errstate(over="ignore"):
        gaps = points[second] - points[first]
    np.minimum(gaps, np.finfo(np.float64).max, out=gaps)
    # Sorted gaps start with the zeros; the median of the rest sits in the middle behind them.
    gaps.sort(axis=0)
    zeros = np.count_nonzero(gaps == 0.0, axis=0)
    middle = np.minimum(zeros + (gaps.shape[0] - zeros) // 2, gaps.shape[0] - 1)
    median = np.take_along_axis(gaps, middle[None, :], axis=0)[0]
    return np.where(median > 0.0, median, 1.0)
