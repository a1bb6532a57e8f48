"""Certificates: how far from the minimum a point can be at most.

Every convex loss lies above its tangents, and so does ``b'Qb``. With ``theta`` a gradient of the
loss, ``q`` any coefficients and ``z = F'theta + 2Qq``, the bound

    objective(b, c) >= -conjugate(s theta) - s^2 q'Qq        for all b, c

holds as soon as ``s ||z_g|| <= penalties[g]`` for each group and ``theta`` sums to zero (when
there is an intercept). Scaling by ``s <= 1`` reaches the first, a linearised correction of the
unpenalised coefficients the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2mam._typing import FloatArray
from s2mam.solvers.bend import Bend
from s2mam.solvers.linear import Definite
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.problem import GroupProblem

_ROUNDING = 1e-14

__all__ = ["Certificate", "certify", "duality_gap"]


@dataclass(frozen=True)
class Certificate:
    """A dual point and what it proves.

    Attributes
    ----------
    pulls : ndarray of shape (P,) or (P, K)
        Negative gradient of the smooth part at the corrected dual point.
    norms : ndarray of shape (G,)
        Group norms of ``pulls``.
    excess : ndarray
        ``norms`` over the penalties, for the penalised groups.
    bound : float
        Lower bound of the minimum (minus infinity when nothing is proved).
    """

    pulls: FloatArray
    norms: FloatArray
    excess: FloatArray
    bound: float


def certify(
    prepared: PreparedProblem,
    coef: FloatArray,
    quadratic_coef: FloatArray | None,
    gradient: FloatArray,
    bend: Bend,
) -> Certificate:
    """Certificate from the loss gradient and its bend at the decision values of ``coef``.

    ``quadratic_coef`` is ``Q @ coef``; the caller has it already.
    """
    theta, bowl = gradient, 0.0
    if prepared.free.shape[1]:
        theta, coef, quadratic_coef = _correct_free(prepared, coef, quadratic_coef, gradient, bend)
    if not prepared.scalar:
        # a common shift of all classes carries no loss, so dual points sum to zero over them
        theta = theta - theta.mean(axis=1, keepdims=True)
    pulls = -(prepared.features.T @ theta)
    if quadratic_coef is not None:
        pulls -= 2.0 * quadratic_coef
        bowl = float(np.vdot(coef, quadratic_coef))
    norms = prepared.layout.norms(pulls)
    excess = norms[prepared.penalised] / prepared.used_penalties
    scale = 1.0 / float(excess.max(initial=1.0))
    conjugate = prepared.loss.conjugate(prepared.target, scale * theta, prepared.weights)
    return Certificate(pulls, norms, excess, -conjugate - scale * scale * bowl)


def _correct_free(
    prepared: PreparedProblem,
    coef: FloatArray,
    quadratic_coef: FloatArray | None,
    gradient: FloatArray,
    bend: Bend,
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Move ``theta`` and ``q`` by one linearised step of the free coefficients."""
    free, columns, outputs = prepared.free, prepared.free_columns, prepared.outputs
    first = int(prepared.fit_intercept)
    if prepared.scalar and free.shape[1] == first:  # the common case, an intercept alone
        return gradient - bend.values * (gradient.sum() / bend.total), coef, quadratic_coef
    slope = free.T @ gradient
    if quadratic_coef is not None:
        slope[first:] += 2.0 * quadratic_coef[columns]
    if np.abs(slope).max() <= _ROUNDING * float(np.abs(gradient).sum()):
        return gradient, coef, quadratic_coef
    gram = prepared.gram(free.T, bend.values)
    if prepared.quadratic is not None and columns.size:
        block = 2.0 * prepared.quadratic[np.ix_(columns, columns)]
        for k in range(outputs):
            gram[first * outputs + k :: outputs, first * outputs + k :: outputs] += block
    step = -Definite(gram).solve(slope.ravel()).reshape(slope.shape)
    moved = free @ step
    bent = prepared.bend(bend.values, moved)
    if quadratic_coef is not None and columns.size:
        assert prepared.quadratic is not None
        coef = coef.copy()
        coef[columns] += step[first:]
        quadratic_coef = quadratic_coef + prepared.quadratic[:, columns] @ step[first:]
    return gradient + bent, coef, quadratic_coef


def duality_gap(problem: GroupProblem, coef: FloatArray, intercept: float | FloatArray) -> float:
    """Upper bound of ``objective(coef, intercept) - minimum``.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> from s2mam.solvers import GroupProblem, duality_gap
    >>> problem = GroupProblem(
    ...     SquaredLoss(), np.eye(2), np.array([1.0, -1.0]), np.full(2, 0.5),
    ...     np.array([0, 2]), np.array([5.0]),
    ... )
    >>> duality_gap(problem, np.zeros(2), 0.0)  # the penalty is so large that zero is optimal
    0.0
    """
    prepared = PreparedProblem(problem)
    decision = prepared.features @ coef + intercept
    certificate = certify(
        prepared,
        coef,
        prepared.quadratic_times(coef),
        prepared.loss.gradient(prepared.target, decision, prepared.weights),
        prepared.bend_at(decision),
    )
    return max(0.0, problem.objective(coef, intercept) - certificate.bound)
