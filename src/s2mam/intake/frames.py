"""Tables of any library taken apart into plain columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import _get_feature_names, check_array, validate_data

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake.missing import missing_mask
from s2mam.intake.sparse_tables import dense_columns, is_sparse, read_sparse

_TEXT = (str, np.str_)
_BOOL = (bool, np.bool_)


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column as it came.

    Parameters
    ----------
    name : str
        For messages.
    values : ndarray of shape (n,)
        Numbers, bool, text or objects; missing values as the library writes them.
    categorical : bool
        Whether the type of the column says so (category, text, bool).
    order : tuple or None
        Categories in the order the type declares, observed or not.
    """

    name: str
    values: AnyArray
    categorical: bool = False
    order: tuple[Any, ...] | None = None

    @property
    def missing(self) -> BoolArray:
        """True where the value is missing."""
        return missing_mask(self.values)

    def looks_categorical(self) -> bool:
        """Whether the type, or else all the values, are text or bool."""
        if self.categorical or self.values.dtype.kind in "USTm":
            return self.values.dtype.kind != "m"
        if self.values.dtype.kind != "O":
            return False
        types = set(map(type, self.values[~self.missing]))
        return bool(types) and (types <= set(_TEXT) or types <= set(_BOOL))

    def numbers(self) -> FloatArray:
        """The values as floats, NaN where missing; infinity and text are refused by name."""
        numbers = self._to_float()
        infinite = np.flatnonzero(np.isinf(numbers))
        if len(infinite):
            raise infinite_error(self.name, len(infinite), int(infinite[0]))
        return numbers

    def _to_float(self) -> FloatArray:
        kind = self.values.dtype.kind
        if kind in "biuf":
            return self.values.astype(np.float64)
        if kind in "mM":
            raise InvalidInputError(
                f"Column {self.name!r} holds dates or durations; convert it to numbers first."
            )
        values = self.values.astype(object)
        missing = missing_mask(values)
        for row in np.flatnonzero(~missing):
            if isinstance(values[row], _TEXT):
                raise InvalidInputError(
                    f"Column {self.name!r} holds the text {values[row]!r} (row {row}) where "
                    "numbers are expected; convert it, or name it in `categorical` when fitting."
                )
        numbers = np.full(len(values), np.nan)
        try:
            numbers[~missing] = values[~missing].astype(np.float64)
        except TypeError as error:
            raise TypeError(f"Column {self.name!r}: {error}") from None
        return numbers


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as columns, or as one matrix when every column is numeric.

    Parameters
    ----------
    names : list of str
        Column names, "x0", "x1", ... where the input has none.
    n_rows : int
        Number of rows.
    matrix : ndarray of shape (n, p) or None
        All columns as finite floats or NaN, when every one is numeric.
    column : callable
        ``column(j)`` gives the j-th `RawColumn`.
    stored : sparse array or None
        All columns, when the table is a sparse matrix.
    """

    names: list[str]
    n_rows: int
    matrix: FloatArray | None
    column: Callable[[int], RawColumn]
    stored: Any = None

    @property
    def is_numeric(self) -> bool:
        """Whether the type of the table says that every column holds numbers."""
        return self.matrix is not None or self.stored is not None


def read_table(X: Any, owner: Any, *, reset: bool, default_names: list[str] | None) -> RawTable:
    """Validate a table as scikit-learn does and take it apart.

    Parameters
    ----------
    X : array-like, sparse matrix, or a dataframe of any library that narwhals knows
        The table; it is never written to.
    owner : estimator
        Its `n_features_in_` and `feature_names_in_` are set (`reset`) or checked.
    reset : bool
        True when fitting.
    default_names : list of str or None
        Names for messages when `X` has none (those seen when fitting).

    Returns
    -------
    RawTable
    """
    if is_sparse(X):
        return _read_stored(X, owner, reset, default_names)
    if nw.dependencies.is_into_dataframe(X) or isinstance(X, nw.DataFrame):
        return _read_frame(X, owner, reset, default_names)
    return _read_array(X, owner, reset, default_names)


def infinite_error(name: str, count: int, row: int) -> InvalidInputError:
    """Error for infinite values, worded as scikit-learn's."""
    return InvalidInputError(
        f"Input X contains infinity or a value too large for dtype('float64') in column {name!r} "
        f"({count} rows, first: row {row}); NaN is accepted as missing, inf is not."
    )


