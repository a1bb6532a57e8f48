"""Which entries of an array are missing, whatever library marked them so."""

from __future__ import annotations

import sys

import numpy as np

from s2mam._typing import AnyArray, BoolArray
from s2mam.exceptions import InvalidInputError


def missing_mask(values: AnyArray) -> BoolArray:
    """Mark NaN, None, NaT and the missing values of pandas.

    Parameters
    ----------
    values : ndarray
        Any shape, any dtype.

    Returns
    -------
    ndarray of bool
        True where the entry is missing.

    Examples
    --------
    >>> missing_mask(np.array(["a", None, float("nan")], dtype=object))
    array([False,  True,  True])
    """
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    try:
        return _missing_objects(values)
    except ArithmeticError:
        raise InvalidInputError(
            "A value is a signalling NaN of the decimal module, which cannot be compared with "
            "anything; write None or NaN where a value is missing."
        ) from None


def _missing_objects(values: AnyArray) -> BoolArray:
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        return np.asarray(pandas.isna(values), dtype=bool)
    # pandas was never imported, so its NA cannot be among the values.
    flat = (value is None or (isinstance(value, float) and value != value) for value in values.flat)
    return np.fromiter(flat, dtype=bool, count=values.size).reshape(values.shape)
