"""Columns that a policy search selects, for many tables of labelled rows side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.baselines.shared.batch_fits import (
    constant_loss,
    fit_batch,
    masked_designs,
    mean_losses,
)
from s2mam.baselines.shared.column_budget import top_columns
from s2mam.baselines.shared.mask_policy import PolicySearch, generator_of, learn_many

__all__ = ["ColumnSelection", "SelectionProblem", "select_columns"]

# Numbers in the tables and designs of problems that are worked on side by side: 30 MB.
_MOST_NUMBERS = 2**22


@dataclass(frozen=True)
class SelectionProblem:
    """Labelled rows and what is to be selected from their columns.

    Attributes
    ----------
    table : (l, q) array
    targets : (l, c) array
        Numbers, or 0 and 1.
    penalty : float
        Weight of the squared norm of the coefficients, next to the mean loss.
    budget : int
        Columns to select.
    loss : {"squared", "logistic"}
    """

    table: FloatArray
    targets: FloatArray
    penalty: float
    budget: int
    loss: str


@dataclass(frozen=True)
class ColumnSelection:
    """What :func:`select_columns` found.

    Attributes
    ----------
    probabilities : (q,) array
        Chance of each column.
    columns : (budget,) array of int
        Those with the largest chances, rising.
    coef : (budget, c) array
        Of the fit on them.
    intercept : (c,) array
    history : list of float
        Mean loss of the draws of each step, relative to a constant.
    """

    probabilities: FloatArray
    columns: IntArray
    coef: FloatArray
    intercept: FloatArray
    history: list[float]


def select_columns(
    problems: Sequence[SelectionProblem], search: PolicySearch, random_state: Any
) -> list[ColumnSelection]:
    """Search the columns whose fit has the lowest loss, for each problem.

    Parameters
    ----------
    problems : sequence of SelectionProblem
        With the same columns and the same loss. Each gets what it would get alone.
    search : PolicySearch
    random_state : int, RandomState instance or None
        Draws the masks, the same for all problems.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.random.default_rng(0).normal(size=(20, 4))
    >>> problem = SelectionProblem(table, 2 * table[:, [3]], 1e-3, 1, "squared")
    >>> select_columns([problem], PolicySearch(), 0)[0].columns
    array([3])
    """
    start = generator_of(random_state)
    found: list[ColumnSelection] = []
    for some in _parts(problems, search.n_draws):
        losses = _Losses(some)
        budgets = np.array([problem.budget for problem in some], dtype=np.float64)
        s, history = learn_many(losses, some[0].table.shape[1], budgets, deepcopy(start), search)
        found += [
            _finish(problem, own, trace.tolist())
            for problem, own, trace in zip(some, s, history.T, strict=True)
        ]
    return found


def _parts(
    problems: Sequence[SelectionProblem], n_draws: int
) -> Iterator[Sequence[SelectionProblem]]:
    """As many at a time as fit into the memory allowed."""
    rows, columns = max(p.table.shape[0] for p in problems), problems[0].table.shape[1]
    size = max(1, _MOST_NUMBERS // (rows * columns * n_draws))
    yield from (problems[first : first + size] for first in range(0, len(problems), size))


def _finish(problem: SelectionProblem, s: FloatArray, history: list[float]) -> ColumnSelection:
    columns = top_columns(s, problem.budget)
    center = problem.table[:, columns].mean(axis=0)
    even = np.full((1, problem.table.shape[0]), 1.0 / problem.table.shape[0])
    design = (problem.table[:, columns] - center)[None]
    fitted = fit_batch(design, even, problem.targets, problem.penalty, problem.loss)[0]
    coef = fitted[:, :-1].T
    return ColumnSelection(s, columns, coef, fitted[:, -1] - center @ coef, history)


class _Losses:
    """Losses of the fits on masked rows, relative to a constant; none is computed twice.

    Problems that differ in the budget only share their losses.
    """

    def __init__(self, problems: Sequence[SelectionProblem]) -> None:
        self._known: dict[bytes, float] = {}
        distinct: dict[tuple[bytes, ...], int] = {}
        firsts: list[SelectionProblem] = []
        numbers: list[int] = []
        for problem in problems:
            key = (
                problem.table.tobytes(),
                problem.targets.tobytes(),
                repr((problem.penalty, problem.targets.shape)).encode(),
            )
            if key not in distinct:
                distinct[key] = len(firsts)
                firsts.append(problem)
            numbers.append(distinct[key])
        self._numbers = np.array(numbers, dtype=np.intp)
        self._loss = problems[0].loss
        self._penalties = np.array([problem.penalty for problem in firsts])
        self._nulls = np.array([constant_loss(p.targets, p.loss) for p in firsts])
        self._fill(firsts)

    def _fill(self, problems: Sequence[SelectionProblem]) -> None:
        """Stack the rows; shorter tables get rows of no weight."""
        counts = np.array([problem.table.shape[0] for problem in problems])
        shape = (len(problems), int(counts.max()))
        self._tables = np.zeros((*shape, problems[0].table.shape[1]))
        self._targets = np.zeros((*shape, problems[0].targets.shape[1]))
        self._weights = np.zeros(shape)
        for k, problem in enumerate(problems):
            # An intercept takes up the centre, and zero then means "removed".
            self._tables[k, : counts[k]] = problem.table - problem.table.mean(axis=0)
            self._targets[k, : counts[k]] = problem.targets
            self._weights[k, : counts[k]] = 1.0 / counts[k]

    def __call__(self, masks: BoolArray) -> FloatArray:
        """(b, K) losses of (b, K, q) masks."""
        b, n_draws, size = masks.shape
        owners = np.repeat(self._numbers, n_draws)
        flat = masks.reshape(-1, size)
        keys = _row_bytes(np.hstack([owners[:, None].view(np.uint8), np.packbits(flat, axis=1)]))
        new = {key: row for row, key in enumerate(keys) if key not in self._known}
        if new:
            rows = np.fromiter(new.values(), dtype=np.intp)
            self._known.update(zip(new, self._compute(flat[rows], owners[rows]), strict=True))
        return np.array([self._known[key] for key in keys]).reshape(b, n_draws)

    def _compute(self, masks: BoolArray, owners: IntArray) -> list[float]:
        designs = masked_designs(self._tables[owners], masks)
        targets, weights = self._targets[owners], self._weights[owners]
        coefs = fit_batch(designs, weights, targets, self._penalties[owners], self._loss)
        losses = mean_losses(designs, coefs, targets, self._loss, weights) / self._nulls[owners]
        values: list[float] = losses.tolist()
        return values


def _row_bytes(rows: np.ndarray[Any, np.dtype[np.uint8]]) -> list[bytes]:
    """Each row as a key."""
    joined = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")[:, 0]
    keys: list[bytes] = joined.tolist()
    return keys
