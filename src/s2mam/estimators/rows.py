"""The rows of one fit: scaled tables, labelled rows without duplicates, targets and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.exceptions import InvalidInputError, MemoryLimitError
from s2mam.graphs.memory import memory_allowance
from s2mam.intake import (
    LabeledTarget,
    TableReader,
    read_classification_target,
    read_regression_target,
    read_weights,
)
from s2mam.intake.sparse_tables import is_sparse

__all__ = ["TrainingRows", "read_rows", "require_table_memory", "scale_names"]

# Dense tables that a fit holds per scale at its peak: as read, in order, clipped, its lines; the
# rough view has two of its own, which are counted as one for each of the two scales.
_COPIES = 5


@dataclass(frozen=True)
class TrainingRows:
    """What a fit works on.

    Labelled rows come first, sorted and without duplicates: equal rows with equal labels are one
    row with the sum of their weights, so a weight of two is exactly a row that was given twice and
    a weight of zero exactly a row that was not given. Unlabelled rows follow in their order.

    Attributes
    ----------
    readers : tuple of TableReader
        One per scale.
    tables : tuple of (n, p) arrays
        The rows on each scale.
    n_labeled : int
        Number l of labelled rows.
    target : (l,) array
        Numbers, or class codes.
    weights : (l,) array
        Positive weights as numbers of copies.
    classes : array or None
        The classes, for classification.
    """

    readers: tuple[TableReader, ...]
    tables: tuple[FloatArray, ...]
    n_labeled: int
    target: AnyArray
    weights: FloatArray
    classes: AnyArray | None

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of the columns."""
        return tuple(self.readers[0].kinds_)

    @property
    def labeled(self) -> IntArray:
        """Positions of the labelled rows."""
        return np.arange(self.n_labeled)


def scale_names(scale: Any) -> tuple[Any, ...]:
    """Scales of the views: the one asked for, and ranks beside it."""
    if scale is False or scale is None:
        return (None,)
    if scale is True:
        scale = "robust"
    return ("rank",) if scale == "rank" else (scale, "rank")


def read_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, classification: bool, scales: Any
) -> TrainingRows:
    """Read the arguments of ``fit``.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_``, ``feature_names_in_`` and, where y has a name, ``target_name_``;
        its `unlabeled` and `categorical` apply.
    X, y, sample_weight
        As given to ``fit``.
    classification : bool
        How to read y.
    scales : sequence
        Scales of the tables.

    Returns
    -------
    TrainingRows
    """
    if y is None:
        raise InvalidInputError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None; pass y with unlabelled rows marked."
        )
    if is_sparse(X):
        require_table_memory(X.shape, n_tables=len(scales))
    readers = [TableReader(scale=scale, categorical=estimator.categorical) for scale in scales]
    first = readers[0].fit_transform(X, estimator=estimator)
    read = read_classification_target if classification else read_regression_target
    target: LabeledTarget = read(y, unlabeled=estimator.unlabeled, n_rows=first.shape[0])
    _remember_target(estimator, y)
    copies = _copies(sample_weight, target.labeled, X)
    if sample_weight is not None:
        first = readers[0].fit_transform(X, estimator=estimator, row_weight=copies)
    others = [reader.fit_transform(X, row_weight=copies) for reader in readers[1:]]
    tables = [first, *others]
    values = np.asarray(target.y)
    kept = copies[target.labeled] > 0
    rows = np.flatnonzero(target.labeled)[kept]
    order, weights = _merge(tables[0][rows], values[kept], copies[rows])
    classes = target.classes
    merged = values[kept][order]
    if classes is not None:
        present, merged = np.unique(merged, return_inverse=True)
        classes = classes[present]
    chosen = np.concatenate([rows[order], np.flatnonzero(~target.labeled)])
    return TrainingRows(
        readers=tuple(readers),
        tables=tuple(table[chosen] for table in tables),
        n_labeled=order.size,
        target=merged,
        weights=weights,
        classes=classes,
    )


def _remember_target(estimator: Any, y: Any) -> None:
    """The name of y, for model files and reports; a fit without one forgets the last."""
    columns = list(getattr(y, "columns", []))  # of a table with one column
    name = columns[0] if len(columns) == 1 else getattr(y, "name", None)
    if isinstance(name, str) and name:
        estimator.target_name_ = name
    elif hasattr(estimator, "target_name_"):
        del estimator.target_name_


def require_table_memory(
    shape: tuple[int, ...], *, n_tables: int, memory_limit: int | None = None
) -> None:
    """Raise when the dense columns of a sparse table would not fit in memory.

    Parameters
    ----------
    shape : tuple
        Rows and columns.
    n_tables : int
        Number of scales.
    memory_limit : int, optional
        Bytes; by default 60 % of what is available.

    Examples
    --------
    >>> require_table_memory((100_000, 100_000), n_tables=2, memory_limit=10**9)
    Traceback (most recent call last):
    ...
    s2mam.exceptions.MemoryLimitError: A fit on 100000 rows and 100000 columns holds them as ...
    """
    needed = 8 * int(np.prod(shape[:2], dtype=np.float64)) * _COPIES * n_tables
    allowance = memory_allowance(memory_limit)
    if allowance is not None and needed > allowance:
        raise MemoryLimitError(
            f"A fit on {shape[0]} rows and {shape[1]} columns holds them as numbers in about "
            f"{needed / 1e9:.3g} GB, zeros included, but {allowance / 1e9:.3g} GB are allowed; "
            "leave out columns that are rarely filled, or unlabelled rows."
        )


def _copies(sample_weight: Any, labeled: BoolArray, X: Any) -> FloatArray:
    """Weight of every row as a number of copies; unlabelled rows count once."""
    copies = np.ones(labeled.size)
    if sample_weight is None:
        return copies
    read_weights(sample_weight, labeled)  # refuses what cannot be weights
    given = np.asarray(_check_sample_weight(sample_weight, labeled), dtype=np.float64)
    copies[labeled] = given[labeled]
    positive = copies[labeled] > 0
    total = float(copies[labeled].sum())
    if total < np.count_nonzero(positive):
        # Shares rather than copies: a row counts once on average.
        copies[labeled] *= np.count_nonzero(positive) / total
    return copies


def _merge(table: FloatArray, target: AnyArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Rows that are kept, in an order that does not depend on the given one, and their weights."""
    key = np.column_stack([np.where(np.isnan(table), -np.inf, table), target.astype(np.float64)])
    _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
    merged = np.bincount(inverse.ravel(), weights=weights, minlength=first.size)
    return first, merged.astype(np.float64)
