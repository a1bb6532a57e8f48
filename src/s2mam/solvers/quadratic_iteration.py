"""State of the iteration for quadratic losses: point, scales and factor, and the moves."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray
from s2mam.solvers.continuation import entering_by_norms
from s2mam.solvers.plain_block import PlainBlock
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.quadratic_factor import (
    QuadraticFactor,
    empty_answers,
    make_factor,
    unit_moves,
)
from s2mam.solvers.quadratic_point import QuadraticPoint
from s2mam.solvers.quadratic_ridge import RidgeModel
from s2mam.solvers.result import SolveResult
from s2mam.solvers.scales import propose_norms

__all__ = ["QuadraticIteration"]

# Corrections at one choice of scales.
_CORRECTIONS = 8
# What is missing of theta shows more in the gradients, by about the inverse of this.
_STRICT = 0.25
# A correction that does not shrink the square of the residual by this factor asks for a new factor.
_PROGRESS = 0.25
# Parts of a proposed change of scales that are tried.
_FRACTIONS = (1.0, 0.3, 0.05)
# A factor serves other scales when these have moved the model by less than this, in squares of
# relative changes summed over the groups; and once used again.
_NEAR = 1.0
_NEAR_AGAIN = 0.005


class QuadraticIteration:
    """Point, scales and factor, and the move to other scales.

    The same to a caller as :class:`s2mam.solvers.plain_iteration.PlainIteration`.
    """

    # Penalties start at most at this share of what empties the model.
    first_share = 0.01

    def __init__(self, problem: GroupProblem, start: SolveResult | None) -> None:
        self.point = point = QuadraticPoint(problem)
        self.block = PlainBlock(point.rows, point.shape[1], point.weigh)
        self.scales: FloatArray = np.zeros(point.shape[0])
        self.factor: QuadraticFactor | None = None
        self.factor_scales = self.scales
        self.borrowed = False
        self.left_out = 0.0
        if start is not None and np.any(start.coef):
            self._begin(np.array(start.coef, dtype=np.float64).reshape(point.shape))

    def _begin(self, coef: FloatArray) -> None:
        """Go to the coefficients of a warm start and to the scales that belong to them."""
        point = self.point
        norms = np.sqrt(np.einsum("gd,gd->g", coef, coef))
        moved = point.moved_by(point.rows, coef)
        point.theta = point.target - point.centre(moved)
        point.place(norms, coef, moved, point.theta)
        point.settle(point.pulls_of(point.rows, point.theta))
        self.scales = norms / point.penalties

    def next_scales(self, factor: float) -> FloatArray:
        """Newton step of the scales."""
        point, scales = self.point, self.scales
        inside = scales > 0.0
        wanted = inside | entering_by_norms(point.excess, inside, factor, len(point.root))
        groups = wanted.nonzero()[0]
        proposed = np.zeros_like(scales)
        if groups.size:
            self.block.include(groups)
            single = self.factor is None or self.factor.single
            moved = unit_moves(point, self.block, groups, single=single)
            answers = empty_answers(moved) if self.factor is None else self.factor.answers(moved)
            proposed[groups] = propose_norms(
                answers, point.norms[groups], factor * point.penalties[groups], scales[groups]
            )
        return proposed

    def step(self, factor: float, accuracy: float, tolerated: float) -> int:
        """Newton step of the scales, or a part of it; the factors it took, zero when it failed.

        ``accuracy`` is the share of ``theta`` that may be missing, ``tolerated`` what the merit
        may rise by.
        """
        point, scales = self.point, self.scales
        before, level = point.state(), point.merit(factor) + tolerated
        proposal = self.next_scales(factor)
        for count, fraction in enumerate(_FRACTIONS, 1):
            wanted = proposal if fraction == 1.0 else scales + fraction * (proposal - scales)
            if self.move(wanted, accuracy) and point.merit(factor) <= level:
                return count
            point.restore(before)
            self.scales = scales
        return 0

    def move(self, scales: FloatArray, accuracy: float) -> bool:
        """Solve the ridge model at ``scales``; False where the linear algebra fails."""
        point, block = self.point, self.block
        if not block.complete:
            block.include(scales.nonzero()[0])
        if not self._refactor(scales, near=self._is_near(scales)):
            return False
        pulls = self._correct(scales, accuracy)
        point.settle(pulls if block.complete else point.pulls_of(point.rows, point.theta))
        self.scales = scales
        return True

    def _correct(self, scales: FloatArray, accuracy: float) -> FloatArray:
        """Correct ``theta`` for new scales; return the pulls of the groups held."""
        point, block = self.point, self.block
        held, pulls = block.of(scales), block.of(point.pulls)
        ridge = RidgeModel(point, block.rows, held, pulls)
        limit = (_STRICT * accuracy) ** 2 * float(point.theta @ point.theta)
        for _ in range(_CORRECTIONS):
            assert self.factor is not None
            before = ridge.square
            if before <= limit or not ridge.advance(self.factor):
                break
            if ridge.square > _PROGRESS * before:
                if not self.borrowed or not self._refactor(scales, near=False):
                    break
                ridge.restart()
        point.theta, pulls = ridge.theta, ridge.pulls
        coef, norms = ridge.coef, held * np.sqrt(np.einsum("gd,gd->g", pulls, pulls))
        if not block.complete:
            coef, norms = self._whole(coef), self._whole(norms)
        point.place(norms, coef, ridge.moved, ridge.theta + ridge.rest)
        return pulls

    def _whole(self, values: FloatArray) -> FloatArray:
        """``values`` of the groups held, zero for all others."""
        whole = np.zeros((len(self.scales), *values.shape[1:]))
        whole[self.block.groups] = values
        return whole

    def _refactor(self, scales: FloatArray, *, near: bool) -> bool:
        """Make a new factor unless the one at hand is ``near``; False when that fails."""
        if not near:
            factor = make_factor(self.point, self.block, self.block.of(scales), self.left_out)
            if factor is None:
                return False
            self.factor, self.factor_scales = factor, scales
        self.borrowed = near
        return True

    def _is_near(self, scales: FloatArray) -> bool:
        """Whether the factor at hand serves other scales as well."""
        factor, block = self.factor, self.block
        if factor is None or factor.groups is not block.groups:
            return False
        energies = self.point.total * block.traces
        before = block.of(self.factor_scales)
        apart = (block.of(scales) - before) * energies / (1.0 + before * energies)
        # the answers of an old factor slow the scales down, so it is not used for long
        return float(apart @ apart) < (_NEAR_AGAIN if self.borrowed else _NEAR)
