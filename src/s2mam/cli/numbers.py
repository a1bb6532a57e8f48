"""Columns of text that were meant to be numbers: marks of missing values, units, commas."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from s2mam.cli.console import Console
from s2mam.cli.names import some
from s2mam.cli.spelled import decimal_sign, read_spelled

__all__ = ["MARKS", "NumberCells", "is_text", "number_cells", "read_numbers"]

#: What people write where a value is not known, and never where it is.
_NO_VALUE = frozenset(
    {
        *("?", "??", "n.a.", "n.a", "n. a.", "n.d.", "n/d", "s/d", "k.a.", "k. a.", "k.a", "k/a"),
        *("#value!", "#div/0!", "#ref!", "#num!", "#name?", "(null)", "\\n", "keine angabe"),
        *("not available", "not applicable", "no data", "<na>", "n/a", "na", "nan", "null"),
    }
)
#: The same among numbers and labels, where these words can be nothing else.
MARKS = _NO_VALUE | {
    *("-", "--", "---", "–", "—", ".", "..", "...", "*", "none", "nil", "unknown", "unk"),
    *("missing", "unlabeled", "unlabelled", "unbekannt", "fehlt", "fehlend", "inconnu"),
    *("desconocido", "sconosciuto", "onbekend"),
}
# A minus is no value, unless it is the other half of plus and minus.
_DASHES = frozenset({"-", "--", "---", "–", "—", "."})
# A text column with at least this share of numbers was probably meant to be one of numbers.
_MOSTLY = 0.8


@dataclass(frozen=True)
class NumberCells:
    """A text column as numbers.

    Attributes
    ----------
    numbers : pandas.Series
        NaN where a cell is empty, a mark, or no number.
    marks : dict of str to int
        Marks of missing values, with the number of cells of each.
    odd : pandas.Series
        Filled cells that are neither.
    example : tuple of (str, float) or None
        A cell with a unit or other signs for thousands and decimals, and what it was read as.
    """

    numbers: Any
    marks: dict[str, int]
    odd: Any
    example: tuple[str, float] | None = None


def is_text(series: Any) -> bool:
    """Whether a column of pandas holds text."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    return bool(is_string_dtype(series) or is_object_dtype(series))


def number_cells(series: Any, *, missing: Sequence[str] = (), comma: bool = False) -> NumberCells:
    """Look at a text column as one of numbers.

    Parameters
    ----------
    series : pandas.Series
        The column.
    missing : sequence of str
        Marks beside the usual ones.
    comma : bool, default=False
        Whether the table has decimal commas.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = number_cells(pd.Series(["7,5 %", "k.A.", "12 %"]))
    >>> cells.numbers.tolist(), cells.marks, cells.example
    ([7.5, nan, 12.0], {'k.A.': 1}, ('7,5 %', 7.5))
    """
    import pandas as pd

    marks = MARKS | {mark.strip().lower() for mark in missing}
    filled = series.dropna().astype(str)
    marked = filled.str.strip().str.lower().isin(marks)
    cells = filled[~marked]
    counts = {str(mark): int(n) for mark, n in filled[marked].value_counts().items()}
    numbers = pd.to_numeric(cells, errors="coerce").astype("float64")
    odd, example = cells[numbers.isna()], None
    if len(odd) or comma:
        distinct = cells.unique().tolist()
        spelled = read_spelled(distinct, comma=comma)
        if spelled is not None:
            numbers = cells.map(dict(zip(distinct, spelled.numbers, strict=True)))
            odd, example = cells.iloc[:0], spelled.example
    return NumberCells(numbers.astype("float64").reindex(series.index), counts, odd, example)


def read_numbers(
    frame: Any,
    console: Console,
    *,
    skip: Collection[str] = (),
    numeric: Collection[str] = (),
    missing: Sequence[str] = (),
) -> Any:
    """Read text columns as numbers where that is what they hold; blank marks in the others.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table; its attribute "decimal_comma" says that commas are decimal signs.
    console : Console
        Hears about it.
    skip : collection of str
        Columns to leave as they are.
    numeric : collection of str
        Columns that are numbers even when this table has none in them.
    missing : sequence of str
        Further marks.

    Returns
    -------
    pandas.DataFrame
    """
    comma = bool(frame.attrs.get("decimal_comma")) or _has_decimal_commas(frame, skip)
    changed: dict[str, Any] = {}
    marked: dict[str, list[str]] = {}
    spelled: list[str] = []
    for name in frame.columns:
        if name in skip or not is_text(frame[name]):
            continue
        cells = number_cells(frame[name], missing=missing, comma=comma)
        marks = list(cells.marks)
        if cells.odd.empty and (cells.numbers.notna().any() or name in numeric):
            changed[name] = cells.numbers
            if cells.example is not None:
                spelled.append(f"{name} ({cells.example[0]!r} is {cells.example[1]:.10g})")
        else:
            marks = _no_values(frame[name], marks)
            if marks:
                changed[name] = frame[name].mask(frame[name].isin(marks))
            if name not in numeric:
                _warn_of_odd(name, cells, console)
        for mark in marks:
            marked.setdefault(mark, []).append(name)
    if spelled:
        console.note(f"Read as numbers: {some(spelled, 5)}.")
    if marked:
        names = list(dict.fromkeys(name for found in marked.values() for name in found))
        shown = some([repr(mark) for mark in sorted(marked)], 8)
        console.note(f"Read {shown} as missing in {some(names, 5)}.")
    frame = frame.assign(**changed) if changed else frame
    frame.attrs["decimal_comma"] = comma  # the target is read later
    return frame


def _warn_of_odd(name: str, cells: NumberCells, console: Console) -> None:
    known = int(cells.numbers.notna().sum())
    if not known or known < _MOSTLY * (known + len(cells.odd)):
        return
    values = sorted(cells.odd.unique())
    options = " ".join(f"--missing {value!r}" for value in values)
    way = f"{options} reads it as numbers" if len(values) <= 3 else "correct them in the table"
    console.warn(
        f"column {name!r} holds numbers but for {some([repr(v) for v in values], 3)} "
        f"({len(cells.odd)} cells) and is read as categories; {way}."
    )


def _no_values(series: Any, marks: list[str]) -> list[str]:
    """Marks that say even among categories that there is no value."""
    distinct = set(series.dropna().astype(str).str.strip().unique())
    certain = _NO_VALUE if "+" in distinct else _NO_VALUE | _DASHES
    return [mark for mark in marks if mark.strip().lower() in certain]


def _has_decimal_commas(frame: Any, skip: Collection[str]) -> bool:
    """Whether the numbers of a column are numbers with decimal commas only."""
    for name in frame.columns:
        if name not in skip and is_text(frame[name]):
            cells = frame[name].dropna().astype(str).str.strip()
            distinct = cells[~cells.str.lower().isin(MARKS)].unique().tolist()
            if decimal_sign(distinct) == ",":
                return True
    return False
