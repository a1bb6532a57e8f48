"""Where the mask sampler starts: a rich mask from the relevance weights, climbed to a local best.

Weeding out junk from a mask that holds too much finds the right columns more often than adding
columns to a mask that holds too little.
"""

from __future__ import annotations

import numpy as np

from s2mam._typing import BoolArray, FloatArray
from s2mam.masks.posterior_evidence import Hyper, MaskPosterior
from s2mam.masks.relevance import relevance_path

__all__ = ["climb", "hyper_moves", "start_state"]

_NOISE, _STEPS = 0.1, 60
# Gains below this are rounding.
_GAIN = 1e-9


def start_state(
    posterior: MaskPosterior, prior_weights: FloatArray, *, n_starts: int = 3
) -> tuple[BoolArray, Hyper]:
    """Best of a few climbed starts.

    Parameters
    ----------
    posterior : MaskPosterior
        The posterior.
    prior_weights : (p,) array
        Start of the relevance weights.
    n_starts : int
        Number of starts, at most three: whole columns, single atoms, twice as many atoms.

    Returns
    -------
    mask : (2p,) array of bool
    hyper : pair of int
    """
    atoms = posterior.atoms
    p, rows = atoms.n_columns, atoms.target.shape[0]
    weights, _ = relevance_path(atoms, prior_weights, noise=_NOISE, keep=[_STEPS])[_STEPS]
    usable = atoms.usable
    size = int(np.clip(rows // 6, 1, 8))
    columns = np.argsort(-(weights[:p] + weights[p:]), kind="stable")[:size]
    order = np.argsort(-np.where(usable, weights, -1.0), kind="stable")
    starts = [np.concatenate([columns, columns + p]), order[:size], order[: 2 * size]]
    best: tuple[float, BoolArray, Hyper] | None = None
    for chosen in starts[:n_starts]:
        mask = np.zeros(2 * p, dtype=bool)
        mask[chosen] = usable[chosen]
        mask, hyper, value = climb(posterior, mask, _best_amplitude(posterior, mask))
        if best is None or value > best[0]:
            best = (value, mask, hyper)
    assert best is not None  # n_starts is at least one
    return best[1], best[2]


def climb(
    posterior: MaskPosterior, mask: BoolArray, hyper: Hyper, *, max_moves: int = 60
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
            swap = _best_swap(posterior, mask, hyper, gains)
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
        further[out] = -np.inf
        into = int(np.argmax(further))
        gain = float(gains[out] + further[into])
        if gain > (_GAIN if best is None else best[1]):
            best = (_flipped(without, into), gain)
    return best


def _flipped(mask: BoolArray, atom: int) -> BoolArray:
    flipped = mask.copy()
    flipped[atom] = not flipped[atom]
    return flipped
