"""The ridge model for many outputs with more columns than rows: one factor of the columns for all.

Outputs differ in how their rows bend, not in the ridge and the graph. These are factorised over the
columns once; what the rows of an output add is of the rank of the rows, and Woodbury's formula
takes it in with a factor over rows for every output.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from s2mam._typing import FloatArray, IntArray
from s2mam.solvers.linear import Definite, gram
from s2mam.solvers.ridge import own_part
from s2mam.solvers.ridge_outputs import SeparableSystem, sum_zero

__all__ = ["SharedSystem"]


class SharedSystem(SeparableSystem):
    """Separable system for problems whose only free column is the intercept, if there is one.

    With ``G`` the ridge and the graph, ``C`` the columns and ``b`` the bends of the rows of an
    output, the dual values of its rows solve ``(1 / b + C G^-1 C') theta = C G^-1 r + free``, and
    its coefficients are ``G^-1 (r - C' theta)``.
    """

    def _factorise(self, scaled: IntArray, *, single: bool) -> None:
        self._keep(scaled)
        self._single = False
        self._bends = self._output_bends()
        self._base: Definite | None = None
        self._seen = self._kept[self._n_free :]
        if self.prepared.quadratic is not None:
            matrix = self._strong_quadratic()
            matrix.ravel()[:: len(matrix) + 1] += 1.0
            self._base = Definite(matrix, overwrite=True)
            self._seen = self._base.half(self._seen)
        common = gram(self._seen)
        self._halves = np.stack([_half_precision(common, np.sqrt(bend)) for bend in self._bends])
        free = self._kept[: self._n_free]
        self._free_duals = self._duals(np.repeat(free.T, len(self._bends), axis=1))
        self._free_bends = free @ self._free_duals

    def _duals(self, rows: FloatArray) -> FloatArray:
        """``(1 / b + C G^-1 C')^-1`` of every output times its column of ``rows``."""
        if not rows.size:
            return np.zeros((rows.shape[0], len(self._bends)))
        half = np.matmul(self._halves, rows.T[:, :, None])
        duals: FloatArray = np.matmul(self._halves.transpose(0, 2, 1), half)[:, :, 0].T
        return duals

    def _approximate(self, right: FloatArray) -> FloatArray:
        solution = right.copy()
        strong, n_free = right[self._strong], self._n_free
        half = strong[n_free:] if self._base is None else self._base.half(strong[n_free:])
        duals = self._duals(self._seen.T @ half)
        if n_free:
            free = (strong[:1] - self._kept[:1] @ duals) / self._free_bends
            duals += self._free_duals * free
            solution[0] = free
        rest = half - self._seen @ duals
        solution[self._strong[n_free:]] = rest if self._base is None else self._base.back(rest)
        return sum_zero(solution)

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        prepared = self.prepared
        moved = prepared.moves(groups, pulls)
        answer = np.zeros((len(groups), len(groups)))
        for k, bend in enumerate(self._bends):
            bent = (moved[k] * bend).T
            answer += moved[k] @ bent
            coupling = self._seen @ bent
            if self._base is not None:
                at_factor, at_own = self._quadratic_moves(groups, pulls[:, k])
                coupling += self._base.half(at_factor)
                answer += own_part(prepared, at_own, groups, pulls[:, k])
            answer -= coupling.T @ coupling
            half = self._halves[k] @ (self._seen.T @ coupling)
            answer += half.T @ half
            if self._n_free:
                left = self._kept[:1] @ (bent - self._halves[k].T @ half)
                answer -= left.T @ left / self._free_bends[0, k]
        answer.ravel()[:: len(groups) + 1] *= 1.0 + 1e-12
        return answer


def _half_precision(common: FloatArray, root: FloatArray) -> FloatArray:
    """``Z`` with ``Z'Z = (1 / root^2 + common)^-1``."""
    matrix = common * root
    matrix *= root[:, None]
    matrix.ravel()[:: len(matrix) + 1] += 1.0
    factor = lapack.dpotrf(matrix, lower=1, clean=1, overwrite_a=1)[0]
    half: FloatArray = lapack.dtrtri(factor, lower=1, overwrite_c=1)[0] * root
    return half
