"""Tables in: names, kinds, scaling and categories of the columns; numbers out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake.columns import ColumnInfo, ColumnKind, find_categories
from s2mam.intake.frames import RawTable, read_table
from s2mam.intake.named_columns import named_columns
from s2mam.intake.scaling import column_statistics, rank_knots, resolve_scale
from s2mam.intake.sparse_tables import column_blocks, dense_columns
from s2mam.intake.state import pack_columns, unpack_columns


class TableReader(BaseEstimator):  # type: ignore[misc]
    """Turn a table into the numbers the bases and graphs work on.

    Numeric columns are scaled with statistics of all rows, categorical ones become codes, missing
    values and categories not seen in `fit` become NaN, and columns with a single value become 0.

    Parameters
    ----------
    scale : {"robust", "standard", "rank"}, bool or None, default="robust"
        Scaling of numeric columns; True is "robust", False and None leave them as they are.
    categorical : "auto", sequence of names, indices or bool, or None, default="auto"
        "auto" takes columns of type category, text or bool; a sequence adds columns to these; None
        takes none, so that text is an error.

    Attributes
    ----------
    columns_ : list of ColumnInfo
        What was learned, one per column.
    kinds_ : tuple of {"numeric", "categorical", "constant"}
        Kind of each column.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, when the table had any.

    Examples
    --------
    >>> reader = TableReader(scale="standard").fit([[1.0, "a"], [3.0, "b"], [2.0, None]])
    >>> reader.kinds_
    ('numeric', 'categorical')
    >>> reader.transform([[2.0, "b"], [None, "z"]])
    array([[ 0.,  1.],
           [nan, nan]])
    """

    columns_: list[ColumnInfo]
    n_features_in_: int

    def __init__(self, scale: Any = "robust", categorical: Any = "auto") -> None:
        self.scale = scale
        self.categorical = categorical

    @property
    def kinds_(self) -> tuple[ColumnKind, ...]:
        """Kind of each column."""
        return tuple(column.kind for column in self.columns_)

    def fit(
        self, X: Any, y: None = None, *, estimator: Any = None, row_weight: FloatArray | None = None
    ) -> TableReader:
        """Learn kinds, scaling and categories.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, p)
            The table; never written to.
        y : None
            Ignored.
        estimator : estimator, optional
            Whose `n_features_in_` and `feature_names_in_` to set, and whose name messages carry.
        row_weight : ndarray of shape (n,), optional
            Weights of the rows in the statistics; a row of weight zero does not count.

        Returns
        -------
        TableReader
            Itself.
        """
        self._learn(self._read(X, estimator, reset=True), row_weight)
        return self

    def transform(self, X: Any, *, estimator: Any = None) -> FloatArray:
        """Numbers of a table with the columns seen in `fit`.

        Parameters
        ----------
        X : array-like or dataframe of shape (m, p)
            The table; never written to.
        estimator : estimator, optional
            The one given to `fit`.

        Returns
        -------
        ndarray of shape (m, p)
            New array, NaN where a value is missing or its category unknown.
        """
        check_is_fitted(self, "columns_")
        return self._encode(self._read(X, estimator, reset=False))

    def fit_transform(
        self, X: Any, y: None = None, *, estimator: Any = None, row_weight: FloatArray | None = None
    ) -> FloatArray:
        """Fit and transform the same table, reading it once.

        Parameters
        ----------
        X, y, estimator, row_weight
            As in `fit`.

        Returns
        -------
        ndarray of shape (n, p)
        """
        table = self._read(X, estimator, reset=True)
        self._learn(table, row_weight)
        return self._encode(table)

    def to_state(self) -> dict[str, Any]:
        """What `from_state` needs: JSON values and plain numeric arrays.

        Returns
        -------
        dict
        """
        check_is_fitted(self, "columns_")
        categorical = self.categorical
        if categorical is not None and not isinstance(categorical, str):
            categorical = np.asarray(categorical).tolist()
        has_names = hasattr(self, "feature_names_in_")
        parameters = {"scale": self.scale, "categorical": categorical, "has_names": has_names}
        return parameters | pack_columns(self.columns_)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TableReader:
        """Rebuild a fitted reader.

        Parameters
        ----------
        state : dict
            From `to_state`.

        Returns
        -------
        TableReader
        """
        reader = cls(scale=state["scale"], categorical=state["categorical"])
        reader.columns_ = unpack_columns(state)
        reader._remember_names([column.name for column in reader.columns_], state["has_names"])
        return reader

    def _read(self, X: Any, estimator: Any, *, reset: bool) -> RawTable:
        owner = self if estimator is None else estimator
        known = None if reset else [column.name for column in self.columns_]
        table = read_table(X, owner, reset=reset, default_names=known)
        if reset and owner is not self:
            self._remember_names(table.names, hasattr(owner, "feature_names_in_"))
        return table

    def _remember_names(self, names: list[str], has_names: bool) -> None:
        self.n_features_in_ = len(names)
        if has_names:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _learn(self, table: RawTable, row_weight: FloatArray | None) -> None:
        counted = _counted_rows(row_weight, table.n_rows)
        categorical = self._categorical_columns(table)
        numeric = np.flatnonzero(~categorical)
        columns: list[ColumnInfo | None] = [None] * len(table.names)
        # Columns without ties have the same scores: one array serves all of them.
        known: dict[bytes, FloatArray] = {}
        runs = [numeric] if table.stored is None else column_blocks(table.n_rows, numeric)
        for run in runs:
            for info, j in zip(
                self._learn_numbers(table, run, row_weight, known), run, strict=True
            ):
                columns[j] = info
        for j in np.flatnonzero(categorical):
            columns[j] = _categorical_info(table, int(j), counted)
        self.columns_ = [column for column in columns if column is not None]

    def _learn_numbers(
        self,
        table: RawTable,
        numeric: IntArray,
        row_weight: FloatArray | None,
        known: dict[bytes, FloatArray],
    ) -> Iterator[ColumnInfo]:
        method = resolve_scale(self.scale)
        counted = _counted_rows(row_weight, table.n_rows)
        numbers = _numeric_matrix(table, numeric)
        stats = column_statistics(numbers, method, row_weight)
        for k, j in enumerate(numeric):
            knots = scores = None
            if method == "rank" and not stats.constant[k]:
                knots, scores = rank_knots(numbers[:, k], row_weight)
                scores = known.setdefault(scores.tobytes(), scores)
            yield ColumnInfo(
                name=table.names[j],
                kind="constant" if stats.constant[k] else "numeric",
                center=float(stats.center[k]),
                scale=float(stats.spread[k]),
                knots=knots,
                scores=scores,
                low=float(stats.low[k]),
                high=float(stats.high[k]),
                n_missing=int(np.count_nonzero(np.isnan(numbers[counted, k]))),
            )

    def _categorical_columns(self, table: RawTable) -> BoolArray:
        chosen = np.zeros(len(table.names), dtype=bool)
        if self.categorical is None:
            return chosen
        if isinstance(self.categorical, str):
            if self.categorical != "auto":
                raise InvalidInputError(
                    "categorical must be 'auto', None or a sequence of column names or indices, "
                    f"got {self.categorical!r}."
                )
        else:
            chosen[named_columns(self.categorical, table.names)] = True
        if not table.is_numeric:
            for j in np.flatnonzero(~chosen):
                chosen[j] = table.column(int(j)).looks_categorical()
        return chosen

    def _encode(self, table: RawTable) -> FloatArray:
        encoded = np.empty((table.n_rows, len(self.columns_)))
        if table.stored is not None:
            self._encode_stored(table, encoded)
            return encoded
        for j, column in enumerate(self.columns_):
            if table.matrix is None or column.categories is not None:
                encoded[:, j] = column.encode(table.column(j))
            else:
                encoded[:, j] = column.scale_numbers(table.matrix[:, j])
        return encoded

    def _encode_stored(self, table: RawTable, encoded: FloatArray) -> None:
        for run in column_blocks(table.n_rows, np.arange(len(self.columns_))):
            block = dense_columns(table.stored, run)
            for k, j in enumerate(run):
                column = self.columns_[j]
                if column.categories is None:
                    encoded[:, j] = column.scale_numbers(block[:, k])
                else:
                    encoded[:, j] = column.encode(table.column(int(j)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _counted_rows(row_weight: FloatArray | None, n_rows: int) -> BoolArray:
    if row_weight is None:
        return np.ones(n_rows, dtype=bool)
    if np.shape(row_weight) != (n_rows,):
        raise InvalidInputError(
            f"row_weight has shape {np.shape(row_weight)} but X has {n_rows} rows."
        )
    counted = np.asarray(row_weight > 0)
    if not counted.any():
        raise InvalidInputError("row_weight is zero on all rows; at least one must be positive.")
    return counted


def _numeric_matrix(table: RawTable, numeric: Any) -> FloatArray:
    if table.stored is not None:
        return dense_columns(table.stored, numeric)
    if table.matrix is not None:
        return table.matrix if len(numeric) == table.matrix.shape[1] else table.matrix[:, numeric]
    matrix = np.empty((table.n_rows, len(numeric)))
    for k, j in enumerate(numeric):
        matrix[:, k] = table.column(j).numbers()
    return matrix


def _categorical_info(table: RawTable, j: int, counted: BoolArray) -> ColumnInfo:
    column = table.column(j)
    categories = find_categories(column, counted)
    return ColumnInfo(
        name=column.name,
        kind="categorical" if len(categories) > 1 else "constant",
        categories=categories,
        n_missing=int(np.count_nonzero(column.missing & counted)),
    )
