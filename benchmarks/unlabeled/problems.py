"""Rows of the study of unlabelled rows: the same labels, more and more rows without."""

from __future__ import annotations

import numpy as np
from benchmarks.common.splits import Problem, available, few_label_problem, labels_per_class

from s2mam._typing import AnyArray
from s2mam.datasets import load, make_moons

#: Numbers of unlabelled rows where the rows allow them.
SIZES = (0, 100, 1000)
_MOONS = {
    "moons_1": (1, 0, 0),
    "moons_5": (5, 0, 0),
    "moons_junk_1": (1, 8, 10),
    "moons_junk_5": (5, 8, 10),
}
_IMAGES = ("digits", "coil20", "isolet_1560")
_PUBLISHED = "g50c"


def growing() -> list[str]:
    """Problems with several numbers of unlabelled rows."""
    return [*_MOONS, *(name for name in (_PUBLISHED, *_IMAGES) if name in available())]


def safety() -> list[str]:
    """Data sets where unlabelled rows at least must not hurt: none against all of them."""
    return [name for name in available() if name not in (_PUBLISHED, *_IMAGES)]


def problem(name: str, seed: int, size: str) -> Problem:
    """A problem with the given number of unlabelled rows; "all" takes all there are."""
    if name in _MOONS:
        whole = _moons(name, seed)
    elif name == _PUBLISHED:
        whole = _published(seed)
    elif name in _IMAGES:
        whole = _images(name, seed)
    else:
        whole = few_label_problem(name, seed)
    return whole if size == "all" else _keep(whole, int(size))


def _keep(whole: Problem, size: int) -> Problem:
    """Labelled rows and the first ``size`` others: a larger size keeps those of a smaller one."""
    hidden = np.flatnonzero(~whole.labeled)[:size]
    rows = np.sort(np.concatenate([np.flatnonzero(whole.labeled), hidden]))
    return Problem(
        whole.X[rows],
        whole.y[rows],
        whole.labeled[rows],
        whole.X_test,
        whole.y_test,
        whole.task,
    )


def _moons(name: str, seed: int) -> Problem:
    per_class, n_uninformative, n_noisy = _MOONS[name]
    most = max(SIZES) + 2 * per_class
    data = make_moons(most + 1000, n_uninformative, n_noisy, random_state=7000 + seed)
    X, y = np.asarray(data.X), np.asarray(data.y)
    labeled = _first_of_each(y[:most], per_class)
    return Problem(X[:most], y[:most], labeled, X[most:], y[most:], "classification")


def _images(name: str, seed: int) -> Problem:
    """All labels of a class are drawn first, then 1000 rows; what is left is the test."""
    data = load(name, download=False)
    order = np.random.RandomState(3000 + seed).permutation(len(data.y))
    X, y = data.X[order], data.y[order]
    n_classes = len(np.unique(y))
    chosen = _first_of_each(y, labels_per_class(n_classes))
    rest = np.flatnonzero(~chosen)
    train = np.sort(np.concatenate([np.flatnonzero(chosen), rest[: max(SIZES)]]))
    test = rest[max(SIZES) :]
    return Problem(X[train], y[train], chosen[train], X[test], y[test], "classification")


def _published(seed: int) -> Problem:
    """g50c with its own splits: 50 labels; the 500 others are unlabelled and scored."""
    data = load(_PUBLISHED, download=False)
    split = seed % len(data.idx_labeled)
    rows = np.concatenate([data.idx_labeled[split], data.idx_unlabeled[split]])
    labeled = np.arange(len(rows)) < len(data.idx_labeled[split])
    X, y = data.X[rows], data.y[rows]
    return Problem(X, y, labeled, X[~labeled], y[~labeled], "classification")


def _first_of_each(y: AnyArray, count: int) -> AnyArray:
    chosen = np.zeros(len(y), dtype=bool)
    for code in np.unique(y):
        chosen[np.flatnonzero(y == code)[:count]] = True
    return chosen
