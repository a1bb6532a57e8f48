"""Columns of numbers in which a few cells hold something else."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from s2mam.cli.console import Console
from s2mam.cli.names import some

__all__ = ["MARKS", "is_text", "odd_cells", "read_numbers"]

#: What people write where a number or a label is not known.
MARKS = frozenset(
    {
        *("?", "??", "-", "--", ".", "*", "na", "n.a.", "n.a", "none", "nil", "unknown"),
        *("missing", "unlabeled", "unlabelled", "#value!", "#div/0!", "#ref!", "#num!"),
    }
)
# A text column with at least this share of numbers was probably meant to be one of numbers.
_MOSTLY = 0.8


def is_text(series: Any) -> bool:
    """Whether a column of pandas holds text."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    return bool(is_string_dtype(series) or is_object_dtype(series))


def odd_cells(series: Any) -> tuple[Any, Any]:
    """A text column as numbers (NaN elsewhere), and its filled cells that spell no number."""
    import pandas as pd

    numbers = pd.to_numeric(series, errors="coerce").astype("float64")
    return numbers, series[numbers.isna() & series.notna()].astype(str)


def read_numbers(
    frame: Any,
    console: Console,
    *,
    skip: Collection[str] = (),
    numeric: Collection[str] = (),
    missing: Sequence[str] = (),
) -> Any:
    """Read text columns as numbers where only marks of missing values stand in the way.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
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
    marks = MARKS | {mark.lower() for mark in missing}
    changed: dict[str, Any] = {}
    told: dict[str, list[str]] = {}
    for name in frame.columns:
        if name in skip or not is_text(frame[name]):
            continue
        numbers, odd = odd_cells(frame[name])
        if numbers.isna().all() and name not in numeric:
            continue
        values = sorted(odd.unique())
        if all(value.strip().lower() in marks for value in values):
            changed[name] = numbers
            for value in values:
                told.setdefault(value, []).append(name)
        elif name not in numeric and numbers.notna().sum() >= _MOSTLY * frame[name].notna().sum():
            console.warn(
                f"column {name!r} holds numbers but for {some([repr(v) for v in values], 3)} "
                f"({len(odd)} cells) and is read as categories; --missing {values[0]!r} reads it "
                "as numbers."
            )
    for value, names in told.items():
        console.note(f"Read {value!r} as missing in the numbers of {some(names, 5)}.")
    return frame.assign(**changed) if changed else frame
