"""Rows in blocks: what a source of rows offers, and what a piece of it holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from s2mam._typing import AnyArray
from s2mam.scale.tables import count_rows

__all__ = ["Block", "HeldBlock", "ReadBlock", "RowSource"]


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a source.

    Attributes
    ----------
    start : int
        Number of the first row, counted over the whole source.
    table : array, tensor or data frame
        The rows, without the target.
    target : array or None
        Their labels and markers.
    weights : array or None
        Their sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> Block(100, np.zeros((20, 3)), target=np.full(20, np.nan)).n_rows
    20
    """

    start: int
    table: Any
    target: AnyArray | None = None
    weights: AnyArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return count_rows(self.table)


#: Reads one block when called, wherever that is: small, and it travels to other processes.
ReadBlock = Callable[[], Block]


@dataclass(frozen=True)
class HeldBlock:
    """Reads a block that is there already."""

    block: Block

    def __call__(self) -> Block:
        """The block."""
        return self.block


class RowSource(ABC):
    """Rows that can be read again and again, block by block, in the same order.

    Attributes
    ----------
    names : list of str or None
        Column names; None where the rows have none.
    n_rows : int or None
        Number of rows, where it is known before reading.

    Examples
    --------
    >>> import numpy as np
    >>> class Waves(RowSource):
    ...     names = ["angle", "wave"]
    ...
    ...     def readers(self):
    ...         for start in (0, 50):
    ...             angle = np.arange(start, start + 50) / 10
    ...             block = Block(start, np.column_stack([angle, np.sin(angle)]))
    ...             yield lambda block=block: block
    >>> [block.n_rows for block in Waves().blocks()]
    [50, 50]
    """

    names: list[str] | None = None
    n_rows: int | None = None

    @abstractmethod
    def readers(self) -> Iterator[ReadBlock]:
        """One callable per block, in the order of the rows."""

    def blocks(self) -> Iterator[Block]:
        """The blocks themselves, one after the other."""
        for read in self.readers():
            yield read()
