"""Small problems and small settings for streamed fits."""

from __future__ import annotations

from functools import cache

import numpy as np

from s2mam.datasets import hide_labels, make_friedman, make_moons

#: Everything is cut small, so that few rows go all the way.
SMALL = {"stream_rows": 500, "block_rows": 128, "sample_rows": 200, "labeled_rows": 50}


@cache
def numbers(n_labeled: int = 500):
    data = make_friedman(n_samples=1500, n_uninformative=3, n_noisy=2, random_state=0)
    return data.X, hide_labels(data.y, n_labeled=n_labeled, random_state=0), data.y


@cache
def classes(n_labeled: int = 500):
    data = make_moons(n_samples=1500, n_uninformative=2, n_noisy=2, noise=0.25, random_state=0)
    return data.X, hide_labels(data.y, n_labeled=n_labeled, random_state=0), data.y


@cache
def three_classes():
    X, _, y = numbers()
    names = np.array(["low", "mid", "top"], dtype=object)[
        np.searchsorted(np.quantile(y, [0.3, 0.7]), y)
    ]
    return X, hide_labels(names, n_labeled=500, random_state=0), names
