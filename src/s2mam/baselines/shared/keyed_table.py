"""A table as a key, so that fits that differ in labels only can share what labels do not change."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from s2mam._typing import FloatArray

__all__ = ["KeyedTable"]


@dataclass(frozen=True)
class KeyedTable:
    """A table that compares and hashes by its content.

    Attributes
    ----------
    digest : bytes
        Fingerprint of shape and numbers.
    table : (n, q) array

    Examples
    --------
    >>> import numpy as np
    >>> KeyedTable.of(np.zeros((2, 1))) == KeyedTable.of(np.zeros((2, 1)))
    True
    >>> KeyedTable.of(np.zeros((2, 1))) == KeyedTable.of(np.zeros((1, 2)))
    False
    """

    digest: bytes
    table: FloatArray = field(compare=False, repr=False)

    @classmethod
    def of(cls, table: FloatArray) -> KeyedTable:
        """Key of a copy of the table."""
        content = np.array(table, order="C")
        return cls(
            hashlib.blake2b(repr(content.shape).encode() + content.tobytes()).digest(), content
        )
