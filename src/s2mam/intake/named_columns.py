"""Columns that a user points at, by name, index or mask."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from s2mam.exceptions import InvalidInputError

__all__ = ["named_columns"]


def named_columns(wanted: Sequence[Any], names: list[str]) -> list[int]:
    """Indices of columns given by name, index or bool mask.

    Examples
    --------
    >>> named_columns(["b", 0], ["a", "b"]), named_columns([False, True], ["a", "b"])
    ([1, 0], [1])
    """
    if len(wanted) == len(names) and all(isinstance(item, bool | np.bool_) for item in wanted):
        return [int(j) for j in np.flatnonzero(wanted)]
    chosen = []
    for item in wanted:
        if isinstance(item, str) and item in names:
            chosen.append(names.index(item))
        elif isinstance(item, Integral) and -len(names) <= int(item) < len(names):
            chosen.append(int(item))
        else:
            raise InvalidInputError(
                f"categorical names the column {item!r}, but the table has {len(names)} columns: "
                f"{', '.join(names[:10])}{', ...' if len(names) > 10 else ''}."
            )
    return chosen
