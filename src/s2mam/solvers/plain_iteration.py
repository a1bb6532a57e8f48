"""State of the plain iteration: point, scales and factor, and the moves between them."""

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
_CORRECTIONS = 8
_CURVED_CORRECTIONS = 2
# A correction that does not shrink the residual by this factor is the last one.
_PROGRESS = 0.5
# A group whose gradient is off by this share shows that a curved loss is not minimised yet.
_UNSETTLED = 0.5
# Parts of a proposed change of scales that are tried; a curved loss is left to others at once.
_FRACTIONS = (1.0, 0.3, 0.05)
# A factor serves other scales when these have moved the model by less than this, in squares of
# relative changes summed over the groups: over the rows (where a new factor costs most), over the
# columns, and once used again.
_NEAR_ROWS = 0.5
_NEAR_COLUMNS = 0.1
_NEAR_AGAIN = 0.005


class PlainIteration:
    """Point, scales and factor, and the move to other scales."""

    def __init__(self, problem: GroupProblem, start: SolveResult | None) -> None:
        self.point = point = PlainPoint(problem)
        self.block = PlainBlock(point.rows, point.shape[1])
        self.scales: FloatArray = np.zeros(point.shape[0])
        self.factor: PlainFactor | None = None
        self.factor_scales = self.scales
        self.borrowed = False
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
        if not self._refactor(scales, root, near=self._is_near(scales)):
            return False
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
        pulls = self._correct(scales, root, unknowns, pulls, limits)
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
        scales: FloatArray,
        root: FloatArray,
        unknowns: FloatArray,
        pulls: FloatArray,
        limits: FloatArray,
    ) -> FloatArray:
        """Correct ``unknowns`` in place until ``limits`` hold; return the negative gradients."""
        point, column = self.point, root[:, None]
        rest = column * self._held(pulls)
        rest -= unknowns
        direction, energy, last = rest, 0.0, np.inf
        for count in range(1, _CORRECTIONS + 1):
            assert self.factor is not None
            lifted = self.factor.correct(rest)
            if point.curved:
                unknowns += lifted
                self._go(column * unknowns)
            else:  # conjugate gradients: the length of the step is exact
                before, energy = energy, float(np.vdot(rest, lifted))
                if energy <= 0.0:
                    break
                direction = lifted if before == 0.0 else lifted + (energy / before) * direction
                moved = (column * direction).reshape(-1) @ self.block.rows
                ridge = float(np.vdot(direction, direction))
                unknowns += point.glide(moved, energy, ridge) * direction
            pulls = self._pulls()
            np.multiply(column, self._held(pulls), out=rest)
            rest -= unknowns
            if point.curved and count == _CURVED_CORRECTIONS:
                break
            squares = np.einsum("gd,gd->g", rest, rest)
            if (squares <= limits).all():
                break
            size = float(squares.sum())
            if not size < _PROGRESS**2 * last:
                if not self.borrowed or not self._refactor(scales, root, near=False):
                    break
                energy = 0.0
            last = size
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

    def step(self, factor: float, accuracy: float, slack: float) -> int:
        """Newton step of the scales, or a part of it; the factors it took, zero when it failed."""
        point, scales = self.point, self.scales
        before, level = point.state(), point.merit(factor) + slack
        unsettled = point.curved and self._is_unsettled(factor)
        proposal = self.tight_scales(factor) if unsettled else self.next_scales(factor)
        fractions = _FRACTIONS[:1] if point.curved else _FRACTIONS
        for count, fraction in enumerate(fractions, 1):
            wanted = proposal if fraction == 1.0 else scales + fraction * (proposal - scales)
            if self.move(wanted, accuracy * factor) and point.merit(factor) <= level:
                return count
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

    def _refactor(self, scales: FloatArray, root: FloatArray, *, near: bool) -> bool:
        """Make a new factor unless the one at hand is ``near``; False when that fails."""
        if not near:
            factor = make_factor(self.point, self.block, root, self.left_out)
            if factor is None:
                return False
            self.factor, self.factor_scales = factor, scales
        self.borrowed = near
        return True

    def _is_near(self, scales: FloatArray) -> bool:
        """Whether the factor at hand serves other scales as well."""
        point, factor, block = self.point, self.factor, self.block
        if factor is None or factor.cheap or point.curved:
            return False
        if factor.groups is not block.groups:
            return False
        energies = point.bend_total * block.traces
        before = block.of(self.factor_scales)
        apart = (block.of(scales) - before) * energies / (1.0 + before * energies)
        # the response of an old factor slows the scales down, so it is not used for long
        near = _NEAR_ROWS if factor.by_rows else _NEAR_COLUMNS
        return float(apart @ apart) < (_NEAR_AGAIN if self.borrowed else near)
