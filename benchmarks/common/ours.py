"""The package's own estimators as methods of a study."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from benchmarks.common.methods import Method, Outcome, Task, cpu_clock, predicted

import s2mam
from s2mam._typing import AnyArray
from s2mam.intake.scaling import resolve_scale


def ready() -> bool:
    """Whether the package has its estimators."""
    return hasattr(s2mam, "S2MAMRegressor") and hasattr(s2mam, "S2MAMClassifier")


def estimator(task: Task, **settings: Any) -> Any:
    """The estimator of the task with these settings instead of the defaults."""
    kind = s2mam.S2MAMClassifier if task.is_classification else s2mam.S2MAMRegressor
    return kind(**{"random_state": task.seed, **settings})


def fit(task: Task, *, told: bool = False, **settings: Any) -> Outcome:
    """Fit on all training rows; ``told`` hands over the number of columns C."""
    if told:
        settings["n_features_to_select"] = task.n_select
    model = estimator(task, **settings)
    with cpu_clock() as cpu:
        model.fit(task.X, task.y)
    scale = resolve_scale(model.get_params()["scale"]) or "none"
    probabilities = np.asarray(model.mask_probabilities_, dtype=float)
    selected = _support(model, probabilities.size)
    outcome = predicted(model, task, cpu(), scale, ranking=probabilities, selected=selected)
    if not task.labeled.all():
        rows = np.asarray(model.transduction_)[~task.labeled]
        outcome = dataclasses.replace(outcome, unlabeled=rows)
    stop = str(getattr(model, "stop_reason_", ""))
    return dataclasses.replace(outcome, extra={"stop": stop[:40]} if stop else {})


def ours(*, told: bool = False, **settings: Any) -> Method:
    """A method from settings of the estimator."""
    return lambda task: fit(task, told=told, **settings)


def oracle(informative: AnyArray) -> Method:
    """The default on the informative columns alone."""

    def method(task: Task) -> Outcome:
        narrow = dataclasses.replace(
            task, X=task.X[:, informative], X_test=task.X_test[:, informative]
        )
        told = informative.astype(float)
        return dataclasses.replace(fit(narrow), ranking=told, selected=informative)

    return method


def _support(model: Any, n_columns: int) -> AnyArray:
    """``support_`` as a mask, whether the estimator publishes a mask or indices."""
    support = np.asarray(model.support_)
    if support.dtype == bool:
        return support
    mask = np.zeros(n_columns, dtype=bool)
    mask[support] = True
    return mask
