"""Tables and oracles that the tests of additive baselines share."""

from __future__ import annotations

from itertools import pairwise

import cvxpy as cp
import numpy as np


def regression_rows(n=60, columns=6, noise=0.1, seed=0):
    """Two columns matter: the second and the fourth."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, columns))
    y = 2.0 * np.sin(3.0 * X[:, 1]) + 3.0 * X[:, 3] ** 2 + noise * rng.normal(size=n)
    return X, y


def class_rows(n=60, columns=6, seed=0):
    X, y = regression_rows(n, columns, 0.0, seed)
    return X, (y > np.median(y)).astype(int)


def block_norms(coef, offsets):
    """Sum of the norms of the blocks, as a convex expression."""
    return sum(cp.norm(coef[a:b], 2) for a, b in pairwise(offsets) if b > a)


def objective_of(model):
    """Objective at the end of the fit (of the first function)."""
    history = model.history_
    return history[-1] if isinstance(history[-1], float) else history[0][-1]


def falls(history):
    return bool(np.all(np.diff(history) <= 1e-12))
