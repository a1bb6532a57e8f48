"""Average over masks: a jump process whose stationary law is the mask posterior.

From every state the process looks at all one-flip neighbours, jumps to one with a rate that grows
with its posterior (Barker's rule), and stays for a time that is the inverse of the total rate.
Time averages are posterior averages; no proposal is ever wasted on a rejection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaln

from s2mam._typing import BoolArray, FloatArray
from s2mam.masks.labeled_atoms import AtomFit
from s2mam.masks.posterior_evidence import Hyper, MaskPosterior, column_codes
from s2mam.masks.posterior_start import hyper_moves

__all__ = ["MaskAverage", "average_masks", "size_prior"]

# Amplitude and curve share move among few values; their rates are raised so that they keep up.
_HYPER_RATE = 2.0
# A state that is left more slowly than this is never left.
_SLOWEST = 1e-12
# The longest visited states that make up this share of the time enter the averaged function.
_SHARE = 0.999


@dataclass(frozen=True)
class MaskAverage:
    """Posterior averages of one run.

    Attributes
    ----------
    probabilities : (p,) array
        Probability that each column is in the model, averaged over conditional probabilities.
    fit : AtomFit
        Average of the additive functions.
    log_posterior, size : (steps,) arrays
        The path of the run.
    """

    probabilities: FloatArray
    fit: AtomFit
    log_posterior: FloatArray
    size: FloatArray


def size_prior(p: int, n_select: int | None = None, *, strength: float = 3.0) -> FloatArray:
    """Log-prior of one mask by its number of columns.

    Parameters
    ----------
    p : int
        Number of columns.
    n_select : int, optional
        Number of columns asked for; None spreads the prior over all sizes, small ones first
        (probability of size k proportional to 1/(k+1)).
    strength : float
        Log-prior lost per column more or less than `n_select`.

    Returns
    -------
    (p + 1,) array

    Examples
    --------
    >>> np.exp(size_prior(2)).round(3)
    array([0.545, 0.136, 0.182])
    """
    sizes = np.arange(p + 1)
    masks_of_size = gammaln(p + 1) - gammaln(sizes + 1) - gammaln(p - sizes + 1)
    if n_select is None:
        log_prior = -np.log(sizes + 1.0) - masks_of_size
        result: FloatArray = log_prior - np.log(np.sum(1.0 / (sizes + 1.0)))
        return result
    peaked: FloatArray = -masks_of_size - strength * np.abs(sizes - n_select)
    return peaked


def average_masks(
    posterior: MaskPosterior,
    mask: BoolArray,
    hyper: Hyper,
    *,
    steps: int,
    burn_in: int,
    rng: np.random.Generator,
) -> MaskAverage:
    """Run the jump process and average.

    Parameters
    ----------
    posterior : MaskPosterior
        The posterior.
    mask, hyper
        State to start from (see :func:`s2mam.masks.posterior_start.start_state`).
    steps : int
        Number of jumps.
    burn_in : int
        Jumps that are not averaged.
    rng : Generator
        Source of the jumps.

    Returns
    -------
    MaskAverage
    """
    p = posterior.atoms.n_columns
    value = posterior.value(mask, hyper)
    total = 0.0
    inside = np.zeros(p)
    visits: dict[tuple[bytes, Hyper], float] = {}
    states: dict[tuple[bytes, Hyper], BoolArray] = {}
    values, sizes = np.empty(steps), np.empty(steps)
    for step in range(steps):
        gains = posterior.flip_gains(mask, hyper)
        moves = hyper_moves(posterior, hyper)
        move_gains = np.array([posterior.value(mask, move) - value for move in moves])
        rates = np.concatenate([expit(gains), _HYPER_RATE * expit(move_gains)])
        total_rate = float(rates.sum())
        values[step] = value
        sizes[step] = np.count_nonzero(column_codes(mask))
        if step >= burn_in:
            stay = 1.0 / max(total_rate, _SLOWEST)
            total += stay
            inside += stay * _conditional_inclusion(mask, gains)
            key = (mask.tobytes(), hyper)
            visits[key] = visits.get(key, 0.0) + stay
            states[key] = mask
        if total_rate < _SLOWEST:
            continue  # nowhere to go
        choice = int(np.searchsorted(np.cumsum(rates), rng.random() * total_rate, side="right"))
        choice = min(choice, rates.size - 1)
        if choice < 2 * p:
            mask = mask.copy()
            mask[choice] = not mask[choice]
            value += float(gains[choice])
        else:
            hyper = moves[choice - 2 * p]
            value += float(move_gains[choice - 2 * p])
    fit = _average_fit(posterior, visits, states, total)
    return MaskAverage(np.clip(inside / total, 0.0, 1.0), fit, values, sizes)


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


def _average_fit(
    posterior: MaskPosterior,
    visits: dict[tuple[bytes, Hyper], float],
    states: dict[tuple[bytes, Hyper], BoolArray],
    total: float,
) -> AtomFit:
    longest = sorted(visits.items(), key=lambda item: -item[1])
    reached = np.cumsum([time for _, time in longest])
    kept = longest[: int(np.searchsorted(reached, _SHARE * total)) + 1]
    scale = 1.0 / sum(time for _, time in kept)
    average: AtomFit | None = None
    for key, time in kept:
        part = posterior.fit(states[key], key[1]).scaled(time * scale)
        average = part if average is None else average.plus(part)
    assert average is not None  # the state after the burn-in is always kept
    return average
