"""The quadratic model with a ridge ``||b_g||^2 / (2 scale_g)`` per group, over its columns.

Given the curvature ``h`` of the loss and a pull ``h f - theta`` (``f`` the decision values,
``theta`` the gradient there), a system knows the minimiser over the groups of positive scale and
the *response* of the squared gradient norms to a change of the scales.

Kernel features have fast falling spectra: most columns barely move their ridge solution. Only
columns of some energy enter the factorisation; refinement against the full system removes what
that leaves out, and the response does not need it. How long to refine is decided group by group
in units of the penalty: a residual that is small beside the right-hand side may still be many
penalties large, and in a weak column it moves the coefficients far.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.solvers.linear import Definite
from s2mam.solvers.prepared import PreparedProblem

__all__ = ["ColumnSystem", "RidgeSystem", "refine"]

_REFINEMENTS = 8
# Refinement that does not shrink the residual by this factor is not worth going on with.
_PROGRESS = 0.5


class RidgeSystem(Protocol):
    """A factorised ridge problem."""

    def solve(
        self, pull: FloatArray, limits: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Free coefficients (intercept first), those of the scaled groups, decision values.

        ``limits`` holds, per group, the largest norm of the gradient that may be left over.
        """
        ...

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        """``-1/2 d||p_g||^2 / d scale_h`` for ``groups``, ``pulls`` their negative gradients."""
        ...


def refine(
    right: FloatArray,
    approximate: Callable[[FloatArray], FloatArray],
    apply: Callable[[FloatArray], FloatArray],
    small: Callable[[FloatArray], bool],
) -> tuple[FloatArray, bool]:
    """Iterative refinement: the best solution found, and whether its residual is ``small``.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.ridge import refine
    >>> refine(np.ones(1), lambda r: 0.4 * r, lambda x: 2.0 * x, lambda r: abs(r[0]) < 1e-3)
    (array([0.49984]), True)
    """
    solution = approximate(right)
    best, last = solution, np.inf
    for _ in range(_REFINEMENTS):
        rest = right - apply(solution)
        size = float(np.linalg.norm(rest))
        if size < last:
            best = solution
        if small(rest):
            return solution, True
        if not size < _PROGRESS * last:
            break
        last = size
        solution = solution + approximate(rest)
    return best, False


