"""Sources of rows in files: .npy, parquet, CSV."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from s2mam._typing import AnyArray
from s2mam.exceptions import InvalidInputError, MissingDependencyError
from s2mam.scale.arrays import part_of, require_length
from s2mam.scale.blocks import Block, HeldBlock, ReadBlock, RowSource
from s2mam.scale.npy_rows import NpyLayout, npy_layout
from s2mam.scale.options import current_options
from s2mam.scale.tables import column_names, split_column, to_host

__all__ = ["CsvSource", "NpySource", "ParquetSource", "open_file"]

_CSV_BYTES = 2**23


def open_file(path: str | os.PathLike[str], target: Any = None, weights: Any = None) -> RowSource:
    """The source of a file, by its name.

    Parameters
    ----------
    path : path
        ``.npy``, ``.parquet`` (``.pq``), ``.csv``, ``.tsv``; a folder of parquet files too.
    target, weights : str or array, optional
        Name of a column of the file, or one value per row.

    Returns
    -------
    RowSource
    """
    place = Path(path)
    if not place.exists():
        raise InvalidInputError(f"There is no file {str(path)!r}; X may be a path, an array, ...")
    suffix = place.suffix.lower()
    if suffix == ".npy":
        return NpySource(place, target, weights)
    if suffix in (".parquet", ".pq") or place.is_dir():
        return ParquetSource(place, target, weights)
    if suffix in (".csv", ".tsv", ".tab", ".txt"):
        return CsvSource(place, target, weights)
    raise InvalidInputError(
        f"{str(path)!r} has an unknown ending; use .npy, .parquet, .csv or .tsv, or make a source "
        "of your own with s2mam.scale.IteratorSource."
    )


@dataclass(frozen=True)
class _NpySlice:
    """Reads some rows of an .npy file; the file is opened where the rows are needed."""

    path: Path
    layout: NpyLayout
    target: Any
    weights: Any
    start: int
    stop: int

    def __call__(self) -> Block:
        rows = slice(self.start, self.stop)
        table = self.layout.read(self.path, self.start, self.stop)
        return Block(self.start, table, part_of(self.target, rows), part_of(self.weights, rows))


class NpySource(RowSource):
    """Rows of an .npy file, which is never read as a whole."""

    def __init__(self, path: Path, target: Any = None, weights: Any = None) -> None:
        self._path, self._layout = Path(path), npy_layout(path)
        if len(self._layout.shape) != 2:
            raise InvalidInputError(
                f"{str(path)!r} holds an array of shape {self._layout.shape}; rows and columns are "
                "needed."
            )
        for name, value in (("y", target), ("sample_weight", weights)):
            if isinstance(value, str):
                raise InvalidInputError(
                    f"{name}={value!r} names a column, but .npy files have no names; pass an array."
                )
        self.n_rows = self._layout.shape[0]
        host = [None if values is None else to_host(values) for values in (target, weights)]
        self._target = require_length("y", host[0], self.n_rows)
        self._weights = require_length("sample_weight", host[1], self.n_rows)
        self._step = current_options().block_rows

    def readers(self) -> Iterator[ReadBlock]:
        """One reader per block."""
        assert self.n_rows is not None
        for start in range(0, self.n_rows, self._step):
            stop = min(start + self._step, self.n_rows)
            yield _NpySlice(self._path, self._layout, self._target, self._weights, start, stop)


@dataclass(frozen=True)
class _RowGroups:
    """Reads consecutive row groups of one parquet file."""

    path: str
    groups: tuple[int, ...]
    start: int
    target: Any
    weights: Any

    def __call__(self) -> Block:
        table = _arrow("pyarrow.parquet").ParquetFile(self.path).read_row_groups(list(self.groups))
        rows = slice(self.start, self.start + table.num_rows)
        return _block(table, self.start, _cut(self.target, rows), _cut(self.weights, rows))


class ParquetSource(RowSource):
    """Rows of a parquet file, or of all those in a folder; a block is one or more row groups."""

    def __init__(self, path: Path, target: Any = None, weights: Any = None) -> None:
        parquet = _arrow("pyarrow.parquet")
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not files:
            raise InvalidInputError(f"The folder {str(path)!r} holds no .parquet file.")
        opened = [(str(file), parquet.ParquetFile(file)) for file in files]
        self._sizes = [
            (name, [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)])
            for name, file in opened
        ]
        self.n_rows = sum(sum(sizes) for _, sizes in self._sizes)
        self._target = _checked("y", target, self.n_rows)
        self._weights = _checked("sample_weight", weights, self.n_rows)
        self._step = current_options().block_rows
        self.names = _names(opened[0][1].schema_arrow.names, self._target, self._weights, path)

    def readers(self) -> Iterator[ReadBlock]:
        """One reader per block."""
        start = 0
        for name, sizes in self._sizes:
            held: list[int] = []
            rows = 0
            for group, size in enumerate(sizes):
                if held and rows + size > self._step:
                    yield _RowGroups(name, tuple(held), start, self._target, self._weights)
                    start, held, rows = start + rows, [], 0
                held.append(group)
                rows += size
            if held:
                yield _RowGroups(name, tuple(held), start, self._target, self._weights)
                start += rows


class CsvSource(RowSource):
    """Rows of a text file, read from the start in every pass.

    The first block (some megabytes) decides which columns are numbers; text that turns up later in
    such a column is an error.
    """

    def __init__(self, path: Path, target: Any = None, weights: Any = None) -> None:
        self._path = path
        self._target, self._weights = target, weights
        self._types = self._column_types()
        self.names = _names(list(self._types), target, weights, path)

    def readers(self) -> Iterator[ReadBlock]:
        """One reader per block, which holds its rows."""
        arrow = _arrow("pyarrow")
        start = 0
        step = current_options().block_rows
        try:
            for batch in self._open(self._types):
                whole = arrow.Table.from_batches([batch])
                for at in range(0, whole.num_rows, step):
                    table = whole.slice(at, step)
                    rows = slice(start, start + table.num_rows)
                    yield HeldBlock(
                        _block(table, start, _cut(self._target, rows), _cut(self._weights, rows))
                    )
                    start += table.num_rows
        except arrow.ArrowInvalid as error:
            raise InvalidInputError(
                f"{str(self._path)!r}, after row {start}: {error}; the first rows decide which "
                "columns are numbers, so correct the value or write the table as parquet."
            ) from None

    def _open(self, types: dict[str, Any] | None) -> Any:
        csv = _arrow("pyarrow.csv")
        tab = self._path.suffix.lower() in (".tsv", ".tab")
        return csv.open_csv(
            self._path,
            read_options=csv.ReadOptions(block_size=_CSV_BYTES),
            parse_options=csv.ParseOptions(delimiter="\t" if tab else ","),
            convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=True),
        )

    def _column_types(self) -> dict[str, Any]:
        arrow = _arrow("pyarrow")
        with self._open(None) as reader:
            schema = reader.schema
        # Whole numbers may turn out to be fractions further down, and empty columns numbers.
        return {
            field.name: arrow.float64()
            if field.name != self._target
            and (arrow.types.is_integer(field.type) or arrow.types.is_null(field.type))
            else field.type
            for field in schema
        }


def _arrow(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            "Reading parquet and CSV files in blocks needs pyarrow; pip install 's2mam[files]'."
        ) from error


def _checked(name: str, values: Any, n_rows: int) -> Any:
    return values if isinstance(values, str) else require_length(name, _array(values), n_rows)


def _array(values: Any) -> AnyArray | None:
    return None if values is None else np.asarray(values)


def _cut(values: Any, rows: slice) -> Any:
    return values if isinstance(values, str) else part_of(_array(values), rows)


def _names(names: list[str], target: Any, weights: Any, path: Path) -> list[str]:
    taken = [name for name in (target, weights) if isinstance(name, str)]
    for name in taken:
        if name not in names:
            raise InvalidInputError(
                f"{str(path)!r} has no column {name!r}; it has {', '.join(names[:10])}"
                f"{', ...' if len(names) > 10 else ''}."
            )
    return [name for name in names if name not in taken]


def _block(table: Any, start: int, target: Any, weights: Any) -> Block:
    """A block of an arrow table, whose target and weights may be columns of it."""
    if isinstance(target, str):
        table, target = split_column(table, target)
    if isinstance(weights, str):
        table, weights = split_column(table, weights)
    assert column_names(table) is not None
    return Block(start, table, target, weights)
