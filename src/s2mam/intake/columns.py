"""What was learned about one column, and how its values enter the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake.frames import RawColumn

ColumnKind: TypeAlias = Literal["numeric", "categorical", "constant"]
Category: TypeAlias = str | bool | int | float


@dataclass(frozen=True, eq=False)
class ColumnInfo:
    """Kind, scaling and categories of one column.

    Parameters
    ----------
    name : str
        Column name ("x0", "x1", ... where the table had none).
    kind : {"numeric", "categorical", "constant"}
        A column without two different values is "constant" and always enters as zero.
    center, scale : float
        A numeric value x enters as (x - center) / scale, unless there are `knots`.
    categories : tuple or None
        Category of each code; None for numeric columns.
    knots, scores : ndarray or None
        Table of a rank-scaled column, interpolated linearly and clipped at the ends.
    low, high : float
        Range of the values seen (numeric columns), NaN when there are none.
    n_missing : int
        Number of missing values seen.

    Examples
    --------
    >>> column = ColumnInfo("age", "numeric", center=40.0, scale=10.0)
    >>> column.encode([30, 45, None])
    array([-1. ,  0.5,  nan])
    """

    name: str
    kind: ColumnKind
    center: float = 0.0
    scale: float = 1.0
    categories: tuple[Category, ...] | None = None
    knots: FloatArray | None = None
    scores: FloatArray | None = None
    low: float = float("nan")
    high: float = float("nan")
    n_missing: int = 0

    def encode(self, values: Any) -> FloatArray:
        """Values of this column on the scale of the model.

        Parameters
        ----------
        values : array-like of shape (m,)
            In the units of the user's table.

        Returns
        -------
        ndarray of shape (m,)
            Scaled numbers, or category codes; NaN where missing or of an unknown category.
        """
        column = values if isinstance(values, RawColumn) else RawColumn(self.name, _array(values))
        if self.categories is not None:
            if self.kind == "constant":
                return np.zeros(len(column.values))
            return encode_categories(column, self.categories)
        return self.scale_numbers(column.numbers())

    def scale_numbers(self, numbers: FloatArray) -> FloatArray:
        """Scale values that are floats already (numeric and constant columns only).

        Parameters
        ----------
        numbers : ndarray of shape (m,)
            In the units of the user's table; NaN stays NaN.

        Returns
        -------
        ndarray of shape (m,)
        """
        if self.kind == "constant":
            return np.zeros(numbers.shape)
        if self.knots is not None and self.scores is not None:
            return np.interp(numbers, self.knots, self.scores)
        return (numbers - self.center) / self.scale


def find_categories(column: RawColumn, counted: BoolArray) -> tuple[Category, ...]:
    """Observed categories: in declared order where the type has one, else sorted.

    Parameters
    ----------
    column : RawColumn
        The column.
    counted : ndarray of bool, shape (n,)
        Rows that count.

    Returns
    -------
    tuple
        Plain Python values.
    """
    values = column.values[counted & ~column.missing]
    if values.dtype.kind != "O":
        values = np.unique(values)
    found = dict.fromkeys(_plain(value, column.name) for value in values)
    if column.order is not None:
        return tuple(value for value in map(_as_python, column.order) if value in found)
    return tuple(_sorted(found))


def encode_categories(column: RawColumn, categories: tuple[Category, ...]) -> FloatArray:
    """Codes of the categories, NaN for missing and unknown values.

    Parameters
    ----------
    column : RawColumn
        The values.
    categories : tuple
        Category of each code.

    Returns
    -------
    ndarray of shape (n,)
    """
    codes = {category: float(code) for code, category in enumerate(categories)}
    values, inverse = column.values, None
    if values.dtype.kind != "O":
        values, inverse = np.unique(values, return_inverse=True)
    missing = RawColumn(column.name, values).missing
    encoded = np.full(len(values), np.nan)
    encoded[~missing] = [codes.get(_as_python(value), np.nan) for value in values[~missing]]
    return encoded if inverse is None else encoded[inverse]


def _array(values: Any) -> AnyArray:
    array = np.asarray(values)
    return np.asarray(values, dtype=object) if array.dtype.kind in "US" else array


def _as_python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _plain(value: Any, name: str) -> Category:
    value = _as_python(value)
    if not isinstance(value, str | bool | int | float):
        raise InvalidInputError(
            f"Categorical column {name!r} holds a value of type {type(value).__name__}; categories "
            "must be text, numbers or bool, so convert the column to text."
        )
    return value


def _sorted(values: Iterable[Category]) -> list[Category]:
    return sorted(values, key=lambda value: (isinstance(value, str), value))
