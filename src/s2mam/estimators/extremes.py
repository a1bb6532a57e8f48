"""Values too large to be squared: refused by the user's name of the column."""

from __future__ import annotations

from typing import Final

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake import TableReader

__all__ = ["require_moderate"]

# What the bases can square and add up over the rows.
_LARGEST: Final = 1e140


def require_moderate(
    table: FloatArray, reader: TableReader, columns: IntArray | None = None
) -> None:
    """Raise when a column of a scaled table holds values that no kernel can take.

    Parameters
    ----------
    table : (n, p) array
        Scaled rows.
    reader : TableReader
        Knows the names of the columns.
    columns : array of int, optional
        Columns that are used; by default all.

    Examples
    --------
    >>> reader = TableReader(scale=None).fit(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> require_moderate(np.array([[0.0, 1e200]]), reader)
    Traceback (most recent call last):
    ...
    s2mam.exceptions.InvalidInputError: Column 'x1' holds values beyond 1e+140 in 1 row; ...
    """
    chosen = np.arange(table.shape[1]) if columns is None else columns
    extreme = np.abs(table[:, chosen]) > _LARGEST
    if not extreme.any():
        return
    at = int(np.flatnonzero(extreme.any(axis=0))[0])
    count = int(np.count_nonzero(extreme[:, at]))
    name = reader.columns_[int(chosen[at])].name
    scaled = "" if reader.scale in (None, False) else ", in units of its spread"
    raise InvalidInputError(
        f"Column {name!r} holds values beyond {_LARGEST:g} in {count} "
        f"row{'s' if count > 1 else ''}{scaled}; correct them or mark them as missing with NaN."
    )
