"""What a baseline works on: a table of finite numbers and the labels that are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.intake import TableReader

__all__ = ["BaselineRows", "Encoder", "signs"]


@dataclass(frozen=True)
class BaselineRows:
    """The rows of one fit, in the order they were given.

    Attributes
    ----------
    table : (n, q) array
        Finite numbers: scaled columns, indicator columns for categories, 0 where missing.
    labeled : (l,) array of int
        Positions of the labelled rows.
    target : (l,) array
        Numbers, or class codes 0..K-1.
    n_classes : int
        K, or 0 for regression.
    """

    table: FloatArray
    labeled: IntArray
    target: AnyArray
    n_classes: int

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.table.shape[0])

    @property
    def unlabeled(self) -> IntArray:
        """Positions of the unlabelled rows."""
        rest = np.ones(self.n, dtype=bool)
        rest[self.labeled] = False
        return np.flatnonzero(rest)

    @property
    def one_hot(self) -> FloatArray:
        """(n, K) indicators of the classes, zero rows where unlabelled."""
        codes = np.zeros((self.n, self.n_classes))
        codes[self.labeled, np.asarray(self.target, dtype=np.intp)] = 1.0
        return codes


class Encoder:
    """Scaled numbers of a table; categories as indicators, missing values as the column's centre.

    Parameters
    ----------
    scale, categorical
        As in :class:`s2mam.intake.TableReader`.
    """

    def __init__(self, scale: Any, categorical: Any) -> None:
        self.reader = TableReader(scale=scale, categorical=categorical)

    def fit_transform(self, X: Any, estimator: Any) -> FloatArray:
        """Learn the columns and return the (n, q) table."""
        table = self.reader.fit_transform(X, estimator=estimator)
        self._fill = self._centers(table)
        return self._spread(table)

    def transform(self, X: Any, estimator: Any) -> FloatArray:
        """The (m, q) table of new rows."""
        return self._spread(self.reader.transform(X, estimator=estimator))

    @property
    def owner(self) -> IntArray:
        """(q,) column of X that each encoded column comes from."""
        widths = [
            len(column.categories or ()) if column.kind == "categorical" else 1
            for column in self.reader.columns_
        ]
        return np.repeat(np.arange(len(widths)), widths)

    def _centers(self, table: FloatArray) -> FloatArray:
        seen = np.isfinite(table)
        count = np.maximum(seen.sum(axis=0), 1)
        centers: FloatArray = np.where(seen, table, 0.0).sum(axis=0) / count
        return centers

    def _spread(self, table: FloatArray) -> FloatArray:
        if all(column.kind != "categorical" for column in self.reader.columns_):
            return np.where(np.isnan(table), self._fill, table)
        parts = []
        for j, column in enumerate(self.reader.columns_):
            values = table[:, j]
            if column.kind == "categorical":
                levels = np.arange(len(column.categories or ()))
                parts.append((values[:, None] == levels).astype(np.float64))
            else:
                parts.append(np.where(np.isnan(values), self._fill[j], values)[:, None])
        return np.hstack(parts)


def signs(codes: AnyArray, positive: int) -> FloatArray:
    """+1 for the rows of one class, -1 for the others."""
    hit: BoolArray = np.asarray(codes) == positive
    return np.where(hit, 1.0, -1.0)
