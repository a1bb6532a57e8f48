"""Which rows of a target are unlabelled."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from s2mam._typing import AnyArray, BoolArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake.missing import missing_mask
from s2mam.intake.notices import warn_user

AUTO = "auto"


def find_unlabeled(y: Any, *, unlabeled: Any = AUTO, classes: bool) -> BoolArray:
    """Mark the unlabelled rows of a target without reading the labels.

    Parameters
    ----------
    y : array-like of shape (n,)
        The target.
    unlabeled : "auto", scalar or None, default="auto"
        The marker, as in `read_regression_target` and `read_classification_target`.
    classes : bool
        Whether the labels are classes, so that "auto" covers -1.

    Returns
    -------
    ndarray of bool, shape (n,)
        True for unlabelled rows; all False for ``unlabeled=None``.

    Examples
    --------
    >>> find_unlabeled([0, -1, 1], classes=True)
    array([False,  True, False])
    """
    return unlabeled_rows(as_vector(y), unlabeled, classes=classes)


def as_vector(y: Any, n_rows: int | None = None) -> AnyArray:
    """A target as a one-dimensional array, its markers untouched.

    Parameters
    ----------
    y : array-like of shape (n,)
        Array, list, or series of any library.
    n_rows : int, optional
        Expected length.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> as_vector(["a", None, -1])
    array(['a', None, -1], dtype=object)
    """
    if y is None:
        raise InvalidInputError(
            "This estimator requires y to be passed, but the target y is None; mark unlabelled "
            "rows inside y instead."
        )
    values = np.asarray(y)
    if values.dtype.kind == "f" and _is_whole_type(getattr(y, "dtype", None)):
        # Whole numbers stay whole beside missing ones.
        values = np.asarray(y.to_list() if hasattr(y, "to_list") else y, dtype=object)
    if values.dtype.kind in "US" and not hasattr(y, "dtype"):
        # A list such as ["a", None, -1] would turn its markers into text.
        as_objects = np.asarray(y, dtype=object)
        if not all(isinstance(value, str) for value in as_objects.flat):
            values = as_objects
    if values.dtype.kind == "T":
        values = values.astype(object)
    if values.dtype.kind == "c":
        raise InvalidInputError("Complex data not supported in y; pass real numbers or classes.")
    if values.ndim == 2 and values.shape[1] == 1:
        warn_user(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples, ), for example using ravel().",
            DataConversionWarning,
        )
        values = values.ravel()
    if values.ndim != 1:
        raise InvalidInputError(
            f"y should be a 1d array, got an array of shape {values.shape} instead; several "
            "targets at once are not supported, fit one model per target."
        )
    if n_rows is not None and len(values) != n_rows:
        raise InvalidInputError(
            f"y has {len(values)} rows but X has {n_rows}; unlabelled rows need a marker in y."
        )
    return values


def is_auto(unlabeled: Any) -> bool:
    """Whether the marker is left to the kind of the target."""
    return isinstance(unlabeled, str) and unlabeled == AUTO


def unlabeled_rows(values: AnyArray, unlabeled: Any, *, classes: bool) -> BoolArray:
    """As `find_unlabeled`, for a target that went through `as_vector`."""
    if unlabeled is None:
        return np.zeros(values.shape, dtype=bool)
    if not (np.isscalar(unlabeled) or _is_missing(unlabeled)):
        raise InvalidInputError(
            f"unlabeled must be 'auto', None or a single value, got {unlabeled!r}."
        )
    hidden = missing_mask(values)
    if _is_missing(unlabeled):
        return hidden
    if is_auto(unlabeled):
        return hidden | equals_marker(values, -1) if classes else hidden
    return hidden | equals_marker(values, unlabeled)


def equals_marker(values: AnyArray, marker: Any) -> BoolArray:
    """Elementwise equality that never mixes text with numbers nor bools with numbers."""
    kind = values.dtype.kind
    if kind == "O":
        same = (_comparable(value, marker) for value in values)
        comparable = np.fromiter(same, dtype=bool, count=len(values))
        result = np.zeros(len(values), dtype=bool)
        result[comparable] = [_equal(value, marker) for value in values[comparable]]
        return result
    wanted = "US" if isinstance(marker, str | bytes) else "b" if _is_bool(marker) else "iuf"
    if kind not in wanted:
        return np.zeros(len(values), dtype=bool)
    return np.asarray(values == marker, dtype=bool)


def _equal(value: Any, marker: Any) -> bool:
    try:
        return bool(value == marker)
    except (TypeError, ValueError, ArithmeticError):
        return False  # pandas NA, arrays and the like do not say whether they are equal


def _is_whole_type(dtype: Any) -> bool:
    """Whether a type of pandas or polars is one of whole numbers."""
    return not isinstance(dtype, np.dtype) and str(dtype).lower().startswith(("int", "uint"))


def _is_missing(value: Any) -> bool:
    single = np.empty(1, dtype=object)
    single[0] = value
    return bool(missing_mask(single)[0])


def _comparable(value: Any, marker: Any) -> bool:
    if isinstance(value, str) or isinstance(marker, str):
        return isinstance(value, str) and isinstance(marker, str)
    return _is_number(value) == _is_number(marker)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number) and not _is_bool(value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)
