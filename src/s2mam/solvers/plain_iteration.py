"""State of the plain iteration for curved losses: point, scales, factor, and the moves."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray
from s2mam.solvers.continuation import entering
from s2mam.solvers.plain_block import PlainBlock
from s2mam.solvers.plain_factor import PlainFactor, empty_response, make_factor, moves
from s2mam.solvers.plain_point import PlainPoint
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.result import SolveResult
from s2mam.solvers.scales import propose_scales

__all__ = ["PlainIteration"]

# Corrections at one choice of scales; the factor of a curved loss ages.
_CORRECTIONS = 2
# A group whose gradient is off by this share shows that a curved loss is not minimised yet.
_UNSETTLED = 0.5


class PlainIteration:
    """Point, scales and factor, and the move to other scales."""

    # Penalties start at most at this share of what empties the model.
    first_share = 0.05

    def __init__(self, problem: GroupProblem, start: SolveResult | None) -> None:
        self.point = point = PlainPoint(problem)
        self.block = PlainBlock(point.rows, point.shape[1])
        self.scales: FloatArray = np.zeros(point.shape[0])
        self.factor: PlainFactor | None = None
        self.left_over: FloatArray | None = None
        self.left_out = 0.0
        if start is None:
            point.place(np.zeros(point.shape), point.null_intercept())
        else:
            coef = np.array(start.coef, dtype=np.float64).reshape(point.shape)
            point.place(coef, float(start.intercept) if point.fit_intercept else 0.0)
            self.scales = np.sqrt(np.einsum("gd,gd->g", coef, coef)) / point.penalties

    def next_scales(self, factor: float) -> FloatArray:
        """Newton step of the scales."""
        point, scales = self.point, self.scales
        inside = scales > 0.0
        wanted = inside | entering(point.excess, inside, factor, len(point.weights))
        groups = wanted.nonzero()[0]
        proposed = np.zeros_like(scales)
        if groups.size:
            self.block.include(groups)
            single = self.factor is not None and self.factor.single
            moved = moves(point, self.block, groups, single=single)
            if self.factor is None:
                response = empty_response(point, moved)
            else:
                response = self.factor.response(moved)
            proposed[groups] = propose_scales(
                response,
                np.maximum(point.norms[groups], 1e-300),
                factor * point.penalties[groups],
                scales[groups],
            )
        return proposed

    def move(self, scales: FloatArray, accuracy: float) -> bool:
        """Minimise the ridge model at ``scales``; False where the linear algebra fails.

        ``accuracy`` is the gradient that may be left over, in penalties.
        """
        point, block = self.point, self.block
        if not block.complete:
            block.include(scales.nonzero()[0])
        root = np.sqrt(block.of(scales))
        factor = make_factor(point, block, root, self.left_out)
        if factor is None:
            return False
        self.factor = factor
        column, shape = root[:, None], (len(root), block.width)
        before = block.of(point.coef)
        unknowns = np.divide(before, column, out=np.zeros(shape), where=column > 0.0)
        pulls = point.pulls
        # groups that leave take their part of the decision values along
        if np.count_nonzero(scales) < np.count_nonzero(self.scales + scales):
            self._go(column * unknowns)
            pulls = self._pulls()
        limits = root * block.of(point.penalties)
        limits *= accuracy
        limits *= limits
        pulls = self._correct(factor, root, unknowns, pulls, limits)
        coef = column * unknowns
        if not block.complete:
            whole = np.zeros(point.shape)
            whole[block.groups] = coef
            coef = whole
        point.settle(coef, pulls if len(pulls) == len(coef) else point.pulls_of(point.rows))
        self.scales = scales
        return True

    def _correct(
        self,
        factor: PlainFactor,
        root: FloatArray,
        unknowns: FloatArray,
        pulls: FloatArray,
        limits: FloatArray,
    ) -> FloatArray:
        """Correct ``unknowns`` in place until ``limits`` hold; return the negative gradients."""
        column = root[:, None]
        rest = column * self._held(pulls)
        rest -= unknowns
        for count in range(_CORRECTIONS):
            if count and (np.einsum("gd,gd->g", rest, rest) <= limits).all():
                break
            unknowns += factor.correct(rest)
            self._go(column * unknowns)
            pulls = self._pulls()
            np.multiply(column, self._held(pulls), out=rest)
            rest -= unknowns
        self.left_over = rest
        return pulls

    def _is_unsettled(self, factor: float) -> bool:
        """Whether the loss is so far from its minimum that no scale can be judged there."""
        if self.left_over is None:
            return False
        point, block = self.point, self.block
        rest = np.einsum("gd,gd->g", self.left_over, self.left_over)
        limits = factor * point.penalties + point.norms
        limits *= _UNSETTLED
        limits *= limits
        return bool((rest > block.of(limits * self.scales)).any())

    def tight_scales(self, factor: float) -> FloatArray:
        """Scales at which the ridge equals the norm: the next step cannot fail to descend."""
        coef = self.point.coef
        scales: FloatArray = np.sqrt(np.einsum("gd,gd->g", coef, coef))
        scales /= factor * self.point.penalties
        return scales

    def step(self, factor: float, accuracy: float, tolerated: float) -> int:
        """Newton step of the scales; the factors it took, zero when it failed.

        ``accuracy`` is the gradient that may be left over, in penalties, ``tolerated`` what the
        merit may rise by.
        """
        point, scales = self.point, self.scales
        before, level = point.state(), point.merit(factor) + tolerated
        unsettled = self._is_unsettled(factor)
        proposal = self.tight_scales(factor) if unsettled else self.next_scales(factor)
        if self.move(proposal, accuracy * factor) and point.merit(factor) <= level:
            return 1
        point.restore(before)
        self.scales = scales
        return 0

    def _go(self, coef: FloatArray) -> None:
        """Decision values and gradient of the coefficients of the groups held."""
        self.point.decide(coef.reshape(-1) @ self.block.rows)

    def _pulls(self) -> FloatArray:
        """Negative gradients, of all groups where those in play are most of them."""
        point, rows = self.point, self.block.rows
        return point.pulls_of(point.rows if 2 * len(rows) >= len(point.rows) else rows)

    def _held(self, pulls: FloatArray) -> FloatArray:
        """Those of the groups held; never as many as there are groups unless all are held."""
        return pulls if len(pulls) == len(self.block.groups) else self.block.of(pulls)
