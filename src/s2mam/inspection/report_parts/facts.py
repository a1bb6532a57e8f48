"""What the table and the target hold, as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import column_names
from s2mam.inspection.report_parts.markup import number
from s2mam.intake import (
    LabeledTarget,
    TableReader,
    read_classification_target,
    read_regression_target,
)

__all__ = ["ColumnFacts", "TableFacts", "read_facts", "read_target"]


@dataclass(frozen=True)
class ColumnFacts:
    """One column.

    Attributes
    ----------
    name : str
    kind : {"numeric", "categorical", "constant"}
    n_missing, n_distinct : int
    content : str
        Range of the numbers, or the most frequent categories with their counts.
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    content: str


@dataclass(frozen=True, eq=False)
class TableFacts:
    """A table and its target.

    Attributes
    ----------
    columns : list of ColumnFacts
    values : ndarray of shape (n, p)
        The numbers and category codes, NaN where missing.
    target : LabeledTarget
        Labels, and which rows have one.
    row_groups : ndarray of shape (n,)
        Equal numbers for equal rows.
    target_name : str or None
        What the target is called, where that is known.
    """

    columns: list[ColumnFacts]
    values: FloatArray
    target: LabeledTarget
    row_groups: IntArray
    target_name: str | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.row_groups)

    @property
    def names(self) -> list[str]:
        """Column names."""
        return [column.name for column in self.columns]

    @property
    def labeled(self) -> BoolArray:
        """Rows with a label."""
        return self.target.labeled

    @property
    def missing_share(self) -> float:
        """Share of the cells that are missing."""
        return sum(column.n_missing for column in self.columns) / self.values.size

    def class_counts(self) -> list[tuple[Any, int]]:
        """Classes and their numbers of labels; none for regression."""
        if self.target.classes is None:
            return []
        counts = np.bincount(self.target.y, minlength=len(self.target.classes))
        return [(label, int(n)) for label, n in zip(self.target.classes, counts, strict=True)]


def read_facts(estimator: Any, X: Any, y: Any, feature_names: Sequence[str] | None) -> TableFacts:
    """Look at the table as the estimator reads it.

    Parameters
    ----------
    estimator : fitted estimator of this package
        Its `categorical` and `unlabeled` apply.
    X, y
        The rows and the target.
    feature_names : sequence of str or None
        Names for a table without any.

    Returns
    -------
    TableFacts
    """
    reader = TableReader(scale=None, categorical=getattr(estimator, "categorical", "auto"))
    values = reader.fit_transform(X)
    if values.shape[1] != estimator.n_features_in_:
        raise InvalidInputError(
            f"X has {values.shape[1]} columns, but the model was fitted to "
            f"{estimator.n_features_in_}; pass the table of the fit."
        )
    columns = []
    for j, column_name in enumerate(column_names(estimator, feature_names)):
        info = reader.columns_[j]
        known = values[~np.isnan(values[:, j]), j]
        if info.n_missing == len(values):
            known = known[:0]  # a constant column reads as zeros, missing or not
        distinct = len(info.categories) if info.categories is not None else len(np.unique(known))
        content = _content(info.categories, info.low, info.high, known)
        columns.append(ColumnFacts(column_name, info.kind, info.n_missing, distinct, content))
    target = read_target(estimator, y, values.shape[0])
    called = getattr(estimator, "target_name_", None) or getattr(y, "name", None)
    known_name = called if isinstance(called, str) else None
    return TableFacts(columns, values, target, _groups(values), known_name)


def read_target(estimator: Any, y: Any, n_rows: int) -> LabeledTarget:
    """The target as the estimator reads it."""
    read = read_classification_target if hasattr(estimator, "classes_") else read_regression_target
    return read(y, unlabeled=getattr(estimator, "unlabeled", "auto"), n_rows=n_rows)


def _content(
    categories: tuple[Any, ...] | None, low: float, high: float, known: AnyArray, most: int = 3
) -> str:
    if not len(known):
        return "nothing but missing values"
    if categories is None:
        if low < high:
            return f"{number(low, 4)} to {number(high, 4)}"
        return f"always {number(low, 4)}"
    if len(categories) == 1:
        return f"always {_cut(categories[0])}"
    counts = Counter(known.astype(int).tolist()).most_common(most)
    shown = ", ".join(f"{_cut(categories[code])} ({n})" for code, n in counts)
    return shown + (", ..." if len(categories) > most else "")


def _cut(category: Any, width: int = 40) -> str:
    text = str(category)
    return text if len(text) <= width else text[: width - 1] + "…"


def _groups(values: FloatArray) -> IntArray:
    # One NaN and one zero only, so that equal rows are equal bytes.
    clean = np.where(np.isnan(values), np.nan, values + 0.0)
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(row.tobytes(), len(seen)) for row in clean], dtype=np.intp)
