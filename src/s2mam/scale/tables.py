"""Pieces of tables of any library: arrays, tensors and data frames, through the same few verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from s2mam._typing import AnyArray, IntArray

__all__ = [
    "column_names",
    "count_rows",
    "is_frame",
    "is_tensor",
    "join",
    "split_column",
    "take",
    "to_host",
]


def is_tensor(table: Any) -> bool:
    """Whether this is a torch tensor; torch itself is not imported for the question.

    Examples
    --------
    >>> is_tensor(np.zeros(3))
    False
    """
    return type(table).__module__.split(".")[0] == "torch" and hasattr(table, "device")


def is_frame(table: Any) -> bool:
    """Whether this is a data frame in memory, of any library that narwhals knows.

    Examples
    --------
    >>> is_frame(np.zeros((2, 2)))
    False
    """
    return bool(nw.dependencies.is_into_dataframe(table))


def to_host(values: Any) -> AnyArray:
    """Values of an array or tensor as a NumPy array.

    Examples
    --------
    >>> to_host([1, 2])
    array([1, 2])
    """
    return np.asarray(values.detach().cpu().numpy() if is_tensor(values) else values)


def count_rows(table: Any) -> int:
    """Number of rows.

    Examples
    --------
    >>> count_rows(np.zeros((3, 2)))
    3
    """
    return int(table.shape[0])


def column_names(table: Any) -> list[str] | None:
    """Names of the columns of a data frame; None for tables without names.

    Examples
    --------
    >>> column_names(np.zeros((3, 2))) is None
    True
    """
    return list(nw.from_native(table, eager_only=True).columns) if is_frame(table) else None


def take(table: Any, rows: slice | IntArray) -> Any:
    """Some rows of a table, of the same kind as the table.

    Examples
    --------
    >>> take(np.arange(6).reshape(3, 2), np.array([0, 2]))
    array([[0, 1],
           [4, 5]])
    """
    if is_frame(table):
        frame = nw.from_native(table, eager_only=True)
        if isinstance(rows, slice):
            return nw.to_native(frame[rows])
        return nw.to_native(frame[rows.tolist()])
    return table[rows]


def join(tables: Sequence[Any]) -> Any:
    """Tables of one kind below each other.

    Examples
    --------
    >>> join([np.zeros((1, 2)), np.ones((1, 2))])
    array([[0., 0.],
           [1., 1.]])
    """
    if len(tables) == 1:
        return tables[0]
    if is_frame(tables[0]):
        frames = [nw.from_native(table, eager_only=True) for table in tables]
        return nw.to_native(nw.concat(frames, how="vertical"))
    if is_tensor(tables[0]):
        import torch

        return torch.cat(list(tables))
    return np.concatenate(tables)


def split_column(table: Any, name: str) -> tuple[Any, AnyArray]:
    """A data frame without one of its columns, and that column as an array."""
    frame = nw.from_native(table, eager_only=True)
    values = np.asarray(frame.get_column(name).to_numpy())
    return nw.to_native(frame.drop(name)), values
