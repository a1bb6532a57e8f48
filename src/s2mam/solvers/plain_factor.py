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

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.solvers.plain_block import PlainBlock
from s2mam.solvers.plain_point import PlainPoint

__all__ = ["CHEAP", "PlainFactor", "empty_response", "make_factor", "moves"]

# Columns up to which a factor takes no longer than a correction, and the energy from which a column
# is in such a factor.
CHEAP = 96
_LEAST = 0.001
# Columns carried along at most, over those in use.
_IDLE = 1.25
# The sum of the eigenvalues up to which single precision serves, and the mean squares of features
# whose products neither overflow nor vanish there.
_SINGLE_TRACE = 1e5
_SINGLE_RANGE = (1e-12, 1e12)


def make_factor(
    point: PlainPoint,
    block: PlainBlock,
    root: FloatArray,
    threshold: float,
    last: PlainFactor | None = None,
) -> PlainFactor | None:
    """Factor over ``block`` at the scales ``root ** 2``, one per group; None if that fails.

    Columns whose ridge solution moves by less than the share ``threshold`` stay out of it, unless
    they are few. The products of the columns of ``last`` are used again where they serve.
    """
    energies = block.squares * (point.bend_total * root * root)[:, None]
    flat = energies.reshape(-1)
    strong = (flat > (threshold if point.curved else _LEAST)).nonzero()[0]
    if not point.curved and len(strong) > CHEAP:
        strong = (flat > threshold).nonzero()[0]
    low, high = _SINGLE_RANGE
    single = bool(energies.sum() < _SINGLE_TRACE and low < block.largest_square < high)
    energies += 1.0
    if last is not None and not last.serves(block, strong, single=single):
        last = None
    factor = PlainFactor(point, block, strong, root, energies, single=single, last=last)
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
    """Cholesky factor of ``B B' + I`` or, where the rows are fewer, of ``B'B + I``.

    The columns of a quadratic loss are kept weighed and centred, since they never change; for a
    curved loss over the rows the smaller matrix is weighed instead.
    """

    _kept: AnyArray
    _strong: IntArray
    _bend_root: AnyArray
    _constant: AnyArray
    _products: AnyArray | None

    def __init__(
        self,
        point: PlainPoint,
        block: PlainBlock,
        strong: IntArray,
        root: FloatArray,
        diagonal: FloatArray,
        *,
        single: bool,
        last: PlainFactor | None,
    ) -> None:
        self.single, self.groups = single, block.groups
        self.cheap = len(strong) <= CHEAP
        self._point, self._diagonal = point, diagonal
        self._strong = strong = strong if last is None else last._strong
        kind: Any = np.float32 if single else np.float64
        self._units = root.astype(kind, copy=False)[strong // block.width]
        self._triangular = lapack.strtrs if single else lapack.dtrtrs
        self._triangular_right = blas.strsm if single else blas.dtrsm
        self._solve = lapack.spotrs if single else lapack.dpotrs
        self.by_rows = len(strong) > len(point.weights)
        self._products = None
        if point.curved:
            matrix = self._weigh_curved(block, kind)
        elif last is None:
            matrix = self._multiply(block)
        else:
            self._kept, self._products = last._kept, last._products
            matrix = self._scale()
        self.failed = False
        if len(matrix):
            matrix.reshape(-1)[:: len(matrix) + 1] += 1.0
            factorise = lapack.spotrf if single else lapack.dpotrf
            self._factor, info = factorise(matrix.T, lower=1, clean=0, overwrite_a=1)
            self.failed = info != 0
        if self.by_rows and point.curved and not self.failed:
            self._half_constant = self._triangular(self._factor, self._constant, lower=1)[0]
            self._half_constant /= np.sqrt(self._half_constant @ self._half_constant)

    def _multiply(self, block: PlainBlock) -> AnyArray:
        """Products of the columns (or rows) of a quadratic loss."""
        units, point = self._units, self._point
        if self.single:
            kept = block.single[self._strong]
        else:
            kept = _centre(block.rows[self._strong], point.bend_root, point)
        self._kept = kept
        if self.by_rows:
            kept *= units[:, None]
            product: AnyArray = kept.T @ kept
            return product
        # products first, units after: the matrix is smaller than what it is made of
        self._products = kept @ kept.T
        return self._scale()

    def _scale(self) -> AnyArray:
        """Products of the columns in their units."""
        matrix: AnyArray = self._products * self._units
        matrix *= self._units[:, None]
        return matrix

    def _weigh_curved(self, block: PlainBlock, kind: Any) -> AnyArray:
        """Products of the columns (or rows) with the curvature at the point."""
        point, units = self._point, self._units
        self._bend_root = bend_root = point.bend_root.astype(kind, copy=False)
        self._constant = constant = bend_root * kind(point.bend_total**-0.5)
        self._kept = kept = (block.single if self.single else block.rows)[self._strong]
        matrix: AnyArray
        if self.by_rows:
            kept *= units[:, None]
            matrix = kept.T @ kept
            matrix *= bend_root
            matrix *= bend_root[:, None]
            return matrix
        kept *= bend_root
        matrix = kept @ kept.T
        if point.fit_intercept:
            common = kept @ constant
            matrix -= common[:, None] * common
        matrix *= units
        matrix *= units[:, None]
        return matrix

    def serves(self, block: PlainBlock, strong: IntArray, *, single: bool) -> bool:
        """Whether the columns at hand are those of another factor, and hardly more."""
        return (
            self._products is not None
            and self.single == single
            and self.groups is block.groups
            and len(strong) <= len(self._strong) <= _IDLE * len(strong)
            and bool(self._members(len(block.rows))[strong].all())
        )

    def _members(self, count: int) -> BoolArray:
        members = np.zeros(count, dtype=bool)
        members[self._strong] = True
        return members

    def correct(self, rest: FloatArray) -> FloatArray:
        """Newton step of the unknowns from their negative gradients, one row per group."""
        lifted: FloatArray = rest / self._diagonal
        if not len(self._strong):
            return lifted
        kept, right = self._kept, rest.reshape(-1)[self._strong]
        if self.by_rows:
            # push-through identity: (B B' + I)^-1 = I - B (B'B + I)^-1 B'
            moved = right.astype(kept.dtype, copy=False) @ kept
            right -= kept @ self._row_solve(moved)
        else:
            right = self._solve(self._factor, right, lower=1)[0]
        lifted.reshape(-1)[self._strong] = right
        return lifted

    def _row_solve(self, moved: AnyArray) -> AnyArray:
        solved: AnyArray
        if not self._point.curved:
            solved = self._solve(self._factor, moved, lower=1, overwrite_b=1)[0]
            return solved
        moved *= self._bend_root
        half = self._triangular(self._factor, moved, lower=1)[0]
        if self._point.fit_intercept:
            half -= (half @ self._half_constant) * self._half_constant
        solved = self._triangular(self._factor, half, lower=1, trans=1)[0]
        solved *= self._bend_root
        return solved

    def shift(self, rest: FloatArray, jump: FloatArray) -> None:
        """Change gradients of a quadratic loss as decision values ``jump`` do, where it counts."""
        if not len(self._strong):
            return
        kept = self._kept
        pull = kept @ (self._point.bend_root * jump).astype(kept.dtype, copy=False)
        rest.reshape(-1)[self._strong] -= pull if self.by_rows else self._units * pull

    def _bent(self, moved: AnyArray) -> AnyArray:
        """Decision values in the curvature of the factor."""
        if not self.by_rows:
            return _centre(moved, self._bend_root, self._point)
        moved *= self._bend_root
        return moved

    def response(self, moved: AnyArray) -> FloatArray:
        """``-1/2 d||p_g||^2 / d scale_h`` from what the groups move (which is overwritten)."""
        point = self._point
        if not point.curved and not self.single:
            moved = _centre(moved, point.bend_root, point)
        elif point.curved:
            moved = self._bent(moved)
        answer: FloatArray
        if self.by_rows:
            # from the right the triangular solve is faster; it wants column order
            half = self._triangular_right(
                1.0, self._factor, np.asfortranarray(moved), 1, 1, 1, overwrite_b=1
            )
            answer = (half @ half.T).astype(np.float64, copy=False)
            if point.curved and point.fit_intercept:
                common = half @ self._half_constant
                answer -= common[:, None] * common
            return answer
        answer = (moved @ moved.T).astype(np.float64, copy=False)
        # keeps a direction that the data do not bend from turning negative by rounding
        answer.reshape(-1)[:: len(answer) + 1] *= 1.0 + 1e-12
        if len(self._strong):
            coupling = moved @ self._kept.T
            coupling *= self._units
            half = self._triangular(self._factor, coupling.T, lower=1, overwrite_b=1)[0]
            answer -= half.T @ half
        return answer
