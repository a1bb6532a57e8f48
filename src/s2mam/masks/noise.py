"""The one hyper-parameter the smooth criteria choose for themselves: the noise of a mask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from s2mam._typing import FloatArray

__all__ = ["NOISE_BOUNDS", "best_noise"]

#: Kernels have k(x, x) near one; the upper end leaves room for hundreds of columns in one mask.
NOISE_BOUNDS: Final = (1e-3, 1e4)
_COARSE: Final = 15
_FINE: Final = 9
_ROUNDS: Final = 8


def best_noise(values: Callable[[FloatArray], FloatArray]) -> tuple[float, float]:
    """Return the noise within the bounds where a vectorised function is smallest, and its value.

    A grid in ln(noise), then finer grids around the best point. Several local minima are rare
    and flat; the grid settles which one is meant.

    Examples
    --------
    >>> import numpy as np
    >>> noise, value = best_noise(lambda noise: np.log(noise / 0.3) ** 2)
    >>> round(noise, 3)
    0.3
    """
    low, high = np.log(NOISE_BOUNDS[0]), np.log(NOISE_BOUNDS[1])
    grid = np.linspace(low, high, _COARSE)
    found = values(np.exp(grid))
    for _ in range(_ROUNDS):
        best = int(np.argmin(found))
        left, right = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
        grid = np.linspace(left, right, _FINE)
        found = values(np.exp(grid))
    best = int(np.argmin(found))
    return float(np.exp(grid[best])), float(found[best])
