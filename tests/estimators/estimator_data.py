"""Small tables for the estimator tests, and the learners they go through."""

from __future__ import annotations

import numpy as np

from s2mam import (
    PAPER,
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
    S2MAMClassifier,
    S2MAMRegressor,
)

#: Constructor arguments by learner; small enough for many fits.
LEARNERS = {
    "posterior": {"max_iter": 15, "random_state": 0},
    "relaxed": {"mask_learner": "relaxed", "n_features_to_select": 2, "random_state": 0},
    "rloo": {
        "mask_learner": "rloo",
        "n_features_to_select": 2,
        "max_iter": 30,
        "random_state": 0,
    },
    "paper": {
        **PAPER,
        "sparsity": 0.02,
        "n_features_to_select": 2,
        "max_iter": 4,
        "random_state": 0,
    },
    "base": None,
}
#: Learners that end with one mask and drop the other columns.
SINGLE = ("relaxed", "rloo", "base")


def make(learner, task):
    """An unfitted estimator."""
    if LEARNERS[learner] is None:
        return ManifoldAdditiveRegressor() if task == "regression" else ManifoldAdditiveClassifier()
    kind = S2MAMRegressor if task == "regression" else S2MAMClassifier
    return kind(**LEARNERS[learner])


def rows(task, *, n=60, p=5, n_labeled=30, seed=0):
    """A table, the full target and the target with hidden labels; columns 0 and 1 count."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.geomspace(0.1, 100, p) + np.arange(p)
    Z = rng.normal(size=(n, 2))
    X[:, 0], X[:, 1] = 3 * Z[:, 0] + 5, 0.1 * Z[:, 1] - 2
    signal = np.sin(2 * Z[:, 0]) + Z[:, 1] + 0.1 * rng.normal(size=n)
    labeled = np.zeros(n, dtype=bool)
    labeled[rng.permutation(n)[:n_labeled]] = True
    if task == "regression":
        return X, signal, np.where(labeled, signal, np.nan)
    cuts = [0.0] if task == "binary" else [-0.5, 0.5]
    classes = np.digitize(signal, cuts)
    return X, classes, np.where(labeled, classes, -1)


def decide(model, X):
    """Decision values, whatever the kind of model."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
