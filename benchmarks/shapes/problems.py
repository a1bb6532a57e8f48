"""Made-up tables: kinds of columns times kinds of effects times kinds of targets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from benchmarks.common.splits import Problem

from s2mam._typing import AnyArray

#: Columns of every table; at most five of them say something, except for "dense".
N_COLUMNS = 60
N_UNLABELED, N_TEST = 300, 1500
_LEAD = np.array([1.0, -1.0, 0.8, 0.6, -0.5])


def _chained(rng: np.random.Generator, n: int) -> AnyArray:
    """Every column resembles the one before it."""
    X = rng.normal(size=(n, N_COLUMNS))
    for j in range(1, N_COLUMNS):
        X[:, j] = 0.7 * X[:, j - 1] + 0.71 * X[:, j]
    return X


def _factors(rng: np.random.Generator, n: int) -> AnyArray:
    """Five hidden causes behind all columns."""
    causes = rng.normal(size=(n, 5)) @ rng.normal(size=(5, N_COLUMNS))
    return causes + 0.5 * rng.normal(size=(n, N_COLUMNS))


def _counts(rng: np.random.Generator, n: int) -> AnyArray:
    rates = 2.0 * rng.gamma(1.0, 1.0, size=N_COLUMNS) + 0.2
    return rng.poisson(rates, size=(n, N_COLUMNS)).astype(float)


COLUMNS: dict[str, Callable[[np.random.Generator, int], AnyArray]] = {
    "normal": lambda rng, n: rng.normal(size=(n, N_COLUMNS)),
    "chained": _chained,
    "factors": _factors,
    "heavy": lambda rng, n: rng.standard_t(2.0, size=(n, N_COLUMNS)),
    "counts": _counts,
    "skewed": lambda rng, n: np.exp(rng.normal(size=(n, N_COLUMNS))),
}


def _dense(Z: AnyArray) -> AnyArray:
    sizes = np.linspace(1.0, 0.1, N_COLUMNS) * (-1.0) ** np.arange(N_COLUMNS)
    return np.tanh(Z) @ sizes


def _steps(Z: AnyArray) -> AnyArray:
    return 2.0 * (Z[:, 0] > 0.2) + 1.5 * (Z[:, 1] < -0.3) - 2.0 * (Z[:, 2] > 0.8)


def _bumps(Z: AnyArray) -> AnyArray:
    near = Z[:, 1:3].clip(-2.0, 2.0)
    return 2.0 * np.exp(-4.0 * (Z[:, 0] - 0.3) ** 2) + np.sin(3.0 * near[:, 0]) + near[:, 1]


def _squares(Z: AnyArray) -> AnyArray:
    near = Z[:, :3].clip(-3.0, 3.0)
    return near[:, 0] ** 2 - near[:, 1] ** 2 + near[:, 2]


def _product(Z: AnyArray) -> AnyArray:
    near = Z[:, :3].clip(-2.0, 2.0)
    return near[:, 0] * near[:, 1] + near[:, 2]


#: Effects as functions of columns in units of their spread.
EFFECTS: dict[str, Callable[[AnyArray], AnyArray]] = {
    "lines": lambda Z: Z[:, :5] @ _LEAD,
    "dense": _dense,
    "steps": _steps,
    "bumps": _bumps,
    "squares": _squares,
    "product": _product,
}


def _numbers(f: AnyArray, rng: np.random.Generator) -> AnyArray:
    return f + 0.3 * rng.normal(size=f.size)


def _outliers(f: AnyArray, rng: np.random.Generator) -> AnyArray:
    return f + 0.25 * rng.standard_t(2.0, size=f.size)


def _two(f: AnyArray, rng: np.random.Generator) -> AnyArray:
    return (f + 0.3 * rng.logistic(size=f.size) > 0).astype(int)


def _rare(f: AnyArray, rng: np.random.Generator) -> AnyArray:
    return (f + 0.2 * rng.logistic(size=f.size) > np.quantile(f, 0.88)).astype(int)


def _four(f: AnyArray, rng: np.random.Generator) -> AnyArray:
    return np.digitize(f + 0.2 * rng.normal(size=f.size), np.quantile(f, [0.25, 0.5, 0.75]))


#: Targets as functions of a standardised effect.
TARGETS: dict[str, Callable[[AnyArray, np.random.Generator], AnyArray]] = {
    "numbers": _numbers,
    "outliers": _outliers,
    "two": _two,
    "rare": _rare,
    "four": _four,
}

#: What the study runs: every kind of columns, effects and targets at least once.
TABLES = (
    "normal-lines-numbers",
    "chained-lines-numbers",
    "heavy-lines-numbers",
    "normal-lines-outliers",
    "normal-steps-numbers",
    "counts-steps-numbers",
    "factors-dense-numbers",
    "chained-bumps-numbers",
    "skewed-squares-numbers",
    "normal-product-numbers",
    "factors-lines-two",
    "counts-lines-two",
    "normal-steps-two",
    "heavy-dense-two",
    "chained-squares-rare",
    "skewed-bumps-four",
    "normal-dense-four",
)


def problem(name: str, n_labeled: int, seed: int) -> Problem:
    """Labelled rows first, then 300 without labels; 1500 more are the test."""
    columns, effect, target = name.split("-")
    rng = np.random.default_rng([*name.encode(), n_labeled, seed])
    n = n_labeled + N_UNLABELED
    X = COLUMNS[columns](rng, n + N_TEST)
    quartiles = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    f = EFFECTS[effect]((X - quartiles[1]) / (quartiles[2] - quartiles[0] + 1e-9))
    y = TARGETS[target]((f - f.mean()) / f.std(), rng)
    task = "regression" if target in ("numbers", "outliers") else "classification"
    return Problem(X[:n], y[:n], np.arange(n) < n_labeled, X[n:], y[n:], task)
