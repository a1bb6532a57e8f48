"""Probabilities of independent masks, learned by the policy gradient under a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from s2mam._typing import BoolArray, FloatArray
from s2mam.masks.draws import draw_masks
from s2mam.masks.gradients import rloo
from s2mam.masks.projection import project_budget

__all__ = ["PolicySearch", "generator_of", "learn_probabilities"]

_CLIP = 3.0  # longest gradient
_MOMENTUM, _SQUARES = 0.9, 0.999


@dataclass(frozen=True)
class PolicySearch:
    """How to search.

    Attributes
    ----------
    n_draws : int
        Masks per step, at least 2.
    max_iter : int
        Steps.
    step : float
        First step size; it falls to zero along a cosine.
    floor : float
        Masks are drawn from probabilities kept this far from 0 and 1: none is given up for good.
    anneal : bool
        Start from all entries and lower the budget by a cubic law between 16 and 60 percent of
        the steps.
    """

    n_draws: int = 5
    max_iter: int = 300
    step: float = 0.05
    floor: float = 0.02
    anneal: bool = False

    def budget_at(self, iteration: int, budget: float, size: int) -> float:
        """Budget of one step.

        Examples
        --------
        >>> search = PolicySearch(max_iter=100, anneal=True)
        >>> [round(search.budget_at(t, 2, 10), 2) for t in (0, 38, 60)]
        [10.0, 3.0, 2.0]
        """
        if not self.anneal:
            return float(budget)
        start, end = 0.16 * self.max_iter, 0.6 * self.max_iter
        done = min(max((iteration - start) / (end - start), 0.0), 1.0)
        return float(budget + (size - budget) * (1.0 - done) ** 3)


def learn_probabilities(
    evaluate: Callable[[BoolArray], FloatArray],
    size: int,
    budget: float,
    rng: np.random.Generator,
    search: PolicySearch | None = None,
) -> tuple[FloatArray, list[float]]:
    """Lower the expected loss of random masks with independent entries.

    Policy gradient with the other draws' mean as baseline, clipped, in Adam steps, each followed
    by the projection onto {0 <= s <= 1, sum s <= budget}.

    Parameters
    ----------
    evaluate : callable
        (K,) losses of (K, size) masks.
    size : int
        Entries of a mask.
    budget : float
        Largest expected number of entries drawn.
    rng : numpy.random.Generator
        Draws the masks.
    search : PolicySearch, optional
        Settings.

    Returns
    -------
    probabilities : (size,) array
    history : list of float
        Mean loss of the draws of each step.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> s, _ = learn_probabilities(lambda masks: 1.0 - masks[:, 2], 4, 1, rng)
    >>> int(s.argmax())
    2
    """
    search = PolicySearch() if search is None else search
    s = np.full(size, min(search.budget_at(0, budget, size) / size, 1.0))
    mean, squares = np.zeros(size), np.zeros(size)
    history: list[float] = []
    for t in range(search.max_iter):
        masks = draw_masks(s, search.n_draws, rng, eps=search.floor)
        losses = evaluate(masks)
        history.append(float(losses.mean()))
        gradient = rloo(losses, masks, s, eps=search.floor)
        gradient *= min(1.0, _CLIP / max(float(np.linalg.norm(gradient)), 1e-300))
        mean = _MOMENTUM * mean + (1.0 - _MOMENTUM) * gradient
        squares = _SQUARES * squares + (1.0 - _SQUARES) * gradient**2
        direction = (mean / (1.0 - _MOMENTUM ** (t + 1))) / (
            np.sqrt(squares / (1.0 - _SQUARES ** (t + 1))) + 1e-8
        )
        length = 0.5 * search.step * (1.0 + np.cos(np.pi * t / search.max_iter))
        s = project_budget(s - length * direction, search.budget_at(t + 1, budget, size))
    return s, history


def generator_of(random_state: Any) -> np.random.Generator:
    """Generator for a seed, a RandomState instance or None."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
