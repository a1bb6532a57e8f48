"""How many columns: a path over mask sizes and the rule that picks one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from s2mam._typing import BoolArray
from s2mam.exceptions import InvalidInputError
from s2mam.masks.evidence import EvidenceCriterion
from s2mam.masks.loo import LooCriterion
from s2mam.masks.polish import polish
from s2mam.masks.relaxed import relaxed_search

__all__ = ["BudgetPath", "choose_budget", "log_size_prior"]


@dataclass(frozen=True)
class BudgetPath:
    """Best mask found per size, and the size that was chosen.

    Attributes
    ----------
    sizes : list of int
        Rising.
    masks : list of (p,) arrays of bool
    values : list of float
        Criterion of each mask.
    scores : list of float
        What the rule compares, smaller is better.
    chosen : int
        Position in the lists.
    """

    sizes: list[int]
    masks: list[BoolArray]
    values: list[float]
    scores: list[float]
    chosen: int

    @property
    def size(self) -> int:
        """The chosen number of columns."""
        return self.sizes[self.chosen]

    @property
    def mask(self) -> BoolArray:
        """The chosen mask."""
        return self.masks[self.chosen]


def log_size_prior(size: int, n_columns: int) -> float:
    """Return the log prior of one mask: sizes fall linearly from none to all columns.

    All masks of a size share its probability, so it counts how many masks the search could have
    picked from: a beta-binomial prior with parameters 1 and 2. "All columns, lightly" stays
    affordable, and where the labels say nothing no column wins over all columns.

    Examples
    --------
    >>> [round(float(9 * np.exp(log_size_prior(k, 9))), 3) for k in (0, 1, 9)]
    [1.636, 0.164, 0.164]
    """
    return float(betaln(size + 1, n_columns - size + 2) - betaln(1, 2))


def choose_budget(
    criterion: EvidenceCriterion | LooCriterion,
    *,
    max_size: int | None = None,
    n_starts: int = 1,
    max_iter: int = 60,
) -> BudgetPath:
    """Choose the number of columns (C = "auto").

    Sizes 1, 2, 4, 8, ... are searched by :func:`relaxed_search` until doubling has failed twice to
    improve the criterion; the sizes around the best of them are then filled in from both sides, one
    column more or less and swaps. The empty mask and the mask of all columns always compete.

    Evidence: the score is the negative log evidence minus :func:`log_size_prior`. Leave-one-out:
    the smallest size whose error is within one standard error of the smallest one.

    Parameters
    ----------
    criterion : EvidenceCriterion or LooCriterion
        Decides the rule as well.
    max_size : int, optional
        Largest size searched; by default all columns.
    n_starts, max_iter : int
        Passed to :func:`relaxed_search`.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.masks import EvidenceCriterion, labeled_kernels
    >>> x = np.linspace(-1.0, 1.0, 30)
    >>> features = np.column_stack([np.sin(9 * x), x, np.cos(40 * x)])
    >>> noise = 0.1 * np.cos(np.arange(30) ** 2)
    >>> criterion = EvidenceCriterion(labeled_kernels(features, np.arange(4), 3 * x + noise))
    >>> choose_budget(criterion).mask
    array([False,  True, False])
    """
    p = criterion.n_columns
    limit = p if max_size is None else max_size
    if not 1 <= limit <= p:
        raise InvalidInputError(f"max_size={max_size} must lie between 1 and {p} columns.")
    walk = _Walk(criterion)
    walk.offer(np.zeros(p, dtype=bool))
    if limit == p:
        walk.offer(np.ones(p, dtype=bool))
    # The criterion, not the score, says when larger masks stop paying: the price of a size rises
    # so fast at first that eight columns may be worth it where two and four are not.
    best, failures, size = np.inf, 0, 1
    while size <= limit and failures < 2:
        found = relaxed_search(criterion, size, n_starts=n_starts, greedy=False, max_iter=max_iter)
        walk.offer(found.mask)
        failures = 0 if found.value < best else failures + 1
        best = min(best, found.value)
        size *= 2
    walk.fill(limit)
    return walk.path()


class _Walk:
    """The best mask known per size."""

    def __init__(self, criterion: EvidenceCriterion | LooCriterion) -> None:
        self.criterion = criterion
        self.found: dict[int, tuple[float, BoolArray]] = {}

    def offer(self, mask: BoolArray) -> bool:
        """Keep a mask if it is the best of its size so far."""
        size, value = int(np.count_nonzero(mask)), self.criterion.value(mask)
        if size in self.found and self.found[size][0] <= value:
            return False
        self.found[size] = (value, mask.copy())
        return True

    def score(self, size: int) -> float:
        """What sizes compete by, before the standard-error rule."""
        value, _ = self.found[size]
        if isinstance(self.criterion, LooCriterion):
            return value
        kernels = self.criterion.kernels
        cost = value * kernels.n_rows * kernels.n_outputs
        return cost - log_size_prior(size, self.criterion.n_columns)

    def best_score(self) -> float:
        return min(self.score(size) for size in self.found)

    def best_size(self) -> int:
        return min(self.found, key=lambda size: (self.score(size), size))

    def fill(self, limit: int) -> None:
        """Walk up and down from the best size, to the next one that was searched, until stable."""
        for _ in range(4):
            start = self.best_size()
            before = self.best_score()
            for direction in (-1, 1):
                self._walk(start, direction, limit)
            if not self.best_score() < before:
                return

    def _walk(self, size: int, direction: int, limit: int) -> None:
        misses = 0
        while 1 <= size + direction <= limit and misses < 3:
            before = self.best_score()
            mask = self._neighbor(self.found[size][1], direction)
            size += direction
            if self.offer(mask):
                self.offer(polish(self.criterion, mask).mask)
            misses = 0 if self.score(size) < before else misses + 1

    def _neighbor(self, mask: BoolArray, direction: int) -> BoolArray:
        """The best mask with one column more or less."""
        result = mask.copy()
        if direction > 0:
            noise = self.criterion.noise_of(mask) if mask.any() else 1.0
            result[np.argmin(self.criterion.addition_values(mask, noise))] = True
            return result
        values = []
        for column in np.flatnonzero(mask):
            result[column] = False
            values.append(self.criterion.value(result))
            result[column] = True
        result[np.flatnonzero(mask)[np.argmin(values)]] = False
        return result

    def path(self) -> BudgetPath:
        sizes = sorted(self.found)
        scores = [self.score(size) for size in sizes]
        chosen = int(np.argmin(scores))
        if isinstance(self.criterion, LooCriterion):
            chosen = self._within_one_error(sizes, scores, chosen)
        return BudgetPath(
            sizes=sizes,
            masks=[self.found[size][1] for size in sizes],
            values=[self.found[size][0] for size in sizes],
            scores=scores,
            chosen=chosen,
        )

    def _within_one_error(self, sizes: list[int], scores: list[float], best: int) -> int:
        assert isinstance(self.criterion, LooCriterion)
        losses = self.criterion.row_losses(self.found[sizes[best]][1])
        error = float(losses.std(ddof=1)) / np.sqrt(losses.size)
        within = [i for i, score in enumerate(scores) if score <= scores[best] + error]
        return within[0]
