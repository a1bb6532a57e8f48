"""Real data as few-label problems: which rows train, which labels show, which rows test."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import Bunch

from s2mam._typing import AnyArray
from s2mam.datasets import corrupt, list_datasets, load

IN_SKLEARN = ("breast_cancer", "diabetes", "digits", "iris", "wine")
#: Sets whose methods may take long; they come last.
LARGE = ("arrhythmia", "coil20", "isolet_1560", "orl_faces", "tox_171", "yale_faces")


@dataclass(frozen=True)
class Problem:
    """Rows with few labels. ``y`` is whole: methods are given ``shown``, scores the rest.

    Attributes
    ----------
    X, y : arrays
        Training rows, unlabelled ones included, and their true targets.
    labeled : bool array
        Training rows whose label may be used.
    X_test, y_test : arrays
    task : {"classification", "regression"}
    """

    X: AnyArray
    y: AnyArray
    labeled: AnyArray
    X_test: AnyArray
    y_test: AnyArray
    task: str

    @property
    def shown(self) -> AnyArray:
        """Targets as a method may see them: NaN or -1 where there is no label."""
        hidden = -1 if self.task == "classification" else np.nan
        return np.where(self.labeled, self.y, hidden)


def available() -> list[str]:
    """Data sets on this machine, small ones first."""
    home = os.environ.get("S2MAM_DATA_HOME")
    names = [
        name
        for name in list_datasets()
        if name in IN_SKLEARN or (home and (Path(home) / name / "data.npz").exists())
    ]
    return [n for n in names if n not in LARGE] + [n for n in names if n in LARGE]


def labels_per_class(n_classes: int) -> int:
    """Ten labels a class, three when there are ten classes or more."""
    return 3 if n_classes >= 10 else 10


def few_label_problem(
    name: str, seed: int, *, columns: str = "clean", n_labeled: int = 50
) -> Problem:
    """Split a data set: at most 600 training rows (1000 from ten classes on), 1500 test rows.

    Training rows are at most 60 % of all; classes keep their share; rows of one group stay on one
    side. Classes with less than twice the labels a class are left out. ``columns`` is "clean",
    "junk" (20 independent columns more) or "shadow" (20 columns of :func:`shadows` more).
    """
    return split_table(_load(name), seed, columns=columns, n_labeled=n_labeled)


def split_table(data: Bunch, seed: int, *, columns: str = "clean", n_labeled: int = 50) -> Problem:
    """Split a table (``X``, ``y``, ``groups`` and ``task``) as :func:`few_label_problem` does."""
    X, y, groups = data.X, data.y, data.groups
    per_class = None
    if data.task == "classification":
        per_class = labels_per_class(np.unique(y).size)
        X, y, groups = _drop_rare(X, y, groups, least=2 * per_class)
    rng = np.random.RandomState(1000 + seed)
    # Added columns have a stream of their own: rows and labels are those of the clean problem.
    if columns == "junk":
        X = corrupt(X, n_uninformative=10, n_noisy=10, random_state=2000 + seed)
    elif columns == "shadow":
        X = np.hstack([X, shadows(X, 20, np.random.RandomState(2000 + seed))])
    train, test = _split(y, groups, data.task, 1000 if per_class == 3 else 600, rng)
    chosen = _draw_labels(y[train], per_class, n_labeled, rng)
    return Problem(X[train], y[train], chosen, X[test], y[test], data.task)


def shadows(X: AnyArray, count: int, rng: np.random.RandomState) -> AnyArray:
    """Columns of the table itself with the rows shuffled together, so that the target is lost.

    They have the distributions of real columns and depend on one another as those do: junk that
    cannot be told from the rows alone. Small tables give several blocks, each shuffled anew.
    """
    blocks = []
    while count > 0:
        chosen = rng.permutation(X.shape[1])[:count]
        blocks.append(X[rng.permutation(len(X))][:, chosen])
        count -= chosen.size
    return np.hstack(blocks)


@lru_cache(maxsize=4)
def _load(name: str) -> Bunch:
    return load(name, download=False)


def _drop_rare(
    X: AnyArray, y: AnyArray, groups: AnyArray | None, least: int
) -> tuple[AnyArray, AnyArray, AnyArray | None]:
    kept = np.bincount(y)[y] >= least
    codes = np.unique(y[kept], return_inverse=True)[1]
    return X[kept], codes, None if groups is None else groups[kept]


def _split(
    y: AnyArray, groups: AnyArray | None, task: str, most: int, rng: np.random.RandomState
) -> tuple[AnyArray, AnyArray]:
    n = len(y)
    size = min(most, int(0.6 * n))
    rest = min(1500, n - size)
    if groups is not None:
        splitter = GroupShuffleSplit(1, train_size=0.6, random_state=rng)
        train, test = next(splitter.split(y, groups=groups))
        return rng.permutation(train)[:size], rng.permutation(test)[:rest]
    kind = StratifiedShuffleSplit if task == "classification" else ShuffleSplit
    splitter = kind(1, train_size=size, test_size=rest, random_state=rng)
    train, test = next(splitter.split(np.zeros((n, 1)), y))
    return train, test


def _draw_labels(
    y: AnyArray, per_class: int | None, n_labeled: int, rng: np.random.RandomState
) -> AnyArray:
    labeled = np.zeros(len(y), dtype=bool)
    if per_class is None:
        labeled[rng.permutation(len(y))[: min(n_labeled, len(y) // 2)]] = True
        return labeled
    for code in np.unique(y):
        labeled[rng.permutation(np.flatnonzero(y == code))[:per_class]] = True
    return labeled
