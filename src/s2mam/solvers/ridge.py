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
from s2mam.solvers.bend import Bend
from s2mam.solvers.linear import Definite, gram
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.working import ColumnBlock

__all__ = ["ColumnSystem", "RidgeSystem", "descend", "own_part", "refine"]

_REFINEMENTS = 8
# Refinement that does not shrink the residual by this factor is not worth going on with.
_PROGRESS = 0.5
# Beyond this reduction the residual that conjugate gradients carry along is not to be trusted.
_TRUSTED = 1e-10
# Single precision pays above this many columns.
_SINGLE_COLUMNS = 60


class RidgeSystem(Protocol):
    """A factorised ridge problem over the columns of a block."""

    @property
    def block(self) -> ColumnBlock: ...

    def solve(self, pull: FloatArray, limits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients of the rows of ``block`` (free ones first) and their decision values.

        ``limits`` holds, per group, the largest norm of the gradient that may be left over.
        """
        ...

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        """``-1/2 d||p_g||^2 / d scale_h`` for ``groups``, ``pulls`` all negative gradients."""
        ...


def refine(
    right: FloatArray,
    approximate: Callable[[FloatArray], FloatArray],
    apply: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    small: Callable[[FloatArray], bool],
) -> tuple[FloatArray, FloatArray, bool]:
    """Iterative refinement: the best solution found, and whether its residual is ``small``.

    ``apply`` returns the image of a solution and something it met on the way there, which is
    handed back for the best solution.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.ridge import refine
    >>> refine(np.ones(1), lambda r: 0.4 * r, lambda x: (2.0 * x, -x), lambda r: abs(r[0]) < 1e-3)
    (array([0.49984]), array([-0.49984]), True)
    """
    solution = approximate(right)
    best, met, last = solution, solution, np.inf
    for _ in range(_REFINEMENTS):
        image, by_the_way = apply(solution)
        rest = right - image
        size = float(np.vdot(rest, rest)) ** 0.5
        if size < last or last == np.inf:
            best, met = solution, by_the_way
        if small(rest):
            return solution, by_the_way, True
        if not size < _PROGRESS * last:
            break
        last = size
        solution = solution + approximate(rest)
    return best, met, False


def descend(
    right: FloatArray,
    approximate: Callable[[FloatArray], FloatArray],
    apply: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    small: Callable[[FloatArray], bool],
    steps: int,
) -> FloatArray:
    """Conjugate gradients with ``approximate`` as preconditioner, from zero.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.solvers.ridge import descend
    >>> diagonal = np.array([1.0, 2.0])
    >>> small = lambda rest: abs(rest).max() < 1e-9
    >>> descend(np.ones(2), lambda r: r, lambda x: (diagonal * x, x), small, 5)
    array([1. , 0.5])
    """
    rest, solution = right, np.zeros_like(right)
    direction = lifted = approximate(rest)
    energy = float(np.vdot(rest, lifted))
    goal = _TRUSTED * float(np.linalg.norm(rest))
    for _ in range(steps):
        if small(rest) or energy <= 0.0 or float(np.linalg.norm(rest)) <= goal:
            break
        image, _ = apply(direction)
        length = energy / float(np.vdot(direction, image))
        solution += length * direction
        rest = rest - length * image
        lifted = approximate(rest)
        before, energy = energy, float(np.vdot(rest, lifted))
        direction = lifted + (energy / before) * direction
    return solution


class ColumnSystem:
    """Gram form over the columns in play: any scalar loss, with or without quadratic term.

    Unknowns are ordered like the rows of the block, free columns first. They are measured in
    units of the root of their scale, in which the ridge is the identity: no eigenvalue lies below
    one however small a scale is, and the squared residual bounds the excess of the model over its
    minimum.
    """

    _kept: FloatArray

    def __init__(
        self,
        prepared: PreparedProblem,
        block: ColumnBlock,
        scales: FloatArray,
        strong: BoolArray,
        bend: Bend,
        *,
        single: bool = False,
    ) -> None:
        self.prepared = prepared
        self.block = block
        self._bend = bend
        self._n_free = prepared.free.shape[1]
        self._first = int(prepared.fit_intercept)
        self._group_root = np.sqrt(scales)
        spread = prepared.layout.spread(self._group_root, block.groups)
        self._root = np.concatenate([bend.free_units, spread])
        self._factorise(strong.nonzero()[0], single=single)

    def _factorise(self, scaled: IntArray, *, single: bool) -> None:
        """Factorise over the free columns and those of the grouped ones in ``scaled``."""
        self._keep(scaled)
        self._single = single and len(self._strong) >= _SINGLE_COLUMNS
        if self._single:
            self._kept = self._kept.astype(np.float32)
        self._kept *= self._bend.root.astype(self._kept.dtype, copy=False)
        matrix = gram(self._kept.T)
        if self.prepared.quadratic is not None:
            matrix[self._first :, self._first :] += self._strong_quadratic()
        # the ridge, which the free columns do not feel
        matrix.ravel()[self._n_free * (len(matrix) + 1) :: len(matrix) + 1] += 1.0
        self._factor = Definite(matrix, overwrite=True)

    def _keep(self, scaled: IntArray) -> None:
        """Copy the columns of the factor; columns of scale zero have no part in any."""
        self._strong = np.concatenate([np.arange(self._n_free), scaled + self._n_free])
        self._kept = self.block.rows[self._strong]
        self._kept *= self._root[self._strong, None]

    def _strong_quadratic(self) -> FloatArray:
        """``2Q`` over the columns of the factor, in its units."""
        strong = self._strong[self._first :]
        full, root = self.prepared.quadratic_block(self.block), self._root[strong]
        if len(strong) < len(full):
            full = full[np.ix_(strong - self._first, strong - self._first)]
        scaled: FloatArray = full * root[:, None]
        scaled *= root
        return scaled

    def _quadratic_moves(
        self, groups: IntArray, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """What ``2Q`` makes of one unit of scale per group: at the factorised columns, at its own.

        ``weights`` holds one number per feature column.
        """
        prepared, layout = self.prepared, self.prepared.layout
        block = prepared.working.include(groups)
        held = prepared.quadratic_block(block)[:, len(prepared.free_columns) :]
        moved = layout.sum_columns(held * weights[block.columns], block.groups)
        moved = moved[:, prepared.working.positions(groups)]
        strong = self._strong[self._first :]
        if block.groups is self.block.groups:
            at_factor = moved[strong - self._first]
        else:
            at_factor = moved[self._rows_in(block, strong)]
        at_own = moved[len(prepared.free_columns) :]
        return at_factor * self._root[strong, None], at_own

    def _rows_in(self, other: ColumnBlock, rows: IntArray) -> IntArray:
        """Where ``rows`` of the own block stand in ``other``, the intercept not counted."""
        place = np.full(self.prepared.coef_shape[0], -1, dtype=np.intp)
        columns = np.concatenate([self.prepared.free_columns, other.columns])
        place[columns] = np.arange(len(columns))
        own = np.concatenate([self.prepared.free_columns, self.block.columns])
        found: IntArray = place[own[rows - self._first]]
        return found

    def _approximate(self, right: FloatArray) -> FloatArray:
        solution = right.copy()
        solution[self._strong] = self._factor.solve(right[self._strong])
        return solution

    def _apply(self, unknowns: FloatArray) -> tuple[FloatArray, FloatArray]:
        coef = self._root * unknowns
        decision: FloatArray = coef @ self.block.rows
        product = self.block.rows @ (self._bend.values * decision)
        if self.prepared.quadratic is not None:
            product[self._first :] += (
                self.prepared.quadratic_block(self.block) @ coef[self._first :]
            )
        product *= self._root
        product[self._n_free :] += unknowns[self._n_free :]
        return product, decision

    def _test(self, limits: FloatArray) -> Callable[[FloatArray], bool]:
        """Whether a residual respects ``limits``, for the free columns their sum."""
        allowed = limits * self._group_root
        allowed *= allowed
        total = allowed.sum()
        layout, groups, n_free = self.prepared.layout, self.block.groups, self._n_free

        def small(rest: FloatArray) -> bool:
            squares = rest * rest if rest.ndim == 1 else np.einsum("sk,sk->s", rest, rest)
            if squares[:n_free].sum() > total:
                return False
            if not len(groups):
                return True
            return bool((layout.sum_columns(squares[n_free:], groups) <= allowed).all())

        return small

    def solve(self, pull: FloatArray, limits: FloatArray) -> tuple[FloatArray, FloatArray]:
        root = self._root if pull.ndim == 1 else self._root[:, None]
        right = root * (self.block.rows @ pull)
        unknowns, decision = self._solve_scaled(right, self._test(limits))
        return root * unknowns, decision

    def _solve_scaled(
        self, right: FloatArray, small: Callable[[FloatArray], bool]
    ) -> tuple[FloatArray, FloatArray]:
        unknowns, decision, settled = refine(right, self._approximate, self._apply, small)
        if not settled and not self._complete():
            self._factorise(np.flatnonzero(self._root[self._n_free :]), single=False)
            unknowns, decision, _ = refine(right, self._approximate, self._apply, small)
        return unknowns, decision

    def _complete(self) -> bool:
        """Whether the factor is that of the whole system."""
        return not self._single and len(self._strong) == np.count_nonzero(self._root)

    def response(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        moved = self.prepared.moves(groups, pulls)[0]
        moved *= self._bend.root
        answer: FloatArray = moved @ moved.T
        # column order, which the triangular solve wants
        coupling = (moved.astype(self._kept.dtype, copy=False) @ self._kept.T).T
        if self.prepared.quadratic is not None:
            at_factor, at_own = self._quadratic_moves(groups, pulls)
            coupling[self._first :] += at_factor
            answer += own_part(self.prepared, at_own, groups, pulls)
        half = self._factor.half(coupling)
        # keeps a direction that the data do not bend from turning negative by rounding
        answer.ravel()[:: len(groups) + 1] *= 1.0 + 1e-12
        answer -= half.T @ half
        return answer


def own_part(
    prepared: PreparedProblem, moved: FloatArray, groups: IntArray, weights: FloatArray
) -> FloatArray:
    """Products of what ``2Q`` moves, given at the columns of the working set, with the groups."""
    working, layout = prepared.working, prepared.layout
    block = working.include(groups)
    weighted = moved * weights[block.columns][:, None]
    return layout.sum_columns(weighted.T, block.groups)[:, working.positions(groups)]
