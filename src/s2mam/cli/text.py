"""Text tables: encoding, delimiter, column names, decimal commas."""

from __future__ import annotations

import codecs
import csv
import io
import warnings
from collections.abc import Collection, Sequence
from typing import Any, BinaryIO

from s2mam.exceptions import InvalidInputError

__all__ = ["guess_delimiter", "read_text", "unique_names"]

_DELIMITERS = (",", "\t", ";", "|")
_HEAD = 1 << 16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# pandas reads these as missing, less "None", which is a class in many a target.
_MISSING: tuple[str, ...] = (
    "",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "#NA",
    "<NA>",
    "NaN",
    "nan",
    "-NaN",
    "-nan",
    "NULL",
)
_MISSING += ("null", "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN")


def read_text(
    stream: BinaryIO,
    label: str,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    missing: Sequence[str] = (),
    text: Collection[str] = (),
    target: str | None = None,
) -> Any:
    """Read a text table whose first line holds the names.

    Parameters
    ----------
    stream : binary stream
        Can be rewound.
    label : str
        Name of the table, for messages.
    encoding, delimiter : str, optional
        Guessed from the content by default.
    missing : sequence of str
        Cells that are missing, beside the usual ones.
    text : collection of str
        Columns to read as text, whatever they look like.
    target : str, optional
        Column in which "None" is not missing.

    Returns
    -------
    pandas.DataFrame
    """
    import pandas as pd

    head = stream.read(_HEAD)
    encoding = _encoding(head, encoding, label)
    try:
        start = head.decode(encoding, errors="replace")
        delimiter = guess_delimiter(start) if delimiter is None else _one_sign(delimiter)
        names = unique_names(_header(stream, encoding, delimiter, label))
        blank = {name: [*_MISSING, "None", *missing] for name in names}
        if target in blank:
            blank[target] = [*_MISSING, *missing]
        return _parse(
            stream,
            encoding,
            label,
            sep=delimiter,
            names=names,
            na_values=blank,
            dtype={name: str for name in names if name in text},
        )
    except UnicodeDecodeError as error:
        raise _undecodable(stream, encoding, label) from error
    except pd.errors.EmptyDataError as error:
        raise InvalidInputError(f"{label} is empty.") from error
    except (pd.errors.ParserError, csv.Error) as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
        raise InvalidInputError(
            f"Cannot read {label} as a table: {reason}; a cell with {delimiter!r} in it needs "
            "quotes, and --delimiter names another sign between the cells."
        ) from error


def guess_delimiter(start: str) -> str:
    """The sign between the cells: the one that splits the first lines most alike.

    Parameters
    ----------
    start : str
        The beginning of the table.

    Examples
    --------
    >>> guess_delimiter("a;b\\n1,5;2\\n3,5;4\\n")
    ';'
    """
    lines = [line for line in start.splitlines() if line.strip()][:20]
    if len(start) >= _HEAD and len(lines) > 1:
        lines = lines[:-1]  # it may be cut
    best, most = ",", 0
    for sign in _DELIMITERS:
        rows = list(csv.reader(lines, delimiter=sign))
        if not rows:
            break
        width = len(rows[0])
        alike = sum(len(row) == width for row in rows)
        if width > 1 and alike * width > most and 2 * alike > len(rows):
            best, most = sign, alike * width
    return best


def unique_names(names: Sequence[str]) -> list[str]:
    """Names as the models need them: none empty, none twice, no space around them.

    Parameters
    ----------
    names : sequence of str
        As they stand in the file.

    Examples
    --------
    >>> unique_names(["", " a", "a"])
    ['column 1', 'a', 'a.1']
    """
    names = [name.strip() for name in names]
    unique: list[str] = []
    taken = set(names)
    for place, name in enumerate(names, start=1):
        base = name or f"column {place}"
        candidate, number = base, 0
        while candidate in unique or (number and candidate in taken):
            number += 1
            candidate = f"{base}.{number}"
        unique.append(candidate)
    return unique


def _encoding(head: bytes, asked: str | None, label: str) -> str:
    if asked is not None:
        try:
            return codecs.lookup(asked).name
        except LookupError as error:
            raise InvalidInputError(
                f"--encoding {asked} is unknown; utf-8, latin-1 and cp1252 are common ones."
            ) from error
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\x00" in head:
        raise InvalidInputError(
            f"{label} is not a text table; CSV, TSV, parquet and Excel tables are read, by the "
            "ending of their names."
        )
    return "utf-8"


def _one_sign(delimiter: str) -> str:
    sign = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}.get(
        delimiter, delimiter
    )
    if len(sign) != 1:
        raise InvalidInputError(f"--delimiter must be one sign, or 'tab', got {delimiter!r}.")
    return sign


def _header(stream: BinaryIO, encoding: str, delimiter: str, label: str) -> list[str]:
    stream.seek(0)
    lines = io.TextIOWrapper(stream, encoding=encoding, newline="")
    try:
        rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        names = next((row for row in rows if any(cell.strip() for cell in row)), None)
    finally:
        lines.detach()  # else it closes the stream
    if names is None:
        raise InvalidInputError(f"{label} is empty.")
    return names


def _parse(stream: BinaryIO, encoding: str, label: str, **options: Any) -> Any:
    import pandas as pd

    def parse(decimal: str) -> Any:
        stream.seek(0)
        lines = io.TextIOWrapper(stream, encoding=encoding, newline="")
        try:
            return pd.read_csv(
                lines,
                header=0,
                index_col=False,
                skipinitialspace=True,
                keep_default_na=False,
                low_memory=False,
                decimal=decimal,
                **options,
            )
        finally:
            lines.detach()

    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame = parse(".")
            # Where semicolons part the cells, a comma is often the decimal sign.
            if options["sep"] == ";" and _has_decimal_commas(frame):
                frame = parse(",")
                frame.attrs["decimal_comma"] = True
            return frame
        except pd.errors.ParserWarning as warning:
            raise InvalidInputError(
                f"{label} has rows with more cells than its first line has names "
                f"({len(options['names'])}); name every column."
            ) from warning


def _has_decimal_commas(frame: Any) -> bool:
    texts = [frame[name].dropna() for name in frame.select_dtypes(["object", "string"])]
    pattern = r"[+-]?\d+(,\d+)?"
    return any(
        len(one) and one.str.fullmatch(pattern).all() and one.str.contains(",").any()
        for one in texts
    )


def _undecodable(stream: BinaryIO, encoding: str, label: str) -> InvalidInputError:
    stream.seek(0)
    for number, line in enumerate(stream, start=1):
        try:
            line.decode(encoding)
        except UnicodeDecodeError as error:
            byte = line[error.start]
            return InvalidInputError(
                f"{label}, line {number}: the byte 0x{byte:02x} is not {encoding.upper()}; try "
                "--encoding cp1252 or latin-1, or save the table as UTF-8."
            )
    return InvalidInputError(f"{label} is not {encoding.upper()}; name its --encoding.")
