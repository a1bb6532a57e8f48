"""Problems of the benchmark: additive kernel blocks, one group per column of a random table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROWS = 300

_SHAPES = (
    lambda x: 2.0 * np.sin(2.0 * x),
    lambda x: x**2 - 1.0,
    lambda x: 1.5 * x,
    lambda x: 2.0 * np.exp(-(x**2)) - 1.0,
    lambda x: np.tanh(3.0 * x),
    lambda x: np.cos(2.0 * x),
    lambda x: 0.5 * x**3 - x,
    lambda x: np.abs(x) - 0.8,
)


@dataclass(frozen=True)
class Case:
    """One row of the table: ``fraction`` is the penalty over the one that empties the model."""

    task: str
    groups: int
    rank: int
    fraction: float

    @property
    def name(self) -> str:
        return f"{self.task} G{self.groups} r{self.rank} {self.fraction:g}"


CASES = tuple(
    Case(task, groups, rank, fraction)
    for task in ("squared", "logistic")
    for groups, rank, fraction in (
        (20, 15, 0.1),
        (120, 12, 0.1),
        (120, 12, 0.02),
        (330, 12, 0.1),
        (330, 12, 0.02),
        (1000, 10, 0.1),
    )
    if not (task == "logistic" and groups == 1000)
)


def kernel_block(column: np.ndarray, rank: int) -> np.ndarray:
    """Leading features of the centred Gaussian kernel of one column, spectrum included."""
    kernel = np.exp(-0.5 * (column[:, None] - column[None]) ** 2)
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1)[:, None]
    values, vectors = np.linalg.eigh(kernel)
    return vectors[:, ::-1][:, :rank] * np.sqrt(np.maximum(values[::-1][:rank], 0.0))


def write(case: Case, path: Path, seed: int = 0) -> None:
    """Draw the data of a case and store it with its penalty."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(ROWS, case.groups))
    features = np.hstack([kernel_block(column, case.rank) for column in table.T])
    signal = sum(shape(table[:, j]) for j, shape in enumerate(_SHAPES))
    if case.task == "squared":
        target = signal + rng.normal(size=ROWS)
        pull = 2.0 * (target - target.mean()) / ROWS
    else:
        signal = signal - signal.mean()
        target = (rng.uniform(size=ROWS) < 1.0 / (1.0 + np.exp(-signal))).astype(float)
        pull = (target - target.mean()) / ROWS
    norms = np.linalg.norm((features.T @ pull).reshape(case.groups, case.rank), axis=1)
    np.savez(
        path,
        features=features,
        target=target,
        rank=case.rank,
        penalty=case.fraction * norms.max(),
        fraction=case.fraction,
        task=case.task,
    )
