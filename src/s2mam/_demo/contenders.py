"""The methods that the demo compares, each scored on rows whose labels it has not seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from s2mam._demo.example import Example
from s2mam._typing import BoolArray
from s2mam.bilevel.paper import PAPER
from s2mam.estimators import ManifoldAdditiveClassifier, S2MAMClassifier

__all__ = ["Score", "compare"]


@dataclass(frozen=True)
class Score:
    """One line of the demo's table.

    Attributes
    ----------
    name : str
        The method.
    unlabeled, test : float
        Accuracy on the unlabelled training rows and on rows kept aside.
    n_real, n_junk : int or None
        Columns that the method chose; None where it chooses none.
    seconds : float
        Time to fit.
    model : object
        The fitted model.
    """

    name: str
    unlabeled: float
    test: float
    n_real: int | None
    n_junk: int | None
    seconds: float
    model: Any


def compare(example: Example, *, seed: int = 0, paper_iterations: int = 300) -> Iterator[Score]:
    """Fit and score the methods one after the other.

    Parameters
    ----------
    example : Example
        The rows.
    seed : int, default=0
        Seed of the fits.
    paper_iterations : int, default=300
        Iterations of the paper's algorithm.

    Yields
    ------
    Score
        The first one is that of the default S2MAM.

    Examples
    --------
    >>> from s2mam._demo.example import make_example
    >>> next(compare(make_example())).name
    'S2MAM (default)'
    """
    X, y, real = example.X, example.y, example.real
    everything = np.ones(real.size, dtype=bool)
    yield _score(
        "S2MAM (default)",
        example,
        everything,
        lambda: S2MAMClassifier(random_state=seed).fit(X, y),
    )
    yield _score(
        "oracle: told the real columns",
        example,
        real,
        lambda: S2MAMClassifier(random_state=seed).fit(X[:, real], y),
    )
    yield _score(
        "base model, no masks",
        example,
        everything,
        lambda: ManifoldAdditiveClassifier().fit(X, y),
    )
    paper = _score(
        f"paper preset, {paper_iterations} iterations",
        example,
        everything,
        lambda: _paper_model(seed, paper_iterations).fit(X, y),
    )
    yield paper
    yield _score(
        "... refitted on its columns",
        example,
        everything,
        paper.model.refit_selected,
    )
    yield _score(
        "l1 logistic regression",
        example,
        everything,
        lambda: _fit_sparse_logistic(X[example.labeled], y[example.labeled], seed),
    )
    # Labels are drawn alike from all classes, so that only the truth knows the majority.
    yield _score(
        "majority class",
        example,
        everything,
        lambda: DummyClassifier().fit(X, example.truth),
    )


def _score(name: str, example: Example, columns: BoolArray, fit: Callable[[], Any]) -> Score:
    start = time.perf_counter()
    model = fit()
    seconds = time.perf_counter() - start
    hidden = ~example.labeled
    chosen = _chosen(model)
    real = example.real[columns]
    return Score(
        name=name,
        unlabeled=_accuracy(model, example.X[hidden][:, columns], example.truth[hidden]),
        test=_accuracy(model, example.X_test[:, columns], example.y_test),
        n_real=None if chosen is None else int(np.count_nonzero(chosen & real)),
        n_junk=None if chosen is None else int(np.count_nonzero(chosen & ~real)),
        seconds=seconds,
        model=model,
    )


def _accuracy(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) == y))


def _chosen(model: Any) -> BoolArray | None:
    if hasattr(model, "support_"):
        support: BoolArray = model.support_
        return support
    if hasattr(model, "steps"):
        used: BoolArray = (model[-1].coef_ != 0.0).any(axis=0)
        return used
    return None


def _paper_model(seed: int, iterations: int) -> S2MAMClassifier:
    # The fast solver minimises what the paper's ADMM does, in a fraction of its time.
    settings = {**PAPER, "solver": "auto", "max_iter": iterations}
    return S2MAMClassifier(**settings, random_state=seed)


def _fit_sparse_logistic(X: Any, y: Any, seed: int) -> Any:
    settings: dict[str, Any] = {"l1_ratios": (1.0,), "solver": "saga"}
    if getattr(LogisticRegressionCV(), "penalty", None) == "l2":
        settings["penalty"] = "elasticnet"  # scikit-learn before 1.8
    model = LogisticRegressionCV(
        cv=3, max_iter=2000, random_state=seed, scoring="accuracy", **settings
    )
    with warnings.catch_warnings():
        # Changes that scikit-learn announces for later releases, and paths stopped near the end.
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_pipeline(StandardScaler(), model).fit(X, y)
