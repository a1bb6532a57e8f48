"""The member that averages over hard masks: find modes, then sample around the best of them.

Modes are searched for in every view and from every subset of the labels that the average uses.
All of them are starts for all runs: a run in one view, or on fewer labels, misses modes that its
own posterior prefers. What a start is worth is decided by the posterior of the run alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.masks.labeled_atoms import AtomFit, LabeledAtoms
from s2mam.masks.mask_prior import MaskPrior
from s2mam.masks.posterior import MaskAverage, average_masks
from s2mam.masks.posterior_evidence import Hyper, MaskPosterior
from s2mam.masks.posterior_start import best_modes, climb, find_modes
from s2mam.masks.relevance import relevance_path

__all__ = ["MANY_LABELS", "MaskSettings", "StartMask", "find_masks", "sample_masks"]

# Columns beyond this many are screened before masks are searched for.
_MAX_SAMPLED = 400
# Moves of the forward selection that helps to screen.
_SCREEN_MOVES = 12
# Noise and steps of the relevance weights that screen.
_SCREEN_NOISE, _SCREEN_STEPS = 2.0, 2
# With more labels than this the search is short: the posterior has one mode that is easily found,
# and a step costs the cube of the labels.
MANY_LABELS = 150
# Most modes that are sampled around, the fewest jumps a run is worth, and those it forgets.
_MODES, _SHORTEST, _BURN_IN = 3, 10, 4


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


def find_masks(atoms: LabeledAtoms, settings: MaskSettings, *, thorough: bool) -> list[StartMask]:
    """Search for modes of the mask posterior.

    Parameters
    ----------
    atoms : LabeledAtoms
        The labelled rows in one view.
    settings : MaskSettings
        The prior.
    thorough : bool
        Whether to start from many places.

    Returns
    -------
    list of StartMask
    """
    kept = _screen(atoms, settings) if atoms.n_columns > _MAX_SAMPLED else None
    posterior, kept = _restricted(atoms, settings, kept)
    thorough = thorough and atoms.target.shape[0] <= MANY_LABELS
    modes = find_modes(posterior, settings.weights[kept], thorough=thorough, size=settings.n_select)
    everywhere = np.concatenate([kept, kept + atoms.n_columns])
    whole = not atoms.usable[: atoms.n_columns].any()
    return [StartMask(everywhere[mode.mask], mode.hyper, whole) for mode in modes]


def sample_masks(
    atoms: LabeledAtoms,
    settings: MaskSettings,
    pool: Sequence[StartMask],
    *,
    steps: int,
    rng: np.random.Generator,
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

    Returns
    -------
    MaskAverage
        Over all columns.
    """
    p = atoms.n_columns
    kept = None
    if p > _MAX_SAMPLED:
        used = np.concatenate([start.atoms for start in pool]) % p
        kept = np.union1d(_screen(atoms, settings), used)
    posterior, kept = _restricted(atoms, settings, kept)
    usable = posterior.atoms.usable
    distinct: dict[bytes, tuple[BoolArray, Hyper]] = {}
    for start in pool:
        mask = _translate(start, p, usable, kept)
        distinct.setdefault(mask.tobytes(), (mask, start.hyper))
    few = min(1.0, MANY_LABELS / atoms.target.shape[0])
    steps = max(round(few * steps), min(steps, _SHORTEST))
    n_modes = int(np.clip(steps // _SHORTEST, 1, _MODES))
    modes = best_modes(posterior, list(distinct.values()), n_modes=n_modes, polish=few == 1.0)
    average = average_masks(posterior, modes, steps=steps, burn_in=_BURN_IN, rng=rng)
    return average if kept.size == p else _spread(average, kept, p)


def _translate(start: StartMask, p: int, usable: BoolArray, kept: IntArray) -> BoolArray:
    """A start as a mask over the kept columns of a view that may split columns or may not."""
    everywhere = np.zeros(2 * p, dtype=bool)
    everywhere[start.atoms] = True
    straight, curved = everywhere[kept], everywhere[p + kept]
    can_straight, can_curved = np.split(usable, 2)
    if start.whole:
        straight = straight | curved
    curved = curved | (straight & ~can_straight)
    return np.concatenate([straight & can_straight, curved & can_curved])


def _restricted(
    atoms: LabeledAtoms, settings: MaskSettings, kept: IntArray | None
) -> tuple[MaskPosterior, IntArray]:
    """Posterior over some of the columns, and which they are."""
    if kept is None:
        kept = np.arange(atoms.n_columns)
    whole = settings.prior
    prior = MaskPrior(whole.size[: kept.size + 1], whole.odds[kept], whole.lift[: kept.size + 1])
    return MaskPosterior(_take_columns(atoms, kept), prior), kept


def _screen(atoms: LabeledAtoms, settings: MaskSettings) -> IntArray:
    """Columns worth sampling, in column order.

    Half of them have the largest relevance when all columns share the labels, half gain the most
    beside the columns of a forward selection.
    """
    p = atoms.n_columns
    path = relevance_path(atoms, settings.weights, noise=_SCREEN_NOISE, keep=[_SCREEN_STEPS])
    relevance, _ = path[_SCREEN_STEPS]
    posterior = MaskPosterior(atoms, settings.prior)
    none = np.zeros(2 * p, dtype=bool)
    forward, hyper, _ = climb(posterior, none, (8, 2), max_moves=_SCREEN_MOVES, swaps=False)
    gains = np.where(forward, np.inf, posterior.flip_gains(forward, hyper))
    by_relevance = np.argsort(-(relevance[:p] + relevance[p:]), kind="stable")
    by_gain = np.argsort(-np.maximum(gains[:p], gains[p:]), kind="stable")
    half = _MAX_SAMPLED // 2
    chosen = np.concatenate([by_gain[:half], by_relevance[:half]])
    return np.unique(chosen)


def _take_columns(atoms: LabeledAtoms, kept: IntArray) -> LabeledAtoms:
    if kept.size == atoms.n_columns:
        return atoms
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
    fit = average.fit
    straight = np.zeros((p, fit.straight.shape[1]))
    curved = np.zeros((p, *fit.curved.shape[1:]))
    straight[kept], curved[kept] = fit.straight, fit.curved
    # A column that was screened out is less likely than any that was not, but not impossible.
    probabilities = np.full(p, 0.1 * float(average.probabilities.min()))
    probabilities[kept] = average.probabilities
    return MaskAverage(
        probabilities,
        AtomFit(straight, curved, fit.intercept),
        average.log_posterior,
        average.size,
        average.evidence,
    )
