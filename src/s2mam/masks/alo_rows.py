"""The spread of approximate leave-one-out by way of the rows.

A row's decision value moves by its *spread* ``A_i = x_i H^-1 x_i'``, with H the Hessian of the
whole objective over all active features and outputs. Its size is features times outputs: with many
classes no machine can invert it. Labelled rows are fewer. Apart from the loss, H consists of

- ``D``, a ridge per group and twice the graph, the same for every output;
- minus one direction per group, that of its coefficients, along which a norm does not bend;
- nothing for the intercepts.

Woodbury's formula turns D into a matrix ``M`` between the rows, common to all outputs, and treats
the directions and the intercepts as *drifts*, a few common columns. The curvature of the softmax,
``diag(d) - d d' / w``, is diagonal but for one column per row, so that the outputs come apart too
(as in Rasmussen and Williams, Gaussian Processes for Machine Learning, section 3.5): one matrix
between the rows is factorised per output, and one more for what joins them. The outcome is that of
the whole Hessian.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from s2mam._typing import FloatArray, IntArray

__all__ = ["ActiveGroups", "diagonal_part", "spread_by_rows"]

# As in the pseudo-inverse of the whole Hessian.
_RANK_TOLERANCE = 1e-12
_COUPLING_TOLERANCE = 1e-14
# Curvature may differ from that of a softmax by so much, times the weight of its row.
_SAME = 1e-9


@dataclass(frozen=True)
class ActiveGroups:
    """The groups that are not zero at a solution.

    Attributes
    ----------
    features : (l, A) array
    coef : (A, K) array
    starts : array of int
        Position of the first feature of every group.
    penalties : array
        Of every group; positive.
    quadratic : (A, A) array or None
    """

    features: FloatArray
    coef: FloatArray
    starts: IntArray
    penalties: FloatArray
    quadratic: FloatArray | None

    def sum_groups(self, values: FloatArray, axis: int = -1) -> FloatArray:
        """Sums over the features of each group."""
        sums: FloatArray = np.add.reduceat(values, self.starts, axis=axis)
        return sums


@dataclass(frozen=True)
class _Prior:
    """What is known of the decision values without the loss.

    Attributes
    ----------
    common : (l, l) array
        ``F D^-1 F'`` of every output.
    drifts : (K, l, m) array
        Decision values along the directions that D counts too stiff, and the intercepts.
    slack : (m, m) array
        Stiffness that is left along the drifts; zero without a graph.
    """

    common: FloatArray
    drifts: FloatArray
    slack: FloatArray


def diagonal_part(
    bend: FloatArray, probability: FloatArray, weights: FloatArray
) -> FloatArray | None:
    """``d`` where curvatures are ``diag(d) - d d' / w``, or just ``d`` with one output.

    Parameters
    ----------
    bend : (l, K, K) array
    probability : (l, K) array
        Decision values through the inverse link of the loss.
    weights : (l,) array

    Returns
    -------
    (l, K) array or None
        None for a loss of another form.
    """
    if bend.shape[1] == 1:
        return bend[:, 0]
    expected = -probability[:, :, None] * probability[:, None, :]
    diagonal = np.arange(bend.shape[1])
    expected[:, diagonal, diagonal] += probability
    expected *= weights[:, None, None]
    if np.abs(bend - expected).max(initial=0.0) > _SAME * weights.max(initial=0.0):
        return None
    return probability * weights[:, None]


def spread_by_rows(groups: ActiveGroups, diagonal: FloatArray) -> FloatArray:
    """Return ``A_i = x_i H^-1 x_i'`` for every row, intercepts included.

    Parameters
    ----------
    groups : ActiveGroups
    diagonal : (l, K) array
        As `diagonal_part` returns it.

    Returns
    -------
    (l, K, K) array

    Examples
    --------
    Ten rows, one feature and an intercept, a squared loss without ridge: the leverages.

    >>> import numpy as np
    >>> x = np.arange(10.0)
    >>> groups = ActiveGroups(x[:, None], np.ones((1, 1)), np.array([0]), np.ones(1), None)
    >>> spread = spread_by_rows(groups, np.ones((10, 1)))
    >>> np.allclose(spread[:, 0, 0], 0.1 + (x - 4.5) ** 2 / 82.5)
    True
    """
    prior = _prior(groups)
    halves = [_half_precision(prior.common, np.sqrt(d)) for d in diagonal.T]
    couplings = _couplings(halves)
    spread = _fixed_spread(prior.common, halves, couplings)
    left, inner = _drift_terms(prior, halves, couplings)
    left = np.moveaxis(left @ _half_inverse(inner, _RANK_TOLERANCE), 0, 1)
    spread += left @ left.transpose(0, 2, 1)
    return spread


def _prior(groups: ActiveGroups) -> _Prior:
    features, coef = groups.features, groups.coef
    norms = np.sqrt(groups.sum_groups(np.einsum("ak,ak->a", coef, coef)))
    stiff = groups.penalties / norms
    sizes = np.diff(np.append(groups.starts, len(coef)))
    directions = coef / np.repeat(norms, sizes)[:, None]
    ridge = np.repeat(stiff, sizes)
    rows, outputs, count = len(features), coef.shape[1], stiff.size
    drifts = np.zeros((outputs, rows, count + outputs))
    slack = np.zeros((count + outputs, count + outputs))
    if groups.quadratic is None:
        softened, own = features / ridge, features
    else:
        inverse = _inverse(2.0 * groups.quadratic + np.diag(ridge))
        softened = features @ inverse
        own = softened * ridge
        joint = inverse * (directions @ directions.T)
        joint = groups.sum_groups(groups.sum_groups(joint, 0), 1)
        slack[:count, :count] = np.diag(stiff) - stiff[:, None] * joint * stiff
    for k in range(outputs):
        drifts[k, :, :count] = groups.sum_groups(own * directions[:, k])
        drifts[k, :, count + k] = 1.0
    return _Prior(softened @ features.T, drifts, slack)


def _half_precision(common: FloatArray, root: FloatArray) -> FloatArray:
    """``Z`` with ``Z'Z = (M + D^-1)^-1`` for ``root`` the square root of D, zeros allowed."""
    matrix = common * root
    matrix *= root[:, None]
    matrix.ravel()[:: len(matrix) + 1] += 1.0
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("The matrix between the rows is not definite.")
    half: FloatArray = lapack.dtrtri(factor, lower=1, overwrite_c=1)[0] * root
    return half


