"""The ridge model over the rows: for scalar losses without quadratic term and many columns.

Factorised in single precision, half the time; refinement gives the solution the other half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.solvers.bend import Bend
from s2mam.solvers.linear import Definite, gram
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.ridge import descend, refine
from s2mam.solvers.working import ColumnBlock

__all__ = ["RowSystem"]


# A factor serves other scales when these have moved the kernel by less than this, in squares of
# relative changes summed over the groups (once borrowed, less); and the steps allowed for it.
_NEAR = 0.5
_NEAR_AGAIN = 0.005
_BORROWED_STEPS = 8


@dataclass(frozen=True)
class _Factor:
    """Factor of the kernel, what it makes of the free columns, and the scales of all groups."""

    kernel: Definite
    free_half: FloatArray
    free_gram: Definite
    scales: FloatArray


class RowSystem:
    """Kernel form, ``l x l``.

    Unknowns are one dual value per row (its group gradients give the coefficients, scale times
    gradient) followed by the free coefficients, whose equations say that the dual values are
    orthogonal to the free columns.
    """

    def __init__(
        self,
        prepared: PreparedProblem,
        block: ColumnBlock,
        scales: FloatArray,
        strong: BoolArray,
        bend: Bend,
        *,
        single: bool = True,
        near: RowSystem | None = None,
    ) -> None:
        self.prepared = prepared
        self.block = block
        self._bend = bend
        self._group_scales = scales
        self._scales = prepared.layout.spread(scales, block.groups)
        self._root = bend.root
        self._features = block.rows[prepared.free.shape[1] :]
        self._free = prepared.free * self._root[:, None]
        self._strong = strong
        self._exact = not single
        self._borrowed = near is not None
        self._factor: _Factor = self._factorise(strong) if near is None else near._factor

    def _factorise(self, strong: BoolArray) -> _Factor:
        kind: Any = np.float64 if self._exact else np.float32
        chosen = np.flatnonzero(strong)
        scaled: AnyArray = self._features[chosen].astype(kind, copy=False)
        scaled *= np.sqrt(self._scales[chosen]).astype(kind)[:, None]
        matrix = gram(scaled)
        root = self._root.astype(kind)
        matrix *= root[:, None]
        matrix *= root
        matrix.ravel()[:: len(matrix) + 1] += 1.0
        kernel = Definite(matrix, overwrite=True)
        free_half = kernel.half(self._free)
        scales = np.zeros(self.prepared.layout.n_groups)
        scales[self.block.groups] = self._group_scales
        return _Factor(kernel, free_half, Definite(free_half.T @ free_half), scales)

    def _approximate(self, right: FloatArray) -> FloatArray:
        rows, factor = len(self._root), self._factor
        half = factor.kernel.half(right[:rows])
        free = factor.free_gram.solve(factor.free_half.T @ half - right[rows:])
        dual = factor.kernel.back(half - factor.free_half @ free)
        return np.concatenate([dual, free]).astype(np.float64, copy=False)

    def _apply(self, unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Image of the unknowns, and the coefficients and decision values they stand for."""
        rows = len(self._root)
        dual, free = unknowns[:rows], unknowns[rows:]
        coef = self._scales * (self._features @ (self._root * dual))
        moved = coef @ self._features
        image = np.concatenate([dual + self._root * moved + self._free @ free, self._free.T @ dual])
        return image, np.concatenate([moved, coef])

    def _test(self, limits: FloatArray) -> Callable[[FloatArray], bool]:
        """Whether a residual of the rows leaves no more gradient along the columns than that."""
        rows, layout, groups = len(self._root), self.prepared.layout, self.block.groups
        squares = np.where(self._group_scales > 0.0, limits * limits, np.inf)
        total = float(self._group_scales @ (limits * limits))
        energies = np.maximum(np.einsum("if,if->f", self._free, self._free), 1e-300)
        traces = layout.sum_columns(self.block.squares, groups)
        # ||F_g'r||^2 <= trace(F_g'F_g) ||r||^2 settles most cases without any product
        safe = float((squares / np.maximum(rows * traces, 1e-300)).min(initial=np.inf))

        def small(rest: FloatArray) -> bool:
            left = self._free.T @ rest[:rows] - rest[rows:]
            if float((left * left / energies).sum()) > total:
                return False
            bent = self._root * rest[:rows]
            if float(bent @ bent) <= safe:
                return True
            gradients = self._features @ bent
            return bool((layout.sum_columns(gradients * gradients, groups) <= squares).all())

        return small

    def solve(self, pull: FloatArray, limits: FloatArray) -> tuple[FloatArray, FloatArray]:
        rows, small = len(self._root), self._test(limits)
        right = np.concatenate([pull / self._root, np.zeros(self._free.shape[1])])
        unknowns, met, settled = self._refine(right, small)
        if not settled and self._borrowed:
            self._borrowed = False
            self._factor = self._factorise(self._strong)
            unknowns, met, settled = self._refine(right, small)
        if not settled and not self._exact:
            self._exact = True
            self._factor = self._factorise(self._scales > 0.0)
            unknowns, met, _ = refine(right, self._approximate, self._apply, small)
        free = unknowns[rows:]
        coef = np.concatenate([free, met[rows:]])
        return coef, met[:rows] + self.prepared.free @ free

    def _refine(
        self, right: FloatArray, small: Callable[[FloatArray], bool]
    ) -> tuple[FloatArray, FloatArray, bool]:
        if not self._borrowed:
            return refine(right, self._approximate, self._apply, small)

        def approximate(rest: FloatArray) -> FloatArray:
            return descend(rest, self._approximate, self._apply, small, _BORROWED_STEPS)

        return refine(right, approximate, self._apply, small)

    def is_near(self, block: ColumnBlock, scales: FloatArray, bend: Bend) -> bool:
        """Whether the factor at hand serves the groups of ``block`` at ``scales`` as well."""
        if bend is not self._bend:
            return False
        before = self._factor.scales[block.groups]
        energies = bend.total * self.prepared.layout.sum_columns(block.squares, block.groups)
        apart = (scales - before) * energies / (1.0 + before * energies)
        # the response of an old factor slows the scales down, so it is not passed on for long
        return float(apart @ apart) < (_NEAR_AGAIN if self._borrowed else _NEAR)

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        moved = self.prepared.moves(groups, pulls)[0]
        moved *= self._root
        factor = self._factor
        half = factor.kernel.half(moved.T)
        answer: FloatArray = half.T @ half
        if self._free.size:
            lost = factor.free_gram.half(factor.free_half.T @ half)
            answer -= lost.T @ lost
        return answer
