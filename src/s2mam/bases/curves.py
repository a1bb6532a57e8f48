"""Curved parts of very many columns, held for some rows and made for the others when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.design import Design

__all__ = ["LazyCurves", "column_chunks"]

# Numbers that one chunk of columns may hold: 32 MB.
_CHUNK: Final = 2**22


@dataclass(frozen=True, eq=False)
class LazyCurves:
    """Stands for the (p, n, r) array of curved parts; see :class:`s2mam.bases.atoms.Atoms`.

    ``curves[j]`` and ``curves[:, rows]`` give what the array would give. The first rows, which are
    those with labels, are held in full precision; all rows may be held in half of it, which serves
    sums over all columns and rows.

    Attributes
    ----------
    design : Design
        Recipe of the features.
    table : (n, p) array
        The rows it was built from.
    curved_map : (P, r) array
        From features to curved parts.
    first : (p, l, r) array
        Curved parts of the first l rows.
    rounded : (p, n, r) array of float32, or None
        Curved parts of all rows, where they are needed again and again.
    """

    design: Design
    table: FloatArray
    curved_map: FloatArray
    first: FloatArray
    rounded: Any = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the array that this stands for."""
        return (self.design.n_columns, int(self.table.shape[0]), int(self.curved_map.shape[1]))

    def __getitem__(self, key: Any) -> FloatArray:
        """``curves[j]``: one column (n, r). ``curves[:, rows]``: some rows (p, m, r)."""
        if isinstance(key, tuple):
            rows = np.asarray(key[1])
            if rows.dtype == np.bool_:
                rows = np.flatnonzero(rows)
            if not rows.size or int(rows.max()) < self.first.shape[1]:
                return np.asarray(self.first[:, rows], dtype=np.float64)
            return np.concatenate(
                [self._evaluate(part, self.table[rows]) for part in self._parts(rows.size)]
            )
        one: FloatArray = self.of_columns(np.array([int(key)]))[0]
        return one

    def of_columns(self, columns: IntArray) -> FloatArray:
        """Curved parts (c, n, r) of all rows in some columns."""
        return self._evaluate(columns, self.table)

    def chunks(self) -> Iterator[tuple[IntArray, FloatArray]]:
        """Curved parts (c, n, r) of all rows, some columns at a time."""
        for part in self._parts(self.shape[1]):
            if self.rounded is None:
                yield part, self.of_columns(part)
            else:
                yield part, self.rounded[part[0] : part[-1] + 1].astype(np.float64)

    def _parts(self, rows: int) -> Iterator[IntArray]:
        p, _, rank = self.shape
        return column_chunks(p, rows * max(rank, 8))

    def _evaluate(self, columns: IntArray, table: FloatArray) -> FloatArray:
        features = self.design.evaluate(table, columns)
        result = np.zeros((columns.size, table.shape[0], self.shape[2]))
        at = 0
        for place, column in enumerate(columns):
            block = self.design.block(int(column))
            width = block.stop - block.start
            np.matmul(features[:, at : at + width], self.curved_map[block], out=result[place])
            at += width
        return result


def column_chunks(p: int, size: int) -> Iterator[IntArray]:
    """Numbers of p columns in runs that hold about 32 MB at ``size`` numbers a column.

    Examples
    --------
    >>> [part.tolist() for part in column_chunks(5, 2**21)]
    [[0, 1], [2, 3], [4]]
    """
    step = max(1, _CHUNK // max(size, 1))
    for start in range(0, p, step):
        yield np.arange(start, min(start + step, p))
