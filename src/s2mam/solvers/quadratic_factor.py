"""Factor of the ridge model of a quadratic loss over its rows: ``A = I + B S B'``.

Columns of little energy are left out of the factor but for their mean energy per row: conjugate
gradients remove what that leaves over, and so single precision is enough. Where the columns kept
are fewer than the rows, the matrix factorised is the one over the columns.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.solvers.plain_block import PlainBlock
from s2mam.solvers.quadratic_point import QuadraticPoint

__all__ = ["QuadraticFactor", "empty_answers", "make_factor", "unit_moves"]


def make_factor(
    point: QuadraticPoint, block: PlainBlock, scales: FloatArray, threshold: float
) -> QuadraticFactor | None:
    """Factor over ``block`` at ``scales``, one per group held; None if that fails.

    Columns whose ridge solution moves by less than the share ``threshold`` stay out of it.
    """
    energies = (block.squares * (point.total * scales)[:, None]).reshape(-1)
    strong = (energies > threshold).nonzero()[0]
    trace = float(energies.sum())
    if block.serves_single(trace):
        kept = block.single[strong]
    else:
        kept = block.rows[strong]
        point.weigh(kept)
    rest = max(0.0, trace - float(energies[strong].sum())) / kept.shape[1]
    kept *= np.sqrt(scales)[strong // block.width, None].astype(kept.dtype, copy=False)
    factor = QuadraticFactor(block.groups, kept, 1.0 + rest)
    return None if factor.failed else factor


def unit_moves(
    point: QuadraticPoint, block: PlainBlock, groups: IntArray, *, single: bool
) -> AnyArray:
    """Weighed decision values of a unit of coefficients along the pull of each of ``groups``."""
    rows: AnyArray = block.single if single else block.rows
    pulls = block.of(point.pulls) / np.maximum(block.of(point.norms), 1e-300)[:, None]
    shaped = pulls.reshape(len(pulls), 1, block.width).astype(rows.dtype, copy=False)
    moved: AnyArray = np.matmul(shaped, rows.reshape(len(pulls), block.width, -1))
    moved = moved.reshape(len(pulls), -1)
    if not single:
        point.weigh(moved)
    if block.complete and len(groups) == len(pulls):
        return moved
    chosen: AnyArray = moved[block.place[groups]]
    return chosen


def empty_answers(moved: AnyArray) -> FloatArray:
    """Answers (see :meth:`QuadraticFactor.answers`) of a model without groups."""
    answers: FloatArray = (moved @ moved.T).astype(np.float64, copy=False)
    return answers


class QuadraticFactor:
    """Cholesky factor of ``ridge + K'K`` or, where the columns are fewer, of ``ridge + KK'``.

    Parameters
    ----------
    groups : ndarray of shape (m,)
        Groups whose columns were looked at.
    kept : ndarray of shape (s, l)
        ``K``: weighed columns, as rows, times the root of their scales.
    ridge : float
        What the diagonal is raised by.
    """

    def __init__(self, groups: IntArray, kept: AnyArray, ridge: float) -> None:
        self.groups = groups
        self.single = kept.dtype == np.float32
        self.by_rows = len(kept) > kept.shape[1]
        self.failed = False
        self._kept = kept
        self._ridge = kept.dtype.type(ridge)
        self._half = lapack.strtrs if self.single else lapack.dtrtrs
        self._triangular = blas.strsm if self.single else blas.dtrsm
        matrix = kept.T @ kept if self.by_rows else kept @ kept.T
        if len(matrix):
            matrix.reshape(-1)[:: len(matrix) + 1] += self._ridge
            factorise = lapack.spotrf if self.single else lapack.dpotrf
            self._factor, info = factorise(matrix.T, lower=1, clean=0, overwrite_a=1)
            self.failed = info != 0

    def solve(self, values: FloatArray) -> FloatArray:
        """``A^-1 values``, about."""
        kept = self._kept
        right = values.astype(kept.dtype, copy=False)
        if self.by_rows:
            solved: FloatArray = self._inverse(right)
        elif len(kept):
            solved = right - self._inverse(kept @ right) @ kept
            solved /= self._ridge
        else:
            solved = right / self._ridge
        return solved.astype(np.float64, copy=False)

    def _inverse(self, right: AnyArray) -> AnyArray:
        # two triangular solves are faster than LAPACK's for a positive definite matrix
        half = self._half(self._factor, right, lower=1)[0]
        solved: AnyArray = self._half(self._factor, half, lower=1, trans=1, overwrite_b=1)[0]
        return solved

    def answers(self, moved: AnyArray) -> FloatArray:
        """``moved A^-1 moved'``: how pulls answer to coefficients (``moved`` is overwritten)."""
        if self.by_rows:
            # from the right the triangular solve is faster; it wants column order
            half = self._triangular(
                1.0, self._factor, np.asfortranarray(moved), 1, 1, 1, overwrite_b=1
            )
            products: FloatArray = (half @ half.T).astype(np.float64, copy=False)
            return products
        answers = moved @ moved.T
        if len(self._kept):
            half = self._triangular(
                1.0, self._factor, (moved @ self._kept.T).T, 0, 1, overwrite_b=1
            )
            answers -= half.T @ half
        answers = answers.astype(np.float64, copy=False)
        answers /= float(self._ridge)
        # keeps a direction that the data do not bend from turning negative by rounding
        answers.reshape(-1)[:: len(answers) + 1] *= 1.0 + 1e-12
        return answers
