"""Does a streamed fit predict as well as the fit of all rows in memory?"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

#: Real tables with enough rows; they are left out where the data folder does not have them.
TABLES = ("elevators", "bike_sharing_hour", "optdigits", "spambase", "phishing")


def measure_accuracy(n: int, seeds: int, labels: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Scores on fresh rows of both fits, for every problem, number of labels and seed."""
    from s2mam import S2MAMClassifier, S2MAMRegressor
    from s2mam.datasets import hide_labels
    from s2mam.scale import scale_options

    warnings.simplefilter("ignore")
    for name, seed, X, y, X_new, y_new in _problems(n, seeds):
        numbers = y.dtype.kind == "f"
        kind = S2MAMRegressor if numbers else S2MAMClassifier
        for count in labels:
            if count > len(y) // 2:
                continue
            few = hide_labels(y, n_labeled=count, random_state=seed)
            row = {"data": name, "seed": seed, "n": len(y), "p": X.shape[1], "labels": count}
            for way, rows in (("memory", len(y)), ("streamed", 1)):
                began = time.process_time()
                with scale_options(stream_rows=rows):
                    model = kind(random_state=seed).fit(X, few)
                    row[way] = float(model.score(X_new, y_new))
                row[f"{way}_cpu"] = time.process_time() - began
            print(row, flush=True)
            yield row


def _problems(n: int, seeds: int) -> Iterator[tuple[str, int, Any, Any, Any, Any]]:
    from s2mam.datasets import load, make_additive_regression, make_moons

    # Seeds 0 and 1 were looked at when the sizes of the samples were chosen.
    for seed in range(10, 10 + seeds):
        moons = make_moons(n + 2000, n_uninformative=8, n_noisy=10, random_state=seed)
        curves = make_additive_regression(n + 2000, n_uninformative=82, random_state=seed)
        for name, data in (("two moons, 18 junk columns", moons), ("additive, 8 of 100", curves)):
            yield (name, seed, *_split(np.asarray(data.X), np.asarray(data.y), n, seed))
        for name in TABLES if os.environ.get("S2MAM_DATA_HOME") else ():
            data = load(name, download=False)
            X, y = np.asarray(data.X), np.asarray(data.y)
            yield (name, seed, *_split(X, y, n, seed))


def _split(X: Any, y: Any, n: int, seed: int) -> tuple[Any, Any, Any, Any]:
    order = np.random.default_rng(seed).permutation(len(y))
    new = order[: min(2000, len(y) // 4)]
    rows = order[new.size : new.size + n]
    return X[rows], y[rows], X[new], y[new]