class ColumnSystem:
    """Gram form over the columns in play: any loss, with or without quadratic term.

    Unknowns are ordered free columns first, then the scaled ones; with several outputs each column
    stands for ``K`` consecutive unknowns. They are measured in units of the root of their scale,
    in which the ridge is the identity: no eigenvalue lies below one however small a scale is, and
    the squared residual bounds the excess of the model over its minimum.
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
        self._root = np.concatenate([1.0 / np.sqrt(self._free_energies()), np.sqrt(scales)])
        self._ridge = np.ones(len(self._root))
        self._ridge[: self._n_free] = 0.0
        self._factorise(np.concatenate([np.ones(self._n_free, dtype=bool), strong]))

    def _free_energies(self) -> FloatArray:
        """Bend of the model along each free column, one for columns without any."""
        prepared, first = self.prepared, int(self.prepared.fit_intercept)
        bend = self._curvature
        if not prepared.scalar:
            bend = np.einsum("ikk->i", bend) / prepared.outputs
        energies: FloatArray = bend @ (prepared.free * prepared.free)
        if prepared.quadratic is not None and prepared.free_columns.size:
            energies[first:] += 2.0 * prepared.quadratic.diagonal()[prepared.free_columns]
        return np.where(energies > 0.0, energies, 1.0)

    def _factorise(self, strong: BoolArray) -> None:
        self._keep(strong)
        gram = self.prepared.gram(self._kept, self._curvature)
        if self.prepared.quadratic is not None:
            first, outputs = int(self.prepared.fit_intercept), self.prepared.outputs
            block = self._strong_quadratic()
            for k in range(outputs):
                gram[first * outputs + k :: outputs, first * outputs + k :: outputs] += block
        diagonal = np.arange(len(gram))
        gram[diagonal, diagonal] += np.repeat(self._ridge[self._strong], self.prepared.outputs)
        self._gram = Definite(gram)

    def _keep(self, strong: BoolArray) -> None:
        """Choose the columns of the factor; columns of scale zero have no part in any."""
        self._strong = np.flatnonzero(strong)
        self._exact = len(self._strong) == np.count_nonzero(self._root)
        scaled = self._features
        if len(self._strong) < len(strong):
            scaled = scaled[self._strong[self._n_free :] - self._n_free]
        self._kept = np.concatenate([self.prepared.free.T, scaled])
        self._kept *= self._root[self._strong, None]

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
        """``2Q`` over the columns of the factor, in its units."""
        first = int(self.prepared.fit_intercept)
        strong = self._strong[first:]
        full, root = self._quadratic(), self._root[strong]
        if len(strong) < len(full):
            full = full[np.ix_(strong - first, strong - first)]
        scaled: FloatArray = full * root[:, None]
        scaled *= root
        return scaled

    def _quadratic_moves(
        self, groups: IntArray, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """What ``2Q`` makes of one unit of scale per group: at the factorised columns, at its own.

        The factorised columns belong to ``groups`` or are free.
        """
        prepared, layout = self.prepared, self.prepared.layout
        columns = layout.columns(groups)
        own = layout.sum_columns(prepared.quadratic_block(groups) * weights, groups)
        first = int(prepared.fit_intercept)
        strong = self._columns[self._strong[first:] - first]
        root = self._root[self._strong[first:], None]
        if not prepared.free_columns.size:
            return own[np.searchsorted(columns, strong)] * root, own
        assert prepared.quadratic is not None
        block = 2.0 * prepared.quadratic[np.ix_(strong, columns)]
        return layout.sum_columns(block * weights, groups) * root, own

    def _approximate(self, right: FloatArray) -> FloatArray:
        solution = right.copy()
        strong = self._gram.solve(right[self._strong].ravel())
        solution[self._strong] = strong.reshape(right[self._strong].shape)
        return solution

    def _apply(self, unknowns: FloatArray) -> FloatArray:
        coef = _rows(self._root, unknowns) * unknowns
        bent = self.prepared.bend(self._curvature, self._decision(coef))
        product = self._along(bent)
        if self.prepared.quadratic is not None:
            first = int(self.prepared.fit_intercept)
            product[first:] += self._quadratic() @ coef[first:]
        return _rows(self._root, unknowns) * product + _rows(self._ridge, unknowns) * unknowns

    def _decision(self, coef: FloatArray) -> FloatArray:
        free, scaled = coef[: self._n_free], coef[self._n_free :]
        decision: FloatArray = self.prepared.free @ free + self._features.T @ scaled
        return decision

    def _along(self, values: FloatArray) -> FloatArray:
        """Products of all columns in play with ``values``, one per row."""
        return np.concatenate([self.prepared.free.T @ values, self._features @ values])

    def _test(self, limits: FloatArray) -> Callable[[FloatArray], bool]:
        """Whether a residual respects ``limits``, for the free columns their sum."""
        sizes = self.prepared.layout.sizes[self._groups]
        starts = self._n_free + np.cumsum(sizes) - sizes
        allowed = (limits * self._root[starts]) ** 2
        total = float(allowed.sum())

        def small(rest: FloatArray) -> bool:
            squares = rest * rest if rest.ndim == 1 else np.einsum("sk,sk->s", rest, rest)
            if float(squares[: self._n_free].sum()) > total:
                return False
            if not len(self._groups):
                return True
            sums = self.prepared.layout.sum_columns(squares[self._n_free :], self._groups)
            return bool(np.all(sums <= allowed))

        return small

    def solve(
        self, pull: FloatArray, limits: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        along = self._along(pull)
        right = _rows(self._root, along) * along
        unknowns = self._solve_scaled(right, self._test(limits))
        solution = _rows(self._root, unknowns) * unknowns
        return solution[: self._n_free], solution[self._n_free :], self._decision(solution)

    def _solve_scaled(self, right: FloatArray, small: Callable[[FloatArray], bool]) -> FloatArray:
        unknowns, settled = refine(right, self._approximate, self._apply, small)
        if not settled and not self._exact:
            self._factorise(self._root > 0.0)
            unknowns, _ = refine(right, self._approximate, self._apply, small)
        return unknowns

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
