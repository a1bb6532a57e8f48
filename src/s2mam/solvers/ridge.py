"""The quadratic model with a ridge ``||b_g||^2 / (2 scale_g)`` per group.

Given the curvature ``h`` of the loss and a pull ``h f - theta`` (``f`` the decision values,
``theta`` the gradient there), a system knows the minimiser over the groups of positive scale and
the *response* of the squared gradient norms to a change of the scales.

Kernel features have fast falling spectra: most columns barely move their ridge solution. Only
columns of some energy enter the factorisation; refinement against the full system removes what
that leaves out, and the response does not need it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.solvers.linear import Definite, gram_lower
from s2mam.solvers.prepared import PreparedProblem

__all__ = ["ColumnSystem", "RidgeSystem", "RowSystem"]

_REFINEMENTS = 8
_WALL = 1e-30


class RidgeSystem(Protocol):
    """A factorised ridge problem."""

    def solve(self, pull: FloatArray, accuracy: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Free coefficients (intercept first), those of the scaled groups, decision values."""
        ...

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        """``-1/2 d||p_g||^2 / d scale_h`` for ``groups``, ``pulls`` their negative gradients."""
        ...


def _refine(
    right: FloatArray,
    approximate: Callable[[FloatArray], FloatArray],
    apply: Callable[[FloatArray], FloatArray],
    accuracy: float,
) -> FloatArray | None:
    """Iterative refinement; ``None`` when the approximate inverse is too poor for it."""
    solution = approximate(right)
    goal = accuracy * float(np.linalg.norm(right))
    for _ in range(_REFINEMENTS):
        rest = right - apply(solution)
        if float(np.linalg.norm(rest)) <= goal:
            return solution
        solution = solution + approximate(rest)
    return None


