"""The columns an iteration works on, side by side in memory.

Copying columns out of a large matrix costs as much as the arithmetic on them, so a column is
copied once: groups are appended in the order in which they enter, and groups that have left stay
until they are too many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.solvers.layout import GroupLayout

__all__ = ["ColumnBlock", "WorkingSet"]

# Columns held at most, over those in use, before the ones out of use are let go.
_SPARE = 1.5


@dataclass(frozen=True)
class ColumnBlock:
    """Free columns, then those of ``groups``, as the rows of an array; not to be written to.

    Attributes
    ----------
    groups : ndarray of shape (m,)
        Groups in the order of their columns.
    columns : ndarray of shape (s,)
        Index of each grouped column in the feature matrix.
    rows : ndarray of shape (f + s, l)
        The free columns (intercept first), then the grouped ones.
    squares : ndarray of shape (s,)
        Mean square of each grouped column.
    """

    groups: IntArray
    columns: IntArray
    rows: FloatArray
    squares: FloatArray


class WorkingSet:
    """Grows a :class:`ColumnBlock`; a block handed out before stays valid.

    Parameters
    ----------
    transposed : ndarray of shape (P, l)
        Feature columns as rows.
    free : ndarray of shape (f, l)
        Columns that belong to every block.
    layout : GroupLayout
        Groups of ``transposed``.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.layout import GroupLayout
    >>> from s2mam.solvers.working import WorkingSet
    >>> working = WorkingSet(np.eye(4), np.ones((1, 4)), GroupLayout(np.array([0, 1, 3, 4])))
    >>> working.include(np.array([1])).columns
    array([1, 2])
    >>> block = working.include(np.array([0, 1]))
    >>> block.columns, working.positions(np.array([0, 1]))
    (array([1, 2, 0]), array([1, 0]))
    """

    def __init__(self, transposed: FloatArray, free: FloatArray, layout: GroupLayout) -> None:
        self._transposed = transposed
        self._layout = layout
        self._position: IntArray = np.full(layout.n_groups, -1, dtype=np.intp)
        self._store: FloatArray = free
        none = np.empty(0, dtype=np.intp)
        self._free = ColumnBlock(none, none, free, np.empty(0))
        self.block = self._free

    def positions(self, groups: IntArray) -> IntArray:
        """Place of each of ``groups`` in the current block, -1 for those outside."""
        places: IntArray = self._position[groups]
        return places

    def include(self, groups: IntArray) -> ColumnBlock:
        """Return the block, with all of ``groups`` in it and perhaps others."""
        entering = groups[self._position[groups] < 0]
        if self._crowded(groups, entering):
            self._position[self.block.groups] = -1
            self.block, entering = self._free, groups
            self._store = self._free.rows
        if len(entering):
            self._append(entering)
        return self.block

    def _crowded(self, groups: IntArray, entering: IntArray) -> bool:
        held = len(self.block.groups) + len(entering)
        # as long as there are no more columns than rows, carrying some along is cheaper
        few = len(self.block.columns) <= self._transposed.shape[1]
        return bool(len(groups)) and not few and held > _SPARE * len(groups)

    def _append(self, entering: IntArray) -> None:
        block = self.block
        new = self._layout.columns(entering)
        used = len(block.rows)
        end = used + len(new)
        if end > len(self._store):
            self._grow(used, end)
        np.take(self._transposed, new, axis=0, out=self._store[used:end], mode="clip")
        held, rows = len(block.groups), self._store[used:end]
        self._position[entering] = np.arange(held, held + len(entering))
        self.block = ColumnBlock(
            np.concatenate([block.groups, entering]),
            np.concatenate([block.columns, new]),
            self._store[:end],
            np.concatenate([block.squares, np.einsum("sl,sl->s", rows, rows) / rows.shape[1]]),
        )

    def _grow(self, used: int, needed: int) -> None:
        """Take new memory, with room to grow: fresh memory costs more than filling it."""
        most = len(self._transposed) + len(self._free.rows)
        store = np.empty((min(2 * needed, most), self._transposed.shape[1]))
        store[:used] = self.block.rows
        self._store = store
