"""The learner with exact gradients at the expected mask, and its search under a watch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import BoolArray, FloatArray
from s2mam.bilevel.unit_runs import INTERRUPTED
from s2mam.bilevel.watch import Watch
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.rows import TrainingRows
from s2mam.estimators.single import (
    MAX_SIZE,
    SingleSettings,
    build_lower,
    refit,
    smooth_criterion,
)
from s2mam.masks.budget import choose_budget, log_size_prior
from s2mam.masks.evidence import EvidenceCriterion
from s2mam.masks.loo import LooCriterion
from s2mam.masks.relaxed import relaxed_search, top_mask

__all__ = ["fit_relaxed"]

_STAGE = "search"
# Evaluations of the criterion that make one unit of work.
_UNIT = 10


def fit_relaxed(rows: TrainingRows, settings: SingleSettings) -> Fitted:
    """Exact gradients at the expected mask, then the best C columns, then swaps.

    A search that is stopped ends with the best mask it has evaluated so far, or with the largest
    weights of its descent when it has not come to any mask; the model on that mask is then fitted.
    """
    lower = build_lower(rows, settings)
    log = _SearchLog(settings.watch, settings.budget)
    criterion = _watched(smooth_criterion(rows, lower, settings.criterion), log)
    settings.watch.begin(None)
    settings.watch.unit_begins(_STAGE)
    try:
        mask, probabilities, history = _search(criterion, settings)
        reason = "criterion"
    except _SearchStopped as stop:
        mask, reason = log.best_mask(criterion), str(stop)
    except KeyboardInterrupt:
        if not settings.watch.keep_interrupted or not log.evaluations:
            raise
        mask, reason = log.best_mask(criterion), INTERRUPTED
    if reason != "criterion":
        probabilities, history = mask.astype(np.float64), {"criterion": log.path}
    return refit(rows, lower, mask, probabilities, history, reason, settings)


def _search(
    criterion: EvidenceCriterion | LooCriterion, settings: SingleSettings
) -> tuple[BoolArray, FloatArray, dict[str, list[float]]]:
    """The mask, its probabilities and the history."""
    if settings.budget is None:
        path = choose_budget(criterion, max_size=min(MAX_SIZE, criterion.n_columns))
        return (
            path.mask,
            path.mask.astype(np.float64),
            {"criterion": [float(v) for v in path.values]},
        )
    search = relaxed_search(criterion, settings.budget, random_state=settings.seed)
    # The descent ends near, not at, the mask; its real weights are the probabilities.
    probabilities = np.clip(np.maximum(search.probabilities, search.mask), 0.0, 1.0)
    return search.mask, probabilities, {"criterion": [float(search.value)]}


class _SearchStopped(Exception):
    """Ends a search from within; the message is the reason."""


@dataclass
class _SearchLog:
    """What a search has evaluated so far; it ends the search when the watch wants so."""

    watch: Watch
    budget: int | None
    evaluations: int = 0
    best: dict[int, tuple[float, BoolArray]] = field(default_factory=dict)
    weights: FloatArray | None = None
    path: list[float] = field(default_factory=list)

    def add(self, point: ArrayLike, value: float) -> None:
        """Note an evaluation of a mask or of real weights."""
        s = np.asarray(point, dtype=np.float64)
        if np.isin(s, (0.0, 1.0)).all():
            size = int(s.sum())
            if size and (self.budget is None or size == self.budget):
                if size not in self.best or value < self.best[size][0]:
                    self.best[size] = (value, s > 0.0)
                self.path.append(min(value, self.path[-1] if self.path else np.inf))
        else:
            self.weights = s
        self.evaluations += 1
        if self.evaluations % _UNIT == 0:
            self._tell()

    def best_mask(self, criterion: EvidenceCriterion | LooCriterion) -> BoolArray:
        """The best mask so far, sizes compared as the whole search would have done."""
        if not self.best:
            s = np.ones(criterion.n_columns) if self.weights is None else self.weights
            return top_mask(s, self.budget or max(1, min(MAX_SIZE, round(float(s.sum())))))

        def score(size: int) -> float:
            value = self.best[size][0]
            if isinstance(criterion, LooCriterion):
                return value
            cost = value * criterion.kernels.n_rows * criterion.kernels.n_outputs
            return cost - log_size_prior(size, criterion.n_columns)

        return self.best[min(self.best, key=score)][1]

    def _tell(self) -> None:
        best = self.path[-1] if self.path else None
        reason = self.watch.unit_ends(_STAGE, self.evaluations, {"criterion": best})
        if reason is not None:
            raise _SearchStopped(reason)
        self.watch.unit_begins(_STAGE)


@dataclass(frozen=True)
class _WatchedEvidence(EvidenceCriterion):
    log: _SearchLog = field(kw_only=True)

    def value(self, mask: ArrayLike) -> float:
        found = super().value(mask)
        self.log.add(mask, found)
        return found

    def value_and_gradient(self, s: ArrayLike, noise: float) -> tuple[float, FloatArray, float]:
        found = super().value_and_gradient(s, noise)
        self.log.add(s, found[0])
        return found


@dataclass(frozen=True)
class _WatchedLoo(LooCriterion):
    log: _SearchLog = field(kw_only=True)

    def value(self, mask: ArrayLike) -> float:
        found = super().value(mask)
        self.log.add(mask, found)
        return found

    def value_and_gradient(self, s: ArrayLike, noise: float) -> tuple[float, FloatArray, float]:
        found = super().value_and_gradient(s, noise)
        self.log.add(s, found[0])
        return found


def _watched(
    criterion: EvidenceCriterion | LooCriterion, log: _SearchLog
) -> EvidenceCriterion | LooCriterion:
    kind: Any = _WatchedLoo if isinstance(criterion, LooCriterion) else _WatchedEvidence
    watched: EvidenceCriterion | LooCriterion = kind(criterion.kernels, criterion.noise, log=log)
    return watched