def _read_array(X: Any, owner: Any, reset: bool, default_names: list[str] | None) -> RawTable:
    if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "US":
        X = np.asarray(X, dtype=object)  # keep the numbers of a mixed list as numbers
    array = validate_data(owner, X, reset=reset, dtype=None, ensure_all_finite=False)
    names = default_names or [f"x{j}" for j in range(array.shape[1])]
    if array.dtype.kind == "S":
        array = array.astype(str)

    def column(j: int) -> RawColumn:
        return RawColumn(names[j], array[:, j])

    matrix = _finite_matrix(array, names) if array.dtype.kind in "biuf" else None
    return RawTable(names, array.shape[0], matrix, column)


def _read_stored(X: Any, owner: Any, reset: bool, default_names: list[str] | None) -> RawTable:
    table = read_sparse(X, owner, reset=reset)
    names = default_names or [f"x{j}" for j in range(table.shape[1])]
    infinite = np.flatnonzero(np.isinf(table.data))
    if len(infinite):
        j = int(np.searchsorted(table.indptr, infinite[0], side="right")) - 1
        inside = infinite[infinite < table.indptr[j + 1]]
        raise infinite_error(names[j], len(inside), int(table.indices[inside].min()))

    def column(j: int) -> RawColumn:
        return RawColumn(names[j], dense_columns(table, np.array([j]))[:, 0])

    return RawTable(names, table.shape[0], None, column, table)


def _read_frame(X: Any, owner: Any, reset: bool, default_names: list[str] | None) -> RawTable:
    frame = nw.from_native(X, eager_only=True)
    # A view of one zero carries the shape through scikit-learn's checks for free.
    check_array(np.broadcast_to(0.0, frame.shape), estimator=owner)
    validate_data(owner, _with_names(X, frame), reset=reset, skip_check_array=True)
    if all(isinstance(name, str) for name in frame.columns):
        names = list(frame.columns)
    else:
        names = default_names or [f"x{j}" for j in range(frame.shape[1])]

    def column(j: int) -> RawColumn:
        return _frame_column(frame[:, int(j)], names[j])  # narwhals refuses numpy integers

    matrix = None
    if all(dtype.is_numeric() for dtype in frame.schema.values()):
        array = frame.to_numpy()
        if array.dtype.kind in "iuf":
            matrix = _finite_matrix(array, names)
    return RawTable(names, frame.shape[0], matrix, column)


@dataclass(frozen=True)
class _Named:
    """Shape and names of a frame, in the protocol that scikit-learn before 1.9 reads."""

    shape: tuple[int, int]
    columns: list[str]

    def __dataframe__(self) -> _Named:
        return self

    def column_names(self) -> list[str]:
        return self.columns


def _with_names(X: Any, frame: Any) -> Any:
    """The table, or its names alone where scikit-learn would not see them.

    polars 2 has no ``__dataframe__`` any more, and scikit-learn before 1.9 knows no other way.
    """
    if _get_feature_names(X) is not None or not all(isinstance(n, str) for n in frame.columns):
        return X
    return _Named(frame.shape, list(frame.columns))


def _frame_column(series: Any, name: str) -> RawColumn:
    dtype = series.dtype
    categorical = dtype in (nw.Categorical, nw.Enum, nw.String, nw.Boolean)
    order = None
    if dtype in (nw.Categorical, nw.Enum):
        order = _levels(series)
    return RawColumn(name, np.asarray(series.to_numpy()), categorical, order)


def _levels(series: Any) -> tuple[Any, ...]:
    """Categories of a column, in their order."""
    try:
        return tuple(series.cat.get_categories().to_list())
    except AttributeError:
        # polars 2 keeps no such list, and older narwhals does not know that.
        if series.dtype == nw.Enum:
            return tuple(series.dtype.categories)
        return tuple(series.drop_nulls().unique(maintain_order=True).to_list())


def _finite_matrix(array: AnyArray, names: list[str]) -> FloatArray:
    matrix = array.astype(np.float64, copy=False)
    # The sum is finite for nearly every clean table, and costs no temporary array.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.sum()):
            return matrix
    infinite = np.isinf(matrix)
    columns = np.flatnonzero(infinite.any(axis=0))
    if len(columns):
        rows = np.flatnonzero(infinite[:, columns[0]])
        raise infinite_error(names[columns[0]], len(rows), int(rows[0]))
    return matrix
