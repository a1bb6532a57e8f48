"""Scores of several models on the same held-out rows, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["Measure", "Outcome", "Scores", "measures", "score"]

_DRAWS = 1000
_SMALLEST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Answers of one model.

    Attributes
    ----------
    truth, prediction : ndarray of shape (n,)
        Labels and answers.
    probability : ndarray of shape (n,) or None
        Probability that a classifier gave to the true class.
    """

    truth: AnyArray
    prediction: AnyArray
    probability: FloatArray | None = None

    @property
    def right(self) -> BoolArray:
        """Rows with the right class."""
        return np.asarray(self.truth == self.prediction, dtype=bool)

    def groups(self, share: str) -> IntArray:
        """Classes of the rows, or one group for all."""
        if share == "by class":
            return np.unique(self.truth, return_inverse=True)[1]
        return np.zeros(len(self.truth), dtype=np.intp)


@dataclass(frozen=True)
class Measure:
    """A score.

    Attributes
    ----------
    name : str
    higher : bool
        Whether more is better.
    compute : callable
        From answers and weights of the rows.
    share : {"", "of all", "by class"}
        Whether it is a share of right answers, and whether it is averaged over the classes.
    """

    name: str
    higher: bool
    compute: Callable[[Outcome, FloatArray], float]
    share: str = ""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of models (c) by measures (m), and their bootstrap draws (b).

    Attributes
    ----------
    measures : tuple of Measure
    outcomes : list of Outcome
    value, low, high : ndarray of shape (c, m)
    draws : ndarray of shape (b, c, m)
    level : float
        Share of the draws inside the intervals.
    """

    measures: tuple[Measure, ...]
    outcomes: list[Outcome]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    draws: FloatArray
    level: float

    def difference(self, a: int, b: int) -> FloatArray:
        """Model a less model b: value, low and high (3, m), on the same rows in every draw."""
        low, high = _ends(self.draws[:, a] - self.draws[:, b], self.level)
        for m, measure in enumerate(self.measures):
            if measure.share:
                first, second = self.outcomes[a], self.outcomes[b]
                gain = first.right.astype(np.float64) - second.right
                low[m], high[m] = _gain_interval(gain, first.groups(measure.share), self.level)
        return np.stack([self.value[a] - self.value[b], low, high])


def measures(*, classification: bool) -> tuple[Measure, ...]:
    """The measures of a task; the first one is the headline."""
    if classification:
        return (
            Measure("accuracy", True, _accuracy, "of all"),
            Measure("balanced accuracy", True, _balanced_accuracy, "by class"),
            Measure("log loss", False, _log_loss),
        )
    return (
        Measure("root mean squared error", False, _root_mean_squared_error),
        Measure("mean absolute error", False, _mean_absolute_error),
        Measure("R²", True, _explained),
    )


def score(
    outcomes: list[Outcome], *, classification: bool, level: float = 0.9, random_state: int = 0
) -> Scores:
    """Score models on the same rows; intervals resample the rows.

    Intervals of shares are those of Agresti and Coull, of their differences those of Bonett and
    Price: resampling a few rows that are all right would say that nothing can go wrong.

    Parameters
    ----------
    outcomes : list of Outcome
        One per model, all with the same truth.
    classification : bool
        Which measures.
    level : float, default=0.9
        Share of the draws inside the intervals.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    Scores

    Examples
    --------
    >>> truth = np.array([0, 1, 1, 0])
    >>> right = Outcome(truth, truth, np.ones(4))
    >>> scores = score([right], classification=True)
    >>> float(scores.value[0, 0]), bool(scores.low[0, 0] < 0.7)
    (1.0, True)
    """
    chosen = measures(classification=classification)
    n = len(outcomes[0].truth)
    rng = np.random.default_rng(random_state)

    def all_scores(weights: FloatArray) -> FloatArray:
        return np.array([[m.compute(o, weights) for m in chosen] for o in outcomes])

    value = all_scores(np.ones(n))
    counts = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(_DRAWS))
    draws = np.stack([all_scores(count.astype(np.float64)) for count in counts])
    low, high = _ends(draws, level)
    for m, measure in enumerate(chosen):
        if measure.share:
            for c, outcome in enumerate(outcomes):
                groups = outcome.groups(measure.share)
                low[c, m], high[c, m] = _share_interval(outcome.right, groups, level)
    return Scores(chosen, outcomes, value, low, high, draws, level)


def _ends(draws: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    known = np.where(np.isfinite(draws).any(axis=0), draws, 0.0)
    low, high = np.nanquantile(known, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    return low, high


def _share_interval(right: BoolArray, groups: IntArray, level: float) -> tuple[float, float]:
    """Mean over the groups of their shares, with z^2 / 2 more successes and failures in all."""
    z = float(norm.ppf((1.0 + level) / 2.0))
    sizes, successes = np.bincount(groups), np.bincount(groups, right)
    extra = z**2 / len(sizes)
    shares = (successes + extra / 2.0) / (sizes + extra)
    variances = shares * (1.0 - shares) / (sizes + extra)
    low, high = _around(shares, variances, z, float(np.mean(successes / sizes)))
    return max(0.0, low), min(1.0, high)


def _gain_interval(gain: FloatArray, groups: IntArray, level: float) -> tuple[float, float]:
    """Mean over the groups of their mean gains, with one more gain and one more loss in all."""
    z = float(norm.ppf((1.0 + level) / 2.0))
    sizes = np.bincount(groups)
    extra = 1.0 / len(sizes)
    gained = (np.bincount(groups, gain > 0) + extra) / (sizes + 2.0 * extra)
    lost = (np.bincount(groups, gain < 0) + extra) / (sizes + 2.0 * extra)
    variances = (gained + lost - (gained - lost) ** 2) / (sizes + 2.0 * extra)
    value = float(np.mean(np.bincount(groups, gain) / sizes))
    low, high = _around(gained - lost, variances, z, value)
    return max(-1.0, low), min(1.0, high)


def _around(
    means: FloatArray, variances: FloatArray, z: float, value: float
) -> tuple[float, float]:
    """Normal interval of the mean of means, stretched to the value that it is shown beside."""
    half = z * math.sqrt(variances.sum()) / len(means)
    middle = float(means.mean())
    return min(value, middle - half), max(value, middle + half)


def _accuracy(outcome: Outcome, weights: FloatArray) -> float:
    return float(weights @ outcome.right / weights.sum())


def _balanced_accuracy(outcome: Outcome, weights: FloatArray) -> float:
    codes = outcome.groups("by class")
    right = np.bincount(codes, weights * outcome.right)
    total = np.bincount(codes, weights)
    return float(np.mean(right[total > 0] / total[total > 0]))


def _log_loss(outcome: Outcome, weights: FloatArray) -> float:
    assert outcome.probability is not None  # classifiers always give one
    losses = -np.log(np.maximum(outcome.probability, _SMALLEST))
    return float(weights @ losses / weights.sum())


def _root_mean_squared_error(outcome: Outcome, weights: FloatArray) -> float:
    return math.sqrt(weights @ (outcome.truth - outcome.prediction) ** 2 / weights.sum())


def _mean_absolute_error(outcome: Outcome, weights: FloatArray) -> float:
    return float(weights @ np.abs(outcome.truth - outcome.prediction) / weights.sum())


def _explained(outcome: Outcome, weights: FloatArray) -> float:
    mean = weights @ outcome.truth / weights.sum()
    spread = float(weights @ (outcome.truth - mean) ** 2)
    error = float(weights @ (outcome.truth - outcome.prediction) ** 2)
    return 1.0 - error / spread if spread > 0.0 else float("nan")
