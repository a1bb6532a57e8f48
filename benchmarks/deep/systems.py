"""What the benchmark of the networks fits: the networks, three references, and the problem."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

TEST_ROWS = 1000
PROTOCOL = (
    "Sums of curves of five of the columns, which are independent of each other, with noise, cut "
    "into three classes for classification; score on 1000 fresh rows"
)


class System(NamedTuple):
    """A row of the tables.

    Attributes
    ----------
    name : str
    task : {"classification", "regression"}
    make : callable
        From settings to an estimator.
    network : bool
        Whether it knows devices and steps.
    """

    name: str
    task: str
    make: Callable[..., Any]
    network: bool

    @property
    def key(self) -> str:
        """Name and task."""
        return f"{self.name} ({self.task})"


def systems() -> dict[str, System]:
    """All systems, references first, by their keys."""
    from s2mam.baselines import all_baselines

    found = references()
    for task in ("classification", "regression"):
        for name, cls in sorted(all_baselines(task).items()):
            if "torch" in cls.requires:
                found.append(System(name, task, cls, True))
    return {system.key: system for system in found}


def references() -> list[System]:
    """The answer without columns, a supervised network of the same trunk, and S2MAM.

    The supervised networks are FlexMatch and PLF without their use of unlabelled rows: the same
    layers, steps and batches.
    """
    from sklearn.dummy import DummyClassifier, DummyRegressor

    from s2mam import S2MAMClassifier, S2MAMRegressor
    from s2mam.baselines.flexmatch import FlexMatchClassifier
    from s2mam.baselines.plf import PLFRegressor

    classifier = partial(FlexMatchClassifier, unlabeled_weight=0.0, burn_in=10**9)
    regressor = partial(PLFRegressor, unlabeled_weight=0.0, dropout=0.0)
    return [
        System("null", "classification", partial(_Labelled, DummyClassifier), False),
        System("supervised MLP", "classification", classifier, True),
        System("S2MAM", "classification", S2MAMClassifier, False),
        System("null", "regression", partial(_Labelled, DummyRegressor), False),
        System("supervised MLP", "regression", regressor, True),
        System("S2MAM", "regression", S2MAMRegressor, False),
    ]


class _Labelled:
    """An estimator of scikit-learn that is shown the labelled rows alone."""

    def __init__(self, kind: Callable[[], Any], **_: Any) -> None:
        self.model = kind()

    def fit(self, X: Any, y: Any) -> _Labelled:
        shown = y == y if y.dtype.kind == "f" else y >= 0
        self.model.fit(X[shown], y[shown])
        return self

    def score(self, X: Any, y: Any) -> float:
        return float(self.model.score(X, y))


def problem(size: str, labels: int, task: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """Table, partly hidden target, test table, test target."""
    import numpy as np

    rows, columns = map(int, size.split("x"))
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows + TEST_ROWS, columns))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] + np.abs(X[:, 2]) + X[:, 3] ** 2 / 2 - np.cos(X[:, 4])
    y = signal + 0.1 * rng.normal(size=signal.size)
    hidden = np.arange(rows) >= labels
    if task == "classification":
        y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
        return X[:rows], np.where(hidden, -1, y[:rows]), X[rows:], y[rows:]
    return X[:rows], np.where(hidden, np.nan, y[:rows]), X[rows:], y[rows:]
