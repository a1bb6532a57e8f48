"""Columns with values far out, on a scale that holds them all."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bilevel.views import CLIP
from s2mam.intake import TableReader

__all__ = ["squeeze"]

# Far-out values matter where clipping takes more than this share of a column's variance.
_MATTERS = 0.1


def squeeze(reader: TableReader, table: FloatArray) -> tuple[TableReader, FloatArray] | None:
    """A reader and its table on which no value of the training rows is clipped.

    The spread of a column grows until its values lie within the clip. A line through the column
    stays the same line; a new value further out than all training rows counts as the furthest.

    Parameters
    ----------
    reader : TableReader
        Fitted.
    table : (n, p) array
        The training rows as it reads them.

    Returns
    -------
    (TableReader, (n, p) array) or None
        None where clipping takes next to nothing of any column.

    Examples
    --------
    >>> reader = TableReader(scale="robust")
    >>> x = np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 100.0])
    >>> far, table = squeeze(reader, reader.fit_transform(x[:, None]))
    >>> float(table.max()), bool(np.allclose(far.transform(x[:, None]), table))
    (4.0, True)
    """
    numeric = np.array([column.kind == "numeric" for column in reader.columns_])
    if not numeric.any() or not _clipping_matters(table[:, numeric]):
        return None
    size = np.zeros(table.shape[1])
    size[numeric] = np.nanmax(np.abs(table[:, numeric]), axis=0, initial=0.0)
    factors = np.maximum(size / CLIP, 1.0)
    far = copy(reader)
    far.columns_ = [
        replace(column, scale=column.scale * float(factor))
        for column, factor in zip(reader.columns_, factors, strict=True)
    ]
    return far, np.where(numeric, table / factors, table)


def _clipping_matters(table: FloatArray) -> bool:
    whole = np.nanvar(table, axis=0)
    left = np.nanvar(np.clip(table, -CLIP, CLIP), axis=0)
    return bool((left < (1.0 - _MATTERS) * whole).any())
