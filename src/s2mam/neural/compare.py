"""Masks compared by labels that the folds hold out, and swaps of pairs of columns."""

from __future__ import annotations

import numpy as np

from s2mam._typing import BoolArray, FloatArray
from s2mam.neural.lower import Sets, fit_sets
from s2mam.neural.problem import NeuralProblem
from s2mam.neural.search import SPARSITY, MaskSearch

__all__ = ["compare_masks", "swap_pairs"]

_STEPS, _LOOKS = 100, 4
# Columns inside and outside that a round of swaps tries.
_WEAKEST, _STRONGEST, _ROUNDS = 2, 4, 2


def compare_masks(problem: NeuralProblem, masks: BoolArray, sparsity: float | None) -> FloatArray:
    """Held-out losses (c, f) of masks (c, p) in every fold, trained side by side without a graph.

    Every mask may stop training when its own loss is smallest.

    Parameters
    ----------
    problem : NeuralProblem
    masks : (c, p) array of bool
    sparsity : float or None
        None is what searches use.
    """
    columns = np.flatnonzero(masks.any(axis=0))
    penalty = SPARSITY * problem.null_loss if sparsity is None else sparsity
    count = len(masks)
    sets = Sets.of_folds(
        problem,
        masks[:, columns].astype(np.float64),
        np.full(count, penalty),
        np.zeros(count),
    )
    trained = fit_sets(problem, columns, sets, steps=_STEPS, look_every=_STEPS // _LOOKS)
    losses = np.array(trained.held_out).reshape(len(trained.looks), count, -1)
    best: FloatArray = losses[losses.mean(axis=2).argmin(axis=0), np.arange(count)]
    return best


def swap_pairs(
    problem: NeuralProblem, search: MaskSearch, mask: BoolArray, sparsity: float | None
) -> BoolArray:
    """Exchange weak columns of a mask for strong ones outside, while the held-out loss falls.

    Parameters
    ----------
    problem : NeuralProblem
    search : MaskSearch
        Its ranking says which columns are weak and which are strong.
    mask : (p,) array of bool
    sparsity : float or None
    """
    ranking = search.ranking()
    ranking = ranking[search.strength[ranking] > 0.0]
    # What has been swapped out once is tried again last.
    order = list(ranking)
    for _ in range(_ROUNDS):
        inside = [j for j in reversed(order) if mask[j]][:_WEAKEST]
        outside = [j for j in order if not mask[j]][:_STRONGEST]
        if not inside or not outside:
            break
        masks = [mask]
        for gone in inside:
            for new in outside:
                other = mask.copy()
                other[[gone, new]] = False, True
                masks.append(other)
        losses = compare_masks(problem, np.array(masks), sparsity).mean(axis=1)
        best = int(losses.argmin())
        if best == 0:
            break
        (gone,) = np.flatnonzero(mask & ~masks[best])
        (new,) = np.flatnonzero(masks[best] & ~mask)
        order.remove(gone)
        order.append(gone)
        order.remove(new)
        order.insert(0, new)
        mask = masks[best]
    return mask
