"""Column groups of a feature matrix: norms, sums and column lists, empty groups included."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray, IntArray

__all__ = ["GroupLayout"]


class GroupLayout:
    """Index arithmetic for groups of consecutive columns.

    Parameters
    ----------
    offsets : ndarray of shape (G + 1,)
        Group ``g`` holds the columns ``offsets[g]:offsets[g + 1]``; it may be empty.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.layout import GroupLayout
    >>> layout = GroupLayout(np.array([0, 2, 2, 3]))
    >>> layout.norms(np.array([3.0, 4.0, 2.0]))
    array([5., 0., 2.])
    >>> layout.columns(np.array([0, 2]))
    array([0, 1, 2])
    """

    def __init__(self, offsets: IntArray) -> None:
        self.offsets = offsets
        self.sizes: IntArray = np.diff(offsets)
        self.n_groups = len(self.sizes)
        self.n_columns = int(offsets[-1])
        # reduceat cannot express an empty segment, so empty groups are skipped and filled with 0
        self._filled: IntArray = np.flatnonzero(self.sizes > 0)
        self._starts: IntArray = offsets[:-1][self._filled]
        width = int(self.sizes[0]) if self.n_groups else 0
        self.width = width if width > 0 and bool(np.all(self.sizes == width)) else 0

    def norms(self, values: FloatArray) -> FloatArray:
        """Euclidean (Frobenius) norm of every group of ``values``, shape ``(P,)`` or ``(P, K)``."""
        squares = values * values if values.ndim == 1 else np.einsum("pk,pk->p", values, values)
        if self.width:
            equal: FloatArray = np.sqrt(squares.reshape(-1, self.width).sum(axis=1))
            return equal
        norms = np.zeros(self.n_groups)
        if self._filled.size:
            norms[self._filled] = np.sqrt(np.add.reduceat(squares, self._starts))
        return norms

    def columns(self, groups: IntArray) -> IntArray:
        """Columns of the given groups, in the order of ``groups``."""
        if self.width:
            start = self.offsets[groups]
            columns: IntArray = (start[:, None] + np.arange(self.width)).ravel()
            return columns
        sizes = self.sizes[groups]
        ends = np.cumsum(sizes)
        shift = self.offsets[groups] - (ends - sizes)
        total = int(ends[-1]) if ends.size else 0
        listed: IntArray = np.arange(total) + np.repeat(shift, sizes)
        return listed

    def spread(self, values: FloatArray, groups: IntArray) -> FloatArray:
        """Repeat the value of each of ``groups`` for each of its columns."""
        repeated: FloatArray = np.repeat(values, self.width or self.sizes[groups])
        return repeated

    def sum_columns(self, matrix: FloatArray, groups: IntArray) -> FloatArray:
        """Sum the columns of ``matrix`` within each of ``groups`` (none of them empty)."""
        if self.width:
            blocks = matrix.reshape(*matrix.shape[:-1], len(groups), self.width)
            summed: FloatArray = blocks.sum(axis=-1)
            return summed
        sizes = self.sizes[groups]
        starts = np.cumsum(sizes) - sizes
        reduced: FloatArray = np.add.reduceat(matrix, starts, axis=-1)
        return reduced
