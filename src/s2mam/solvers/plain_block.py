"""The columns that the plain iteration works on, side by side in memory, in both precisions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray

__all__ = ["PlainBlock"]

# Products are made with all of the feature matrix, without a copy if its columns are contiguous,
# where it has few numbers or where more than this share of its groups would be held.
_SMALL = 250_000
_MOST = 0.4
# Share of the groups from which on all of them are held, in their natural order.
_NEARLY_ALL = 0.7
# Mean squares of columns whose products neither overflow nor vanish in single precision.
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
        Weighs rows into an array of their shape, given their mean squares, where that is done once
        and for all.

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
        self,
        rows: FloatArray,
        width: int,
        weigh: Callable[[FloatArray, AnyArray, FloatArray], None] | None = None,
    ) -> None:
        self._all = rows
        self._weigh = weigh
        self.weighed = weigh is not None
        self.width = width
        self.groups: IntArray = np.arange(0)
        self.place: IntArray = np.full(len(rows) // width, -1)
        # changes whenever groups held before are to be found in other places
        self.epoch = 0
        self._natural = False
        self.squares: FloatArray = np.empty((0, width))
        self.spans_single = False
        self._store: FloatArray = rows[:0]
        self._model: AnyArray = np.empty((0, rows.shape[1]), dtype=np.float32)
        self.complete = False
        if rows.size <= _SMALL:
            self._take_all()

    def _take_all(self) -> None:
        self.complete = True
        self._all = self._store = np.ascontiguousarray(self._all)

    @property
    def rows(self) -> FloatArray:
        """Columns that products are made with, as rows: those held, or all where ``complete``."""
        return self._store if self.complete else self._store[: len(self.groups) * self.width]

    def of(self, values: FloatArray) -> FloatArray:
        """Part of an array over all groups that belongs to those held; not to be written to."""
        return values if self._natural else values[self.groups]

    def lay(self, coef: FloatArray) -> FloatArray:
        """Coefficients of the groups held as a factor of ``rows``."""
        if self.complete and not self._natural:
            whole = np.zeros((len(self.place), self.width))
            whole[self.groups] = coef
            coef = whole
        return coef.reshape(-1)

    def model(self, *, single: bool) -> AnyArray:
        """Columns held as factors need them; single precision only where ``spans_single``."""
        if single:
            return self._model[: len(self.groups) * self.width]
        rows = self._all.shape[1]
        source = self.of(self._all.reshape(len(self.place), self.width, rows)).reshape(-1, rows)
        if self._weigh is None:
            return source
        weighed = np.empty(source.shape)
        self._weigh(source, weighed, self.squares.reshape(-1))
        return weighed

    def include(self, groups: IntArray) -> None:
        """Hold at least these groups."""
        if self._natural:
            return
        entering = groups[self.place[groups] < 0]
        if not len(entering):
            return
        held = len(self.groups) + len(entering)
        if not self.complete:
            if held > _MOST * len(self.place):
                self._take_all()
            # as long as there are no more columns than rows, carrying some along is cheaper
            elif len(self.groups) * self.width > self._all.shape[1] and held > _SPARE * len(groups):
                self._let_go()
                entering = groups
        if self.complete and not len(self.groups) and held >= _NEARLY_ALL * len(self.place):
            entering, self._natural = np.arange(len(self.place)), True
        self._append(entering)

    def _let_go(self) -> None:
        self.place[self.groups] = -1
        self.groups, self.squares = self.groups[:0], self.squares[:0]
        self.epoch += 1

    def _append(self, entering: IntArray) -> None:
        before = len(self.groups)
        used, end = before * self.width, (before + len(entering)) * self.width
        source = self._fetch(entering, used, end)
        self.place[entering] = np.arange(before, before + len(entering))
        self.groups = np.concatenate([self.groups, entering])
        fresh = _mean_squares(source)
        self.squares = np.concatenate([self.squares, fresh.reshape(-1, self.width)])
        low, high = _SINGLE_RANGE
        self.spans_single = bool(low < self.squares.max() < high)
        if self.spans_single:
            self._model = _room(self._model, used, end, len(self._all))
            target = self._model[used:end]
            if self._weigh is None:
                target[...] = source
            else:
                self._weigh(source, target, fresh)

    def _fetch(self, entering: IntArray, used: int, end: int) -> FloatArray:
        """Columns of groups, copied to where they are held unless all are at hand."""
        if self._natural:
            return self._all
        columns = (entering[:, None] * self.width + np.arange(self.width)).reshape(-1)
        if self.complete:
            fetched: FloatArray = self._all[columns]
            return fetched
        self._store = _room(self._store, used, end, len(self._all))
        np.take(self._all, columns, axis=0, out=self._store[used:end], mode="clip")
        return self._store[used:end]


def _room(store: AnyArray, used: int, needed: int, most: int) -> AnyArray:
    """Array of at least ``needed`` rows, the first ``used`` of them those of ``store``."""
    if needed <= len(store):
        return store
    # with room to grow: fresh memory costs more than filling it
    grown = np.empty((min(2 * needed, most), store.shape[1]), dtype=store.dtype)
    grown[:used] = store[:used]
    return grown


def _mean_squares(rows: FloatArray) -> FloatArray:
    # a batch of dot products: no temporary of the size of the matrix
    squares: FloatArray = np.matmul(rows[:, None, :], rows[:, :, None]).reshape(-1)
    squares /= rows.shape[1]
    return squares
