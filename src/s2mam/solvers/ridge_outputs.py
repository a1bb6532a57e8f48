"""The ridge model for many outputs: one factor per output instead of one for all together.

The softmax couples the outputs of a row. A factor of everything grows with the cube of the number
of classes; here each class has a factor of its own, conjugate gradients with these factors
solve the coupled system, and the response of the scales is taken from the uncoupled one.
"""

from __future__ import annotations

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.solvers.linear import Definite, gram_lower
from s2mam.solvers.ridge import ColumnSystem

__all__ = ["SeparableSystem"]

_MAX_STEPS = 500


class SeparableSystem(ColumnSystem):
    """Column system whose factorisation ignores the coupling between outputs."""

    def _factorise(self, strong: BoolArray) -> None:
        prepared, outputs = self.prepared, self.prepared.outputs
        self._strong = np.flatnonzero(strong)
        scaled = self._features[self._strong[self._n_free :] - self._n_free]
        self._kept = np.concatenate([prepared.free.T, scaled])
        diagonal = np.einsum("ikk->ki", self._curvature) - prepared.weights / outputs**2
        # what the sum-zero directions feel when all classes are equally likely
        self._bends = np.maximum(diagonal * (outputs / (outputs - 1.0)), 1e-12 * prepared.weights)
        first = int(prepared.fit_intercept)
        self._factors = []
        for bend in self._bends:
            gram = gram_lower((self._kept * np.sqrt(bend)).T)
            if prepared.quadratic is not None:
                gram[first:, first:] += self._strong_quadratic()
            gram[np.diag_indices_from(gram)] += self._ridge[self._strong]
            self._factors.append(Definite(gram))

    def _approximate(self, right: FloatArray) -> FloatArray:
        solution = right / np.maximum(self._ridge, 1e-300)[:, None]
        for k, factor in enumerate(self._factors):
            solution[self._strong, k] = factor.solve(right[self._strong, k])
        return _sum_zero(solution)

    def solve(self, pull: FloatArray, accuracy: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Preconditioned conjugate gradients on the coupled system."""
        rest = _sum_zero(self._along(pull))
        goal = accuracy * float(np.linalg.norm(rest))
        solution = np.zeros_like(rest)
        lifted = self._approximate(rest)
        direction, energy = lifted, float(np.vdot(rest, lifted))
        for _ in range(_MAX_STEPS):
            if float(np.linalg.norm(rest)) <= goal or energy <= 0.0:
                break
            image = self._apply(direction)
            length = energy / float(np.vdot(direction, image))
            solution += length * direction
            rest = rest - length * image
            lifted = self._approximate(rest)
            before, energy = energy, float(np.vdot(rest, lifted))
            direction = lifted + (energy / before) * direction
        solution[self._dead] = 0.0
        return solution[: self._n_free], solution[self._n_free :], self._decision(solution)

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
