"""Members of the average weighed by the labels they did not see, and added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bilevel.members import MemberFit
from s2mam.bilevel.weighing import LabeledRows, prior_weights, weigh
from s2mam.masks.labeled_atoms import AtomFit

__all__ = ["AveragedModel", "combine"]


@dataclass(frozen=True)
class AveragedModel:
    """The averaged model.

    Attributes
    ----------
    fits : list of AtomFit
        One per view; their sum is the model.
    probabilities : (p,) array
        Mask probabilities.
    names, weights : list of str and (m,) array
        The members and their weights.
    held_out : (l, k) array or None
        Averaged predictions of labelled rows by models that did not see them; missing for the rows
        of folds that a stop left out.
    path : (steps, 2) array
        Log-posterior and size along the mask sampler, one view after the other.
    stop_reason : str or None
        Why the fit stopped before its end; None when it did not.
    """

    fits: list[AtomFit]
    probabilities: FloatArray
    names: list[str]
    weights: FloatArray
    held_out: FloatArray | None
    path: FloatArray = field(repr=False)
    stop_reason: str | None = None


def combine(
    members: Sequence[MemberFit],
    held_out: FloatArray | None,
    folds: IntArray | None,
    labeled: LabeledRows,
    n_views: int,
) -> AveragedModel:
    """Weigh the members and add them up.

    Parameters
    ----------
    members : sequence of MemberFit
        The members, fitted to all labelled rows.
    held_out : (m, l, k) array or None
        Their predictions of labelled rows they did not see. Rows of folds that were not finished
        are missing and do not count; None when there are no predictions at all.
    folds : (l,) array of int or None
        Fold of each labelled row; None when labels are too few to hold any back.
    labeled : LabeledRows
        The labelled rows.
    n_views : int
        Number of views.

    Returns
    -------
    AveragedModel
    """
    names = [member.name for member in members]
    evidence = np.array([member.evidence for member in members])
    task = "numbers" if labeled.codes is None else "classes"
    prior = prior_weights(names, evidence, task=task, blind=folds is None)
    mean = (labeled.weights / labeled.weights.sum()) @ labeled.target
    if held_out is None or folds is None:
        weights, scales, averaged = prior, np.ones(len(members)), None
    else:
        weights, scales = _weigh(held_out, folds, labeled, prior, mean)
        averaged = mean + np.einsum("m,mik->ik", weights * scales, held_out - mean)
    fits = _add_up(members, weights, scales, mean, n_views)
    masks = [i for i, name in enumerate(names) if name == "masks"]
    believed = weights[masks] / weights[masks].sum()
    probabilities = believed @ np.stack([np.asarray(members[i].probabilities) for i in masks])
    path = np.concatenate([np.asarray(members[i].path) for i in masks])
    return AveragedModel(fits, probabilities, names, weights, averaged, path)


def _weigh(
    held_out: FloatArray,
    folds: IntArray,
    labeled: LabeledRows,
    prior: FloatArray,
    mean: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Weights and scales from the rows that were held out."""
    known = ~np.asarray(np.isnan(held_out).any(axis=(0, 2)))
    if known.all():
        return weigh(held_out, folds, labeled, prior, mean)
    rows = LabeledRows(
        labeled.rows[known],
        labeled.target[known],
        labeled.weights[known],
        None if labeled.codes is None else labeled.codes[known],
    )
    _, renumbered = np.unique(folds[known], return_inverse=True)
    return weigh(held_out[:, known], renumbered, rows, prior, mean)


def _add_up(
    members: Sequence[MemberFit],
    weights: FloatArray,
    scales: FloatArray,
    mean: FloatArray,
    n_views: int,
) -> list[AtomFit]:
    """Sum of the weighted members per view; the common mean goes to the first view."""
    fits: list[AtomFit | None] = [None] * n_views
    shift = np.zeros_like(mean)
    for member, weight, scale in zip(members, weights, scales, strict=True):
        part = member.fit.scaled(float(weight * scale))
        shift += weight * (1.0 - scale) * mean
        known = fits[member.view]
        fits[member.view] = part if known is None else known.plus(part)
    whole = [fit for fit in fits if fit is not None]
    whole[0] = AtomFit(whole[0].straight, whole[0].curved, whole[0].intercept + shift)
    return whole
