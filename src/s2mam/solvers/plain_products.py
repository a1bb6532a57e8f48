"""Products of the columns of a factor, those of the last factor used again."""

from __future__ import annotations

import numpy as np

from s2mam._typing import AnyArray, IntArray
from s2mam.solvers.plain_block import PlainBlock

__all__ = ["PlainProducts"]

# Columns carried along at most, over those in use.
_IDLE = 1.25
_NONE: AnyArray = np.empty((0, 0))


class PlainProducts:
    """Columns of a weighed block, in the order in which they came, and their products.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.plain_block import PlainBlock
    >>> from s2mam.solvers.plain_products import PlainProducts
    >>> rows = np.array([[1.0, 0.0], [1.0, 2.0], [0.0, 3.0]])
    >>> block = PlainBlock(rows, 1, lambda rows, out, _: np.copyto(out, rows))
    >>> block.include(np.arange(3))
    >>> products = PlainProducts()
    >>> products.include(block, np.array([2]), single=False).tolist()
    [2]
    >>> products.include(block, np.array([1, 2]), single=False).tolist()
    [2, 1]
    >>> products.of(block.model(single=False)[[2, 1]])
    array([[9., 6.],
           [6., 5.]])
    >>> products.include(block, np.array([0, 1]), single=False).tolist()  # 2 is let go
    [1, 0]
    >>> products.of(block.model(single=False)[[1, 0]])
    array([[5., 1.],
           [1., 1.]])
    """

    def __init__(self) -> None:
        self.columns: IntArray = np.arange(0)
        self._place: IntArray = self.columns
        self._made_for: tuple[int, bool] | None = None
        self._matrix: AnyArray = _NONE

    def include(self, block: PlainBlock, columns: IntArray, *, single: bool) -> IntArray:
        """Columns to factorise: all of ``columns`` and perhaps some of before."""
        size = block.squares.size
        if self._made_for != (block.epoch, single):
            self._made_for = (block.epoch, single)
            self._place, self.columns = np.full(size, -1), columns[:0]
            self._matrix = _NONE
        elif len(self._place) < size:
            self._place = np.concatenate([self._place, np.full(size - len(self._place), -1)])
        places = self._place[columns]
        fresh = columns[places < 0]
        if len(self.columns) + len(fresh) > _IDLE * len(columns):
            self._keep(places[places >= 0])
        if len(fresh):
            held = len(self.columns)
            self._place[fresh] = np.arange(held, held + len(fresh))
            self.columns = np.concatenate([self.columns, fresh])
        return self.columns

    def _keep(self, places: IntArray) -> None:
        """Forget all columns but those at ``places``, and all products that are not complete."""
        complete = len(self._matrix) == len(self.columns)
        self._matrix = self._matrix.take(places, axis=0).take(places, axis=1) if complete else _NONE
        self._place[self.columns] = -1
        self.columns = self.columns[places]
        self._place[self.columns] = np.arange(len(places))

    def of(self, kept: AnyArray) -> AnyArray:
        """Products of the columns ``kept``, those that :meth:`include` has returned."""
        done, count = len(self._matrix), len(kept)
        if done == 0:
            self._matrix = kept @ kept.T
        elif done < count:
            grown = np.empty((count, count), dtype=kept.dtype)
            grown[:done, :done] = self._matrix
            grown[done:] = kept[done:] @ kept.T
            grown[:done, done:] = grown[done:, :done].T
            self._matrix = grown
        return self._matrix
