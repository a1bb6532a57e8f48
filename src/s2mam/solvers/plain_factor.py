"""Factors of the ridge model of a plain problem, over its columns or its rows.

The model is that of :mod:`s2mam.solvers.ridge`: ``||b_g||^2 / (2 scale_g)`` per group, unknowns in
units of the root of their scale, in which the ridge is the identity. The intercept is eliminated:
``B`` holds the columns, weighted by curvature and units, orthogonal to the constant. Columns of
little energy are left to the ridge alone; correcting the solution against the true gradient
removes what that leaves out, and so single precision is enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.solvers.plain_block import PlainBlock
from s2mam.solvers.plain_point import PlainPoint

__all__ = ["PlainFactor", "empty_response", "make_factor", "moves"]


def make_factor(
    point: PlainPoint, block: PlainBlock, root: FloatArray, threshold: float
) -> PlainFactor | None:
    """Factor over ``block`` at the scales ``root ** 2``, one per group; None if that fails.

    Columns whose ridge solution moves by less than the share ``threshold`` stay out of it.
    """
    energies = block.squares * (point.bend_total * root * root)[:, None]
    strong = (energies > threshold).reshape(-1).nonzero()[0]
    single = block.serves_single(float(energies.sum()))
    energies += 1.0
    factor = PlainFactor(point, block, strong, root, energies, single=single)
    return None if factor.failed else factor


def moves(point: PlainPoint, block: PlainBlock, groups: IntArray, *, single: bool) -> AnyArray:
    """Decision values each of ``groups`` adds per unit of scale, one row each."""
    rows: AnyArray = block.single if single else block.rows
    weights = block.of(point.pulls)
    shaped = weights.reshape(len(weights), 1, block.width).astype(rows.dtype, copy=False)
    moved: AnyArray = np.matmul(shaped, rows.reshape(len(weights), block.width, -1))
    moved = moved.reshape(len(weights), -1)
    if block.complete and len(groups) == len(weights):
        return moved
    chosen: AnyArray = moved[block.place[groups]]
    return chosen


def empty_response(point: PlainPoint, moved: AnyArray) -> FloatArray:
    """Response (see :meth:`PlainFactor.response`) of a model without groups."""
    centred = _centre(moved, point.bend_root, point)
    answer: FloatArray = centred @ centred.T
    return answer


def _centre(moved: AnyArray, bend_root: AnyArray, point: PlainPoint) -> AnyArray:
    """Weigh rows of decision values by curvature and take out what the intercept can do."""
    moved *= bend_root
    if point.fit_intercept:
        constant = bend_root / bend_root.dtype.type(point.bend_total**0.5)
        moved -= (moved @ constant)[:, None] * constant
    return moved


class PlainFactor:
    """Cholesky factor of ``B B' + I`` or, where the rows are fewer, of ``B'B + I``."""

    def __init__(
        self,
        point: PlainPoint,
        block: PlainBlock,
        strong: IntArray,
        root: FloatArray,
        diagonal: FloatArray,
        *,
        single: bool,
    ) -> None:
        source: AnyArray = block.single if single else block.rows
        kind: Any = source.dtype.type
        self.single = single
        self._strong = strong
        self._point = point
        self._diagonal = diagonal
        self._bend_root = bend_root = point.bend_root.astype(kind, copy=False)
        self._units = units = root[strong // block.width].astype(kind, copy=False)
        self._kept = kept = source[strong]
        constant = bend_root * kind(point.bend_total**-0.5)
        self.by_rows = len(strong) > len(bend_root)
        if self.by_rows:
            kept *= units[:, None]
            matrix = kept.T @ kept
            matrix *= bend_root
            matrix *= bend_root[:, None]
        else:
            kept *= bend_root
            # products first, units after: the matrix is smaller than what it is made of
            matrix = kept @ kept.T
            if point.fit_intercept:
                common = kept @ constant
                matrix -= common[:, None] * common
            matrix *= units
            matrix *= units[:, None]
        self._triangular = lapack.strtrs if single else lapack.dtrtrs
        self._triangular_right = blas.strsm if single else blas.dtrsm
        self._solve = lapack.spotrs if single else lapack.dpotrs
        self.failed = False
        if len(matrix):
            matrix.reshape(-1)[:: len(matrix) + 1] += 1.0
            factorise = lapack.spotrf if single else lapack.dpotrf
            self._factor, info = factorise(matrix.T, lower=1, clean=0, overwrite_a=1)
            self.failed = info != 0
        if self.by_rows and not self.failed:
            self._half_constant = self._triangular(self._factor, constant, lower=1)[0]
            self._half_constant /= np.sqrt(self._half_constant @ self._half_constant)

    def correct(self, rest: FloatArray) -> FloatArray:
        """Newton step of the unknowns from their negative gradients, one row per group."""
        lifted: FloatArray = rest / self._diagonal
        if not len(self._strong):
            return lifted
        kept, right = self._kept, rest.reshape(-1)[self._strong]
        if self.by_rows:
            # push-through identity: (B B' + I)^-1 = I - B (B'B + I)^-1 B'
            moved = right.astype(kept.dtype, copy=False) @ kept
            moved *= self._bend_root
            half = self._triangular(self._factor, moved, lower=1)[0]
            if self._point.fit_intercept:
                half -= (half @ self._half_constant) * self._half_constant
            solved = self._triangular(self._factor, half, lower=1, trans=1)[0]
            solved *= self._bend_root
            right -= kept @ solved
        else:
            right = self._solve(self._factor, right, lower=1)[0]
        lifted.reshape(-1)[self._strong] = right
        return lifted

    def response(self, moved: AnyArray) -> FloatArray:
        """``-1/2 d||p_g||^2 / d scale_h`` from what the groups move (which is overwritten)."""
        if self.by_rows:
            moved *= self._bend_root
            # from the right the triangular solve is faster; it wants column order
            half = self._triangular_right(
                1.0, self._factor, np.asfortranarray(moved), 1, 1, 1, overwrite_b=1
            )
            answer: FloatArray = (half @ half.T).astype(np.float64, copy=False)
            if self._point.fit_intercept:
                common = half @ self._half_constant
                answer -= common[:, None] * common
            return answer
        centred = _centre(moved, self._bend_root, self._point)
        answer = (centred @ centred.T).astype(np.float64, copy=False)
        # keeps a direction that the data do not bend from turning negative by rounding
        answer.reshape(-1)[:: len(answer) + 1] *= 1.0 + 1e-12
        if len(self._strong):
            coupling = centred @ self._kept.T
            coupling *= self._units
            half = self._triangular(self._factor, coupling.T, lower=1, overwrite_b=1)[0]
            answer -= half.T @ half
        return answer
