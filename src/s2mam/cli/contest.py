"""The small benchmark of ``s2mam bench``: generated tables, the usual methods, seconds to run."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC, SVR, LinearSVC

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.datasets import (
    hide_labels,
    make_additive_classification,
    make_additive_regression,
    make_friedman,
    make_moons,
)
from s2mam.estimators import S2MAMClassifier, S2MAMRegressor

__all__ = ["PROBLEMS", "Result", "count", "run"]


@dataclass(frozen=True)
class Result:
    """One method on one draw of one problem.

    Attributes
    ----------
    problem, method : str
    score : float
        Accuracy or R2 on the rows without label.
    seconds : float
        Time of the fit, tuning included.
    """

    problem: str
    method: str
    score: float
    seconds: float


@dataclass(frozen=True)
class _Problem:
    title: str
    make: Callable[[int], Any]
    labels: dict[str, Any]
    classes: bool


PROBLEMS = {
    "additive": _Problem(
        "numbers from 8 of 38 columns, 50 labels in 200 rows (R2)",
        lambda seed: make_additive_regression(n_uninformative=20, random_state=seed),
        {"n_labeled": 50},
        classes=False,
    ),
    "friedman": _Problem(
        "numbers from 5 of 35 columns, two of them only together, 50 labels in 200 rows (R2)",
        lambda seed: make_friedman(n_uninformative=20, random_state=seed),
        {"n_labeled": 50},
        classes=False,
    ),
    "circle": _Problem(
        "two classes from 2 of 22 columns, 20 labels in 200 rows (accuracy)",
        lambda seed: make_additive_classification(n_uninformative=10, random_state=seed),
        {"per_class": 10},
        classes=True,
    ),
    "moons": _Problem(
        "two moons in 2 of 20 columns, 10 labels in 200 rows (accuracy)",
        lambda seed: make_moons(random_state=seed),
        {"per_class": 5},
        classes=True,
    ),
}


def run(repeats: int = 2, seed: int = 0) -> Iterator[Result]:
    """All methods on all problems, draw by draw.

    Parameters
    ----------
    repeats : int, default=2
        Draws of every problem.
    seed : int, default=0
        The first draw.

    Yields
    ------
    Result
    """
    for name, problem in PROBLEMS.items():
        for draw in range(seed, seed + repeats):
            data = problem.make(draw)
            shown = hide_labels(data.y, **problem.labels, random_state=draw)
            labeled = shown != -1 if problem.classes else ~np.isnan(shown)
            methods = _classifiers if problem.classes else _regressors
            score = accuracy_score if problem.classes else r2_score
            for method, estimator in methods(draw).items():
                began = time.perf_counter()
                model = _fit(estimator, data.X, shown, labeled)
                seconds = time.perf_counter() - began
                hidden = model.predict(data.X[~labeled])
                yield Result(name, method, float(score(data.y[~labeled], hidden)), seconds)
            yield Result(name, *_null(data.y[~labeled], problem.classes), 0.0)


def count(repeats: int) -> int:
    """Results that `run` yields.

    Examples
    --------
    >>> count(2)
    44
    """
    sizes = [len((_classifiers if one.classes else _regressors)(0)) for one in PROBLEMS.values()]
    return repeats * (sum(sizes) + len(sizes))


def _regressors(seed: int) -> dict[str, Any]:
    return {
        "s2mam": S2MAMRegressor(random_state=seed),
        "lasso (cv)": make_pipeline(StandardScaler(), LassoCV(random_state=seed)),
        "random forest": RandomForestRegressor(random_state=seed),
        "svm (rbf)": make_pipeline(StandardScaler(), SVR()),
    }


def _classifiers(seed: int) -> dict[str, Any]:
    sparse = GridSearchCV(LinearSVC(penalty="l1", dual=False), {"C": [0.01, 0.1, 1.0, 10.0]}, cv=3)
    return {
        "s2mam": S2MAMClassifier(random_state=seed),
        "l1 linear svm (cv)": make_pipeline(StandardScaler(), sparse),
        "random forest": RandomForestClassifier(random_state=seed),
        "svm (rbf)": make_pipeline(StandardScaler(), SVC()),
        "label spreading": make_pipeline(
            StandardScaler(), LabelSpreading(kernel="knn", max_iter=1000, tol=1e-6)
        ),
    }


def _null(truth: AnyArray, classes: bool) -> tuple[str, float]:
    """What the best constant scores; it knows the truth, since labels are drawn alike."""
    if not classes:
        return "mean", 0.0
    return "largest class", float(np.unique(truth, return_counts=True)[1].max() / len(truth))


def _fit(estimator: Any, X: FloatArray, shown: AnyArray, labeled: BoolArray) -> Any:
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    semi = isinstance(last, S2MAMClassifier | S2MAMRegressor | LabelSpreading)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, shown) if semi else estimator.fit(X[labeled], shown[labeled])
