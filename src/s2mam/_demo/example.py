"""The table of the demo: scikit-learn's wines, junk columns appended, nearly all labels hidden."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.datasets import corrupt, hide_labels

__all__ = ["Example", "make_example"]


@dataclass(frozen=True, eq=False)
class Example:
    """Rows of the demo.

    Attributes
    ----------
    X, y : arrays of shape (n, p) and (n,)
        Training rows; -1 where the label is hidden.
    truth : ndarray of shape (n,)
        All labels of the training rows, for the scores only.
    X_test, y_test : arrays
        Rows that no method sees.
    names : list of str
        Columns; the junk ones are called junk 1, junk 2, ... .
    real : ndarray of bool, shape (p,)
        False for junk.
    """

    X: FloatArray
    y: IntArray
    truth: IntArray
    X_test: FloatArray
    y_test: IntArray
    names: list[str]
    real: BoolArray

    @property
    def labeled(self) -> BoolArray:
        """Training rows whose label is known."""
        known: BoolArray = self.y != -1
        return known


def make_example(seed: int = 0, *, n_junk: int = 20, per_class: int = 5) -> Example:
    """Two thirds of the wines to learn from, `per_class` labels for each of the three cultivars.

    Parameters
    ----------
    seed : int, default=0
        Draws the junk, the split and the labels.
    n_junk : int, default=20
        Columns of noise: one half N(0, 1), one half N(100, 100).
    per_class : int, default=5
        Labels that stay known.

    Returns
    -------
    Example

    Examples
    --------
    >>> example = make_example()
    >>> example.X.shape, int(example.labeled.sum()), len(example.y_test)
    ((118, 33), 15, 60)
    """
    wines = load_wine()
    n_real = wines.data.shape[1]
    table = corrupt(
        wines.data, n_uninformative=n_junk // 2, n_noisy=n_junk - n_junk // 2, random_state=seed
    )
    X, X_test, truth, y_test = train_test_split(
        table, wines.target, test_size=1 / 3, stratify=wines.target, random_state=seed
    )
    names = [name.replace("_", " ") for name in wines.feature_names]
    return Example(
        X=X,
        y=hide_labels(truth, per_class=per_class, random_state=seed),
        truth=truth,
        X_test=X_test,
        y_test=y_test,
        names=names + [f"junk {k + 1}" for k in range(n_junk)],
        real=np.arange(n_real + n_junk) < n_real,
    )
