"""Linear systems from a Cholesky factor that may be empty."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2mam._typing import FloatArray

__all__ = ["solve_factored"]


def solve_factored(factor: tuple[Any, bool], right: FloatArray) -> FloatArray:
    """Solve with a factor of ``scipy.linalg.cho_factor``; scipy 1.11 refuses systems of size zero.

    Examples
    --------
    >>> solve_factored((np.eye(0), True), np.zeros((0, 1))).shape
    (0, 1)
    """
    if right.size == 0:
        return np.zeros(right.shape)
    solution: FloatArray = linalg.cho_solve(factor, right, check_finite=False)
    return solution
