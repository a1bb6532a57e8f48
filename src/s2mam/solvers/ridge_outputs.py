"""The ridge model for many outputs: one factor for all together, or one per output.

The softmax couples the outputs of a row. A factor of everything grows with the cube of the number
of classes; with many unknowns each class has a factor of its own, conjugate gradients with these
factors solve the coupled system, and the response of the scales is taken from the uncoupled one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.solvers.linear import Definite, gram
from s2mam.solvers.ridge import ColumnSystem, descend, own_part, refine

__all__ = ["CoupledSystem", "SeparableSystem", "sum_zero"]

_MAX_STEPS = 500


class CoupledSystem(ColumnSystem):
    """Column system of ``K`` outputs; each column stands for ``K`` consecutive unknowns."""

    def _factorise(self, scaled: IntArray, *, single: bool) -> None:
        self._keep(scaled)
        self._single = False
        outputs, first = self.prepared.outputs, self._first
        matrix = self.prepared.gram(self._kept, self._bend.values)
        if self.prepared.quadratic is not None:
            block = self._strong_quadratic()
            for k in range(outputs):
                matrix[first * outputs + k :: outputs, first * outputs + k :: outputs] += block
        matrix.ravel()[self._n_free * outputs * (len(matrix) + 1) :: len(matrix) + 1] += 1.0
        self._factor = Definite(matrix, overwrite=True)

    def _approximate(self, right: FloatArray) -> FloatArray:
        solution = right.copy()
        strong = right[self._strong]
        solution[self._strong] = self._factor.solve(strong.ravel()).reshape(strong.shape)
        return solution

    def _apply(self, unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        prepared, first = self.prepared, self._first
        coef = self._root[:, None] * unknowns
        decision: FloatArray = self.block.rows.T @ coef
        product = self.block.rows @ prepared.bend(self._bend.values, decision)
        if prepared.quadratic is not None:
            product[first:] += prepared.quadratic_block(self.block) @ coef[first:]
        product *= self._root[:, None]
        product[self._n_free :] += unknowns[self._n_free :]
        return product, decision

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        prepared, first, count = self.prepared, self._first, len(groups)
        moved = prepared.moves(groups, pulls)
        bent = np.einsum("ikm,mgi->kgi", self._bend.values, moved)
        coupling = np.einsum("ai,kgi->akg", self._kept, bent, optimize=True)
        answer: FloatArray = np.einsum("kgi,khi->gh", moved, bent, optimize=True)
        if prepared.quadratic is not None:
            for k in range(prepared.outputs):
                at_factor, at_own = self._quadratic_moves(groups, pulls[:, k])
                coupling[first:, k] += at_factor
                answer += own_part(prepared, at_own, groups, pulls[:, k])
        half = self._factor.half(coupling.reshape(-1, count))
        answer.ravel()[:: count + 1] *= 1.0 + 1e-12
        answer -= half.T @ half
        return answer


class SeparableSystem(CoupledSystem):
    """Column system whose factorisation ignores the coupling between outputs."""

    def _factorise(self, scaled: IntArray, *, single: bool) -> None:
        prepared = self.prepared
        self._keep(scaled)
        self._single = False
        self._bends = self._output_bends()
        quadratic = None if prepared.quadratic is None else self._strong_quadratic()
        self._factors = []
        for bend in self._bends:
            matrix = gram((self._kept * np.sqrt(bend)).T)
            if quadratic is not None:
                matrix[self._first :, self._first :] += quadratic
            matrix.ravel()[self._n_free * (len(matrix) + 1) :: len(matrix) + 1] += 1.0
            self._factors.append(Definite(matrix, overwrite=True))

    def _output_bends(self) -> FloatArray:
        """(K, l) bends of the rows, the coupling between outputs left out."""
        outputs, weights = self.prepared.outputs, self.prepared.weights
        diagonal = np.einsum("ikk->ki", self._bend.values) - weights / outputs**2
        # what the sum-zero directions feel when all classes are equally likely
        bends: FloatArray = np.maximum(diagonal * (outputs / (outputs - 1.0)), 1e-12 * weights)
        return bends

    def _approximate(self, right: FloatArray) -> FloatArray:
        solution = right.copy()
        for k, factor in enumerate(self._factors):
            solution[self._strong, k] = factor.solve(right[self._strong, k])
        return sum_zero(solution)

    def _solve_scaled(
        self, right: FloatArray, small: Callable[[FloatArray], bool]
    ) -> tuple[FloatArray, FloatArray]:
        """Conjugate gradients on the coupled system, again on what rounding left of it."""
        right = sum_zero(right)
        return refine(right, lambda rest: self._descend(rest, small), self._apply, small)[:2]

    def _descend(self, right: FloatArray, small: Callable[[FloatArray], bool]) -> FloatArray:
        return descend(sum_zero(right), self._approximate, self._apply, small, _MAX_STEPS)

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        prepared, first = self.prepared, self._first
        moved = prepared.moves(groups, pulls)
        answer = np.zeros((len(groups), len(groups)))
        for k, (bend, factor) in enumerate(zip(self._bends, self._factors, strict=True)):
            bent = moved[k] * bend
            coupling = self._kept @ bent.T
            answer += bent @ moved[k].T
            if prepared.quadratic is not None:
                at_factor, at_own = self._quadratic_moves(groups, pulls[:, k])
                coupling[first:] += at_factor
                answer += own_part(prepared, at_own, groups, pulls[:, k])
            half = factor.half(coupling)
            answer -= half.T @ half
        answer.ravel()[:: len(groups) + 1] *= 1.0 + 1e-12
        return answer


def sum_zero(values: FloatArray) -> FloatArray:
    """Remove the common shift of all outputs, which the softmax does not feel.

    Examples
    --------
    >>> import numpy as np
    >>> sum_zero(np.array([[1.0, 3.0]]))
    array([[-1.,  1.]])
    """
    centred: FloatArray = values - values.mean(axis=1, keepdims=True)
    return centred
