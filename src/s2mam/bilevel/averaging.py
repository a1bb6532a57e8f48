"""The default learner: one additive model averaged from many, weighted by held-out labels.

A sum of additive models is additive, so nothing of the explanation is lost. The evidence of a mask
is overconfident when labels are few; the weight of each member therefore comes from labels it did
not see: the labelled rows are split in folds and every member is refitted without each fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.bilevel.mask_member import StartMask
from s2mam.bilevel.members import MemberFit, MemberSettings, fit_members, search_masks
from s2mam.bilevel.views import View
from s2mam.bilevel.weighing import LabeledRows, prior_weights, weigh
from s2mam.masks.labeled_atoms import AtomFit
from s2mam.masks.posterior import size_prior

__all__ = ["AverageOptions", "AveragedModel", "LabeledRows", "Store", "average_members"]

# Starts of the mask search per view, with all labels and with a fold left out.
_STARTS, _FOLD_STARTS = 4, 1
# Log-prior that a mask in a fold loses per column more or less than the masks of all labels have.
_SIZE_STRENGTH = 1.0


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
    fold_steps: int = 20
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
        Log-posterior and size along the mask sampler, one view after the other.
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
    units = _units(labeled, folds)
    work = _Work(views, labeled, settings, options, seed)
    done = _Progress(2 * len(units), on_unit)
    found = _run(_search, "search", [(work, unit) for unit in units], options, store, done)
    pool = [mask for state in found for mask in _modes(state)]
    whole = _run(_fit, "full", [(work, units[0], pool)], options, store, done)
    members = [_member_from(state) for state in whole[0]["members"]]
    fewer = replace(work, settings=_sized(settings, members))
    calls = [
        (fewer, unit, pool if settings.regression else _modes(state))
        for unit, state in zip(units[1:], found[1:], strict=True)
    ]
    fitted = _run(_fit, "fold", calls, options, store, done)
    held_out = None if folds is None else _held_out(units[1:], fitted, labeled)
    return _combine(members, held_out, folds, labeled, len(views))


@dataclass(frozen=True)
class _Unit:
    """A piece of work: number 0 sees all labels, the others leave one fold out."""

    number: int
    seen: BoolArray


@dataclass(frozen=True)
class _Work:
    """What all units share."""

    views: Sequence[View]
    labeled: LabeledRows
    settings: MemberSettings
    options: AverageOptions
    seed: int


@dataclass
class _Progress:
    """Counts finished units."""

    total: int
    on_unit: Callable[[int, int], None] | None
    count: int = 0

    def step(self) -> None:
        self.count += 1
        if self.on_unit is not None:
            self.on_unit(self.count, self.total)


def _units(labeled: LabeledRows, folds: IntArray | None) -> list[_Unit]:
    everything = np.ones(labeled.rows.size, dtype=bool)
    n_folds = 0 if folds is None else int(folds.max()) + 1
    left_out = [np.flatnonzero(folds == f) for f in range(n_folds)]
    return [
        _Unit(0, everything),
        *(
            _Unit(f + 1, ~np.isin(np.arange(everything.size), out))
            for f, out in enumerate(left_out)
        ),
    ]


def _run(
    function: Callable[..., dict[str, Any]],
    name: str,
    calls: Sequence[tuple[Any, ...]],
    options: AverageOptions,
    store: Store | None,
    done: _Progress,
) -> list[dict[str, Any]]:
    """States of all units, from the store where they are finished already."""
    states = [None if store is None else store.get(f"{name}{i}") for i in range(len(calls))]
    missing = [i for i, state in enumerate(states) if state is None]
    for _ in range(len(calls) - len(missing)):
        done.step()
    work = (delayed(function)(*calls[i]) for i in missing)
    results = Parallel(n_jobs=options.n_jobs, return_as="generator")(work)
    for i, state in zip(missing, results, strict=True):
        states[i] = state
        if store is not None:
            store.put(f"{name}{i}", state)
        done.step()
    return [state for state in states if state is not None]


@cache
def _blas() -> ThreadpoolController:
    """The BLAS of this process; looking for it takes longer than a small fit."""
    return ThreadpoolController()


def _search(work: _Work, unit: _Unit) -> dict[str, Any]:
    labeled, seen = work.labeled, unit.seen
    # A worker process has its own BLAS threads; their number must not show in the result.
    with _blas().limit(limits=1, user_api="blas"):
        masks = search_masks(
            work.views,
            labeled.rows[seen],
            labeled.target[seen],
            labeled.weights[seen],
            work.settings,
            n_starts=_STARTS if unit.number == 0 else _FOLD_STARTS,
            rng=np.random.default_rng([work.seed, 1, unit.number]),
        )
    return {"masks": [{"atoms": mask.atoms, "hyper": list(mask.hyper)} for mask in masks]}


def _fit(work: _Work, unit: _Unit, pool: Sequence[StartMask]) -> dict[str, Any]:
    """All members, or their predictions of the fold that was left out."""
    labeled, seen, options = work.labeled, unit.seen, work.options
    with _blas().limit(limits=1, user_api="blas"):
        members = fit_members(
            work.views,
            labeled.rows[seen],
            labeled.target[seen],
            labeled.weights[seen],
            work.settings,
            pool=pool,
            steps=options.steps if unit.number == 0 else options.fold_steps,
            rng=np.random.default_rng([work.seed, 2, unit.number]),
        )
    if unit.number == 0:
        return {"members": [_member_state(member) for member in members]}
    rows = labeled.rows[~seen]
    parts = [(view.atoms.straight[rows], view.atoms.curved[:, rows]) for view in work.views]
    return {"values": np.stack([one.fit.predict(*parts[one.view]) for one in members])}


def _modes(state: dict[str, Any]) -> list[StartMask]:
    """Masks that one search found.

    Modes that were found with other labels, or in another view, are good starts: a fold misses half
    of its own. They are found with the labels of the fold, though; numbers say so much about a mask
    that this does not flatter it, but classes do not, so there every fold starts from its own.
    """
    return [
        StartMask(np.asarray(mask["atoms"], dtype=np.intp), (mask["hyper"][0], mask["hyper"][1]))
        for mask in state["masks"]
    ]


def _sized(settings: MemberSettings, members: Sequence[MemberFit]) -> MemberSettings:
    """Settings of the folds: about as many columns as all labels together ask for.

    With a fifth of the labels missing a mask that is right often falls just short of the evidence
    it needs, and the members would be judged by how they fail.
    """
    masks = [member for member in members if member.probabilities is not None]
    best = max(masks, key=lambda member: member.evidence)
    p = settings.masks.odds.size
    if settings.masks.n_select is not None or best.probabilities is None:
        return settings
    size = size_prior(p, round(float(best.probabilities.sum())), strength=_SIZE_STRENGTH)
    return replace(settings, masks=replace(settings.masks, size=size))


def _held_out(
    units: Sequence[_Unit], fitted: Sequence[dict[str, Any]], labeled: LabeledRows
) -> FloatArray:
    """Predictions (members, l, k) of every labelled row by members that did not see it."""
    first = np.asarray(fitted[0]["values"])
    held_out = np.empty((first.shape[0], *labeled.target.shape))
    for unit, state in zip(units, fitted, strict=True):
        held_out[:, ~unit.seen] = np.asarray(state["values"])
    return held_out


def _combine(
    members: Sequence[MemberFit],
    held_out: FloatArray | None,
    folds: IntArray | None,
    labeled: LabeledRows,
    n_views: int,
) -> AveragedModel:
    """Weigh the members and add them up."""
    names = [member.name for member in members]
    evidence = np.array([member.evidence for member in members])
    prior = prior_weights(names, evidence, blind=held_out is None)
    mean = (labeled.weights / labeled.weights.sum()) @ labeled.target
    if held_out is None or folds is None:
        weights, scales, averaged = prior, np.ones(len(members)), None
    else:
        weights, scales = weigh(held_out, folds, labeled, prior, mean)
        averaged = mean + np.einsum("m,mik->ik", weights * scales, held_out - mean)
    fits = _add_up(members, weights, scales, mean, n_views)
    masks = [i for i, name in enumerate(names) if name == "masks"]
    believed = weights[masks] / weights[masks].sum()
    probabilities = believed @ np.stack([np.asarray(members[i].probabilities) for i in masks])
    path = np.concatenate([np.asarray(members[i].path) for i in masks])
    return AveragedModel(fits, probabilities, names, weights, averaged, path)


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
        "evidence": member.evidence,
    }


def _member_from(state: dict[str, Any]) -> MemberFit:
    fit = AtomFit(state["straight"], state["curved"], state["intercept"])
    return MemberFit(
        state["name"],
        state["view"],
        fit,
        state["probabilities"],
        state["path"],
        state["evidence"],
    )
