"""The ridge model over the rows: for scalar losses without quadratic term and many columns.

Factorised in single precision, half the time; refinement gives the solution the other half.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.solvers.linear import Definite, gram_lower
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.ridge import refine

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
        groups: IntArray,
        scales: FloatArray,
        strong: BoolArray,
        curvature: FloatArray,
    ) -> None:
        self.prepared = prepared
        self._groups = groups
        self._scales = scales
        self._root = np.sqrt(curvature)
        self._features = prepared.block(groups)
        self._free = prepared.free * self._root[:, None]
        self._exact = False
        self._factorise(strong)

    def _factorise(self, strong: BoolArray) -> None:
        kind: Any = np.float64 if self._exact else np.float32
        scaled: AnyArray = self._features[strong].astype(kind, copy=False)
        scaled *= np.sqrt(self._scales[strong]).astype(kind)[:, None]
        scaled *= self._root.astype(kind)
        kernel = gram_lower(scaled)
        kernel.flat[:: len(kernel) + 1] += 1.0
        self._kernel = Definite(kernel)
        self._free_half = self._kernel.half(self._free)
        self._free_gram = Definite(self._free_half.T @ self._free_half)

    def _approximate(self, right: FloatArray) -> FloatArray:
        rows = len(self._root)
        half = self._kernel.half(right[:rows])
        free = self._free_gram.solve(self._free_half.T @ half - right[rows:])
        dual = self._kernel.back(half - self._free_half @ free)
        return np.concatenate([dual, free]).astype(np.float64, copy=False)

    def _gradients(self, dual: FloatArray) -> FloatArray:
        gradients: FloatArray = self._features @ (self._root * dual)
        return gradients

    def _apply(self, unknowns: FloatArray) -> FloatArray:
        rows = len(self._root)
        dual, free = unknowns[:rows], unknowns[rows:]
        moved = (self._scales * self._gradients(dual)) @ self._features
        return np.concatenate([dual + self._root * moved + self._free @ free, self._free.T @ dual])

    def solve(
        self, pull: FloatArray, limits: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows, layout = len(self._root), self.prepared.layout
        starts = np.cumsum(layout.sizes[self._groups]) - layout.sizes[self._groups]
        scales = self._scales[starts]
        squares = np.where(scales > 0.0, limits * limits, np.inf)
        total = float(scales @ (limits * limits))
        energies = np.maximum(np.einsum("if,if->f", self._free, self._free), 1e-300)

        def small(rest: FloatArray) -> bool:
            # a residual of the rows is a gradient left over along the columns
            left = self._free.T @ rest[:rows] - rest[rows:]
            if float((left * left / energies).sum()) > total:
                return False
            gradients = self._gradients(rest[:rows])
            sums = layout.sum_columns(gradients * gradients, self._groups)
            return bool(np.all(sums <= squares))

        right = np.concatenate([pull / self._root, np.zeros(self._free.shape[1])])
        unknowns, settled = refine(right, self._approximate, self._apply, small)
        if not settled and not self._exact:
            self._exact = True
            self._factorise(self._scales > 0.0)
            unknowns, _ = refine(right, self._approximate, self._apply, small)
        dual, free = unknowns[:rows], unknowns[rows:]
        coef = self._scales * self._gradients(dual)
        return free, coef, coef @ self._features + self.prepared.free @ free

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        moved = self.prepared.moves(groups, pulls)[0]
        half = self._kernel.half((moved * self._root).T)
        answer: FloatArray = half.T @ half
        if self._free.size:
            lost = self._free_gram.half(self._free_half.T @ half)
            answer -= lost.T @ lost
        return answer
