"""Probabilities of independent masks, learned by the policy gradient under a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from s2mam._typing import BoolArray, FloatArray
from s2mam.masks.draws import clip_probabilities
from s2mam.masks.projection import project_budgets

__all__ = ["PolicySearch", "generator_of", "learn_many", "learn_probabilities"]

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

    def budgets_at(self, iteration: int, budgets: FloatArray, size: int) -> FloatArray:
        """Budgets of one step.

        Examples
        --------
        >>> import numpy as np
        >>> search = PolicySearch(max_iter=100, anneal=True)
        >>> [search.budgets_at(t, np.array([2.0]), 10).round(2).tolist() for t in (0, 38, 60)]
        [[10.0], [3.0], [2.0]]
        """
        if not self.anneal:
            return budgets
        start, end = 0.16 * self.max_iter, 0.6 * self.max_iter
        done = min(max((iteration - start) / (end - start), 0.0), 1.0)
        return budgets + (size - budgets) * (1.0 - done) ** 3


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
    one = np.array([budget], dtype=np.float64)
    s, history = learn_many(lambda masks: evaluate(masks[0])[None], size, one, rng, search)
    return s[0], history[:, 0].tolist()


def learn_many(
    evaluate: Callable[[BoolArray], FloatArray],
    size: int,
    budgets: FloatArray,
    rng: np.random.Generator,
    search: PolicySearch | None = None,
) -> tuple[FloatArray, FloatArray]:
    """:func:`learn_probabilities` for b problems side by side.

    All take the same random numbers, those that each would take alone.

    Parameters
    ----------
    evaluate : callable
        (b, K) losses of (b, K, size) masks.
    size : int
        Entries of a mask.
    budgets : (b,) array
        Budget of each problem.
    rng, search
        As in :func:`learn_probabilities`.

    Returns
    -------
    probabilities : (b, size) array
    history : (steps, b) array

    Examples
    --------
    >>> import numpy as np
    >>> def evaluate(masks):
    ...     return np.stack([1.0 - masks[0, :, 2], 1.0 - masks[1, :, 0]])
    >>> s, _ = learn_many(evaluate, 4, np.ones(2), np.random.default_rng(0))
    >>> s.argmax(axis=1)
    array([2, 0])
    """
    search = PolicySearch() if search is None else search
    s = np.repeat(np.minimum(search.budgets_at(0, budgets, size) / size, 1.0)[:, None], size, 1)
    mean, squares = np.zeros_like(s), np.zeros_like(s)
    history = np.empty((search.max_iter, budgets.size))
    for t in range(search.max_iter):
        chances = clip_probabilities(s, search.floor)
        masks: BoolArray = rng.random((search.n_draws, size)) < chances[:, None, :]
        losses = evaluate(masks)
        history[t] = losses.mean(axis=1)
        gradient = _policy_gradient(losses, masks, chances)
        lengths = np.maximum(np.linalg.norm(gradient, axis=1, keepdims=True), 1e-300)
        gradient *= np.minimum(1.0, _CLIP / lengths)
        mean = _MOMENTUM * mean + (1.0 - _MOMENTUM) * gradient
        squares = _SQUARES * squares + (1.0 - _SQUARES) * gradient**2
        direction = (mean / (1.0 - _MOMENTUM ** (t + 1))) / (
            np.sqrt(squares / (1.0 - _SQUARES ** (t + 1))) + 1e-8
        )
        length = 0.5 * search.step * (1.0 + np.cos(np.pi * t / search.max_iter))
        s = project_budgets(s - length * direction, search.budgets_at(t + 1, budgets, size))
    return s, history


def _policy_gradient(losses: FloatArray, masks: BoolArray, chances: FloatArray) -> FloatArray:
    """:func:`s2mam.masks.gradients.rloo` of each problem."""
    spread = chances * (1.0 - chances)
    excess = losses - losses.mean(axis=1, keepdims=True)
    # The excesses sum to zero, so that the chances themselves drop out of the sum of scores.
    pulls = (excess[:, None, :] @ masks)[:, 0] / (losses.shape[1] - 1)
    gradient: FloatArray = np.divide(pulls, spread, out=np.zeros_like(pulls), where=spread > 0.0)
    return gradient


def generator_of(random_state: Any) -> np.random.Generator:
    """Generator for a seed, a RandomState instance or None."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
