"""The default learner: one additive model averaged from many, weighted by held-out labels.

A sum of additive models is additive, so nothing of the explanation is lost. The evidence of a mask
is overconfident when labels are few; the weight of each member therefore comes from labels it did
not see: the labelled rows are split in folds and every member is refitted without each fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from s2mam._typing import FloatArray, IntArray
from s2mam.bilevel.members import MemberFit, MemberSettings, fit_members
from s2mam.bilevel.views import View
from s2mam.bilevel.weighing import LabeledRows, prior_weights, weigh
from s2mam.masks.labeled_atoms import AtomFit

__all__ = ["AverageOptions", "AveragedModel", "LabeledRows", "Store", "average_members"]


class Store(Protocol):
    """Finished units of work, so that a killed fit goes on where it stopped."""

    def get(self, name: str) -> dict[str, Any] | None:
        """The state saved under a name, or None."""

    def put(self, name: str, state: dict[str, Any]) -> None:
        """Save a state under a name."""


@dataclass(frozen=True)
class AverageOptions:
    """How much work the learner does.

    Attributes
    ----------
    steps, fold_steps : int
        Jumps of the mask sampler, in the final fit and in each fold.
    n_folds : int
        Folds of labelled rows for the weights.
    n_jobs : int or None
        Folds fitted side by side.
    """

    steps: int = 120
    fold_steps: int = 30
    n_folds: int = 5
    n_jobs: int | None = None


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
        Averaged predictions of labelled rows by models that did not see them.
    path : (steps, 2) array
        Log-posterior and size along the mask sampler, averaged over views.
    """

    fits: list[AtomFit]
    probabilities: FloatArray
    names: list[str]
    weights: FloatArray
    held_out: FloatArray | None
    path: FloatArray = field(repr=False)


def average_members(
    views: Sequence[View],
    labeled: LabeledRows,
    settings: MemberSettings,
    options: AverageOptions,
    *,
    seed: int,
    store: Store | None = None,
    on_unit: Callable[[int, int], None] | None = None,
) -> AveragedModel:
    """Fit all members, weight them by held-out labels, and add them up.

    Parameters
    ----------
    views : sequence of View
        The views.
    labeled : LabeledRows
        The labelled rows.
    settings : MemberSettings
        Priors and graphs.
    options : AverageOptions
        How much work to do.
    seed : int
        Every unit of work has its own stream from this seed, so the result does not depend on
        the order of the units, on `n_jobs` or on an interruption.
    store : Store, optional
        Where finished units are kept.
    on_unit : callable, optional
        Called with (units done, units in all) after each unit.

    Returns
    -------
    AveragedModel
    """
    folds = _folds(labeled, options.n_folds, seed)
    n_folds = int(folds.max()) + 1 if folds is not None else 0
    held_out = _held_out(views, labeled, folds, n_folds, settings, options, seed, store, on_unit)
    members = _full_fit(views, labeled, settings, options, seed, store)
    if on_unit is not None:
        on_unit(n_folds + 1, n_folds + 1)
    names = [member.name for member in members]
    prior = prior_weights(names, blind=held_out is None)
    mean = (labeled.weights / labeled.weights.sum()) @ labeled.target
    if held_out is None or folds is None:
        weights, scales, averaged = prior, np.ones(len(members)), None
    else:
        weights, scales = weigh(held_out, folds, labeled, prior, mean)
        averaged = mean + np.einsum("m,mik->ik", weights * scales, held_out - mean)
    fits = _add_up(members, weights, scales, mean, len(views))
    runs = [member for member in members if member.probabilities is not None]
    believed = np.array([w for w, m in zip(weights, members, strict=True) if m.name == "masks"])
    probabilities = (believed / believed.sum()) @ np.stack(
        [r.probabilities for r in runs if r.probabilities is not None]
    )
    path = np.mean(np.stack([r.path for r in runs if r.path is not None]), axis=0)
    return AveragedModel(fits, probabilities, names, weights, averaged, path)


