"""Seeded samples of rows that do not depend on how the rows are cut into blocks.

Every row has a key, a hash of its number and the seed; the sample is the rows with the smallest
keys. Samples of parts merge to the sample of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from s2mam._typing import AnyArray, BoolArray, IntArray
from s2mam.scale.blocks import Block
from s2mam.scale.tables import join, take

__all__ = ["RowSample", "keys_of", "row_keys", "sample_block"]

Keys = npt.NDArray[np.uint64]


def row_keys(seed: int, start: int, count: int) -> Keys:
    """Keys of consecutive rows, uniform over 64 bits (the finaliser of SplitMix64).

    Examples
    --------
    >>> bool((row_keys(1, 0, 5)[2:] == row_keys(1, 2, 3)).all())
    True
    """
    return keys_of(seed, np.arange(start, start + count))


def keys_of(seed: int, rows: IntArray) -> Keys:
    """Keys of rows given by their numbers.

    Examples
    --------
    >>> keys_of(0, np.array([0])).tolist()
    [16294208416658607535]
    """
    with np.errstate(over="ignore"):
        # The seed fills the upper half, which no number of rows reaches.
        keys = rows.astype(np.uint64) + (np.uint64(seed) << np.uint64(32))
        keys = (keys + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(30)
        keys *= np.uint64(0xBF58476D1CE4E5B9)
        keys ^= keys >> np.uint64(27)
        keys *= np.uint64(0x94D049BB133111EB)
        keys ^= keys >> np.uint64(31)
    return keys


@dataclass(frozen=True)
class RowSample:
    """Rows with the smallest keys among those seen.

    Attributes
    ----------
    limit : int
        Most rows that are kept.
    keys, rows : (m,) arrays
        Keys and numbers of the kept rows.
    table, target, weights
        The rows themselves; the table is None where none was kept.
    """

    limit: int
    keys: Keys
    rows: IntArray
    table: Any
    target: AnyArray | None
    weights: AnyArray | None

    @property
    def size(self) -> int:
        """Number of rows that were kept."""
        return int(self.keys.size)

    def merge(self, later: RowSample) -> RowSample:
        """The sample of both parts."""
        if not later.size or not self.size:
            return self if self.size else later
        both = RowSample(
            self.limit,
            np.concatenate([self.keys, later.keys]),
            np.concatenate([self.rows, later.rows]),
            join([self.table, later.table]),
            _joined(self.target, later.target),
            _joined(self.weights, later.weights),
        )
        return both._smallest() if both.size > self.limit else both

    def in_order(self) -> RowSample:
        """The same rows in the order in which they came."""
        return self.taken(np.argsort(self.rows, kind="stable"))

    def _smallest(self) -> RowSample:
        kept = np.argpartition(self.keys, self.limit - 1)[: self.limit]
        return self.taken(np.sort(kept))

    def with_rows(self, other: RowSample) -> RowSample:
        """These rows and the other ones, however many they are."""
        return replace(self, limit=max(self.size + other.size, 1)).merge(other)

    def taken(self, chosen: IntArray) -> RowSample:
        """Some of the rows, by their positions."""
        return RowSample(
            self.limit,
            self.keys[chosen],
            self.rows[chosen],
            None if self.table is None or not chosen.size else take(self.table, chosen),
            None if self.target is None else self.target[chosen],
            None if self.weights is None else self.weights[chosen],
        )


def sample_block(block: Block, eligible: BoolArray, keys: Keys, limit: int) -> RowSample:
    """The sample of a block.

    Parameters
    ----------
    block : Block
        The rows.
    eligible : (b,) array of bool
        Rows that may be taken.
    keys : (b,) array
        Their keys.
    limit : int
        Most rows to take.
    """
    chosen = np.flatnonzero(eligible)
    if chosen.size > limit:
        chosen = np.sort(chosen[np.argpartition(keys[chosen], limit - 1)[:limit]])
    return RowSample(
        limit,
        keys[chosen],
        block.start + chosen,
        take(block.table, chosen) if chosen.size else None,
        None if block.target is None else block.target[chosen],
        None if block.weights is None else block.weights[chosen],
    )


def _joined(first: AnyArray | None, second: AnyArray | None) -> AnyArray | None:
    if first is None or second is None:
        return None
    if first.dtype.kind != second.dtype.kind and "O" not in (first.dtype.kind, second.dtype.kind):
        # A block whose whole numbers have a gap comes as floats; text stays text.
        mixed = {first.dtype.kind, second.dtype.kind}
        if not mixed <= set("iufb"):
            first, second = first.astype(object), second.astype(object)
    return np.concatenate([first, second])
