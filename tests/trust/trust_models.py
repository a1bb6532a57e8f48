"""Every public estimator under one roof: fast settings, small tables, decisions."""

from __future__ import annotations

import inspect
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from s2mam import (
    PAPER,
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
    S2MAMClassifier,
    S2MAMRegressor,
)
from s2mam.baselines import all_baselines

#: Constructor arguments of the estimators with masks, by learner.
MASKED: dict[str, dict[str, Any]] = {
    "posterior": {"max_iter": 5, "random_state": 0},
    # Penalties that are given save the search for them.
    "relaxed": {
        "mask_learner": "relaxed",
        "n_features_to_select": 2,
        "sparsity": 0.02,
        "manifold": 0.02,
        "random_state": 0,
    },
    "rloo": {
        "mask_learner": "rloo",
        "n_features_to_select": 2,
        "sparsity": 0.02,
        "manifold": 0.02,
        "max_iter": 5,
        "random_state": 0,
    },
    "paper": {
        **PAPER,
        "sparsity": 0.02,
        "n_features_to_select": 2,
        "max_iter": 2,
        "random_state": 0,
    },
}
#: Names of our own estimators; the task is chosen by `make`.
OURS = (*MASKED, "base")
TASKS = ("regression", "classification")
#: Baselines whose extra is not installed cannot be fitted; they have a test of their own.
ABSENT = {
    (name, task): cls
    for task in TASKS
    for name, cls in all_baselines(task).items()
    if any(find_spec(package) is None for package in cls.requires)
}
BASELINES = {
    task: sorted(name for name, cls in all_baselines(task).items() if not cls.requires)
    for task in TASKS
}
#: Baselines that are networks: their tests carry the mark of torch.
NETWORKS = [
    (name, task)
    for task in TASKS
    for name, cls in sorted(all_baselines(task).items())
    if "torch" in cls.requires
]
#: (name, task) of everything public but the networks.
EVERYTHING = [(name, task) for task in TASKS for name in (*OURS, *BASELINES[task])]
#: Everything, in two tests.
GROUPS = [
    pytest.param(EVERYTHING, id="all"),
    pytest.param(NETWORKS, id="networks", marks=pytest.mark.torch),
]
#: Enough steps for a network to move; what it learns is tested elsewhere.
_FEW_STEPS: dict[str, Any] = {
    "max_iter": 6,
    "head_max_iter": 6,
    "burn_in": 3,
    "hidden": (8,),
    "width": 8,
    "n_draws": 2,
    "n_starts": 1,
    "ratio": 2,
    "alpha": 0.1,
    "penalty": 0.02,
    "adaptive_penalty": 0.01,
}


def make(name: str, task: str, **changes: Any) -> Any:
    """An unfitted estimator.

    Parameters
    ----------
    name : str
        One of `OURS`, or the paper's name of a baseline.
    task : {"regression", "classification"}
    **changes
        Parameters that differ.
    """
    if name == "base":
        kind = ManifoldAdditiveRegressor if task == "regression" else ManifoldAdditiveClassifier
        return kind(**changes)
    if name in MASKED:
        kind = S2MAMRegressor if task == "regression" else S2MAMClassifier
        return kind(**{**MASKED[name], **changes})
    cls = all_baselines(task)[name]
    wanted = {"random_state": 0, **(_FEW_STEPS if "torch" in cls.requires else {})}
    known = inspect.signature(cls).parameters
    fixed = {parameter: value for parameter, value in wanted.items() if parameter in known}
    return cls(**{**fixed, **changes})


def table(
    task: str, *, n: int = 36, p: int = 4, n_labeled: int = 20, seed: int = 0, classes: int = 2
) -> tuple[Any, Any, Any]:
    """A table, the full target and the target with hidden labels; the first two columns count."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    signal = np.sin(2 * X[:, 0]) + X[:, min(1, p - 1)] + 0.1 * rng.normal(size=n)
    hidden = np.ones(n, dtype=bool)
    hidden[rng.permutation(n)[:n_labeled]] = False
    if task == "regression":
        return X, signal, np.where(hidden, np.nan, signal)
    cuts = np.quantile(signal, np.arange(1, classes) / classes)
    codes = np.digitize(signal, cuts)
    return X, codes, np.where(hidden, -1, codes)


def decide(model: Any, X: Any) -> Any:
    """Decision values, whatever the kind of model."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def assert_finite(model: Any, X: Any) -> None:
    """All that a fitted model tells is finite and of the right shape."""
    n = len(X)
    decision = decide(model, X)
    assert len(decision) == n
    assert np.isfinite(decision).all()
    assert len(model.transduction_) >= 1
    if hasattr(model, "classes_"):
        assert set(model.predict(X)) <= set(model.classes_)
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(X)
        assert chances.shape == (n, len(model.classes_))
        np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-12)
    if hasattr(model, "contributions"):
        assert np.isfinite(model.contributions(X)).all()
        chance = model.mask_probabilities_
        assert ((chance >= 0.0) & (chance <= 1.0)).all()
        assert isinstance(model.stop_reason_, str)
        assert model.stop_reason_
