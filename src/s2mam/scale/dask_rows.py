"""Rows of Dask arrays and data frames: every block is worked on where it lives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from s2mam._typing import AnyArray
from s2mam.exceptions import InvalidInputError, MissingDependencyError
from s2mam.scale.blocks import Block, ReadBlock, RowSource
from s2mam.scale.reduction import FAN, fold
from s2mam.scale.tables import split_column

__all__ = ["DaskSource", "blockwise"]


@dataclass(frozen=True)
class _Compute:
    """Brings one delayed block here."""

    block: Any

    def __call__(self) -> Block:
        block: Block = self.block.compute()
        return block


class DaskSource(RowSource):
    """Rows of a Dask array or data frame.

    Parameters
    ----------
    table : dask array of shape (n, p), or dask data frame
        One chunk or partition is one block; arrays are rechunked so that blocks have all columns.
    target, weights : array, dask array or series, or name of a column; optional
        Labels and sample weights, in the order of the rows.

    Notes
    -----
    A pass is a tree of tasks without side effects: a task whose worker is lost runs again on
    another one, and gives the same bits.
    """

    def __init__(self, table: Any, target: Any = None, weights: Any = None) -> None:
        self._delayed = _require_dask().delayed
        names = getattr(table, "columns", None)
        if names is None:
            if table.ndim != 2:
                raise InvalidInputError(
                    f"X is a Dask array of shape {table.shape}; rows and columns are needed."
                )
            table = table.rechunk({1: -1}) if table.numblocks[1] > 1 else table
            self._tables = list(table.to_delayed()[:, 0])
            sizes = list(table.chunks[0])
        else:
            self._tables = list(table.to_delayed())
            sizes = [np.nan] * len(self._tables)
            taken = [name for name in (target, weights) if isinstance(name, str)]
            self.names = [str(name) for name in names if name not in taken]
        self._sizes = self._lengths(sizes)
        self.n_rows = sum(self._sizes)
        self._target = self._parts("y", target)
        self._weights = self._parts("sample_weight", weights)

    def readers(self) -> Iterator[ReadBlock]:
        """One reader per block, which computes it and brings it here."""
        return (_Compute(block) for block in self.delayed_blocks())

    def delayed_blocks(self) -> list[Any]:
        """The blocks as delayed objects; empty ones are left out."""
        blocks = []
        start = 0
        make = self._delayed(_make_block, pure=True)
        for at, (table, size) in enumerate(zip(self._tables, self._sizes, strict=True)):
            if size:
                blocks.append(make(start, table, self._target[at], self._weights[at]))
            start += size
        return blocks

    def sum_delayed(self, function: Callable[[Block], Any]) -> Any:
        """The sum of a function over all blocks, as one graph of tasks."""
        # One node holds the function, so that its arrays are sent to each worker once.
        shared = self._delayed(function, pure=True)
        apply, add = self._delayed(_apply, pure=True), self._delayed(fold, pure=True)
        values = [apply(shared, block) for block in self.delayed_blocks()]
        while len(values) > 1:
            values = [add(values[at : at + FAN]) for at in range(0, len(values), FAN)]
        return values[0].compute() if values else None

    def _lengths(self, sizes: Sequence[float]) -> list[int]:
        if not any(np.isnan(size) for size in sizes):
            return [int(size) for size in sizes]
        count = self._delayed(len)
        return [
            int(size) for size in self._delayed([count(part) for part in self._tables]).compute()
        ]

    def _parts(self, name: str, values: Any) -> list[Any]:
        """Labels or weights of every block: a column's name, delayed parts, or slices."""
        if values is None or isinstance(values, str):
            return [values] * len(self._tables)
        if hasattr(values, "__dask_graph__"):
            parts = list(np.ravel(values.to_delayed()))
            if len(parts) != len(self._tables):
                raise InvalidInputError(
                    f"{name} has {len(parts)} chunks but X has {len(self._tables)}; rechunk it to "
                    "the chunks of X's rows."
                )
            return parts
        array = np.asarray(values)
        if array.shape[:1] != (self.n_rows,):
            raise InvalidInputError(
                f"{name} has {len(array)} rows but X has {self.n_rows}; pass one value per row."
            )
        ends = np.cumsum([0, *self._sizes])
        return [array[a:b] for a, b in pairwise(ends.tolist())]


def blockwise(
    table: Any, function: Callable[[Any], AnyArray], shape: tuple[int, ...], dtype: Any
) -> Any:
    """A Dask array of what a function gives for every block of rows, computed when asked for.

    Parameters
    ----------
    table : dask array or data frame
        The rows.
    function : callable
        From the rows of a block to an array with as many rows.
    shape : tuple of int
        Of the result, without the rows.
    dtype
        Of the result.
    """
    from importlib import import_module

    arrays: Any = import_module("dask.array")
    source = DaskSource(table)
    apply = source._delayed(_apply_table, pure=True)
    shared = source._delayed(function, pure=True)
    parts = [
        arrays.from_delayed(apply(shared, part), (size, *shape), dtype=dtype)
        for part, size in zip(source._tables, source._sizes, strict=True)
    ]
    return arrays.concatenate(parts)


def _make_block(start: int, table: Any, target: Any, weights: Any) -> Block:
    if isinstance(target, str):
        table, target = split_column(table, target)
    if isinstance(weights, str):
        table, weights = split_column(table, weights)
    return Block(start, table, _array(target), _array(weights))


def _array(values: Any) -> AnyArray | None:
    return None if values is None else np.asarray(values)


def _apply(function: Callable[[Block], Any], block: Block) -> Any:
    with threadpool_limits(limits=1, user_api="blas"):
        return function(block)


def _apply_table(function: Callable[[Any], AnyArray], table: Any) -> AnyArray:
    with threadpool_limits(limits=1, user_api="blas"):
        return function(table)


def _require_dask() -> Any:
    try:
        import dask
    except ImportError as error:
        raise MissingDependencyError(
            "Rows of Dask need dask; pip install 's2mam[dask]'."
        ) from error
    return dask
