"""The additive model refitted to labels that have spread to all rows.

With very many columns their features are not held; the kernel matrix of the rows is then added up
column by column, and the coefficients are read off in a second pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bases.atoms import Atoms
from s2mam.bases.curves import LazyCurves
from s2mam.masks.labeled_atoms import AtomFit, labeled_atoms

__all__ = ["LEAST_RIDGE", "dual_ridge", "refit_held", "refit_to_all", "refit_wide"]

# For rows that are all alike.
LEAST_RIDGE = 1e-12


def refit_to_all(
    atoms: Atoms,
    relevance: FloatArray,
    targets: Sequence[tuple[FloatArray, FloatArray]],
    *,
    ridge: float,
) -> list[AtomFit]:
    """Additive ridge on all rows that count, columns weighted by relevance, for several targets.

    Parameters
    ----------
    atoms : Atoms
        Parts of all rows.
    relevance : (2p,) array
        Weights of the straight and of the curved parts.
    targets : sequence of pairs
        Targets (n, k) and counts (n,) of the rows; a row that counts zero is left out.
    ridge : float
        Ridge as a share of the mean eigenvalue.

    Returns
    -------
    list of AtomFit
        One per target.
    """
    if isinstance(atoms.curved, LazyCurves):
        return refit_wide(atoms.straight, atoms.curved, relevance, targets, ridge)
    return [
        refit_held(atoms.straight, atoms.curved, relevance, target, counts, ridge)
        for target, counts in targets
    ]


def refit_held(
    lines: FloatArray,
    bends: FloatArray,
    relevance: FloatArray,
    target: FloatArray,
    counts: FloatArray,
    ridge: float,
) -> AtomFit:
    """The refit on features that are held, for one target."""
    used, total = np.flatnonzero(counts), float(counts.sum())
    atoms = labeled_atoms(lines, bends, used, target[used], counts[used])
    p, rank = atoms.n_columns, atoms.curved.shape[2]
    owner = np.concatenate([relevance[:p], np.repeat(relevance[p:], rank)])
    features = np.hstack([atoms.straight, atoms.flat]) * np.sqrt(owner)
    wide = features.shape[1] >= used.size
    gram = features @ features.T if wide else features.T @ features
    gram.flat[:: gram.shape[0] + 1] += ridge * np.trace(gram) / total
    primal = np.linalg.solve(gram, atoms.target if wide else features.T @ atoms.target)
    primal = features.T @ primal if wide else primal
    coef = np.sqrt(owner)[:, None] * primal
    straight, curved = coef[:p], coef[p:].reshape(p, rank, -1)
    intercept = (
        atoms.target_mean
        - atoms.straight_mean @ straight
        - np.einsum("jr,jrk->k", atoms.curved_mean, curved)
    )
    return AtomFit(straight, curved, intercept)


def refit_wide(
    straight: FloatArray,
    curves: LazyCurves,
    relevance: FloatArray,
    targets: Sequence[tuple[FloatArray, FloatArray]],
    ridge: float,
) -> list[AtomFit]:
    """The refit in its dual form, from columns whose features are not held.

    The kernel matrix of the rows is a sum over columns, is made once for all targets, and gives
    coefficients in a second pass over the columns.
    """
    p = straight.shape[1]
    lines, bends = relevance[:p], relevance[p:]
    kernel = _kernel(straight, curves, lines, bends)
    duals, intercepts = [], []
    for target, counts in targets:
        dual, intercept = dual_ridge(kernel, target, counts, ridge)
        duals.append(dual)
        intercepts.append(intercept)
    together = np.concatenate(duals, axis=1)
    line_coef = lines[:, None] * (straight.T @ together)
    curve_coef = np.empty((p, curves.shape[2], together.shape[1]))
    for part, values in curves.chunks():
        curve_coef[part] = bends[part, None, None] * np.matmul(values.transpose(0, 2, 1), together)
    fits, at = [], 0
    for dual, intercept in zip(duals, intercepts, strict=True):
        own = slice(at, at + dual.shape[1])
        fits.append(AtomFit(line_coef[:, own].copy(), curve_coef[:, :, own].copy(), intercept))
        at = own.stop
    return fits


def _kernel(
    straight: FloatArray, curves: LazyCurves, lines: FloatArray, bends: FloatArray
) -> FloatArray:
    """Sum over all columns of the weighted kernels between all rows, not centred."""
    n = straight.shape[0]
    kernel: FloatArray = np.zeros((n, n))
    used = np.flatnonzero(lines)
    if used.size:
        scaled = straight[:, used] * np.sqrt(lines[used])
        kernel += scaled @ scaled.T
    for part, values in curves.chunks():
        values *= np.sqrt(bends[part])[:, None, None]
        rows = values.transpose(1, 0, 2).reshape(n, -1)
        kernel += rows @ rows.T
    return kernel


def dual_ridge(
    kernel: FloatArray, target: FloatArray, counts: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Coefficients (n, k) of the rows' kernels, and the intercept.

    Rows are centred with the counted mean and multiplied by the root of their counts, as
    :func:`s2mam.masks.labeled_atoms.labeled_atoms` does; on the kernel that is a projection.
    """
    used, total = np.flatnonzero(counts), float(counts.sum())
    share, root = counts[used] / total, np.sqrt(counts[used])
    among = kernel[np.ix_(used, used)]
    mean = among @ share
    gram = among - mean[:, None] - mean[None, :] + float(share @ mean)
    gram *= np.outer(root, root)
    gram.flat[:: gram.shape[0] + 1] += max(ridge * float(np.trace(gram)) / total, LEAST_RIDGE)
    target_mean = share @ target[used]
    solved = root[:, None] * np.linalg.solve(gram, (target[used] - target_mean) * root[:, None])
    inside = solved - share[:, None] * solved.sum(axis=0)
    dual = np.zeros(target.shape)
    dual[used] = inside
    intercept: FloatArray = target_mean - mean @ inside
    return dual, intercept
