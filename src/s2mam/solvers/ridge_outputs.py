"""The ridge model for many outputs: one factor per output instead of one for all together.

The softmax couples the outputs of a row. A factor of everything grows with the cube of the number
of classes; here each class has a factor of its own, conjugate gradients with these factors
solve the coupled system, and the response of the scales is taken from the uncoupled one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.solvers.linear import Definite, gram_lower
from s2mam.solvers.ridge import ColumnSystem, refine

__all__ = ["SeparableSystem"]

_MAX_STEPS = 500
# Beyond this reduction the recurrence of the residual is not to be trusted.
_SINGLE = 1e-10


class SeparableSystem(ColumnSystem):
    """Column system whose factorisation ignores the coupling between outputs."""

    def _factorise(self, strong: BoolArray) -> None:
        prepared, outputs = self.prepared, self.prepared.outputs
        self._keep(strong)
        diagonal = np.einsum("ikk->ki", self._curvature) - prepared.weights / outputs**2
        # what the sum-zero directions feel when all classes are equally likely
        self._bends = np.maximum(diagonal * (outputs / (outputs - 1.0)), 1e-12 * prepared.weights)
        first = int(prepared.fit_intercept)
        quadratic = None if prepared.quadratic is None else self._strong_quadratic()
        self._factors = []
        for bend in self._bends:
            gram = gram_lower((self._kept * np.sqrt(bend)).T)
            if quadratic is not None:
                gram[first:, first:] += quadratic
            gram[np.diag_indices_from(gram)] += self._ridge[self._strong]
            self._factors.append(Definite(gram))

    def _approximate(self, right: FloatArray) -> FloatArray:
        solution = right.copy()
        for k, factor in enumerate(self._factors):
            solution[self._strong, k] = factor.solve(right[self._strong, k])
        return _sum_zero(solution)

    def _solve_scaled(self, right: FloatArray, small: Callable[[FloatArray], bool]) -> FloatArray:
        """Conjugate gradients on the coupled system, again on what rounding left of it."""
        right = _sum_zero(right)
        return refine(right, lambda rest: self._descend(rest, small), self._apply, small)[0]

    def _descend(self, right: FloatArray, small: Callable[[FloatArray], bool]) -> FloatArray:
        """Preconditioned conjugate gradients."""
        rest = _sum_zero(right)
        solution = np.zeros_like(rest)
        lifted = self._approximate(rest)
        direction, energy = lifted, float(np.vdot(rest, lifted))
        goal = _SINGLE * float(np.linalg.norm(rest))
        for _ in range(_MAX_STEPS):
            if small(rest) or energy <= 0.0 or float(np.linalg.norm(rest)) <= goal:
                break
            image = self._apply(direction)
            length = energy / float(np.vdot(direction, image))
            solution += length * direction
            rest = rest - length * image
            lifted = self._approximate(rest)
            before, energy = energy, float(np.vdot(rest, lifted))
            direction = lifted + (energy / before) * direction
        return solution

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        prepared, first = self.prepared, int(self.prepared.fit_intercept)
        moved = prepared.moves(groups, pulls)
        answer = np.zeros((len(groups), len(groups)))
        for k, (bend, factor) in enumerate(zip(self._bends, self._factors, strict=True)):
            bent = moved[k] * bend
            coupling = self._kept @ bent.T
            answer += bent @ moved[k].T
            if prepared.quadratic is not None:
                shift, own = self._quadratic_moves(groups, pulls[:, k])
                coupling[first:] += shift
                answer += prepared.layout.sum_columns((own * pulls[:, k, None]).T, groups)
            half = factor.half(coupling)
            answer -= half.T @ half
        answer.flat[:: len(groups) + 1] *= 1.0 + 1e-12
        return answer


def _sum_zero(values: FloatArray) -> FloatArray:
    """Remove the common shift of all outputs, which the softmax does not feel."""
    centred: FloatArray = values - values.mean(axis=1, keepdims=True)
    return centred