def _couplings(halves: list[FloatArray]) -> list[FloatArray]:
    """What joins the outputs: ``C_k`` with ``C_k'C_m`` to be taken off block (k, m)."""
    if len(halves) == 1:
        return [halves[0][:0]]
    precisions = [half.T @ half for half in halves]
    joint = _half_inverse(np.sum(precisions, axis=0), _COUPLING_TOLERANCE).T
    return [joint @ precision for precision in precisions]


def _fixed_spread(
    common: FloatArray, halves: list[FloatArray], couplings: list[FloatArray]
) -> FloatArray:
    """The spread without drifts: diagonal blocks of ``M - M S M``."""
    outputs, rows = len(halves), len(common)
    joined = np.stack([coupling @ common for coupling in couplings], axis=2)
    spread: FloatArray = np.matmul(joined.transpose(1, 2, 0), joined.transpose(1, 0, 2))
    for k, half in enumerate(halves):
        seen = half @ common
        spread[:, k, k] += common.diagonal() - np.einsum("ji,ji->i", seen, seen)
    return spread.reshape(rows, outputs, outputs)


def _drift_terms(
    prior: _Prior, halves: list[FloatArray], couplings: list[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """``(I - M S) N`` of shape (K, l, m), and ``N' S N`` plus the slack, for drifts N."""
    seen = [half @ drift for half, drift in zip(halves, prior.drifts, strict=True)]
    shared = sum(
        (coupling @ drift for coupling, drift in zip(couplings, prior.drifts, strict=True)),
        np.zeros((len(couplings[0]), prior.drifts.shape[2])),
    )
    inner = prior.slack - shared.T @ shared
    left = np.empty_like(prior.drifts)
    for k, drift in enumerate(prior.drifts):
        inner += seen[k].T @ seen[k]
        left[k] = drift - prior.common @ (halves[k].T @ seen[k] - couplings[k].T @ shared)
    return left, inner


def _inverse(matrix: FloatArray) -> FloatArray:
    """Inverse of a definite matrix."""
    factor, failed = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("The penalty is not definite.")
    lower: FloatArray = np.tril(lapack.dpotri(factor, lower=1, overwrite_c=1)[0])
    whole: FloatArray = lower + np.tril(lower, -1).T
    return whole


def _half_inverse(matrix: FloatArray, tolerance: float) -> FloatArray:
    """``R`` with ``R R'`` the pseudo-inverse of a semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > tolerance * max(float(values[-1]), 0.0)
    half: FloatArray = vectors[:, kept] / np.sqrt(values[kept])
    return half
