"""Where the mask sampler starts: a rich mask from the relevance weights, climbed to a local best.

Weeding out junk from a mask that holds too much finds the right columns more often than adding
columns to a mask that holds too little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.masks.mask_prior import column_codes
from s2mam.masks.posterior_evidence import Hyper, MaskPosterior
from s2mam.masks.relevance import relevance_path

__all__ = ["Mode", "best_modes", "climb", "find_modes", "forward_states", "hyper_moves"]

# Noise and steps of the relevance weights; other levels lead to other columns.
_NOISE, _OTHER_NOISE, _STEPS = 0.1, (0.02, 0.5), 60
# Atoms that the forward selection takes, and where its amplitude and curve share start.
_FORWARD, _MIDDLE = 16, (8, 2)
# Atoms that further forward selections take, and how many of these are climbed from.
_SHORT, _OTHERS = 7, 6
# Most moves of a climb, and of one that only adapts a mask to slightly other labels.
_MOVES, _FEW_MOVES = 60, 8
# Gains below this are rounding.
_GAIN = 1e-9

_State: TypeAlias = tuple[BoolArray, Hyper]


@dataclass(frozen=True)
class Mode:
    """A state that no flip improves.

    Attributes
    ----------
    mask : (2p,) array of bool
        The atoms that are on.
    hyper : pair of int
        Amplitude and curve share.
    value : float
        Log-posterior.
    """

    mask: BoolArray
    hyper: Hyper
    value: float


def find_modes(
    posterior: MaskPosterior,
    prior_weights: FloatArray,
    *,
    thorough: bool = True,
    n_forward: int = 1,
    size: int | None = None,
) -> list[Mode]:
    """Climb by flips from different starts.

    Parameters
    ----------
    posterior : MaskPosterior
        The posterior.
    prior_weights : (p,) array
        Start of the relevance weights.
    thorough : bool
        Start from relevant columns at several levels of noise, from relevant atoms, and along a
        forward selection; otherwise from relevant columns only. The starts miss different modes.
    n_forward : int
        Number of forward selections (see `forward_states`).
    size : int, optional
        Columns to start from; by default one for every six labels, at most eight.

    Returns
    -------
    list of Mode
        Without repetitions, the best first.
    """
    p, rows = posterior.atoms.n_columns, posterior.atoms.target.shape[0]
    size = int(np.clip(rows // 6, 1, 8)) if size is None else min(size, p)
    relevance = _relevance(posterior, prior_weights, _NOISE)
    starts = [_relevant_columns(relevance, size)]
    if thorough:
        starts.extend(
            _relevant_columns(_relevance(posterior, prior_weights, noise), size)
            for noise in _OTHER_NOISE
        )
        order = _ranked(relevance)
        starts.extend([order[:size], order[: 2 * size]])
    states = []
    for atoms in starts:
        mask = np.zeros(2 * p, dtype=bool)
        mask[atoms] = posterior.atoms.usable[atoms]
        states.append((mask, _best_amplitude(posterior, mask)))
    if thorough:
        states.extend(forward_states(posterior, n_forward))
    return _climb_all(posterior, states, swaps=False)


def _relevance(posterior: MaskPosterior, prior_weights: FloatArray, noise: float) -> FloatArray:
    """Relevance weights (2p,), zero for atoms that cannot be used or have lost all weight."""
    path = relevance_path(posterior.atoms, prior_weights, noise=noise, keep=[_STEPS])
    return np.where(posterior.atoms.usable, path[_STEPS][0], 0.0)


def _relevant_columns(weights: FloatArray, size: int) -> IntArray:
    p = weights.size // 2
    columns = _ranked(weights[:p] + weights[p:])[:size]
    return np.concatenate([columns, columns + p])


def _ranked(weights: FloatArray) -> IntArray:
    """Those with a positive weight, the heaviest first: no order of the columns breaks ties."""
    order = np.argsort(-weights, kind="stable")
    return order[: np.count_nonzero(weights > 0.0)]


def forward_states(posterior: MaskPosterior, n_starts: int = 1) -> list[_State]:
    """The best states along forward selections, and the last one of the first.

    Where columns are many, junk beats every single column that matters, and a selection that begins
    with it seldom comes back: others are made to begin with the columns that say most alone.

    Parameters
    ----------
    posterior : MaskPosterior
        The posterior.
    n_starts : int
        Number of forward selections.

    Returns
    -------
    list of (mask, hyper)
    """
    none = np.zeros(2 * posterior.atoms.n_columns, dtype=bool)
    path = _forward_path(posterior, none, _FORWARD)
    states = [*_best(path, 2), path[-1]]
    if n_starts > 1:
        firsts = _telling_atoms(posterior, none)[1:n_starts]
        paths = [_forward_path(posterior, _flipped(none, atom), _SHORT) for atom in firsts]
        states.extend(_best([_best(path, 1)[0] for path in paths], _OTHERS))
    return [(mask, hyper) for _, mask, hyper in states]


def _forward_path(
    posterior: MaskPosterior, mask: BoolArray, moves: int
) -> list[tuple[float, BoolArray, Hyper]]:
    """States of a forward selection with their values.

    The first columns often do not pay for themselves before the others are there, so atoms are
    added by evidence alone, whatever the prior says.
    """
    hyper = _MIDDLE
    path = [(posterior.value(mask, hyper), mask, hyper)]
    for _ in range(min(moves, int(np.count_nonzero(posterior.atoms.usable & ~mask)))):
        mask = _flipped(mask, int(np.argmax(_unpriced_gains(posterior, mask, hyper))))
        value = posterior.value(mask, hyper)
        for move in hyper_moves(posterior, hyper):
            if (other := posterior.value(mask, move)) > value:
                value, hyper = other, move
        path.append((value, mask, hyper))
    return path


def _unpriced_gains(posterior: MaskPosterior, mask: BoolArray, hyper: Hyper) -> FloatArray:
    """Gain in evidence of every atom that is off."""
    price = posterior.prior.flip_gains(column_codes(mask))
    gains: FloatArray = np.where(mask, -np.inf, posterior.flip_gains(mask, hyper) - price)
    return gains


def _telling_atoms(posterior: MaskPosterior, none: BoolArray) -> list[int]:
    """The better atom of each column, those that say most alone first."""
    p = posterior.atoms.n_columns
    straight, curved = np.split(_unpriced_gains(posterior, none, _MIDDLE), 2)
    better = np.where(straight >= curved, np.arange(p), np.arange(p, 2 * p))
    order = np.argsort(-np.maximum(straight, curved), kind="stable")
    ranked = better[order]
    return [int(atom) for atom in ranked[posterior.atoms.usable[ranked]]]


def _best(
    states: list[tuple[float, BoolArray, Hyper]], count: int
) -> list[tuple[float, BoolArray, Hyper]]:
    return sorted(states, key=lambda state: -state[0])[:count]


def best_modes(
    posterior: MaskPosterior,
    candidates: Sequence[tuple[BoolArray, Hyper]],
    *,
    n_modes: int,
    polish: bool = True,
) -> list[Mode]:
    """Climb from the most probable of many candidates, by flips and swaps.

    Masks that were found elsewhere (in another view, from other labelled rows) are starts like any
    other: which of them counts is decided by this posterior alone.

    Parameters
    ----------
    posterior : MaskPosterior
        The posterior.
    candidates : sequence of (mask, hyper)
        States to start from.
    n_modes : int
        Most modes to return, and most climbs.
    polish : bool
        Climb to the top; otherwise a few flips only.

    Returns
    -------
    list of Mode
        Without repetitions, the best first.
    """
    values = [posterior.value(mask, hyper) for mask, hyper in candidates]
    order = np.argsort(-np.array(values), kind="stable")
    chosen = [candidates[i] for i in order[:n_modes]]
    return _climb_all(posterior, chosen, swaps=polish, max_moves=_MOVES if polish else _FEW_MOVES)


def _climb_all(
    posterior: MaskPosterior,
    starts: Sequence[tuple[BoolArray, Hyper]],
    *,
    swaps: bool,
    max_moves: int = _MOVES,
) -> list[Mode]:
    modes: dict[bytes, Mode] = {}
    for mask, hyper in starts:
        mode = Mode(*climb(posterior, mask, hyper, swaps=swaps, max_moves=max_moves))
        known = modes.get(mode.mask.tobytes())
        if known is None or mode.value > known.value:
            modes[mode.mask.tobytes()] = mode
    return sorted(modes.values(), key=lambda mode: -mode.value)


def climb(
    posterior: MaskPosterior,
    mask: BoolArray,
    hyper: Hyper,
    *,
    max_moves: int = _MOVES,
    swaps: bool = True,
) -> tuple[BoolArray, Hyper, float]:
    """Take the best flip, or the best swap when no flip helps, until nothing helps.

    Parameters
    ----------
    posterior : MaskPosterior
        The posterior.
    mask, hyper
        Where to start.
    max_moves : int
        Most moves.
    swaps : bool
        Whether to try swaps at all.

    Returns
    -------
    mask, hyper, value
        The local best and its log-posterior.
    """
    value = posterior.value(mask, hyper)
    for _ in range(max_moves):
        moved = False
        for move in hyper_moves(posterior, hyper):
            other = posterior.value(mask, move)
            if other > value + _GAIN:
                value, hyper, moved = other, move, True
        gains = posterior.flip_gains(mask, hyper)
        best = int(np.argmax(gains))
        if gains[best] > _GAIN:
            mask, value = _flipped(mask, best), value + float(gains[best])
        elif not moved:
            swap = _best_swap(posterior, mask, hyper, gains) if swaps else None
            if swap is None:
                break
            mask, value = swap[0], value + swap[1]
    return mask, hyper, value


def hyper_moves(posterior: MaskPosterior, hyper: Hyper) -> list[Hyper]:
    """Neighbours of an amplitude and curve share on their grids."""
    amplitude, share = hyper
    moves = [(amplitude + d, share) for d in (-1, 1)] + [(amplitude, share + d) for d in (-1, 1)]
    limits = (posterior.amplitudes.size, posterior.curve_shares.size)
    return [m for m in moves if 0 <= m[0] < limits[0] and 0 <= m[1] < limits[1]]


def _best_amplitude(posterior: MaskPosterior, mask: BoolArray) -> Hyper:
    share = 2
    grid = range(3, posterior.amplitudes.size, 3)
    return max(((a, share) for a in grid), key=lambda hyper: posterior.value(mask, hyper))


def _best_swap(
    posterior: MaskPosterior, mask: BoolArray, hyper: Hyper, gains: FloatArray
) -> tuple[BoolArray, float] | None:
    """The best pair of one atom out and another in, if it gains anything."""
    best: tuple[BoolArray, float] | None = None
    for out in np.flatnonzero(mask):
        without = _flipped(mask, int(out))
        further = posterior.flip_gains(without, hyper)
        into, second = np.argsort(-further, kind="stable")[:2]
        into = int(second if into == out else into)
        gain = float(gains[out] + further[into])
        if gain > (_GAIN if best is None else best[1]):
            best = (_flipped(without, into), gain)
    return best


def _flipped(mask: BoolArray, atom: int) -> BoolArray:
    flipped = mask.copy()
    flipped[atom] = not flipped[atom]
    return flipped
