"""How many columns a method with a budget may keep."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.baselines.shared.parameters import whole
from s2mam.exceptions import InvalidInputError

__all__ = ["read_budget", "top_columns"]


def read_budget(value: Any, n_labeled: int, n_columns: int) -> int:
    """Return the number of columns for a parameter `n_features_to_select`.

    Parameters
    ----------
    value : int or "auto"
        At most all columns are used. "auto" is ``l / log(l)`` of the l labelled rows, the size up
        to which screening by the labels is known to keep the right columns.
    n_labeled, n_columns : int
        Labelled rows and columns there are.

    Returns
    -------
    int

    Examples
    --------
    >>> read_budget("auto", 10, 100), read_budget(7, 10, 5)
    (4, 5)
    """
    if isinstance(value, str):
        if value != "auto":
            raise InvalidInputError(
                f"n_features_to_select={value!r} must be a whole number from 1 on or 'auto'."
            )
        value = max(1, int(n_labeled / math.log(max(n_labeled, 3))))
    return min(whole("n_features_to_select", value), n_columns)


def top_columns(weights: FloatArray, size: int) -> IntArray:
    """Return the positions of the largest weights, rising; the first wins a tie.

    Examples
    --------
    >>> import numpy as np
    >>> top_columns(np.array([0.1, 0.7, 0.7, 0.2]), 1)
    array([1])
    """
    return np.sort(np.argsort(-weights, kind="stable")[:size])
