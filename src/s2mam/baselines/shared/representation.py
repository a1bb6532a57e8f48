"""Rows as low-rank convex combinations of each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import cho_factor, cho_solve, svd

from s2mam._typing import FloatArray
from s2mam.baselines.shared.groups import shrink_rows
from s2mam.baselines.shared.keyed_table import KeyedTable
from s2mam.baselines.shared.simplex import project_simplex
from s2mam.baselines.shared.spectra import threshold_singular_values

__all__ = ["Representation", "label_free_representation", "represent", "representation_cost"]

# Penalty of the constraint on the rows relative to that of the copies, times the squared largest
# singular value of the table: brings both constraints to one scale.
_ROWS_TO_COPIES = 4.0
# An answer holds six matrices of rows by rows: 400 MB for the two that are kept.
_KEPT_ROWS = 2000


@dataclass(frozen=True)
class Representation:
    """State of :func:`represent`, to read the answer from and to go on from.

    Attributes
    ----------
    shares : (n, n) array
        G: non-negative, rows sum to one, zero diagonal.
    low_rank : (n, n) array
        J: the copy whose singular values were thresholded.
    errors : (n, r) array
        E: what the combinations miss, in the coordinates of the table's right singular vectors.
    coefficients : (n, n) array
        Z: the unconstrained copy.
    duals : tuple of arrays
        Scaled multipliers of the rows and the two copies.
    penalty : float
        Penalty of the copies at the end.
    residuals : list of float
        Primal and dual residual together, per iteration.
    """

    shares: FloatArray
    low_rank: FloatArray
    errors: FloatArray
    coefficients: FloatArray
    duals: tuple[FloatArray, FloatArray, FloatArray]
    penalty: float
    residuals: list[float]


def representation_cost(table: FloatArray, shares: FloatArray, rank_weight: float) -> float:
    """``||X - G X||_{2,1} + rank_weight ||G||_*``.

    Examples
    --------
    >>> import numpy as np
    >>> representation_cost(np.array([[1.0], [1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]), 0.5)
    1.0
    """
    missed = float(np.linalg.norm(table - shares @ table, axis=1).sum())
    return missed + (rank_weight * float(np.linalg.norm(shares, "nuc")) if rank_weight else 0.0)


def represent(
    table: FloatArray,
    cost: FloatArray,
    rank_weight: float,
    *,
    start: Representation | None = None,
    max_iter: int = 200,
    tol: float = 1e-3,
) -> Representation:
    """Minimise ``||X - Z X||_{2,1} + rank_weight ||Z||_* + <Z, cost>`` over row-stochastic Z.

    The diagonal of Z is zero. Alternating directions between Z and its copies (J for the rank, G
    for the simplex, E for the errors), with a penalty that balances the residuals. The table
    enters by its principal components, so an iteration costs O(n^2 min(n, q)) and, with a rank
    weight, one eigenvalue problem of order n.

    Parameters
    ----------
    table : (n, q) array
        X.
    cost : (n, n) array
        Price of each share.
    rank_weight : float
        Weight of the nuclear norm; 0 leaves it out.
    start : Representation, optional
        State to go on from, of the same table and rank weight.
    max_iter : int
        Iterations at most.
    tol : float
        Root mean square residual per row to stop at.

    Returns
    -------
    Representation

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> represent(table, np.zeros((4, 4)), 0.1).shares.round(2)
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 1., 0.]])
    """
    left, values, _ = svd(table, full_matrices=False, check_finite=False)
    kept = values > 1e-12 * values[0]
    rows = left[:, kept] * values[kept]
    ratio = _ROWS_TO_COPIES / (float(values[0]) ** 2 if kept.any() else 1.0)
    state = start if start is not None else _fresh(rows)
    inverse = _inverse(rows, ratio, copies=2 if rank_weight > 0 else 1)
    residuals: list[float] = []
    for iteration in range(1, max_iter + 1):
        state, primal, dual = _iterate(state, rows, cost, rank_weight, ratio, inverse)
        residuals.append(max(primal, dual))
        if residuals[-1] <= tol * np.sqrt(rows.shape[0]):
            break
        if iteration % 10 == 0:
            state = _balance(state, primal, dual)
    return Representation(**(vars(state) | {"residuals": residuals}))


def label_free_representation(keyed: KeyedTable, rank_weight: float) -> Representation:
    """:func:`represent` without prices on the shares; the last two of small tables are kept."""
    small = keyed.table.shape[0] <= _KEPT_ROWS
    return (_kept if small else _kept.__wrapped__)(keyed, rank_weight)


# Without labels the answer is the same in every fit over a table: a start for all of them.
@lru_cache(maxsize=2)
def _kept(keyed: KeyedTable, rank_weight: float) -> Representation:
    n = keyed.table.shape[0]
    return represent(keyed.table, np.zeros((n, n)), rank_weight)


def _fresh(rows: FloatArray) -> Representation:
    n = rows.shape[0]
    size = float(np.linalg.norm(rows, axis=1).mean())
    zeros = np.zeros((n, n))
    return Representation(
        shares=zeros,
        low_rank=zeros,
        errors=rows,
        coefficients=zeros,
        duals=(np.zeros_like(rows), zeros, zeros),
        penalty=size if size > 0 else 1.0,
        residuals=[],
    )


def _inverse(rows: FloatArray, ratio: float, copies: int) -> FloatArray:
    """(ratio X X' + copies I)^-1, by the matrix of the columns' order."""
    if rows.shape[1] == 0:  # no column varies
        return np.eye(rows.shape[0]) / copies
    small = ratio * (rows.T @ rows)
    small[np.diag_indices_from(small)] += copies
    factor = cho_factor(small, check_finite=False)
    inner = cho_solve(factor, rows.T, check_finite=False)
    inverse: FloatArray = -ratio * (rows @ inner) / copies
    inverse[np.diag_indices_from(inverse)] += 1.0 / copies
    return inverse


def _iterate(
    state: Representation,
    rows: FloatArray,
    cost: FloatArray,
    rank_weight: float,
    ratio: float,
    inverse: FloatArray,
) -> tuple[Representation, float, float]:
    mu, (dual_rows, dual_rank, dual_shares) = state.penalty, state.duals
    z = state.coefficients
    errors = shrink_rows(rows - z @ rows + dual_rows, 1.0 / (mu * ratio))
    wanted = z + dual_shares - cost / mu
    np.fill_diagonal(wanted, -np.inf)
    shares = project_simplex(wanted)
    right = ratio * (rows - errors + dual_rows) @ rows.T + shares - dual_shares
    low_rank = shares
    if rank_weight > 0:
        low_rank = threshold_singular_values(z + dual_rank, rank_weight / mu)
        right += low_rank - dual_rank
    z = right @ inverse
    gaps = (rows - z @ rows - errors, z - low_rank, z - shares)
    moves = (errors - state.errors, low_rank - state.low_rank, shares - state.shares)
    if rank_weight == 0:  # no such copy
        gaps, moves = (gaps[0], np.zeros(1), gaps[2]), (moves[0], np.zeros(1), moves[2])
    duals = (dual_rows + gaps[0], dual_rank + gaps[1], dual_shares + gaps[2])
    new = Representation(shares, low_rank, errors, z, duals, mu, [])
    return new, _size(gaps, ratio), _size(moves, ratio)


def _size(parts: tuple[FloatArray, FloatArray, FloatArray], ratio: float) -> float:
    on_rows, *on_copies = (float((part**2).sum()) for part in parts)
    return float(np.sqrt(ratio * on_rows + sum(on_copies)))


def _balance(state: Representation, primal: float, dual: float) -> Representation:
    factor = 2.0 if primal > 5.0 * dual else 0.5 if dual > 5.0 * primal else 1.0
    first, second, third = (dual / factor for dual in state.duals)
    changes = {"penalty": state.penalty * factor, "duals": (first, second, third)}
    return Representation(**(vars(state) | changes))
