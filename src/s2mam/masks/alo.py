"""Approximate leave-one-out of a penalised fit: one Newton step per row, from one Hessian."""

from __future__ import annotations

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.losses.base import Loss
from s2mam.masks.alo_rows import ActiveGroups, diagonal_part, spread_by_rows

__all__ = ["approximate_loo", "leave_one_out_decisions"]

# Hessians with fewer rows than this are inverted as they are.
_SMALL = 300


def approximate_loo(
    loss: Loss,
    target: AnyArray,
    weights: FloatArray,
    features: FloatArray,
    offsets: IntArray,
    coef: FloatArray,
    intercept: float | FloatArray,
    penalties: FloatArray,
    quadratic: FloatArray | None = None,
) -> float:
    """Return ``sum_i w_i loss(y_i, f_i without row i)`` at a solution of the group problem.

    The arguments are those of :class:`s2mam.solvers.GroupProblem` and its solution. Groups that
    are zero stay zero when a row leaves. Exact for the squared loss without group penalties.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> y, empty = np.array([0.0, 1.0, 2.0]), np.zeros(0)
    >>> value = approximate_loo(
    ...     SquaredLoss(), y, np.full(3, 1 / 3), np.zeros((3, 0)), np.array([0]), empty, 1.0, empty
    ... )
    >>> round(value, 6)  # each row predicted by the mean of the other two
    1.5
    """
    decisions = leave_one_out_decisions(
        loss, target, weights, features, offsets, coef, intercept, penalties, quadratic
    )
    return loss.value(target, decisions, weights)


def leave_one_out_decisions(
    loss: Loss,
    target: AnyArray,
    weights: FloatArray,
    features: FloatArray,
    offsets: IntArray,
    coef: FloatArray,
    intercept: float | FloatArray,
    penalties: FloatArray,
    quadratic: FloatArray | None = None,
) -> FloatArray:
    """Return each row's decision value as predicted (to second order) without that row.

    With H the Hessian of the whole objective on the active groups and the intercept, A_i = x_i
    H^-1 x_i', g_i and W_i gradient and curvature of row i's own loss term, the decision moves by
    ``A_i (I - W_i A_i)^-1 g_i``.
    """
    k = loss.n_outputs
    decisions = (features @ coef + intercept).reshape(len(target), k)
    shaped = decisions[:, 0] if k == 1 else decisions
    pull = loss.gradient(target, shaped, weights).reshape(-1, k)
    bend = loss.curvature(target, shaped, weights).reshape(-1, k, k)
    spread = _spread_by_rows(
        loss, weights, features, offsets, coef, shaped, bend, penalties, quadratic
    )
    if spread is None:
        spread = _spread(features, bend, coef, offsets, penalties, quadratic)
    kept = np.eye(k) - bend @ spread
    moves = spread @ _solve(kept, pull[:, :, None])
    moved: FloatArray = decisions + moves[:, :, 0]
    return moved[:, 0] if k == 1 else moved


def _active(coef: FloatArray, offsets: IntArray) -> IntArray:
    """Feature positions of the groups that are not zero."""
    ranks = np.diff(offsets)
    nonzero = coef != 0.0 if coef.ndim == 1 else (coef != 0.0).any(axis=1)
    totals = np.concatenate([[0], np.cumsum(nonzero)])
    alive = totals[offsets[1:]] > totals[offsets[:-1]]
    return np.flatnonzero(np.repeat(alive, ranks))


def _penalty_hessian(
    active: IntArray,
    coef: FloatArray,
    offsets: IntArray,
    penalties: FloatArray,
    quadratic: FloatArray | None,
) -> FloatArray:
    """Hessian of b'Qb + sum penalties ||b_g|| on the active features, (A, k, A, k)."""
    table = coef[:, None] if coef.ndim == 1 else coef
    k = table.shape[1]
    size = active.size
    hessian = np.zeros((size, k, size, k))
    if quadratic is not None:
        hessian += 2.0 * np.einsum("ab,kl->akbl", quadratic[np.ix_(active, active)], np.eye(k))
    group = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))[active]
    for g in np.unique(group):
        at = np.flatnonzero(group == g)
        block = table[active[at]].ravel()
        norm = float(np.linalg.norm(block))
        bend = penalties[g] / norm * (np.eye(block.size) - np.outer(block, block) / norm**2)
        low, high = at[0], at[-1] + 1  # groups are contiguous among the active features
        hessian[low:high, :, low:high, :] += bend.reshape(at.size, k, at.size, k)
    return hessian


