"""Masks for networks by their evidence, searched under a watch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import BoolArray, FloatArray
from s2mam.bilevel.unit_runs import INTERRUPTED
from s2mam.estimators.single import MAX_SIZE, SingleSettings
from s2mam.masks.budget import choose_budget, log_size_prior
from s2mam.masks.evidence import EvidenceCriterion
from s2mam.masks.relaxed import relaxed_search
from s2mam.neural.evidence import network_evidence
from s2mam.neural.problem import NeuralProblem
from s2mam.neural.search import MaskSearch, SearchStopped

__all__ = ["evidence_budget", "search_evidence"]

_STAGE = "search"
# Evaluations of the criterion that make one unit of work.
_UNIT = 10


def evidence_budget(problem: NeuralProblem) -> int:
    """Number of columns by the evidence of the networks.

    Parameters
    ----------
    problem : NeuralProblem
    """
    criterion = network_evidence(problem)
    return max(1, choose_budget(criterion, max_size=min(MAX_SIZE, criterion.n_columns)).size)


def search_evidence(
    problem: NeuralProblem, settings: SingleSettings
) -> tuple[MaskSearch, BoolArray, str]:
    """The search, its mask and why it ended.

    A search that is stopped ends with the best mask that it has come to.

    Parameters
    ----------
    problem : NeuralProblem
    settings : SingleSettings
    """
    log = _Log(settings)
    criterion = _Watched(network_evidence(problem).kernels, log=log)
    settings.watch.begin(None)
    settings.watch.unit_begins(_STAGE)
    try:
        mask, s = _find(criterion, settings)
        reason = "criterion"
    except SearchStopped as stop:
        if log.mask is None:
            raise
        mask, s, reason = log.mask, log.mask.astype(np.float64), str(stop)
    except KeyboardInterrupt:
        if not settings.watch.keep_interrupted or log.mask is None:
            raise
        mask, s, reason = log.mask, log.mask.astype(np.float64), INTERRUPTED
    return MaskSearch(s, s.copy(), {"criterion": log.path}), mask, reason


def _find(criterion: EvidenceCriterion, settings: SingleSettings) -> tuple[BoolArray, FloatArray]:
    size = settings.budget
    if size is None:
        path = choose_budget(criterion, max_size=min(MAX_SIZE, criterion.n_columns))
        if path.size:
            return path.mask, path.mask.astype(np.float64)
        size = 1
    options: dict[str, Any] = {} if settings.max_iter is None else {"max_iter": settings.max_iter}
    found = relaxed_search(criterion, size, random_state=settings.seed, **options)
    return found.mask, found.probabilities


@dataclass
class _Log:
    """The best mask so far; ends the search when the watch wants so."""

    settings: SingleSettings
    mask: BoolArray | None = None
    path: list[float] = field(default_factory=list)
    least: float = np.inf
    evaluations: int = 0

    def add(self, criterion: EvidenceCriterion, point: ArrayLike, value: float) -> None:
        """Note an evaluation of a mask or of real weights."""
        s = np.asarray(point, dtype=np.float64)
        size = int(s.sum())
        wanted = size == self.settings.budget if self.settings.budget else size > 0
        if wanted and np.isin(s, (0.0, 1.0)).all():
            cost = value * criterion.kernels.n_rows * criterion.kernels.n_outputs
            cost -= log_size_prior(size, s.size)
            if cost < self.least:
                self.least, self.mask = cost, s > 0.0
                self.path.append(value)
        self.evaluations += 1
        if self.evaluations % _UNIT == 0 and self.mask is not None:
            self._tell()

    def _tell(self) -> None:
        watch = self.settings.watch
        reason = watch.unit_ends(_STAGE, self.evaluations, {"criterion": self.path[-1]})
        if reason is not None:
            raise SearchStopped(reason)
        watch.unit_begins(_STAGE)


@dataclass(frozen=True)
class _Watched(EvidenceCriterion):
    log: _Log = field(kw_only=True)

    def value(self, mask: ArrayLike) -> float:
        found = super().value(mask)
        self.log.add(self, mask, found)
        return found

    def value_and_gradient(self, s: ArrayLike, noise: float) -> tuple[float, FloatArray, float]:
        found = super().value_and_gradient(s, noise)
        self.log.add(self, s, found[0])
        return found
