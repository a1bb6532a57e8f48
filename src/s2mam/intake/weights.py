"""Sample weights in: only the labelled rows' weights count."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError


def read_weights(sample_weight: Any, labeled: BoolArray) -> FloatArray:
    """Weights of the labelled rows, scaled to sum to one.

    Parameters
    ----------
    sample_weight : array-like of shape (n,), scalar or None
        One weight per row of X; those of unlabelled rows are ignored. A positive scalar and None
        mean equal weights.
    labeled : ndarray of bool, shape (n,)
        Which rows carry a label.

    Returns
    -------
    ndarray of shape (l,)
        Non-negative, sum one.

    Examples
    --------
    >>> read_weights([3, 100, 1], np.array([True, False, True]))
    array([0.75, 0.25])
    """
    n_labeled = int(np.count_nonzero(labeled))
    if sample_weight is None:
        return np.full(n_labeled, 1.0 / n_labeled)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"sample_weight must be numeric: {error}.") from None
    if weights.ndim == 0:
        weights = np.full(labeled.shape, weights)
    if weights.shape != labeled.shape:
        raise InvalidInputError(
            f"sample_weight has shape {weights.shape} but X has {len(labeled)} rows; give one "
            "weight per row, any value for unlabelled ones."
        )
    weights = weights[labeled]
    _check_values(weights, np.flatnonzero(labeled))
    weights = weights / weights.max()  # so that the sum cannot overflow
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _check_values(weights: FloatArray, rows: Any) -> None:
    for bad, what in ((~np.isfinite(weights), "NaN or infinite"), (weights < 0, "negative")):
        if bad.any():
            raise InvalidInputError(
                f"sample_weight is {what} in {np.count_nonzero(bad)} labelled rows (first: row "
                f"{rows[bad][0]}); use 0 to ignore a row."
            )
    if not weights.any():
        raise InvalidInputError(
            "sample_weight is zero on all labelled rows; at least one must be positive."
        )
