"""The default learner: one additive model averaged from many, weighted by held-out labels.

A sum of additive models is additive, so nothing of the explanation is lost. The evidence of a mask
is overconfident when labels are few; the weight of each member therefore comes from labels it did
not see: the labelled rows are split in folds and every member is refitted without each fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.bilevel.combining import AveragedModel, combine
from s2mam.bilevel.mask_member import MANY_LABELS, StartMask
from s2mam.bilevel.members import MemberFit, MemberSettings, fit_members, search_masks
from s2mam.bilevel.unit_runs import Store, UnitRunner
from s2mam.bilevel.views import View
from s2mam.bilevel.watch import Watch
from s2mam.bilevel.weighing import LabeledRows
from s2mam.masks.labeled_atoms import AtomFit
from s2mam.masks.mask_prior import size_prior

__all__ = ["AverageOptions", "AveragedModel", "LabeledRows", "Store", "average_members"]

# Log-prior that a mask in a fold loses per column more or less than the masks of all labels have.
_SIZE_STRENGTH = 1.0


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


def average_members(
    views: Sequence[View],
    labeled: LabeledRows,
    settings: MemberSettings,
    options: AverageOptions,
    *,
    seed: int,
    store: Store | None = None,
    watch: Watch | None = None,
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
    watch : Watch, optional
        Is told about every unit, and may stop the fit between two of them. Members are weighed by
        the folds finished until then, and without any by their prior weights. A stop (or, where the
        watch keeps interrupts, a KeyboardInterrupt after the first search) before the members are
        fitted has them fitted at once, in a short run from the masks found so far; that run is not
        stored, so that a restarted fit gives what it would have given.

    Returns
    -------
    AveragedModel
    """
    folds = _folds(labeled, options.n_folds, seed)
    units = _units(labeled, folds)
    work = _Work(views, labeled, settings, options, seed)
    # With many labels a fold would find what all labels find, at a high price.
    many = labeled.rows.size > MANY_LABELS
    searching = units[:1] if many else units
    total = len(searching) + len(units)
    runner = UnitRunner(total, options.n_jobs, store, watch or Watch())
    runner.watch.begin(runner.total)
    found = runner.run(_search, "search", [(work, unit) for unit in searching], dispensable=True)
    if all(state is None for state in found):
        raise KeyboardInterrupt  # it came before there was anything to keep
    pool = [mask for state in found if state is not None for mask in _modes(state)]
    members = _members(work, units[0], pool, runner)
    fewer = replace(work, settings=_sized(settings, members))
    calls = [
        (fewer, unit, pool if settings.regression or state is None else _modes(state))
        for unit, state in zip_longest(units[1:], found[1:])
    ]
    fitted = runner.run(_fit, "fold", calls, dispensable=True)
    held_out = _held_out(units[1:], fitted, labeled)
    model = combine(members, held_out, folds, labeled, len(views))
    return replace(model, stop_reason=runner.stop_reason)


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
            thorough=unit.number == 0,
            rng=np.random.default_rng([work.seed, 1, unit.number]),
        )
    return {"masks": [vars(mask) | {"hyper": list(mask.hyper)} for mask in masks]}


def _members(
    work: _Work, unit: _Unit, pool: Sequence[StartMask], runner: UnitRunner
) -> list[MemberFit]:
    """The members fitted to all labels; in a hurry when a stop was asked for before."""
    state = None
    if runner.stop_reason is None:
        (state,) = runner.run(_fit, "full", [(work, unit, pool)], dispensable=True)
    if state is None:
        brief = replace(work.options, steps=min(work.options.steps, work.options.fold_steps))
        state = _fit(replace(work, options=brief), unit, pool)
    return [_member_from(member) for member in state["members"]]


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
        StartMask(np.asarray(mask["atoms"], dtype=np.intp), tuple(mask["hyper"]), mask["whole"])
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
    units: Sequence[_Unit], fitted: Sequence[dict[str, Any] | None], labeled: LabeledRows
) -> FloatArray | None:
    """Predictions (members, l, k) of labelled rows by members that did not see them.

    Missing for the folds that a stop left out; None when it left out all of them.
    """
    finished = [
        (unit, np.asarray(state["values"]))
        for unit, state in zip(units, fitted, strict=True)
        if state is not None
    ]
    if not finished:
        return None
    held_out = np.full((finished[0][1].shape[0], *labeled.target.shape), np.nan)
    for unit, values in finished:
        held_out[:, ~unit.seen] = values
    return held_out


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
