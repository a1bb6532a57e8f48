"""How much each member of the average counts: by labels it did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

from s2mam._typing import FloatArray, IntArray

__all__ = ["LabeledRows", "prior_weights", "weigh"]

# Prior share of each kind of member, up to a factor.
_PRIOR = {
    "numbers": {
        "masks": 0.12,
        "sharp_masks": 0.12,
        "relevance": 0.45,
        "rough": 0.45,
        "rough_masks": 0.1,
        "common": 0.1,
        "graph": 0.3,
        "lines": 0.15,
    },
    "classes": {
        "masks": 0.25,
        "relevance": 0.35,
        "rough": 0.8,
        "common": 0.2,
        "graph": 0.35,
        "self_training": 0.05,
    },
}
# The same when labels are too few to hold any back: then the rows tell more than the labels.
_BLIND_PRIOR = {
    "masks": 0.1,
    "sharp_masks": 0.0,
    "relevance": 0.2,
    "rough": 0.1,
    "rough_masks": 0.0,
    "common": 0.0,
    "graph": 0.6,
    "self_training": 0.0,
    "lines": 0.05,
}
# Power of the held-out likelihood: members are refitted on fewer labels and judged on few, so the
# full likelihood would bet on one of them too early.
_POWER_NUMBERS, _POWER_CLASSES = 0.4, 0.5
# Power of the evidence between views of the same masks.
_POWER_EVIDENCE = 0.3
# Slope that turns scores into log-odds when labels do not tell: two classes, and more.
_TYPICAL_SLOPE = (2.5, 5.0)
# Rows' worth of trust in a member's own scale before it is corrected by held-out labels.
_SCALE_TRUST = 4.0


@dataclass(frozen=True)
class LabeledRows:
    """The labelled rows of a fit.

    Attributes
    ----------
    rows : (l,) array of int
        Their positions in the table.
    target : (l, k) array
        Numbers, or class contrasts.
    weights : (l,) array
        Weights as numbers of copies.
    codes : (l,) array of int or None
        Class codes, for stratified folds.
    """

    rows: IntArray
    target: FloatArray
    weights: FloatArray
    codes: IntArray | None = None


def prior_weights(
    names: Sequence[str], evidence: FloatArray, *, task: str, blind: bool
) -> FloatArray:
    """Weights of the members before any label was held back.

    Parameters
    ----------
    names : sequence of str
        Kinds of the members.
    evidence : (m,) array
        Log-evidence of each member, comparable among members of a kind only: a kind shares its
        weight by a power of it.
    task : {"numbers", "classes"}
        What the targets are.
    blind : bool
        No label can be held back at all.

    Returns
    -------
    (m,) array
    """
    shares = _BLIND_PRIOR if blind else _PRIOR[task]
    kinds = np.array(names)
    prior = np.empty(len(names))
    for kind in set(names):
        prior[kinds == kind] = shares[kind] * softmax(_POWER_EVIDENCE * evidence[kinds == kind])
    result: FloatArray = prior / prior.sum()
    return result


def weigh(
    held_out: FloatArray,
    folds: IntArray,
    labeled: LabeledRows,
    prior: FloatArray,
    mean: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Weights of the members and corrections of their scales, from held-out labels.

    A member counts with the power of its held-out likelihood, its scale being free: what matters
    is the direction of its prediction, since the scale is corrected anyway: that of numbers here,
    member by member, that of classes at the end.

    Parameters
    ----------
    held_out : (m, l, k) array
        Predictions of labelled rows by members that did not see them.
    folds : (l,) array of int
        Fold of each row.
    labeled : LabeledRows
        The labelled rows.
    prior : (m,) array
        Weights before any label was held back.
    mean : (k,) array
        Mean of the targets.

    Returns
    -------
    weights, scales : (m,) arrays
    """
    centred = held_out - mean
    if labeled.codes is None:
        scores, scales = _judge_numbers(centred, folds, labeled, labeled.target - mean)
    else:
        # The decision gets its scale from held-out labels at the end; to scale every member first
        # would give those most say that were lucky.
        scores = _POWER_CLASSES * _class_score(centred, labeled.codes, labeled.weights)
        scales = np.ones(prior.size)
    log_weights = np.log(prior) + scores
    weights = np.exp(log_weights - log_weights.max())
    return weights / weights.sum(), scales


def _judge_numbers(
    centred: FloatArray, folds: IntArray, labeled: LabeledRows, target: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Scores and scales of members that predict numbers."""
    w = labeled.weights[:, None]
    typical = float(np.sum(w * target**2)) / float(labeled.weights.sum())
    cross = np.einsum("mik,ik->m", centred, w * target)
    square = np.einsum("mik,ik->m", centred**2, np.broadcast_to(w, target.shape))
    trust = _SCALE_TRUST * typical
    scales = np.clip((cross + trust) / (square + trust), 0.0, 3.0)
    residual = ((scales[:, None, None] * centred - target) ** 2).sum(axis=2)
    scores = _number_score(residual, folds, labeled.weights, 1e-6 * typical)
    return _POWER_NUMBERS * scores, scales


def _number_score(
    residual: FloatArray, folds: IntArray, weights: FloatArray, floor: float
) -> FloatArray:
    """Log-likelihood of numbers with a noise of its own in each fold.

    A mask that is right is a different regime from one that misses a column, and more labels make
    it right more often: a member is not judged by the folds where it failed alone.
    """
    score = np.zeros(residual.shape[0])
    for f in range(int(folds.max()) + 1):
        rows = folds == f
        mass = float(weights[rows].sum())
        score -= 0.5 * mass * np.log(residual[:, rows] @ weights[rows] / mass + floor)
    return score


def _class_score(centred: FloatArray, codes: IntArray, weights: FloatArray) -> FloatArray:
    """Log-likelihood of classes at the best slope of each member, steep slopes discouraged."""
    binary = centred.shape[2] == 1
    logits = np.concatenate([np.zeros_like(centred), centred], axis=2) if binary else centred
    typical = _TYPICAL_SLOPE[0] if binary else _TYPICAL_SLOPE[1]
    best = np.full(centred.shape[0], -np.inf)
    for slope in np.geomspace(0.3, 30.0, 24):
        log_shares = log_softmax(slope * logits, axis=2)[:, np.arange(codes.size), codes]
        penalty = (np.log(slope / typical) / 0.7) ** 2 / 2.0
        best = np.maximum(best, log_shares @ weights - penalty)
    return best
