"""Average over masks: a jump process whose stationary law is the mask posterior.

From every state the process looks at all one-flip neighbours, jumps to one with a rate that grows
with its posterior (Barker's rule), and stays for a time that is the inverse of the total rate.
Time averages are posterior averages; no proposal is ever wasted on a rejection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import expit, logsumexp, softmax

from s2mam._typing import BoolArray, FloatArray
from s2mam.masks.labeled_atoms import AtomFit
from s2mam.masks.mask_prior import column_codes
from s2mam.masks.posterior_evidence import Hyper, MaskPosterior
from s2mam.masks.posterior_start import Mode, hyper_moves

__all__ = ["MaskAverage", "average_masks"]

# Mask (as bytes), amplitude and curve share.
_State: TypeAlias = tuple[bytes, Hyper]

# Amplitude and curve share move among few values; their rates are raised so that they keep up.
_HYPER_RATE = 2.0
# A state that is left more slowly than this is never left.
_SLOWEST = 1e-12
# The heaviest visited states that make up this share of the weight enter an averaged function.
_SHARE = 0.999
# Power of the posterior in the sharp average.
_SHARP = 4.0


@dataclass(frozen=True)
class MaskAverage:
    """Posterior averages of one or several runs.

    Attributes
    ----------
    probabilities : (p,) array
        Probability that each column is in the model, averaged over conditional probabilities.
    fit : AtomFit
        Average of the additive functions.
    log_posterior, size : (steps,) arrays
        The path of the runs.
    evidence : float
        Log of the posterior mass of all states that were visited: comparable between posteriors
        that differ in the odds of columns or in the atoms.
    sharp : AtomFit or None
        Average of the additive functions of all visited states by a power of their posterior, where
        it was asked for: few masks that are much better than the others, and none that a short run
        passed by chance.
    """

    probabilities: FloatArray
    fit: AtomFit
    log_posterior: FloatArray
    size: FloatArray
    evidence: float
    sharp: AtomFit | None = None


def average_masks(
    posterior: MaskPosterior,
    modes: Sequence[Mode],
    *,
    steps: int,
    burn_in: int,
    rng: np.random.Generator,
    sharp: bool = False,
) -> MaskAverage:
    """Run the jump process from each mode and average.

    Within a run, states count with the time spent in them; a run counts with the posterior mass of
    the states it visited (a state that several runs visited is shared among them), because no run
    of affordable length travels between distant modes.

    Parameters
    ----------
    posterior : MaskPosterior
        The posterior.
    modes : sequence of Mode
        Where the runs start (see :func:`s2mam.masks.posterior_start.find_modes`).
    steps : int
        Number of jumps of all runs together.
    burn_in : int
        Jumps of each run that are not averaged.
    rng : Generator
        Source of the jumps.
    sharp : bool
        Whether to average by a power of the posterior, too.

    Returns
    -------
    MaskAverage
    """
    length = max(steps // len(modes), burn_in + 1)
    known: dict[_State, _Neighbors] = {}
    runs = [_run(posterior, mode, length, burn_in, rng, known) for mode in modes]
    mass = _masses(runs)
    shares = np.exp(mass - logsumexp(mass))
    kept = shares > 1e-6
    weighted = [(share, run) for share, run in zip(shares, runs, strict=True) if share > 1e-6]
    visits: dict[_State, float] = {}
    inside = np.zeros(posterior.atoms.n_columns)
    for share, run in weighted:
        inside += share * run.inside / shares[kept].sum()
        for state, time in run.time.items():
            visits[state] = visits.get(state, 0.0) + share * time
    values = np.concatenate([run.path[:, 0] for run in runs])
    sizes = np.concatenate([run.path[:, 1] for run in runs])
    visited = {state: value for run in runs for state, value in run.value.items()}
    return MaskAverage(
        np.clip(inside, 0.0, 1.0),
        _average_fit(posterior, visits),
        values,
        sizes,
        float(logsumexp(list(visited.values()))),
        _sharp_fit(posterior, visited) if sharp else None,
    )


@dataclass(frozen=True)
class _Neighbors:
    """Rates of all jumps out of a state, and what they gain."""

    gains: FloatArray
    moves: list[Hyper]
    move_gains: FloatArray
    rates: FloatArray


@dataclass(frozen=True)
class _Run:
    """Time shares, log-posteriors and inclusion of one run of the jump process."""

    time: dict[_State, float]
    value: dict[_State, float]
    inside: FloatArray
    path: FloatArray


def _run(
    posterior: MaskPosterior,
    mode: Mode,
    steps: int,
    burn_in: int,
    rng: np.random.Generator,
    known: dict[_State, _Neighbors],
) -> _Run:
    p = posterior.atoms.n_columns
    mask, hyper, value = mode.mask, mode.hyper, mode.value
    time: dict[_State, float] = {}
    values: dict[_State, float] = {}
    inside, path = np.zeros(p), np.empty((steps, 2))
    for step in range(steps):
        state = (mask.tobytes(), hyper)
        if state not in known:
            known[state] = _neighbors(posterior, mask, hyper, value)
        near = known[state]
        total_rate = float(near.rates.sum())
        path[step] = value, np.count_nonzero(column_codes(mask))
        values[state] = value
        if step >= burn_in:
            stay = 1.0 / max(total_rate, _SLOWEST)
            inside += stay * _conditional_inclusion(mask, near.gains)
            time[state] = time.get(state, 0.0) + stay
        if total_rate < _SLOWEST:
            continue  # nowhere to go
        draw = rng.random() * total_rate
        choice = int(np.searchsorted(np.cumsum(near.rates), draw, side="right"))
        choice = min(choice, near.rates.size - 1)
        if choice < 2 * p:
            mask = mask.copy()
            mask[choice] = not mask[choice]
            value += float(near.gains[choice])
        else:
            hyper = near.moves[choice - 2 * p]
            value += float(near.move_gains[choice - 2 * p])
    total = sum(time.values())
    shares = {state: stay / total for state, stay in time.items()}
    return _Run(shares, values, inside / total, path)


def _neighbors(posterior: MaskPosterior, mask: BoolArray, hyper: Hyper, value: float) -> _Neighbors:
    gains = posterior.flip_gains(mask, hyper)
    moves = hyper_moves(posterior, hyper)
    move_gains = np.array([posterior.value(mask, move) - value for move in moves])
    rates = np.concatenate([expit(gains), _HYPER_RATE * expit(move_gains)])
    return _Neighbors(gains, moves, move_gains, rates)


def _masses(runs: Sequence[_Run]) -> FloatArray:
    """Log of the posterior mass each run visited; shared states are split evenly."""
    visitors: dict[_State, int] = {}
    for run in runs:
        for state in run.value:
            visitors[state] = visitors.get(state, 0) + 1
    return np.array(
        [
            logsumexp([value - np.log(visitors[state]) for state, value in run.value.items()])
            for run in runs
        ]
    )


def _conditional_inclusion(mask: BoolArray, gains: FloatArray) -> FloatArray:
    """Probability that each column is in, less noisy than whether it is in.

    Given all other atoms, one atom is on with a probability that the gains tell; the column is in
    if this atom is on or its partner is. The two atoms of a column give two such answers, each of
    them right on average, and so is their mean.
    """
    p = mask.size // 2
    flip = expit(gains)
    on = np.where(mask, 1.0 - flip, flip)
    by_line = np.where(mask[p:], 1.0, on[:p])
    by_curve = np.where(mask[:p], 1.0, on[p:])
    result: FloatArray = 0.5 * (by_line + by_curve)
    return result


def _sharp_fit(posterior: MaskPosterior, visited: dict[_State, float]) -> AtomFit:
    shares = softmax(_SHARP * np.array(list(visited.values())))
    return _average_fit(posterior, dict(zip(visited, shares.tolist(), strict=True)))


def _average_fit(posterior: MaskPosterior, weights: dict[_State, float]) -> AtomFit:
    heaviest = sorted(weights.items(), key=lambda item: -item[1])
    shares = np.array([weight for _, weight in heaviest])
    kept = int(np.searchsorted(np.cumsum(shares), _SHARE * shares.sum())) + 1
    scale = 1.0 / float(shares[:kept].sum())
    average: AtomFit | None = None
    for (mask, hyper), weight in heaviest[:kept]:
        part = posterior.fit(np.frombuffer(mask, dtype=bool), hyper).scaled(weight * scale)
        average = part if average is None else average.plus(part)
    assert average is not None  # the state after the burn-in is always kept
    return average
