"""Tables in, from any kind of file: CSV, TSV, parquet, Excel, standard input."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from s2mam.cli.console import Console
from s2mam.cli.names import near, some
from s2mam.cli.numbers import read_numbers
from s2mam.cli.text import read_text, unique_names
from s2mam.exceptions import InvalidInputError, MissingDependencyError

__all__ = [
    "Delimiter",
    "Encoding",
    "Missing",
    "Sheet",
    "Table",
    "TableOptions",
    "existing_file",
    "name_of",
    "read_table",
]


def existing_file(path: Path | None) -> Path | None:
    """Refuse, as wrong usage, a table that is not there."""
    if path is None:
        return None
    if str(path) != "-" and not path.exists():
        raise typer.BadParameter(f"there is no file {str(path)!r}.")
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder.")
    return path


Table = Annotated[
    Path,
    typer.Argument(
        callback=existing_file,
        help="Table: .csv, .tsv, .parquet or .xlsx; .gz too; - for CSV on standard input.",
    ),
]
Encoding = Annotated[str | None, typer.Option(help="Of a text table, such as latin-1; else UTF-8.")]
Delimiter = Annotated[
    str | None, typer.Option(help="Between the cells of a text table; else it is guessed.")
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="A cell that is missing, such as -999; may be given again."),
]

Sheet = Annotated[str | None, typer.Option(help="Of an Excel table; else the first one.")]

_EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
_PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class TableOptions:
    """How to read a table; see `read_text`. By default the first sheet is read."""

    encoding: str | None = None
    delimiter: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None


def read_table(
    path: Path,
    console: Console,
    options: TableOptions | None = None,
    *,
    target: str | None = None,
    text: Collection[str] = (),
    numeric: Collection[str] = (),
) -> Any:
    """Read a table.

    Parameters
    ----------
    path : Path
        The file; ``-`` is standard input.
    console : Console
        Hears what was done about odd cells and names.
    options : TableOptions, optional
        What the user said about the file.
    target : str, optional
        Column to leave as it is.
    text, numeric : collections of str
        Columns that a model takes as categories of text, or as numbers.

    Returns
    -------
    pandas.DataFrame
        With names that are text, none of them empty or twice, without spaces around them.
    """
    console.wait(f"Reading {name_of(path)}")
    _require_pandas()
    options = TableOptions() if options is None else options
    text, numeric = {name.strip() for name in text}, {name.strip() for name in numeric}
    label = name_of(path)
    suffix = path.suffix.lower()
    if suffix in _PARQUET:
        frame = _blanked(_named(_read_parquet(path)), options.missing)
    elif suffix in _EXCEL:
        frame = _blanked(_named(_read_excel(path, options.sheet, console)), options.missing)
    else:
        given = options.delimiter
        if given is None and _inner_suffix(path) in (".tsv", ".tab"):
            given = "\t"
        with _open(path, label) as stream:
            frame = read_text(
                stream,
                label,
                encoding=options.encoding,
                delimiter=given,
                missing=options.missing,
                text=text,
                target=target,
            )
    if frame.empty:
        raise InvalidInputError(f"{label} has no rows.")
    _tell_renamed(frame, console, label)
    frame = read_numbers(
        frame,
        console,
        skip={*text, *([] if target is None else [target])},
        numeric=numeric,
        missing=options.missing,
    )
    console.go_on()
    return frame


def name_of(path: Path) -> str:
    """What messages call a table.

    Examples
    --------
    >>> name_of(Path("-"))
    'standard input'
    """
    return "standard input" if str(path) == "-" else str(path)


def _require_pandas() -> None:
    if find_spec("pandas") is None:
        raise MissingDependencyError("Tables need pandas; install it with: pip install pandas.")


def _inner_suffix(path: Path) -> str:
    return Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()


def _open(path: Path, label: str) -> BinaryIO:
    """A stream that can be rewound, unpacked where it is gzip."""
    stream: BinaryIO
    if str(path) == "-":
        stream = io.BytesIO(sys.stdin.buffer.read())
    else:
        stream = path.open("rb")
        if not stream.seekable():  # a named pipe, or <(...) of a shell
            with stream:
                stream = io.BytesIO(stream.read())
    packed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    if not packed:
        return stream
    try:
        with stream:
            return io.BytesIO(gzip.decompress(stream.read()))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidInputError(f"{label} is a damaged gzip file: {error}.") from error


def _read_excel(path: Path, sheet: str | None, console: Console) -> Any:
    import pandas as pd

    package = {".xls": "xlrd", ".ods": "odfpy"}.get(path.suffix.lower(), "openpyxl")
    try:
        with pd.ExcelFile(path) as book:
            named = _sheet(path, sheet, list(map(str, book.sheet_names)), console)
            return pd.read_excel(book, sheet_name=named)
    except ImportError as error:
        raise MissingDependencyError(
            f"Reading {path} needs {package}; install it with: pip install {package}."
        ) from error
    except InvalidInputError:
        raise
    except (ValueError, KeyError, zlib.error) as error:
        raise InvalidInputError(f"Cannot read {path} as a spreadsheet: {error}.") from error


def _sheet(path: Path, asked: str | None, sheets: list[str], console: Console) -> str:
    if asked is not None and asked not in sheets:
        hint = near(asked, sheets, what="it has")
        raise InvalidInputError(f"{path} has no sheet {asked!r}; {hint}")
    if asked is None and len(sheets) > 1:
        console.note(f"{path} has {len(sheets)} sheets; read {sheets[0]!r} (--sheet for another).")
    return sheets[0] if asked is None else asked


def _read_parquet(path: Path) -> Any:
    import pandas as pd

    try:
        if find_spec("pyarrow") is None and find_spec("polars") is not None:
            import polars as pl

            try:
                return pd.DataFrame(pl.read_parquet(path).to_dict(as_series=False))
            except pl.exceptions.PolarsError as error:
                raise ValueError(error) from error
        return pd.read_parquet(path)
    except ImportError as error:
        raise MissingDependencyError(
            f"Reading {path} needs pyarrow; install it with: pip install pyarrow."
        ) from error
    except ValueError as error:  # pyarrow's errors are among them
        raise InvalidInputError(f"Cannot read {path} as a parquet file: {error}.") from error


def _named(frame: Any) -> Any:
    names = ["" if str(name).startswith("Unnamed: ") else str(name) for name in frame.columns]
    return frame.set_axis(unique_names(names), axis=1)


def _blanked(frame: Any, missing: tuple[str, ...]) -> Any:
    """A table whose cells have types already, less the cells that are missing."""
    marks: list[Any] = list(missing)
    for mark in missing:
        with suppress(ValueError):
            marks.append(float(mark))
    return frame.mask(frame.isin(marks)) if marks else frame


def _tell_renamed(frame: Any, console: Console, label: str) -> None:
    names = list(map(str, frame.columns))
    twice = [name for name in names if f"{name}.1" in names]
    if twice:
        console.note(
            f"{label} has columns of the same name: {some(twice)}; later ones are called "
            f"{twice[0]!r}.1 and so on.".replace("'.1", ".1'")
        )
