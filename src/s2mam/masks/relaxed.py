"""Mask search by exact gradients: descend on real weights, keep the largest, swap pairs.

The expected mask s stands in for the random one: the criterion of the kernel ``sum_j s_j K_j`` has
an exact gradient, which sees all columns at once. Draws are not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from s2mam._typing import BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.masks.criteria import SmoothCriterion
from s2mam.masks.greedy import greedy_forward
from s2mam.masks.noise import NOISE_BOUNDS
from s2mam.masks.polish import polish
from s2mam.masks.projection import project_budget

__all__ = ["MaskSearch", "RelaxedMask", "descend", "relaxed_search", "top_mask"]

# A long and a short step end in different basins; together they miss far less than either alone.
_STEPS: Final = (2.0, 0.6)
# The graph's gradient is defined for positive weights only.
_FLOOR: Final = 1e-6


@dataclass(frozen=True)
class RelaxedMask:
    """Where the descent on real weights ended.

    Attributes
    ----------
    probabilities : (p,) array
        s, within the budget.
    noise : float
        Noise at the end; it is adapted along with s.
    values : list of float
        Criterion before each step.
    """

    probabilities: FloatArray
    noise: float
    values: list[float]


@dataclass(frozen=True)
class MaskSearch:
    """Result of :func:`relaxed_search`.

    Attributes
    ----------
    mask : (p,) array of bool
        The best mask found, with the requested number of columns.
    value : float
        Its criterion.
    probabilities : (p,) array
        Real weights of the descent that led to it (the mask itself, if it was forward selection).
    index : int
        Which of the given criteria it belongs to.
    """

    mask: BoolArray
    value: float
    probabilities: FloatArray
    index: int


def descend(
    criterion: SmoothCriterion,
    budget: float,
    *,
    start: FloatArray | None = None,
    noise: float = 1.0,
    step: float = 2.0,
    max_iter: int = 60,
) -> RelaxedMask:
    """Minimise a criterion over {0 <= s <= 1, sum s <= budget} by projected gradient steps.

    The step falls with a cosine from ``step`` to zero; ln(noise) takes plain gradient steps of
    size two. A criterion that is a loss is descended in half its logarithm, so that the same steps
    suit every scale.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.masks import EvidenceCriterion, labeled_kernels
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> features = np.column_stack([np.sin(9 * x), x, np.cos(40 * x)])
    >>> criterion = EvidenceCriterion(labeled_kernels(features, np.arange(4), 3 * x))
    >>> descend(criterion, 1).probabilities.round(2)
    array([0., 1., 0.])
    """
    p = criterion.n_columns
    s = np.full(p, min(1.0, budget / p)) if start is None else project_budget(start, budget)
    log_noise, bounds = np.log(noise), np.log(NOISE_BOUNDS)
    values = []
    for t in range(max_iter):
        point = np.maximum(s, _FLOOR)
        value, gradient, by_noise = criterion.value_and_gradient(point, float(np.exp(log_noise)))
        values.append(value)
        scale = 0.5 / max(value, np.finfo(np.float64).tiny) if criterion.is_loss else 1.0
        rate = step * 0.5 * (1.0 + np.cos(np.pi * t / max_iter))
        s = project_budget(s - rate * scale * gradient, budget)
        log_noise = np.clip(log_noise - 2.0 * scale * by_noise, *bounds)
    return RelaxedMask(s, float(np.exp(log_noise)), values)


def relaxed_search(
    criteria: SmoothCriterion | Sequence[SmoothCriterion],
    n_select: int,
    *,
    n_starts: int = 2,
    greedy: bool = True,
    max_iter: int = 60,
    n_exact: int = 5,
    random_state: int | np.random.Generator | None = 0,
) -> MaskSearch:
    """Find a mask of ``n_select`` columns: descents, the largest weights, pair swaps.

    Parameters
    ----------
    criteria : SmoothCriterion or sequence of them
        Several criteria of the same kind (other kernel lengths, other graph weights) compete; the
        mask with the smallest value wins.
    n_select : int
        C, between 0 and p.
    n_starts : int
        Descents per criterion. The first two start at C/p with a long and a short step, further
        ones at random weights.
    greedy : bool
        Swap from the mask of forward selection as well: the result is never worse than greedy.
    max_iter : int
        Steps per descent.
    n_exact : int
        Swaps examined in full per round, see :func:`s2mam.masks.polish.polish`.
    random_state : int, Generator or None
        For the third start and later.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.masks import EvidenceCriterion, labeled_kernels
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> features = np.column_stack([np.sin(9 * x), x, np.cos(40 * x)])
    >>> criterion = EvidenceCriterion(labeled_kernels(features, np.arange(4), 3 * x))
    >>> relaxed_search(criterion, 1).mask
    array([False,  True, False])
    """
    candidates = [criteria] if isinstance(criteria, SmoothCriterion) else list(criteria)
    p = candidates[0].n_columns
    if not 0 <= n_select <= p:
        raise InvalidInputError(f"n_select={n_select} must lie between 0 and {p} columns.")
    if n_starts < 1 and not greedy:
        raise InvalidInputError("n_starts=0 without greedy leaves nothing to search from.")
    rng = np.random.default_rng(random_state)
    found = []
    for index, criterion in enumerate(candidates):
        weights = [
            descend(
                criterion,
                n_select,
                start=_start(run, n_select, p, rng),
                step=_STEPS[run % len(_STEPS)],
                max_iter=max_iter,
            ).probabilities
            for run in range(n_starts)
        ]
        if greedy:
            weights.append(greedy_forward(criterion, n_select).mask.astype(np.float64))
        tops = {top_mask(s, n_select).tobytes(): s for s in reversed(weights)}
        for s in tops.values():
            polished = polish(criterion, top_mask(s, n_select), n_exact=n_exact)
            found.append(MaskSearch(polished.mask, polished.value, s, index))
    return min(found, key=lambda search: search.value)


def top_mask(s: FloatArray, n_select: int) -> BoolArray:
    """Return the mask of the ``n_select`` largest entries; the earlier column wins a tie.

    Examples
    --------
    >>> import numpy as np
    >>> top_mask(np.array([0.2, 0.9, 0.2]), 2)
    array([ True,  True, False])
    """
    mask = np.zeros(s.size, dtype=bool)
    mask[np.argsort(-s, kind="stable")[:n_select]] = True
    return mask


def _start(run: int, n_select: int, p: int, rng: np.random.Generator) -> FloatArray | None:
    if run < len(_STEPS):
        return None
    weights = rng.exponential(size=p)
    return project_budget(weights * n_select / weights.sum(), n_select)