class RowSystem:
    """Kernel form, ``l x l``: scalar losses without quadratic term.

    Factorised in single precision, half the time; refinement gives the solution the other half.
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

    def _project(self, right: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Dual vector and free coefficients of the factorised system."""
        half = self._kernel.half(right)
        free = self._free_gram.solve(self._free_half.T @ half)
        return self._kernel.back(half - self._free_half @ free), free

    def _kernel_times(self, dual: FloatArray) -> FloatArray:
        coef = self._scales * (self._features @ (self._root * dual))
        product: FloatArray = dual + self._root * (coef @ self._features)
        return product

    def solve(self, pull: FloatArray, accuracy: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        right = pull / self._root
        dual, free = self._project(right)
        if not self._exact:
            goal = accuracy * float(np.linalg.norm(right))
            for _ in range(_REFINEMENTS):
                rest = right - self._free @ free - self._kernel_times(dual)
                if float(np.linalg.norm(rest)) <= goal:
                    break
                step, free_step = self._project(rest)
                dual, free = dual + step, free + free_step
            else:
                self._exact = True
                self._factorise(np.ones(len(self._scales), dtype=bool))
                return self.solve(pull, accuracy)
        coef = self._scales * (self._features @ (self._root * dual))
        return free, coef, coef @ self._features + self.prepared.free @ free

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        moved = self.prepared.moves(groups, pulls)[0]
        half = self._kernel.half((moved * self._root).T)
        answer: FloatArray = half.T @ half
        if self._free.size:
            lost = self._free_gram.half(self._free_half.T @ half)
            answer -= lost.T @ lost
        return answer


class ColumnSystem:
    """Gram form over the columns in play: any loss, with or without quadratic term.

    Unknowns are ordered free columns first, then the scaled ones; with several outputs each column
    stands for ``K`` consecutive unknowns.
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
        self._curvature = curvature
        self._groups = groups
        self._quadratic_cache: FloatArray | None = None
        self._features = prepared.block(groups)
        self._n_free = prepared.free.shape[1]
        self._columns = np.concatenate([prepared.free_columns, prepared.layout.columns(groups)])
        self._dead = self._n_free + np.flatnonzero(scales == 0.0)
        # a group at scale zero is held at zero by a wall of ridge
        self._ridge = np.concatenate([np.zeros(self._n_free), 1.0 / np.maximum(scales, _WALL)])
        self._factorise(np.concatenate([np.ones(self._n_free, dtype=bool), strong]))

    def _factorise(self, strong: BoolArray) -> None:
        self._strong = np.flatnonzero(strong)
        self._exact = len(self._strong) == len(strong)
        scaled = self._features
        if not self._exact:
            scaled = scaled[self._strong[self._n_free :] - self._n_free]
        self._kept = np.concatenate([self.prepared.free.T, scaled])
        gram = self.prepared.gram(self._kept, self._curvature)
        gram = self._add_quadratic_gram(gram)
        diagonal = np.arange(len(gram))
        gram[diagonal, diagonal] += np.repeat(self._ridge[self._strong], self.prepared.outputs)
        self._gram = Definite(gram)

    def _quadratic(self) -> FloatArray:
        """``2Q`` over free and scaled columns."""
        if self._quadratic_cache is None:
            prepared = self.prepared
            if prepared.free_columns.size:
                assert prepared.quadratic is not None
                both = np.ix_(self._columns, self._columns)
                self._quadratic_cache = 2.0 * prepared.quadratic[both]
            else:
                self._quadratic_cache = prepared.quadratic_block(self._groups)
        return self._quadratic_cache

    def _strong_quadratic(self) -> FloatArray:
        first = int(self.prepared.fit_intercept)
        strong = self._strong[first:] - first
        full = self._quadratic()
        return full if len(strong) == len(full) else full[np.ix_(strong, strong)]

    def _quadratic_moves(
        self, groups: IntArray, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """What ``2Q`` makes of one unit of scale per group: at the factorised columns, at its own.

        The factorised columns belong to ``groups`` or are free.
        """
        prepared, layout = self.prepared, self.prepared.layout
        columns = layout.columns(groups)
        own = layout.sum_columns(prepared.quadratic_block(groups) * weights, groups)
        strong = self._strong_columns()
        if not prepared.free_columns.size:
            return own[np.searchsorted(columns, strong)], own
        assert prepared.quadratic is not None
        block = 2.0 * prepared.quadratic[np.ix_(strong, columns)]
        return layout.sum_columns(block * weights, groups), own

    def _strong_columns(self) -> IntArray:
        first = int(self.prepared.fit_intercept)
        return self._columns[self._strong[first:] - first]

    def _add_quadratic_gram(self, gram: FloatArray) -> FloatArray:
        if self.prepared.quadratic is None:
            return gram
        first, outputs = int(self.prepared.fit_intercept), self.prepared.outputs
        block = self._strong_quadratic()
        for k in range(outputs):
            gram[first * outputs + k :: outputs, first * outputs + k :: outputs] += block
        return gram

    def _approximate(self, right: FloatArray) -> FloatArray:
        strong = self._gram.solve(right[self._strong].ravel())
        solution = right / _rows(np.maximum(self._ridge, 1e-300), right)
        solution[self._strong] = strong.reshape(right[self._strong].shape)
        return solution

    def _apply(self, coef: FloatArray) -> FloatArray:
        bent = self.prepared.bend(self._curvature, self._decision(coef))
        product = self._along(bent) + _rows(self._ridge, coef) * coef
        if self.prepared.quadratic is not None:
            first = int(self.prepared.fit_intercept)
            product[first:] += self._quadratic() @ coef[first:]
        return product

    def _decision(self, coef: FloatArray) -> FloatArray:
        free, scaled = coef[: self._n_free], coef[self._n_free :]
        decision: FloatArray = self.prepared.free @ free + self._features.T @ scaled
        return decision

    def _along(self, values: FloatArray) -> FloatArray:
        """Products of all columns in play with ``values``, one per row."""
        return np.concatenate([self.prepared.free.T @ values, self._features @ values])

    def solve(self, pull: FloatArray, accuracy: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        right = self._along(pull)
        if self._exact:
            solution: FloatArray | None = self._gram.solve(right.ravel()).reshape(right.shape)
        else:
            solution = _refine(right, self._approximate, self._apply, accuracy)
        if solution is None:
            self._factorise(np.ones(len(self._ridge), dtype=bool))
            solution = self._gram.solve(right.ravel()).reshape(right.shape)
        solution[self._dead] = 0.0
        return solution[: self._n_free], solution[self._n_free :], self._decision(solution)

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        prepared = self.prepared
        moved = prepared.moves(groups, pulls)
        count = len(groups)
        if prepared.scalar:
            bent = moved[0] * self._curvature
            coupling = self._kept @ bent.T
            answer: FloatArray = bent @ moved[0].T
        else:
            bent = np.einsum("ikm,mgi->kgi", self._curvature, moved)
            coupling = np.einsum("ai,kgi->akg", self._kept, bent, optimize=True)
            answer = np.einsum("kgi,khi->gh", moved, bent, optimize=True)
        if prepared.quadratic is not None:
            self._add_quadratic_response(answer, coupling, groups, pulls)
        half = self._gram.half(coupling.reshape(-1, count))
        # keeps a direction that the data do not bend from turning negative by rounding
        answer.flat[:: count + 1] *= 1.0 + 1e-12
        answer -= half.T @ half
        return answer

    def _add_quadratic_response(
        self, answer: FloatArray, coupling: FloatArray, groups: IntArray, pulls: FloatArray
    ) -> None:
        layout, first = self.prepared.layout, int(self.prepared.fit_intercept)
        weights = pulls.reshape(len(pulls), -1)
        for k in range(weights.shape[1]):
            moved, own = self._quadratic_moves(groups, weights[:, k])
            if self.prepared.scalar:
                coupling[first:] += moved
            else:
                coupling[first:, k] += moved
            answer += layout.sum_columns((own * weights[:, k, None]).T, groups)


def _rows(values: FloatArray, like: FloatArray) -> FloatArray:
    """``values`` shaped to multiply the rows of ``like``."""
    return values if like.ndim == 1 else values[:, None]
