"""Which of very many columns masks are searched and sampled among.

One ranking misses columns that matter only beside others: a column is kept when it stands high in
any of several rankings, which take turns until there are enough columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.masks.posterior_evidence import Hyper, MaskPosterior
from s2mam.masks.posterior_start import climb, forward_states
from s2mam.masks.relevance import relevance_path

__all__ = ["MAX_SAMPLED", "screen_for_sampling", "screen_for_search"]

#: Columns beyond this many are screened before masks are searched for.
MAX_SAMPLED: Final = 400
# Noise and steps of the relevance weights that rank columns: all columns alike at first, and few
# of them at the end.
_RELEVANCE: Final = ((2.0, 2), (0.1, 30))
# Moves of the climb from no columns at all, and the amplitude and curve share it starts from.
_MOVES: Final = 12
_START: Final = (8, 2)


def screen_for_search(
    posterior: MaskPosterior, prior_weights: FloatArray, *, thorough: bool
) -> IntArray:
    """Columns worth searching among, in column order.

    Parameters
    ----------
    posterior : MaskPosterior
        Over all columns.
    prior_weights : (p,) array
        Start of the relevance weights.
    thorough : bool
        Whether the search will start from many forward selections.

    Returns
    -------
    array of int
        By relevance, early and late, and by what they gain beside the columns of a forward
        selection; in a thorough search also of one that does not mind the price of a column,
        because the first ones often do not pay before the others are there.
    """
    none = np.zeros(2 * posterior.atoms.n_columns, dtype=bool)
    priced, hyper, _ = climb(posterior, none, _START, max_moves=_MOVES, swaps=False)
    states = [(priced, hyper), *(forward_states(posterior) if thorough else [])]
    rankings = [_by_relevance(posterior, prior_weights, *how) for how in _RELEVANCE]
    return _take_turns([*rankings, *(_by_gain(posterior, *state) for state in states)])


def screen_for_sampling(
    posterior: MaskPosterior,
    prior_weights: FloatArray,
    states: Sequence[tuple[BoolArray, Hyper]],
) -> IntArray:
    """Columns that gain most beside masks that are known, or are relevant, in column order.

    Parameters
    ----------
    posterior, prior_weights
        As for :func:`screen_for_search`.
    states : sequence of (mask, hyper)
        Where the sampler will start; their columns are among those that are kept.

    Returns
    -------
    array of int
    """
    relevance = _by_relevance(posterior, prior_weights, *_RELEVANCE[0])
    return _take_turns([relevance, *(_by_gain(posterior, *state) for state in states)])


def _by_relevance(
    posterior: MaskPosterior, prior_weights: FloatArray, noise: float, steps: int
) -> FloatArray:
    path = relevance_path(posterior.atoms, prior_weights, noise=noise, keep=[steps])
    weights = _of_columns(path[steps][0], np.add)
    return np.where(weights > 0.0, weights, -np.inf)


def _by_gain(posterior: MaskPosterior, mask: BoolArray, hyper: Hyper) -> FloatArray:
    gains = np.where(mask, np.inf, posterior.flip_gains(mask, hyper))
    return _of_columns(gains, np.maximum)


def _of_columns(values: FloatArray, join: np.ufunc) -> FloatArray:
    """One value a column, from those of its straight and of its curved part."""
    joined: FloatArray = join(*np.split(values, 2))
    return joined


def _take_turns(rankings: Sequence[FloatArray]) -> IntArray:
    """The best of every ranking, then the second best of every ranking, until it is enough.

    Columns that a ranking has at minus infinity have no place in it.
    """
    turns = []
    for ranking in rankings:
        turn = np.empty(ranking.size)
        turn[np.argsort(-ranking, kind="stable")] = np.arange(ranking.size)
        turns.append(np.where(np.isneginf(ranking), np.inf, turn))
    first: FloatArray = np.min(turns, axis=0)
    kept = np.argsort(first, kind="stable")[:MAX_SAMPLED]
    return np.sort(kept[np.isfinite(first[kept])])