def _spread(
    features: FloatArray,
    bend: FloatArray,
    coef: FloatArray,
    offsets: IntArray,
    penalties: FloatArray,
    quadratic: FloatArray | None,
) -> FloatArray:
    """Return A_i of every row from the inverse of the whole Hessian."""
    active = _active(coef, offsets)
    rows = np.column_stack([features[:, active], np.ones(len(features))])
    return _row_spread(rows, bend, _penalty_hessian(active, coef, offsets, penalties, quadratic))


def _spread_by_rows(
    loss: Loss,
    weights: FloatArray,
    features: FloatArray,
    offsets: IntArray,
    coef: FloatArray,
    decisions: FloatArray,
    bend: FloatArray,
    penalties: FloatArray,
    quadratic: FloatArray | None,
) -> FloatArray | None:
    """The same by way of the rows, where that is possible and cheaper."""
    active = _active(coef, offsets)
    if not _cheaper_by_rows(active.size + 1, *bend.shape[:2]):
        return None
    probability = loss.inverse_link(decisions).reshape(bend.shape[:2])
    diagonal = diagonal_part(bend, probability, weights)
    group = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))[active]
    owners, starts = np.unique(group, return_index=True)
    if diagonal is None or not (penalties[owners] > 0.0).all():
        return None
    groups = ActiveGroups(
        features[:, active],
        coef.reshape(len(coef), -1)[active],
        starts,
        penalties[owners],
        None if quadratic is None else quadratic[np.ix_(active, active)],
    )
    try:
        return spread_by_rows(groups, diagonal)
    except np.linalg.LinAlgError:
        return None


def _cheaper_by_rows(columns: int, rows: int, outputs: int) -> bool:
    """Compare rough counts of operations: the inverse of the Hessian, and matrices between rows."""
    size = columns * outputs
    return size > _SMALL and outputs * rows**3 < size**3


def _row_spread(rows: FloatArray, bend: FloatArray, penalty: FloatArray) -> FloatArray:
    """Return A_i = x_i H^-1 x_i' for every row, (l, k, k); the last column of rows is constant."""
    k = bend.shape[1]
    size = rows.shape[1]
    hessian = np.einsum("ia,ikm,ib->akbm", rows, bend, rows, optimize=True)
    hessian[:-1, :, :-1, :] += penalty
    flat = hessian.reshape(size * k, size * k)
    # Constants common to all classes, or directions the data leave open, have no curvature.
    inverse = _pseudo_inverse(flat).reshape(size, k, size, k)
    spread: FloatArray = np.einsum("ia,akbm,ib->ikm", rows, inverse, rows, optimize=True)
    return spread


def _pseudo_inverse(matrix: FloatArray) -> FloatArray:
    try:
        inverse = np.linalg.pinv(matrix, rcond=1e-12, hermitian=True)
    except np.linalg.LinAlgError:
        # The eigenvalue routine of older OpenBLAS gives up on some sound but singular matrices.
        inverse = np.linalg.pinv(matrix, rcond=1e-12)
    return np.asarray(inverse, dtype=np.float64)


def _solve(matrices: FloatArray, right: FloatArray) -> FloatArray:
    """Solve stacked systems; a row that fits itself alone (singular) keeps a large finite move."""
    eye = np.eye(matrices.shape[1])
    determinants = np.abs(np.linalg.det(matrices))
    safe = np.where((determinants < 1e-10)[:, None, None], matrices + 1e-8 * eye, matrices)
    return np.asarray(np.linalg.solve(safe, right), dtype=np.float64)
