"""State of the default solver: point, scales and linearisation, and the moves between them."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray
from s2mam.solvers.bend import Bend
from s2mam.solvers.continuation import entering, first_factor, next_factor
from s2mam.solvers.gap import Certificate, certify
from s2mam.solvers.point import Point
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.result import SolveResult
from s2mam.solvers.ridge import RidgeSystem
from s2mam.solvers.scales import propose_scales
from s2mam.solvers.systems import make_system

__all__ = ["ScaleIteration"]

# Parts of a proposed change of scales that are tried, and halvings of the last resort.
_FRACTIONS = (1.0, 0.3, 0.05)
_HALVINGS = 12
_ROUNDING = 1e-15
# An objective this far below the loss of predicting zero is zero to rounding (squared errors of
# 1e-13 of the target); no gap is small beside it.
_PERFECT = 1e-26
# A group whose gradient is off by this share shows that the loss is not minimised yet.
_UNSETTLED = 0.5
# Gradients the linear systems may leave over, in penalties: at first, and (times the tolerance
# on the gap) at last.
_ROUGH = 1e-2
_FINE = 0.03
# How much more the first of two solves with the same factor may leave over.
_FIRST = 30.0


class ScaleIteration:
    """Current point, scales and linearisation, and the moves between them."""

    def __init__(self, problem: GroupProblem, start: SolveResult | None, tol: float) -> None:
        self.prepared = PreparedProblem(problem)
        self.scales: FloatArray = np.zeros(self.prepared.layout.n_groups)
        self.point = self._first_point(start)
        self.null_value = self.prepared.loss.value(
            self.prepared.target,
            np.zeros_like(self.point.decision) + self.prepared.null_intercept(),
            self.prepared.weights,
        )
        nothing = np.zeros_like(self.point.decision)
        self.perfect = _PERFECT * self.prepared.loss.value(
            self.prepared.target, nothing, self.prepared.weights
        )
        self.bound = -np.inf
        self.factor = 1.0
        self.last_system: RidgeSystem | None = None
        self.tol = tol
        self.accuracy = _ROUGH
        self.rounding = _ROUNDING * self.null_value
        self.slack = self.rounding
        self._linearise()
        self.corrected = (self.point, self.gradient)

    def _first_point(self, start: SolveResult | None) -> Point:
        prepared = self.prepared
        if start is None:
            coef = np.zeros(prepared.coef_shape)
            rows = len(prepared.weights)
            shape = (rows,) if prepared.scalar else (rows, prepared.outputs)
            intercept = prepared.null_intercept()
            return self._evaluate(coef, intercept, np.zeros(shape) + intercept)
        coef = np.array(start.coef, dtype=np.float64)
        intercept = np.array(start.intercept if prepared.fit_intercept else 0.0, dtype=np.float64)
        if not prepared.scalar:
            # a common shift of all classes costs penalty without any loss, and would fade slowly
            coef -= coef.mean(axis=1, keepdims=True)
            intercept -= intercept.mean()
        used = prepared.penalised
        self.scales[used] = prepared.layout.norms(coef)[used] / prepared.penalties[used]
        return self._evaluate(coef, intercept, prepared.features @ coef + intercept)

    def _evaluate(self, coef: FloatArray, intercept: FloatArray, decision: FloatArray) -> Point:
        prepared = self.prepared
        smooth = prepared.loss.value(prepared.target, decision, prepared.weights)
        quadratic_coef = prepared.quadratic_times(coef)
        if quadratic_coef is not None:
            smooth += float(np.vdot(coef, quadratic_coef))
        return Point(coef, intercept, decision, quadratic_coef, smooth, prepared.penalty(coef))

    def _linearise(self) -> None:
        prepared, point = self.prepared, self.point
        self.gradient = prepared.loss.gradient(prepared.target, point.decision, prepared.weights)
        self.bend = prepared.bend_at(point.decision)

    def certify(self) -> Certificate:
        point, gradient = self.corrected
        certificate = certify(self.prepared, point.coef, point.quadratic_coef, gradient, self.bend)
        self.bound = max(self.bound, certificate.bound)
        return certificate

    def set_tolerances(self, gap: float, objective: float, slack: float) -> None:
        """Linear systems as exact as the next step can use; slack of the merit."""
        relative = gap / abs(objective) if objective else 0.0
        self.accuracy = min(_ROUGH, max(_FINE * self.tol, 0.1 * relative**2))
        self.slack = slack if np.isfinite(slack) else self.rounding

    def target_of(self, system: RidgeSystem, pull: FloatArray, rough: float = 1.0) -> Point:
        """Minimiser of the ridge model, ``rough`` times as inexact as the accuracy asks for."""
        prepared, block = self.prepared, system.block
        limits = (rough * self.accuracy * self.factor) * prepared.penalties[block.groups]
        found, decision = system.solve(pull, limits)
        coef = np.zeros(prepared.coef_shape)
        first, last = int(prepared.fit_intercept), prepared.free.shape[1]
        coef[block.columns] = found[last:]
        if last > first:
            coef[prepared.free_columns] = found[first:last]
        intercept = found[0] if first else np.zeros_like(self.point.intercept)
        return self._evaluate(coef, np.asarray(intercept), decision)

    def merit(self, point: Point) -> float:
        return point.smooth + self.factor * point.penalty

    def accept(self, target: Point, halvings: int) -> float:
        """Move towards ``target`` as far as the merit falls; return the fraction of the way."""
        here = self.point
        level = self.merit(here)
        if self.merit(target) <= level + self.slack:
            self.point = target
            return 1.0
        fraction = 1.0
        for _ in range(halvings):
            fraction *= 0.4
            between = self._evaluate(
                here.coef + fraction * (target.coef - here.coef),
                here.intercept + fraction * (target.intercept - here.intercept),
                here.decision + fraction * (target.decision - here.decision),
            )
            if self.merit(between) < level:
                self.point = between
                return fraction
        return 0.0

    def advance(self, scales: FloatArray, halvings: int) -> float:
        """Solve the ridge model at ``scales``, move, linearise again."""
        system = make_system(self.prepared, scales, self.bend, self.last_system)
        pull = self.prepared.bend(self.bend.values, self.point.decision) - self.gradient
        # a curved loss is polished afterwards, which makes up for a rough solution now
        rough = _FIRST if not self.prepared.loss.is_quadratic else 1.0
        fraction = self.accept(self.target_of(system, pull, rough), halvings)
        if fraction == 0.0:
            return 0.0
        self.scales = scales if fraction == 1.0 else self.scales + fraction * (scales - self.scales)
        self.last_system = system
        bend = self.bend
        self._linearise()
        self.corrected = (self.point, self.gradient)
        if fraction == 1.0 and not self.prepared.loss.is_quadratic:
            self.polish(system, bend)
        return fraction

    def begin(self) -> None:
        """First system: at the scales of the start, or at none."""
        if self.scales.any() or self.prepared.free_columns.size:
            self.advance(self.scales, _HALVINGS)
        if self.last_system is None:
            self.last_system = make_system(self.prepared, self.scales, self.bend)

    def polish(self, system: RidgeSystem, bend: Bend) -> None:
        """Second solve with the factor at hand: removes what the curved loss left behind."""
        prepared, here = self.prepared, self.point
        target = self.target_of(system, prepared.bend(bend.values, here.decision) - self.gradient)
        moved = prepared.bend(self.bend.values, target.decision - here.decision)
        self.corrected = (target, self.gradient + moved)
        if self.merit(target) < self.merit(here):
            self.point = target
            self._linearise()

    def step(self, certificate: Certificate) -> int:
        """One move; returns the number of systems it took."""
        if self.unsettled(certificate) and self.advance(self.tight_scales(), _HALVINGS) > 0.0:
            return 1
        scales, proposal = self.scales, self.next_scales(certificate)
        count = 0
        for fraction in _FRACTIONS:
            count += 1
            if self.advance(scales + fraction * (proposal - scales), 2) > 0.0:
                return count
        self.accuracy = _FINE * self.tol
        self.advance(self.tight_scales(), _HALVINGS)
        return count + 1

    def unsettled(self, certificate: Certificate) -> bool:
        """Whether a curved loss is so far from its minimum that no scale can be judged there."""
        if self.prepared.loss.is_quadratic:
            return False
        prepared, layout = self.prepared, self.prepared.layout
        groups = np.flatnonzero(self.scales)
        columns = layout.columns(groups)
        coef = self.corrected[0].coef[columns]
        inverse = np.repeat(1.0 / self.scales[groups], layout.sizes[groups])
        expected = coef * (inverse if prepared.scalar else inverse[:, None])
        apart = certificate.pulls.copy()
        apart[columns] -= expected
        limits = self.factor * prepared.penalties[groups] + certificate.norms[groups]
        return bool(np.any(layout.norms(apart)[groups] > _UNSETTLED * limits))

    def tight_scales(self) -> FloatArray:
        """Scales at which the ridge equals the norm: the next step cannot fail to descend."""
        prepared = self.prepared
        used = prepared.penalised
        scales = np.zeros(prepared.layout.n_groups)
        norms = prepared.layout.norms(self.point.coef)
        scales[used] = norms[used] / (self.factor * prepared.penalties[used])
        return scales

    def next_scales(self, certificate: Certificate) -> FloatArray:
        prepared = self.prepared
        used = prepared.penalised
        inside = self.scales[used] > 0.0
        rows = len(prepared.weights)
        wanted = inside | entering(certificate.excess, inside, self.factor, rows)
        groups = used[wanted]
        scales = np.zeros_like(self.scales)
        if groups.size:
            assert self.last_system is not None
            scales[groups] = propose_scales(
                self.last_system.response(groups, certificate.pulls),
                np.maximum(certificate.norms[groups], 1e-300),
                self.factor * prepared.used_penalties[wanted],
                self.scales[groups],
            )
        return scales

    def set_factor(self, certificate: Certificate, *, first: bool) -> None:
        """Choose or lower the factor on the penalties (continuation)."""
        worst = float(certificate.excess.max(initial=0.0))
        self.factor = first_factor(worst) if first else next_factor(self.factor, worst)
