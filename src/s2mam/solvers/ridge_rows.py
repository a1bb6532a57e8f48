"""The ridge model over the rows: for scalar losses without quadratic term and many columns.

Factorised in single precision, half the time; refinement gives the solution the other half.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.solvers.bend import Bend
from s2mam.solvers.linear import Definite, gram
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.ridge import refine
from s2mam.solvers.working import ColumnBlock

__all__ = ["RowSystem"]


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
    ) -> None:
        self.prepared = prepared
        self.block = block
        self._group_scales = scales
        self._scales = prepared.layout.spread(scales, block.groups)
        self._root = bend.root
        self._features = block.rows[prepared.free.shape[1] :]
        self._free = prepared.free * self._root[:, None]
        self._exact = not single
        self._factorise(strong)

    def _factorise(self, strong: BoolArray) -> None:
        kind: Any = np.float64 if self._exact else np.float32
        chosen = np.flatnonzero(strong)
        scaled: AnyArray = self._features[chosen].astype(kind, copy=False)
        scaled *= np.sqrt(self._scales[chosen]).astype(kind)[:, None]
        kernel = gram(scaled)
        root = self._root.astype(kind)
        kernel *= root[:, None]
        kernel *= root
        kernel.ravel()[:: len(kernel) + 1] += 1.0
        self._kernel = Definite(kernel, overwrite=True)
        self._free_half = self._kernel.half(self._free)
        self._free_gram = Definite(self._free_half.T @ self._free_half)

    def _approximate(self, right: FloatArray) -> FloatArray:
        rows = len(self._root)
        half = self._kernel.half(right[:rows])
        free = self._free_gram.solve(self._free_half.T @ half - right[rows:])
        dual = self._kernel.back(half - self._free_half @ free)
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
        unknowns, met, settled = refine(right, self._approximate, self._apply, small)
        if not settled and not self._exact:
            self._exact = True
            self._factorise(self._scales > 0.0)
            unknowns, met, _ = refine(right, self._approximate, self._apply, small)
        free = unknowns[rows:]
        coef = np.concatenate([free, met[rows:]])
        return coef, met[:rows] + self.prepared.free @ free

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        moved = self.prepared.moves(groups, pulls)[0]
        moved *= self._root
        half = self._kernel.half(moved.T)
        answer: FloatArray = half.T @ half
        if self._free.size:
            lost = self._free_gram.half(self._free_half.T @ half)
            answer -= lost.T @ lost
        return answer
