"""What a method is given and what it returns, the same for ours and for peers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from benchmarks.common.scores import calibration_error, largest_share, log_loss
from benchmarks.common.store import Row

from s2mam._typing import AnyArray


@dataclass(frozen=True)
class Task:
    """All that a method may see: there are no hidden labels in here.

    Attributes
    ----------
    X, y : arrays
        Training rows; ``y`` is NaN or -1 where a row has no label.
    X_test : array
    kind : {"classification", "regression"}
    seed : int
    n_select : int or None
        C, for methods that are told the number of columns.
    """

    X: AnyArray
    y: AnyArray
    X_test: AnyArray
    kind: str
    seed: int
    n_select: int | None = None

    @property
    def labeled(self) -> AnyArray:
        """Rows with a label."""
        return self.y >= 0 if self.is_classification else ~np.isnan(self.y)

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.kind == "classification"


@dataclass(frozen=True)
class Outcome:
    """What came out of a fit.

    Attributes
    ----------
    test, unlabeled : arrays
        Predicted values or classes of the test rows and of the training rows without label.
    cpu : float
        Seconds of processor time of the fit.
    scale : str
        How the columns were scaled.
    test_probabilities : array or None
        One column per class.
    ranking : array or None
        Larger for columns that matter more.
    selected : bool array or None
        The columns the method keeps.
    extra : dict
        More fields of the result row.
    """

    test: AnyArray
    unlabeled: AnyArray
    cpu: float
    scale: str
    test_probabilities: AnyArray | None = None
    ranking: AnyArray | None = None
    selected: AnyArray | None = None
    extra: Row = field(default_factory=dict)


Method: TypeAlias = Callable[[Task], Outcome]


@contextmanager
def cpu_clock() -> Iterator[Callable[[], float]]:
    """Processor time of this process since the start of the block."""
    started = time.process_time()
    stopped: list[float] = []
    yield lambda: (stopped[0] if stopped else time.process_time()) - started
    stopped.append(time.process_time())


def predicted(model: Any, task: Task, cpu: float, scale: str, **more: Any) -> Outcome:
    """Outcome of a fitted estimator."""
    rest = task.X[~task.labeled]
    return Outcome(
        test=model.predict(task.X_test),
        unlabeled=model.predict(rest) if len(rest) else np.empty(0),
        cpu=cpu,
        scale=scale,
        test_probabilities=probabilities_of(model, task),
        **more,
    )


def probabilities_of(model: Any, task: Task) -> AnyArray | None:
    """Class probabilities of the test rows, where the model has them."""
    if not task.is_classification or not hasattr(model, "predict_proba"):
        return None
    known = np.asarray(model.predict_proba(task.X_test))
    # Rows that no label reaches have no probabilities; nothing is known about them.
    return np.where(np.isfinite(known), known, 1.0 / known.shape[1])


def common_scores(
    outcome: Outcome, y_test: AnyArray, y_unlabeled: AnyArray, score: Callable[..., float]
) -> Row:
    """Fields that every study stores: scores on test and unlabelled rows, seconds, scaling."""
    row: Row = {
        "test": score(y_test, outcome.test),
        "cpu": outcome.cpu,
        "scale": outcome.scale,
    }
    if len(y_unlabeled):
        row["unl"] = score(y_unlabeled, outcome.unlabeled)
    if outcome.test_probabilities is not None:
        row["ll"] = log_loss(y_test, outcome.test_probabilities)
        row["ece"] = calibration_error(y_test, outcome.test_probabilities)
    return {**row, **outcome.extra}


def largest_class(row: Row, y_test: AnyArray, y_unlabeled: AnyArray) -> Row:
    """The row of the null classifier: as if it knew the largest class of the scored rows.

    Labels that are balanced by design do not tell which class is the largest.
    """
    row = {**row, "test": largest_share(y_test)}
    return {**row, "unl": largest_share(y_unlabeled)} if len(y_unlabeled) else row
