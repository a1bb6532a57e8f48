"""The member that averages over hard masks: find modes, then sample around the best of them.

Modes are searched for in every view and from every subset of the labels that the average uses.
All of them are starts for all runs: a run in one view, or on fewer labels, misses modes that its
own posterior prefers. What a start is worth is decided by the posterior of the run alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.bilevel.mask_screen import MAX_SAMPLED, screen_for_sampling, screen_for_search
from s2mam.masks.labeled_atoms import AtomFit, LabeledAtoms
from s2mam.masks.mask_prior import MaskPrior
from s2mam.masks.posterior import MaskAverage, average_masks
from s2mam.masks.posterior_evidence import Hyper, MaskPosterior
from s2mam.masks.posterior_start import best_modes, find_modes

__all__ = ["MANY_LABELS", "MaskSettings", "StartMask", "find_masks", "sample_masks"]

# With more labels than this the search is short: the posterior has one mode that is easily found,
# and a step costs the cube of the labels.
MANY_LABELS = 150
# Where columns are screened: forward selections of a search (among 110 columns twenty find what one
# finds), and states whose neighbours are sampled.
_FORWARD, _SCREENED = 20, 6
# Most modes that are sampled around, the fewest jumps a run is worth, and those it forgets.
_MODES, _SHORTEST, _BURN_IN = 3, 10, 4

_State: TypeAlias = tuple[BoolArray, Hyper]


@dataclass(frozen=True)
class MaskSettings:
    """Prior of the masks.

    Attributes
    ----------
    size : (p + 1,) array
        Log-prior of a mask by size.
    odds : (p,) array
        Prior log-odds of the columns.
    weights : (p,) array
        Prior weight of the columns in the relevance weights.
    n_select : int or None
        Number of columns asked for.
    """

    size: FloatArray
    odds: FloatArray
    weights: FloatArray
    n_select: int | None = None

    @property
    def prior(self) -> MaskPrior:
        """The same as a prior of masks."""
        return MaskPrior.of(self.size, self.odds)


@dataclass(frozen=True)
class StartMask:
    """A mask to start from.

    Attributes
    ----------
    atoms : array of int
        Atoms that are on: column j is straight as j and curved as p + j.
    hyper : pair of int
        Amplitude and curve share.
    whole : bool
        Found where columns have no parts: a column that is on is on in one piece.
    """

    atoms: IntArray
    hyper: Hyper
    whole: bool = False


def find_masks(
    atoms: LabeledAtoms, settings: MaskSettings, *, thorough: bool, deep: bool = False
) -> list[StartMask]:
    """Search for modes of the mask posterior.

    Parameters
    ----------
    atoms : LabeledAtoms
        The labelled rows in one view.
    settings : MaskSettings
        The prior.
    thorough : bool
        Whether to start from many places.
    deep : bool
        Where columns are screened, whether a thorough search starts from many more. Numbers say so
        much about a mask that it pays; the few labels of classes have high posteriors for masks
        that are wrong, too, and a search that finds them all does harm.

    Returns
    -------
    list of StartMask
    """
    thorough = thorough and atoms.target.shape[0] <= MANY_LABELS
    posterior, kept = MaskPosterior(atoms, settings.prior), np.arange(atoms.n_columns)
    deep = deep and kept.size > MAX_SAMPLED
    if kept.size > MAX_SAMPLED:
        kept = screen_for_search(posterior, settings.weights, thorough=thorough and deep)
        posterior = _restricted(posterior, kept)
    modes = find_modes(
        posterior,
        settings.weights[kept],
        thorough=thorough,
        n_forward=_FORWARD if deep else 1,
        size=settings.n_select,
    )
    everywhere = _atoms_of(kept, atoms.n_columns)
    whole = not atoms.usable[: atoms.n_columns].any()
    return [StartMask(everywhere[mode.mask], mode.hyper, whole) for mode in modes]


def sample_masks(
    atoms: LabeledAtoms,
    settings: MaskSettings,
    pool: Sequence[StartMask],
    *,
    steps: int,
    rng: np.random.Generator,
    sharp: bool = False,
) -> MaskAverage:
    """Average over masks near the best modes of a pool.

    Parameters
    ----------
    atoms : LabeledAtoms
        The labelled rows in one view.
    settings : MaskSettings
        The prior.
    pool : sequence of StartMask
        Where to start.
    steps : int
        Jumps of the sampler.
    rng : Generator
        Source of the jumps.
    sharp : bool
        Whether to average by a power of the posterior, too.

    Returns
    -------
    MaskAverage
        Over all columns.
    """
    p = atoms.n_columns
    posterior, kept = MaskPosterior(atoms, settings.prior), np.arange(p)
    usable = atoms.usable
    states = _distinct(_translate(start, usable) for start in pool)
    if p > MAX_SAMPLED:
        states = sorted(states, key=lambda state: -posterior.value(*state))[:_SCREENED]
        kept = screen_for_sampling(posterior, settings.weights, states)
        posterior = _restricted(posterior, kept)
        states = [(mask[_atoms_of(kept, p)], hyper) for mask, hyper in states]
    few = min(1.0, MANY_LABELS / atoms.target.shape[0])
    steps = max(round(few * steps), min(steps, _SHORTEST))
    n_modes = int(np.clip(steps // _SHORTEST, 1, _MODES))
    modes = best_modes(posterior, states, n_modes=n_modes, polish=few == 1.0)
    average = average_masks(posterior, modes, steps=steps, burn_in=_BURN_IN, rng=rng, sharp=sharp)
    return average if kept.size == p else _spread(average, kept, p)


def _translate(start: StartMask, usable: BoolArray) -> _State:
    """A start as a state of a view that may split columns or may not."""
    mask = np.zeros(usable.size, dtype=bool)
    mask[start.atoms] = True
    straight, curved = np.split(mask, 2)
    can_straight, can_curved = np.split(usable, 2)
    if start.whole:
        straight = straight | curved
    curved = curved | (straight & ~can_straight)
    return np.concatenate([straight & can_straight, curved & can_curved]), start.hyper


def _distinct(states: Iterable[_State]) -> list[_State]:
    """States without those whose mask came before."""
    kept: dict[bytes, _State] = {}
    for state in states:
        kept.setdefault(state[0].tobytes(), state)
    return list(kept.values())


def _atoms_of(columns: IntArray, p: int) -> IntArray:
    return np.concatenate([columns, columns + p])


def _restricted(posterior: MaskPosterior, kept: IntArray) -> MaskPosterior:
    """The posterior over some of the columns."""
    whole = posterior.prior
    prior = MaskPrior(whole.size[: kept.size + 1], whole.odds[kept], whole.lift[: kept.size + 1])
    return MaskPosterior(_take_columns(posterior.atoms, kept), prior)


def _take_columns(atoms: LabeledAtoms, kept: IntArray) -> LabeledAtoms:
    curved = atoms.curved[kept]
    return LabeledAtoms(
        straight=atoms.straight[:, kept],
        curved=curved,
        flat=np.ascontiguousarray(curved.transpose(1, 0, 2).reshape(atoms.target.shape[0], -1)),
        target=atoms.target,
        straight_mean=atoms.straight_mean[kept],
        curved_mean=atoms.curved_mean[kept],
        target_mean=atoms.target_mean,
        freedom=atoms.freedom,
    )


def _spread(average: MaskAverage, kept: IntArray, p: int) -> MaskAverage:
    """The same average over all p columns."""
    # A column that was screened out is less likely than any that was not, but not impossible.
    probabilities = np.full(p, 0.1 * float(average.probabilities.min()))
    probabilities[kept] = average.probabilities
    return MaskAverage(
        probabilities,
        _spread_fit(average.fit, kept, p),
        average.log_posterior,
        average.size,
        average.evidence,
        None if average.sharp is None else _spread_fit(average.sharp, kept, p),
    )


def _spread_fit(fit: AtomFit, kept: IntArray, p: int) -> AtomFit:
    straight = np.zeros((p, fit.straight.shape[1]))
    curved = np.zeros((p, *fit.curved.shape[1:]))
    straight[kept], curved[kept] = fit.straight, fit.curved
    return AtomFit(straight, curved, fit.intercept)
