"""Sources of rows that are in memory, in a memory map, or come from a function."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray
from s2mam.exceptions import InvalidInputError
from s2mam.scale.blocks import Block, HeldBlock, ReadBlock, RowSource
from s2mam.scale.options import current_options
from s2mam.scale.tables import column_names, count_rows, is_tensor, split_column, take, to_host

__all__ = ["ArraySource", "IteratorSource", "part_of", "require_length"]


@dataclass(frozen=True)
class _Slice:
    """Reads some rows of a table in memory."""

    table: Any
    target: Any
    weights: Any
    start: int
    stop: int

    def __call__(self) -> Block:
        rows = slice(self.start, self.stop)
        return Block(
            self.start,
            take(self.table, rows),
            part_of(self.target, rows),
            part_of(self.weights, rows),
        )


class ArraySource(RowSource):
    """Rows of an array, a memory map, a tensor or a data frame.

    Parameters
    ----------
    table : array, tensor or data frame of shape (n, p)
        Is sliced, never copied as a whole.
    target, weights : arrays of shape (n,), optional
        Labels and sample weights.

    Examples
    --------
    >>> from s2mam.scale.options import scale_options
    >>> with scale_options(block_rows=2):
    ...     source = ArraySource(np.zeros((5, 3)), np.arange(5.0))
    >>> [block.target.tolist() for block in source.blocks()]
    [[0.0, 1.0], [2.0, 3.0], [4.0]]
    """

    def __init__(self, table: Any, target: Any = None, weights: Any = None) -> None:
        self.n_rows = count_rows(table)
        self.names = column_names(table)
        self._table = table
        self._target = require_length("y", None if target is None else to_host(target), self.n_rows)
        self._weights = require_length(
            "sample_weight", None if weights is None else to_host(weights), self.n_rows
        )
        options = current_options()
        on_device = is_tensor(table) and table.device.type != "cpu"
        self._step = options.device_block_rows if on_device else options.block_rows

    def readers(self) -> Iterator[ReadBlock]:
        """One reader per block."""
        assert self.n_rows is not None
        for start in range(0, self.n_rows, self._step):
            stop = min(start + self._step, self.n_rows)
            yield _Slice(self._table, self._target, self._weights, start, stop)


class IteratorSource(RowSource):
    """Rows that a function makes anew whenever they are asked for.

    Parameters
    ----------
    make : callable
        Returns an iterable of blocks: tables, or pairs of a table and its labels. Called once per
        pass; it must give the same rows in the same order each time.
    target : str, optional
        Name of the column of the tables that holds the labels, where they are data frames.

    Examples
    --------
    >>> source = IteratorSource(lambda: ((np.full((2, 1), k), [k, -1]) for k in range(2)))
    >>> [(block.start, block.target.tolist()) for block in source.blocks()]
    [(0, [0, -1]), (2, [1, -1])]
    """

    def __init__(self, make: Callable[[], Iterable[Any]], target: str | None = None) -> None:
        if not callable(make):
            raise InvalidInputError(
                "An iterator can be read once only, and a fit reads rows several times; pass a "
                "function that returns a new iterator."
            )
        self._make = make
        self._target = target
        first = next(iter(self._make()), None)
        if first is None:
            raise InvalidInputError("The function gave no block; at least one is needed.")
        self.names = column_names(self._block(first, 0).table)

    def readers(self) -> Iterator[ReadBlock]:
        """One reader per block, which holds its rows."""
        start = 0
        for item in self._make():
            block = self._block(item, start)
            start += block.n_rows
            yield HeldBlock(block)

    def _block(self, item: Any, start: int) -> Block:
        table, *rest = item if isinstance(item, tuple) else (item,)
        if self._target is not None:
            table, target = split_column(table, self._target)
            return Block(start, table, target)
        parts = [require_length("y", to_host(part), count_rows(table)) for part in rest]
        return Block(start, table, *parts)


def _forget_pages(table: np.memmap[Any, Any]) -> None:
    """Give pages of a mapped file back, which would otherwise count as memory in use."""
    mapped = getattr(table, "_mmap", None)
    # In the mode "c" pages hold changes that are nowhere else.
    if mapped is not None and getattr(table, "mode", "c") in ("r", "r+"):
        mapped.madvise(mmap.MADV_DONTNEED)


def part_of(values: AnyArray | None, rows: slice) -> AnyArray | None:
    """Some of the values, or None where there are none."""
    return None if values is None else values[rows]


def require_length(name: str, values: Any, n_rows: int) -> Any:
    """Refuse labels or weights that are not one per row."""
    if values is not None and np.shape(values)[:1] != (n_rows,):
        raise InvalidInputError(
            f"{name} has {np.shape(values)[0] if np.ndim(values) else 'no'} rows but X has "
            f"{n_rows}; pass one value per row, a marker for unlabelled ones."
        )
    return values
