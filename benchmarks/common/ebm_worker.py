"""Runs in the environment of interpret: fit, predict, importances of the columns.

python ebm_worker.py given.npz answer.npz
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor


def main(given: str, answer: str) -> None:
    """Read the task, write values, probabilities, importances and seconds."""
    warnings.simplefilter("ignore")
    with np.load(given) as task:
        X, y, X_new = task["X"], task["y"], task["X_new"]
        classes, seed = bool(task["classification"]), int(task["seed"])
        more = {} if task["pairs"] else {"interactions": 0}
    kind = ExplainableBoostingClassifier if classes else ExplainableBoostingRegressor
    model = kind(n_jobs=1, random_state=seed, **more)
    started = time.process_time()
    model.fit(X, y)
    cpu = time.process_time() - started
    importance = np.zeros(X.shape[1])
    for term, weight in zip(model.term_features_, model.term_importances(), strict=True):
        # A pair speaks for both of its columns.
        importance[list(term)] += weight / len(term)
    probabilities = model.predict_proba(X_new) if classes else np.empty(0)
    np.savez(
        answer,
        values=model.predict(X_new),
        probabilities=probabilities,
        importance=importance,
        cpu=cpu,
    )


if __name__ == "__main__":
    main(*sys.argv[1:3])
