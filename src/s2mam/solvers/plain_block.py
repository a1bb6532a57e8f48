"""The columns that the plain iteration works on, side by side in memory, in both precisions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray

__all__ = ["PlainBlock"]

# All of the feature matrix is worked on, without a copy if its columns are contiguous, where it has
# few numbers or where more than this share of its groups would be held.
_SMALL = 250_000
_MOST = 0.4
# The sum of the eigenvalues up to which single precision serves, and the mean squares of features
# whose products neither overflow nor vanish there.
_SINGLE_TRACE = 1e5
_SINGLE_RANGE = (1e-12, 1e12)
# Groups held at most, over those in use, before the ones out of use are let go.
_SPARE = 1.5


class PlainBlock:
    """Groups of equal width, appended in the order in which they enter.

    Parameters
    ----------
    rows : ndarray of shape (P, l)
        Feature columns as rows.
    width : int
        Columns per group.
    weigh : callable, optional
        Applied, in place, to columns once they are in single precision.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.plain_block import PlainBlock
    >>> block = PlainBlock(np.arange(300_000.0).reshape(6, 50_000), 2)
    >>> block.include(np.array([1]))
    >>> block.groups, block.rows[:, 0]
    (array([1]), array([100000., 150000.]))
    """

    def __init__(
        self, rows: FloatArray, width: int, weigh: Callable[[AnyArray], None] | None = None
    ) -> None:
        self._all = rows
        self._weigh = weigh
        self.width = width
        count = len(rows) // width
        self.complete = False
        self.groups: IntArray = np.arange(0)
        self.place: IntArray = np.full(count, -1)
        self._store: FloatArray = rows
        self._single: AnyArray | None = None
        self._singles = 0
        if rows.size <= _SMALL:
            self._take_all()
        else:
            self._note_squares(np.empty(0))

    def _take_all(self) -> None:
        self.complete = True
        self.groups = self.place = np.arange(len(self.place))
        self._all = self._store = np.ascontiguousarray(self._all)
        self._single, self._singles = None, 0
        self._note_squares(_mean_squares(self._store))

    def _note_squares(self, squares: FloatArray) -> None:
        # mean square of each column held, one row per group
        self.squares: FloatArray = squares.reshape(-1, self.width)
        self.traces: FloatArray = self.squares.sum(axis=1)
        self.largest_square = float(squares.max(initial=0.0))

    def serves_single(self, trace: float) -> bool:
        """Whether single precision serves for a factor with this sum of eigenvalues."""
        low, high = _SINGLE_RANGE
        return trace < _SINGLE_TRACE and low < self.largest_square < high

    @property
    def rows(self) -> FloatArray:
        """Columns held, as rows."""
        return self._store[: len(self.groups) * self.width]

    @property
    def single(self) -> AnyArray:
        """The same in single precision, converted (and weighed) once."""
        rows = self.rows
        if self._single is None or len(self._single) < len(rows):
            grown = np.empty(self._store.shape, dtype=np.float32)
            if self._single is not None:
                grown[: self._singles] = self._single[: self._singles]
            self._single = grown
        if self._singles < len(rows):
            fresh = self._single[self._singles : len(rows)]
            fresh[...] = rows[self._singles :]
            if self._weigh is not None:
                self._weigh(fresh)
            self._singles = len(rows)
        return self._single[: len(rows)]

    def of(self, values: FloatArray) -> FloatArray:
        """Part of an array over all groups that belongs to those held; not to be written to."""
        return values if self.complete else values[self.groups]

    def include(self, groups: IntArray) -> None:
        """Hold at least these groups."""
        if self.complete:
            return
        entering = groups[self.place[groups] < 0]
        if not len(entering):
            return
        held = len(self.groups) + len(entering)
        if held > _MOST * len(self.place):
            self._take_all()
            return
        # as long as there are no more columns than rows, carrying some along is cheaper
        if len(self.groups) * self.width > self._all.shape[1] and held > _SPARE * len(groups):
            self.place[self.groups] = -1
            self.groups, entering = self.groups[:0], groups
            self.squares, self._singles = self.squares[:0], 0
        self._append(entering)

    def _append(self, entering: IntArray) -> None:
        used, held = len(self.rows), len(self.groups)
        end = used + len(entering) * self.width
        if end > len(self._store) or self._store is self._all:
            # with room to grow: fresh memory costs more than filling it
            store = np.empty((min(2 * end, len(self._all)), self._all.shape[1]))
            store[:used] = self.rows
            self._store = store
        target = self._store[used:end]
        columns = (entering[:, None] * self.width + np.arange(self.width)).reshape(-1)
        np.take(self._all, columns, axis=0, out=target, mode="clip")
        self.place[entering] = np.arange(held, held + len(entering))
        self.groups = np.concatenate([self.groups, entering])
        self._note_squares(np.concatenate([self.squares.reshape(-1), _mean_squares(target)]))


def _mean_squares(rows: FloatArray) -> FloatArray:
    # a batch of dot products: no temporary of the size of the matrix
    squares: FloatArray = np.matmul(rows[:, None, :], rows[:, :, None]).reshape(-1)
    squares /= rows.shape[1]
    return squares
