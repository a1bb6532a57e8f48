"""Pair swaps that lower a criterion at fixed mask size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import BoolArray, FloatArray
from s2mam.masks.criteria import SmoothCriterion

__all__ = ["PolishedMask", "polish", "swap_values"]


@runtime_checkable
class _Swapping(Protocol):
    """A criterion that knows the values after all swaps at once."""

    def swap_values(self, mask: ArrayLike, noise: float) -> FloatArray: ...


@dataclass(frozen=True)
class PolishedMask:
    """A mask that no examined swap improves.

    Attributes
    ----------
    mask : (p,) array of bool
    value : float
        Its criterion.
    n_swaps : int
        Swaps made on the way.
    """

    mask: BoolArray
    value: float
    n_swaps: int


def swap_values(criterion: SmoothCriterion, mask: ArrayLike, noise: float) -> FloatArray:
    """Return the criterion after every pair swap, at a given noise.

    Row i: the i-th active column leaves; column j: column j enters, infinity where it cannot.
    One factorisation per active column, low-rank updates for the rest; a criterion that can do
    with less has its own method of this name.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.masks import EvidenceCriterion, labeled_kernels
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> features = np.column_stack([np.sin(9 * x), x, np.cos(40 * x)])
    >>> criterion = EvidenceCriterion(labeled_kernels(features, np.arange(4), 3 * x))
    >>> swap_values(criterion, [True, False, False], 0.1).argmin()
    np.int64(1)
    """
    if isinstance(criterion, _Swapping):
        return criterion.swap_values(mask, noise)
    on = np.asarray(mask, dtype=bool)
    values = np.empty((np.count_nonzero(on), on.size))
    for row, leaving in enumerate(np.flatnonzero(on)):
        rest = on.copy()
        rest[leaving] = False
        values[row] = criterion.addition_values(rest, noise)
        values[row, leaving] = np.inf
    return values


def polish(
    criterion: SmoothCriterion,
    mask: ArrayLike,
    *,
    n_exact: int = 5,
    max_swaps: int = 100,
) -> PolishedMask:
    """Swap pairs while the criterion falls.

    All pairs are ranked at the current noise; the ``n_exact`` best are evaluated in full (own
    noise, and the graph where the criterion has one) and the best of them is taken if it is better
    than the mask at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.masks import EvidenceCriterion, labeled_kernels
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> features = np.column_stack([np.sin(9 * x), x, np.cos(40 * x)])
    >>> criterion = EvidenceCriterion(labeled_kernels(features, np.arange(4), 3 * x))
    >>> polish(criterion, [True, False, False]).mask
    array([False,  True, False])
    """
    current = np.array(mask, dtype=bool)
    value = criterion.value(current)
    swaps = 0
    while swaps < max_swaps and 0 < np.count_nonzero(current) < current.size:
        found = _best_swap(criterion, current, n_exact)
        if not found[1] < value - 1e-10 * max(abs(value), 1.0):
            break
        current, value = found
        swaps += 1
    return PolishedMask(current, value, swaps)


def _best_swap(
    criterion: SmoothCriterion, mask: BoolArray, n_exact: int
) -> tuple[BoolArray, float]:
    values = swap_values(criterion, mask, criterion.noise_of(mask))
    active = np.flatnonzero(mask)
    count = min(n_exact, int(np.isfinite(values).sum()))
    best: tuple[BoolArray, float] = (mask, np.inf)
    for flat in np.argsort(values, axis=None, kind="stable")[:count]:
        row, entering = np.unravel_index(flat, values.shape)
        candidate = mask.copy()
        candidate[active[row]] = False
        candidate[entering] = True
        value = criterion.value(candidate)
        if value < best[1]:
            best = (candidate, value)
    return best