def _full_fit(
    views: Sequence[View],
    labeled: LabeledRows,
    settings: MemberSettings,
    options: AverageOptions,
    seed: int,
    store: Store | None,
) -> list[MemberFit]:
    state = store.get("full") if store is not None else None
    if state is not None:
        return [_member_from(part) for part in state["members"]]
    rng = np.random.default_rng([seed, 1])
    members = fit_members(
        views,
        labeled.rows,
        labeled.target,
        labeled.weights,
        settings,
        steps=options.steps,
        n_starts=3,
        rng=rng,
    )
    if store is not None:
        store.put("full", {"members": [_member_state(member) for member in members]})
    return members


def _held_out(
    views: Sequence[View],
    labeled: LabeledRows,
    folds: IntArray | None,
    n_folds: int,
    settings: MemberSettings,
    options: AverageOptions,
    seed: int,
    store: Store | None,
    on_unit: Callable[[int, int], None] | None,
) -> FloatArray | None:
    """Predictions (members, l, k) of every labelled row by members that did not see it."""
    if folds is None:
        return None
    known = {f: store.get(f"fold{f}") for f in range(n_folds)} if store is not None else {}
    missing = [f for f in range(n_folds) if known.get(f) is None]
    work = (
        delayed(_fit_fold)(views, labeled, folds == f, settings, options.fold_steps, [seed, 2, f])
        for f in missing
    )
    results = Parallel(n_jobs=options.n_jobs, return_as="generator")(work)
    done = {f: np.asarray(state["values"]) for f, state in known.items() if state is not None}
    for f, values in zip(missing, results, strict=True):
        done[f] = values
        if store is not None:
            store.put(f"fold{f}", {"values": values})
        if on_unit is not None:
            on_unit(len(done), n_folds + 1)
    held_out = np.empty((done[0].shape[0], *labeled.target.shape))
    for f, values in done.items():
        held_out[:, folds == f] = values
    return held_out


def _fit_fold(
    views: Sequence[View],
    labeled: LabeledRows,
    left_out: Any,
    settings: MemberSettings,
    steps: int,
    seed: list[int],
) -> FloatArray:
    # A worker process has its own BLAS threads; their number must not show in the result.
    with threadpool_limits(limits=1, user_api="blas"):
        members = fit_members(
            views,
            labeled.rows[~left_out],
            labeled.target[~left_out],
            labeled.weights[~left_out],
            settings,
            steps=steps,
            n_starts=1,
            rng=np.random.default_rng(seed),
        )
    rows = labeled.rows[left_out]
    parts = [(view.atoms.straight[rows], view.atoms.curved[:, rows]) for view in views]
    return np.stack([member.fit.predict(*parts[member.view]) for member in members])


def _folds(labeled: LabeledRows, n_folds: int, seed: int) -> IntArray | None:
    """Fold of each labelled row, or None when labels are too few to hold any back."""
    rng = np.random.default_rng([seed, 0])
    n = labeled.rows.size
    if labeled.codes is None:
        if n < 6:
            return None
        order = rng.permutation(n)
    else:
        counts = np.bincount(labeled.codes)
        n_folds = min(n_folds, int(counts[counts > 0].min()))
        if n_folds < 2 or np.count_nonzero(counts) < 2:
            return None
        order = np.concatenate(
            [rng.permutation(np.flatnonzero(labeled.codes == code)) for code in range(counts.size)]
        )
    folds = np.empty(n, dtype=np.intp)
    folds[order] = np.arange(n) % n_folds
    return folds


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


def _member_state(member: MemberFit) -> dict[str, Any]:
    return {
        "name": member.name,
        "view": member.view,
        "straight": member.fit.straight,
        "curved": member.fit.curved,
        "intercept": member.fit.intercept,
        "probabilities": member.probabilities,
        "path": member.path,
    }


def _member_from(state: dict[str, Any]) -> MemberFit:
    fit = AtomFit(state["straight"], state["curved"], state["intercept"])
    return MemberFit(state["name"], state["view"], fit, state["probabilities"], state["path"])
