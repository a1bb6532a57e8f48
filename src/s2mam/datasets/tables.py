"""Tables in delimited text and ARFF, as named columns of numbers or texts."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError

_MISSING = ("", "?", "NA", "NaN", "nan")
_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?P<name>'(?:[^'\\]|\\.)*'|"[^"]*"|[^\s{]+)\s*(?P<kind>.*)""", re.IGNORECASE
)


@dataclass(frozen=True)
class Table:
    """Named columns, each an array of floats or of texts.

    Parameters
    ----------
    names : list of str
    columns : list of arrays
    levels : dict
        Declared values of categorical columns, in order.
    """

    names: list[str]
    columns: list[AnyArray]
    levels: dict[str, list[str]] = field(default_factory=dict)

    def column(self, name: str) -> AnyArray:
        """The values of a column, as they are."""
        if name not in self.names:
            raise InvalidInputError(
                f"There is no column {name!r}; there are: {', '.join(self.names[:20])}."
            )
        return self.columns[self.names.index(name)]

    def texts(self, name: str) -> AnyArray:
        """The values of a column as texts; whole numbers without a decimal point."""
        values = self.column(name)
        return values if values.dtype.kind == "U" else np.array([f"{v:g}" for v in values])

    def numbers(self, name: str) -> FloatArray:
        """The values of a column as floats: NaN where missing, codes where the texts are words."""
        values = self.column(name)
        return values if values.dtype.kind == "f" else self._encode(name, values)

    def missing(self, name: str) -> BoolArray:
        """Where a column has no value."""
        values = self.column(name)
        return np.isin(values, _MISSING) if values.dtype.kind == "U" else np.isnan(values)

    def _encode(self, name: str, values: AnyArray) -> FloatArray:
        absent = self.missing(name)
        numbers = np.full(len(values), np.nan)
        try:
            numbers[~absent] = values[~absent].astype(np.float64)
        except ValueError:
            levels = self.levels.get(name) or sorted(set(values[~absent]))
            numbers[~absent] = [levels.index(value) for value in values[~absent]]
        return numbers


def read_delimited(content: bytes, *, delimiter: str = ",", header: bool = True) -> Table:
    """Table in delimited text.

    Parameters
    ----------
    content : bytes
        The file.
    delimiter : str, default=","
        A blank stands for any run of blanks and tabs.
    header : bool, default=True
        Whether the first line names the columns; they are called 1, 2, ... otherwise.

    Returns
    -------
    Table

    Examples
    --------
    >>> read_delimited(b"a;b\\n1;x\\n2;y\\n", delimiter=";").names
    ['a', 'b']
    """
    lines = [line for line in decode(content).splitlines() if line.strip()]
    names = None
    if header and lines:
        names = [name.strip() for name in next(_cells(lines[:1], delimiter))]
    return _from_lines(lines[bool(header) :], delimiter, names)


def read_arff(content: bytes) -> Table:
    """Table in ARFF (dense form).

    Parameters
    ----------
    content : bytes
        The file.

    Returns
    -------
    Table

    Examples
    --------
    >>> text = b"@relation r\\n@attribute a real\\n@attribute c {u, v}\\n@data\\n1, u\\n2, v\\n"
    >>> read_arff(text).levels
    {'c': ['u', 'v']}
    """
    names: list[str] = []
    levels: dict[str, list[str]] = {}
    lines = [line for line in decode(content).splitlines() if line.strip()]
    lines = [line for line in lines if not line.lstrip().startswith("%")]
    for number, line in enumerate(lines):
        declared = _ATTRIBUTE.match(line.strip())
        if declared:
            name = declared["name"].strip("'\"").strip().replace("\\", "")
            names.append(name)
            if declared["kind"].startswith("{"):
                inside = declared["kind"].strip().strip("{}")
                levels[name] = [text.strip() for text in next(_cells([inside], ",", "'"))]
        elif line.strip().lower() == "@data":
            rows = lines[number + 1 :]
            if rows and rows[0].lstrip().startswith("{"):
                raise InvalidInputError("The ARFF file is in sparse form, which is not read here.")
            table = _from_lines(rows, ",", names, quote="'")
            return Table(table.names, table.columns, levels)
    raise InvalidInputError("The ARFF file has no line '@data'.")


def decode(content: bytes) -> str:
    """Text of a file in UTF-8 or, failing that, Latin-1."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _from_lines(
    lines: list[str], delimiter: str, names: list[str] | None, quote: str = '"'
) -> Table:
    if not lines:
        raise InvalidInputError("The table has no rows.")
    try:
        # Most tables are all numbers, and this reader is an order of magnitude faster.
        matrix = np.loadtxt(lines, delimiter=delimiter.strip() or None, ndmin=2, comments=None)
        columns = [np.ascontiguousarray(column) for column in matrix.T]
    except ValueError:
        columns = _text_columns(lines, delimiter, quote)
    names = names or [str(j + 1) for j in range(len(columns))]
    if len(names) != len(columns):
        raise InvalidInputError(
            f"The table names {len(names)} columns but its rows have {len(columns)}."
        )
    return Table(names, columns)


def _text_columns(lines: list[str], delimiter: str, quote: str) -> list[AnyArray]:
    rows = list(_cells(lines, delimiter, quote))
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        raise InvalidInputError(
            f"Rows of the table have between {min(widths)} and {max(widths)} "
            "values; every row must have as many as the first."
        )
    return [np.array([cell.strip() for cell in column]) for column in zip(*rows, strict=True)]


def _cells(lines: list[str], delimiter: str, quote: str = '"') -> Iterator[list[str]]:
    text = io.StringIO("\n".join(lines))
    if not delimiter.strip():
        text = io.StringIO("\n".join(" ".join(line.split()) for line in lines))
    return csv.reader(text, delimiter=delimiter, quotechar=quote, skipinitialspace=True)
