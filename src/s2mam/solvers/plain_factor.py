"""Factors of the ridge model of a plain problem, over its columns or its rows.

The model is that of :mod:`s2mam.solvers.ridge`: ``||b_g||^2 / (2 scale_g)`` per group, unknowns in
units of the root of their scale, in which the ridge is the identity. The intercept is eliminated:
``B`` holds the columns, weighted by curvature and units, orthogonal to the constant. Columns of
little energy are left to the ridge alone; correcting the solution against the true gradient
removes what that leaves out, and so single precision is enough.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.solvers.plain_block import PlainBlock
from s2mam.solvers.plain_point import PlainPoint
from s2mam.solvers.plain_products import PlainProducts

__all__ = ["CHEAP", "PlainFactor", "make_factor", "moves"]

# Columns up to which a factor takes no longer than a correction, and the energy from which a column
# is in such a factor.
CHEAP = 96
_LEAST = 0.001
# The sum of the eigenvalues up to which single precision serves.
_SINGLE_TRACE = 1e5


def make_factor(
    point: PlainPoint,
    block: PlainBlock,
    root: FloatArray,
    threshold: float,
    products: PlainProducts | None = None,
) -> PlainFactor | None:
    """Factor over ``block`` at the scales ``root ** 2``, one per group; None if that fails.

    Columns whose ridge solution moves by less than the share ``threshold`` stay out of it, unless
    they are few. ``products`` of a weighed block are used again.
    """
    energies = block.squares * (point.bend_total * root * root)[:, None]
    columns = (energies > _LEAST).reshape(-1).nonzero()[0]
    if point.curved or len(columns) > CHEAP:
        columns = (energies > threshold).reshape(-1).nonzero()[0]
    single = block.spans_single and bool(energies.sum() < _SINGLE_TRACE)
    energies += 1.0
    by_rows = len(columns) > len(point.weights)
    again = products is not None and block.weighed and not by_rows
    if again:
        assert products is not None
        columns = products.include(block, columns, single=single)
    kept: AnyArray = block.model(single=single)[columns]
    if not block.weighed:
        point.weigh(kept, kept)
    units = root.astype(kept.dtype, copy=False)[columns // block.width]
    if by_rows:
        kept *= units[:, None]
        matrix = kept.T @ kept
    else:
        # products first, units after: the matrix is smaller than what it is made of
        matrix = (products.of(kept) if again and products is not None else kept @ kept.T) * units
        matrix *= units[:, None]
    factor = PlainFactor(block.epoch, columns, kept, units, energies, by_rows=by_rows)
    factor.bend_root = point.bend_root
    return factor if factor.factorise(matrix) else None


def moves(
    point: PlainPoint,
    block: PlainBlock,
    groups: IntArray,
    unit: float,
    *,
    single: bool,
    bend_root: FloatArray | None = None,
) -> AnyArray:
    """Weighed decision values each of ``groups`` adds per unit of scale, one row each.

    Gradients are measured in ``unit``; ``bend_root`` is the curvature of the factor they are for.
    """
    rows = block.model(single=single)
    weights = block.of(point.pulls) * (1.0 / unit)
    shaped = weights.reshape(len(weights), 1, block.width).astype(rows.dtype, copy=False)
    moved: AnyArray = np.matmul(shaped, rows.reshape(len(weights), block.width, -1))
    moved = moved.reshape(len(weights), -1)
    if len(groups) < len(weights) or not (block.place[groups] == np.arange(len(weights))).all():
        moved = moved[block.place[groups]]
    if not block.weighed:
        point.weigh(moved, moved, root=bend_root)
    return moved


class PlainFactor:
    """Cholesky factor of ``B B' + I`` or, where the rows are fewer, of ``B'B + I``.

    Parameters
    ----------
    epoch : int
        That of the block the factor is for.
    columns : ndarray of int
        Columns of the block in the factor.
    kept : ndarray of shape (k, l)
        These columns, weighed; for a factor over rows in their units.
    units : ndarray of shape (k,)
        Root of the scale of each of them.
    diagonal : ndarray of shape (m, width)
        Diagonal of the ridge model, all columns held.
    by_rows : bool
        Whether the matrix is ``B'B + I``.
    """

    def __init__(
        self,
        epoch: int,
        columns: IntArray,
        kept: AnyArray,
        units: AnyArray,
        diagonal: FloatArray,
        *,
        by_rows: bool,
    ) -> None:
        self.bend_root: FloatArray | None = None
        self.epoch = epoch
        self.single = kept.dtype == np.float32
        self.cheap = len(columns) <= CHEAP
        self.by_rows = by_rows
        self._columns = columns
        self._kept = kept
        self._units = units
        self._diagonal = diagonal
        self._solve = lapack.spotrs if self.single else lapack.dpotrs

    def factorise(self, matrix: AnyArray) -> bool:
        """Factor of ``matrix`` plus the identity, in its place; whether there is one."""
        if not len(matrix):
            return True
        matrix.reshape(-1)[:: len(matrix) + 1] += 1.0
        potrf = lapack.spotrf if self.single else lapack.dpotrf
        self._factor, info = potrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        return bool(info == 0)

    def correct(self, rest: FloatArray) -> FloatArray:
        """Newton step of the unknowns from their negative gradients, one row per group."""
        # groups that came later are not known here
        known = len(self._diagonal)
        lifted: FloatArray = rest.copy()
        lifted[:known] /= self._diagonal
        if not len(self._columns):
            return lifted
        right = rest.reshape(-1)[self._columns]
        if self.by_rows:
            # push-through identity: (B B' + I)^-1 = I - B (B'B + I)^-1 B'
            kept = self._kept
            moved = right.astype(kept.dtype, copy=False) @ kept
            right -= kept @ self._solve(self._factor, moved, lower=1)[0]
        else:
            right = self._solve(self._factor, right, lower=1)[0]
        lifted.reshape(-1)[self._columns] = right
        return lifted

    def response(self, moved: AnyArray) -> AnyArray:
        """``-1/2 d||p_g||^2 / d scale_h`` from what the groups move (which is overwritten)."""
        if self.by_rows:
            # from the right the triangular solve is faster; it wants column order
            trsm = blas.strsm if self.single else blas.dtrsm
            half = trsm(1.0, self._factor, np.asfortranarray(moved), 1, 1, 1, overwrite_b=1)
            answer: AnyArray = half @ half.T
        else:
            answer = moved @ moved.T
            if len(self._columns):
                coupling = moved @ self._kept.T
                coupling *= self._units
                trtrs = lapack.strtrs if self.single else lapack.dtrtrs
                half = trtrs(self._factor, coupling.T, lower=1, overwrite_b=1)[0]
                answer -= half.T @ half
        return answer
