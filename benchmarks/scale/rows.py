"""Rows of the benchmark: additive classes or numbers, made block by block, any number of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

#: Rows that are made at once; a block depends on its number and nothing else.
BLOCK = 20_000


def make_block(number: int, rows: int, p: int, informative: int) -> tuple[np.ndarray, np.ndarray]:
    """Table (rows, p) of normal numbers and the noiseless sum of curves of the first columns."""
    X = np.random.default_rng([7, number]).standard_normal((rows, p), dtype=np.float32)
    return X, signal(X[:, :informative], np)


def signal(X: Any, xp: Any) -> Any:
    """Sum of four kinds of curves; about zero mean and a spread of one a column."""
    total = 0.0
    for j in range(X.shape[1]):
        x = X[:, j]
        curve = (1.4 * xp.sin(2.0 * x), x, 0.7 * (x * x - 1.0), 1.5 * xp.tanh(2.0 * x))[j % 4]
        total = total + curve
    return total


def labels_of(number: int, f: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Classes of a block, and the same with all but a share hidden (-1)."""
    rng = np.random.default_rng([8, number])
    y = (f + rng.normal(size=f.size) > 0.0).astype(np.int64)
    return y, np.where(rng.random(f.size) < share, y, -1)


def write_file(path: Path, n: int, p: int, informative: int, share: float) -> np.ndarray:
    """Write n rows to an .npy file of single precision, block by block; return the labels."""
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, p))
    found = []
    for number, start in enumerate(range(0, n, BLOCK)):
        rows = min(BLOCK, n - start)
        table[start : start + rows], f = make_block(number, rows, p, informative)
        found.append(labels_of(number, f, share)[1])
    table.flush()
    return np.concatenate(found)


def fresh_rows(p: int, informative: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Fresh rows with all labels."""
    X, f = make_block(10**6, rows, p, informative)
    return X, labels_of(10**6, f, 1.0)[0]
