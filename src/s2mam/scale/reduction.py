"""Sums over blocks in an order that depends on the blocks alone.

Floating-point addition is not associative: a sum whose order depends on who finished first differs
in its last bits from run to run. Here blocks are added in a fixed tree, eight at a time from left
to right, then the sums of eight, and so on, whoever does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Protocol, Self, TypeVar

from s2mam.scale.blocks import Block, ReadBlock

__all__ = ["FAN", "Mergeable", "SumTree", "fold", "fold_blocks"]

#: Values that are added at each node of the tree.
FAN: Final = 8


class Mergeable(Protocol):
    """A sum over rows that can be added to the sum over the rows that follow."""

    def merge(self, later: Self) -> Self:
        """The sum over both."""
        ...


Sums = TypeVar("Sums", bound=Mergeable)


def fold(values: Sequence[Sums]) -> Sums:
    """Values added from left to right."""
    total = values[0]
    for value in values[1:]:
        total = total.merge(value)
    return total


def fold_blocks(function: Callable[[Block], Sums], readers: Iterable[ReadBlock]) -> Sums:
    """The sum over consecutive blocks, each read, mapped and forgotten."""
    total: Any = None
    for read in readers:
        value = function(read())
        total = value if total is None else total.merge(value)
    result: Sums = total
    return result


class SumTree:
    """The tree as values arrive in order; it holds one partial sum per level.

    Examples
    --------
    >>> class Text(str):
    ...     def merge(self, later):
    ...         return Text(f"({self}{later})")
    >>> tree = SumTree()
    >>> for letter in "abcdefghij":
    ...     tree.push(Text(letter))
    >>> tree.total()
    '((((((((ab)c)d)e)f)g)h)(ij))'
    """

    def __init__(self) -> None:
        self._levels: list[tuple[int, Any]] = []

    def push(self, value: Any) -> None:
        """Add the next value."""
        for level in range(len(self._levels) + 1):
            if level == len(self._levels):
                self._levels.append((0, None))
            count, total = self._levels[level]
            total = value if count == 0 else total.merge(value)
            if count + 1 < FAN:
                self._levels[level] = (count + 1, total)
                return
            self._levels[level] = (0, None)
            value = total

    def total(self) -> Any:
        """The sum of everything; None when nothing was added."""
        carried: Any = None
        for count, total in self._levels:
            if count and carried is not None:
                carried = total.merge(carried)
            elif count:
                carried = total
        return carried
