"""Rows as low-rank convex combinations of each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.linalg import svd

from s2mam._typing import FloatArray
from s2mam.baselines.shared.groups import shrink_rows
from s2mam.baselines.shared.keyed_table import KeyedTable
from s2mam.baselines.shared.simplex import project_simplex
from s2mam.baselines.shared.spectra import threshold_singular_values

__all__ = ["Representation", "label_free_representation", "represent", "representation_cost"]

# Penalty of the constraint on the rows relative to that of the copies, times the squared largest
# singular value of the table: brings both constraints to one scale.
_ROWS_TO_COPIES = 4.0
# Share of the new copies in what the coefficients are drawn to; above one it goes beyond them.
_RELAXED = 1.8
# Iterations from one thresholding of the singular values to the next: it costs more than the rest.
_RANK_EVERY = 5
# An answer holds six matrices of rows by rows: 400 MB for the two that are kept.
_KEPT_ROWS = 2000


@dataclass(frozen=True)
class RowSpace:
    """What :func:`represent` needs to know of a table.

    Attributes
    ----------
    rows : (n, r) array
        The table in the coordinates of its right singular vectors.
    ratio : float
        Penalty of the constraint on the rows relative to that of the copies.
    copies : int
        How many copies of Z there are.
    inner : (r, n) array
        ``ratio (ratio X'X + copies I)^-1 X'`` of these rows.
    """

    rows: FloatArray
    ratio: float
    copies: int
    inner: FloatArray

    @classmethod
    def of(cls, table: FloatArray, copies: int) -> RowSpace:
        """Decompose a table."""
        left, values, _ = svd(table, full_matrices=False, check_finite=False)
        kept = values > 1e-12 * values[0]
        rows = left[:, kept] * values[kept]
        ratio = _ROWS_TO_COPIES / (float(values[0]) ** 2 if kept.any() else 1.0)
        # The columns of these rows are orthogonal.
        inner = (ratio / (ratio * values[kept] ** 2 + copies))[:, None] * rows.T
        return cls(rows, ratio, copies, inner)

    def solve(self, right: FloatArray) -> FloatArray:
        """``right (ratio X X' + copies I)^-1``."""
        solution: FloatArray = right - (right @ self.rows) @ self.inner
        solution /= self.copies
        return solution


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
    space : RowSpace
        The table.
    """

    shares: FloatArray
    low_rank: FloatArray
    errors: FloatArray
    coefficients: FloatArray
    duals: tuple[FloatArray, FloatArray, FloatArray]
    penalty: float
    residuals: list[float]
    space: RowSpace


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
    for the simplex, E for the errors), over-relaxed, with a penalty that balances the residuals.
    The table enters by its principal components, so an iteration costs O(n^2 min(n, q)); with a
    rank weight every fifth one solves an eigenvalue problem of order n for J, which the others
    leave as it is.

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
    state = start
    if state is None:
        state = _fresh(RowSpace.of(table, copies=2 if rank_weight > 0 else 1))
    residuals: list[float] = []
    for iteration in range(1, max_iter + 1):
        is_whole = rank_weight == 0 or iteration % _RANK_EVERY == 0
        state, primal, dual = _iterate(state, cost, rank_weight, is_whole)
        residuals.append(max(primal, dual))
        if is_whole and residuals[-1] <= tol * np.sqrt(table.shape[0]):
            break
        if iteration % 10 == 0:
            state = _balance(state, primal, dual)
    return replace(state, residuals=residuals)


def label_free_representation(keyed: KeyedTable, rank_weight: float) -> Representation:
    """:func:`represent` without prices on the shares; the last two of small tables are kept."""
    small = keyed.table.shape[0] <= _KEPT_ROWS
    return (_kept if small else _kept.__wrapped__)(keyed, rank_weight)


# Without labels the answer is the same in every fit over a table: a start for all of them.
@lru_cache(maxsize=2)
def _kept(keyed: KeyedTable, rank_weight: float) -> Representation:
    n = keyed.table.shape[0]
    return represent(keyed.table, np.zeros((n, n)), rank_weight)


def _fresh(space: RowSpace) -> Representation:
    n = space.rows.shape[0]
    size = float(np.linalg.norm(space.rows, axis=1).mean())
    zeros = np.zeros((n, n))
    return Representation(
        shares=zeros,
        low_rank=zeros,
        errors=space.rows,
        coefficients=zeros,
        duals=(np.zeros_like(space.rows), zeros, zeros),
        penalty=size if size > 0 else 1.0,
        residuals=[],
        space=space,
    )


def _iterate(
    state: Representation, cost: FloatArray, rank_weight: float, is_whole: bool
) -> tuple[Representation, float, float]:
    """One round of the copies, the coefficients and the multipliers; J has a part in whole ones."""
    mu, (dual_rows, dual_rank, dual_shares) = state.penalty, state.duals
    rows, ratio, z = state.space.rows, state.space.ratio, state.coefficients
    missed = rows - z @ rows
    errors = shrink_rows(missed + dual_rows, 1.0 / (mu * ratio))
    wanted = z + dual_shares
    wanted -= cost / mu
    np.fill_diagonal(wanted, -np.inf)
    shares = project_simplex(wanted)
    pull_rows, pull_shares = _relax(errors, missed), _relax(shares, z)
    right = ratio * (rows - pull_rows + dual_rows) @ rows.T
    right += pull_shares
    right -= dual_shares
    low_rank = pull_rank = state.low_rank
    if rank_weight > 0:
        if is_whole:
            low_rank = threshold_singular_values(z + dual_rank, rank_weight / mu)
            pull_rank = _relax(low_rank, z)
        right += pull_rank
        right -= dual_rank
    z = state.space.solve(right)
    missed = rows - z @ rows
    gaps, moves = [z - shares], [shares - state.shares]
    if rank_weight > 0 and is_whole:
        gaps, moves = [*gaps, z - low_rank], [*moves, low_rank - state.low_rank]
        dual_rank = dual_rank + z - pull_rank
    duals = (dual_rows + missed - pull_rows, dual_rank, dual_shares + z - pull_shares)
    new = replace(
        state, shares=shares, low_rank=low_rank, errors=errors, coefficients=z, duals=duals
    )
    on_rows = (missed - errors, errors - state.errors)
    return new, _size(on_rows[0], gaps, ratio), _size(on_rows[1], moves, ratio)


def _relax(new: FloatArray, old: FloatArray) -> FloatArray:
    mixed: FloatArray = _RELAXED * new
    mixed += (1.0 - _RELAXED) * old
    return mixed


def _size(on_rows: FloatArray, on_copies: list[FloatArray], ratio: float) -> float:
    squares = ratio * np.vdot(on_rows, on_rows) + sum(np.vdot(part, part) for part in on_copies)
    return float(np.sqrt(squares))


def _balance(state: Representation, primal: float, dual: float) -> Representation:
    factor = 2.0 if primal > 5.0 * dual else 0.5 if dual > 5.0 * primal else 1.0
    first, second, third = (dual / factor for dual in state.duals)
    return replace(state, penalty=state.penalty * factor, duals=(first, second, third))
