"""Forward selection: the plain search that every mask learner has to beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2mam._typing import BoolArray, IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.masks.criteria import SmoothCriterion

__all__ = ["GreedyPath", "greedy_forward"]


@dataclass(frozen=True)
class GreedyPath:
    """Columns in the order they entered.

    Attributes
    ----------
    order : (n_select,) array of int
    values : list of float
        Criterion of the empty mask and after each entry.
    mask : (p,) array of bool
        The final mask.
    """

    order: IntArray
    values: list[float]
    mask: BoolArray


def greedy_forward(criterion: SmoothCriterion, n_select: int, *, n_exact: int = 3) -> GreedyPath:
    """Add the column that lowers the criterion most, ``n_select`` times.

    Candidates are ranked at the current noise and the best ``n_exact`` are evaluated in full.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.masks import EvidenceCriterion, labeled_kernels
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> features = np.column_stack([np.sin(9 * x), x, np.cos(40 * x)])
    >>> criterion = EvidenceCriterion(labeled_kernels(features, np.arange(4), 3 * x))
    >>> greedy_forward(criterion, 2).order[0]
    np.int64(1)
    """
    p = criterion.n_columns
    if not 0 <= n_select <= p:
        raise InvalidInputError(f"n_select={n_select} must lie between 0 and {p} columns.")
    mask = np.zeros(p, dtype=bool)
    order: list[int] = []
    values = [criterion.value(mask)]
    # The empty mask says nothing about the noise; one is the kernels' own scale.
    noise = 1.0
    for _ in range(n_select):
        ranking = np.argsort(criterion.addition_values(mask, noise), kind="stable")
        left = p - len(order)
        trials = []
        for column in ranking[: min(n_exact, left)]:
            mask[column] = True
            trials.append((criterion.value(mask), int(column)))
            mask[column] = False
        value, column = min(trials)
        mask[column] = True
        noise = criterion.noise_of(mask)
        order.append(column)
        values.append(value)
    return GreedyPath(np.array(order, dtype=np.intp), values, mask)
