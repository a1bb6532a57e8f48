"""Write the golden files: a small model of every kind, with the predictions it has to give.

    make golden        (python tests/trust/golden_models.py)

Files of an earlier release stay as they are and are read for ever; this command adds or replaces
the files of the release that runs it. Models are made with one BLAS thread.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import s2mam
from s2mam import (
    PAPER,
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
    S2MAMClassifier,
    S2MAMRegressor,
)

FOLDER = Path(__file__).resolve().parent / "golden"


def rows(seed: int, n: int) -> Any:
    """Two columns of numbers and one of text, some cells missing."""
    rng = np.random.default_rng(seed)
    table = np.empty((n, 3), dtype=object)
    table[:, :2] = rng.normal(size=(n, 2)).round(3)
    table[:, 2] = np.array(["red", "blue"])[rng.integers(2, size=n)]
    table[::6, 1] = None
    return table


def models() -> Iterator[tuple[str, Any, Any]]:
    """Name, unfitted estimator and target of every golden file."""
    table = rows(0, 18)
    signal = table[:, 0].astype(float) + (table[:, 2] == "red")
    numbers = np.where(np.arange(18) % 3, signal, np.nan)
    two = np.where(np.arange(18) % 3, np.where(signal > 0.5, "high", "low"), None)
    three = np.where(np.arange(18) % 3, np.digitize(signal, [0.0, 1.0]), -1)
    short: dict[str, Any] = {"max_iter": 5, "random_state": 0}
    yield "regressor", S2MAMRegressor(**short), numbers
    yield "classifier", S2MAMClassifier(**short), two
    yield "classifier-of-three", S2MAMClassifier(mask_learner="relaxed", random_state=0), three
    yield "regressor-rloo", S2MAMRegressor(mask_learner="rloo", **short), numbers
    paper = {**PAPER, "max_iter": 2, "sparsity": 0.02, "random_state": 0}
    yield "paper", S2MAMRegressor(**paper), numbers
    yield "manifold-regressor", ManifoldAdditiveRegressor(), numbers
    yield "manifold-classifier", ManifoldAdditiveClassifier(), two


def table_of(name: str, seed: int, n: int) -> Any:
    """The rows of a model; the paper's takes numbers only."""
    table = rows(seed, n)
    return table[:, :2].astype(float) if name == "paper" else table


def answers(model: Any, table: Any) -> dict[str, Any]:
    """What a golden file has to say of some rows."""
    told = {
        "predict": model.predict(table).tolist(),
        "contributions": model.contributions(table).tolist(),
        "mask_probabilities": model.mask_probabilities_.tolist(),
        "support": model.support_.tolist(),
        "parameters": {name: repr(value) for name, value in sorted(model.get_params().items())},
    }
    if hasattr(model, "predict_proba"):
        told["predict_proba"] = model.predict_proba(table).tolist()
    return told


def main() -> None:
    """Write all files of this release."""
    folder = FOLDER / s2mam.__version__
    folder.mkdir(parents=True, exist_ok=True)
    for name, model, target in models():
        with threadpool_limits(limits=1):
            model.fit(table_of(name, 0, 18), target)
            expected = answers(model, table_of(name, 1, 4))
        model.save(folder / f"{name}.s2mam")
        text = json.dumps(expected, indent=1)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        sys.stdout.write(f"{folder / name}.s2mam\n")


if __name__ == "__main__":
    main()
