"""The target of a table: which cells are labels, and classes or numbers?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from s2mam.cli.console import Console
from s2mam.cli.names import some
from s2mam.cli.numbers import MARKS, is_text, number_cells
from s2mam.exceptions import InvalidInputError, NoLabelsError

__all__ = ["Target", "Task", "read_target"]

# Whole numbers with at most this many different values are read as classes.
_MAX_CLASSES = 10


class Task(StrEnum):
    """What to learn."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


@dataclass(frozen=True)
class Target:
    """Labels as an estimator takes them.

    Attributes
    ----------
    y : pandas.Series
        Missing where unlabelled.
    classification : bool
    n_labeled : int
    counts : dict
        Rows per class; empty for numbers.
    """

    y: Any
    classification: bool
    n_labeled: int
    counts: dict[Any, int]


def read_target(series: Any, task: Task, marker: str | None, console: Console) -> Target:
    """Read the target and say on the console how it was read.

    Parameters
    ----------
    series : pandas.Series
        The column, empty where unlabelled; its attribute "decimal_comma" says that commas are
        decimal signs.
    task : Task
        "auto" looks at the labels.
    marker : str or None
        What marks unlabelled rows beside an empty cell; with None, -1 does among classes.
    console : Console

    Returns
    -------
    Target
    """
    comma = bool(series.attrs.get("decimal_comma"))
    series = _without_marker(series, marker)
    if is_text(series):
        series = _numbers_or_text(series, task, console, comma)
    y = series.convert_dtypes()
    if y.isna().all():
        raise NoLabelsError(f"No cell of {y.name!r} is filled; at least one label is needed.")
    classification = _is_classification(y, task, marker)
    if not classification:
        return _numbers(y, task, console)
    from pandas.api.types import is_numeric_dtype

    if marker is None and is_numeric_dtype(y):
        y = y.mask(y == -1)  # as scikit-learn marks unlabelled rows
    known = y.dropna()
    if known.empty:
        raise NoLabelsError(f"All labels of {y.name!r} are -1, which marks unlabelled rows.")
    counts = {_scalar(label): int(n) for label, n in known.value_counts().sort_index().items()}
    _tell_classes(y, counts, task, console)
    # As objects: beside missing cells pandas would hand out whole numbers as 0.0 and 1.0.
    return Target(y.astype(object).where(y.notna(), None), True, len(known), counts)


def _without_marker(series: Any, marker: str | None) -> Any:
    if not marker:
        return series
    hidden = series.astype(str).str.strip() == marker
    if not is_text(series):
        with suppress(ValueError):
            hidden |= series == float(marker)
    return series.mask(hidden)


def _numbers_or_text(series: Any, task: Task, console: Console, comma: bool) -> Any:
    """Text as numbers where it spells them, known marks of missing values apart."""
    cells = number_cells(series, comma=comma)
    numbers, odd = cells.numbers, cells.odd
    name, values = series.name, sorted(odd.unique())
    plenty = numbers.notna().sum() > 0
    if plenty and not values:
        if task is Task.classification and (cells.marks or cells.example is not None):
            return series
        for value, count in cells.marks.items():
            console.note(f"{name}: read {value!r} as unlabelled ({count} cells).")
        if cells.example is not None:
            console.note(f"{name}: read {cells.example[0]!r} as {cells.example[1]:g}.")
        return numbers
    if task is Task.regression or (task is Task.auto and plenty and len(values) == 1):
        row, value = odd.index[0], odd.iloc[0]
        where = f"{int((odd == value).sum())} cells, first: row {int(row) + 1}"
        or_class = "" if task is Task.regression else "; if it is a class, --task classification"
        raise InvalidInputError(
            f"{name!r} holds {value!r} ({where}) where numbers are expected; if it marks "
            f"unlabelled rows, say --unlabeled {value!r}{or_class}."
        )
    return series


def _is_classification(y: Any, task: Task, marker: str | None) -> bool:
    if task is not Task.auto:
        return task is Task.classification
    from pandas.api.types import is_float_dtype, is_integer_dtype

    known = y.dropna()
    if is_float_dtype(known):
        return False
    if is_integer_dtype(known):
        classes = known.nunique() - int(marker is None and bool((known == -1).any()))
        return bool(classes <= _MAX_CLASSES)
    return True


def _numbers(y: Any, task: Task, console: Console) -> Target:
    from pandas.api.types import is_datetime64_any_dtype

    if is_datetime64_any_dtype(y):
        raise InvalidInputError(f"{y.name!r} holds dates; a target must be numbers or classes.")
    numbers = y.astype("float64")
    n_labeled = int(numbers.notna().sum())
    guess = "" if task is not Task.auto else "; --task classification for classes"
    console.note(
        f"{y.name}: {n_labeled} of {len(y)} rows labelled, numbers from {numbers.min():g} to "
        f"{numbers.max():g}, so regression{guess}."
    )
    return Target(numbers, False, n_labeled, {})


def _tell_classes(y: Any, counts: dict[Any, int], task: Task, console: Console) -> None:
    shown = some([f"{label}: {n}" for label, n in counts.items()], 8)
    numbers = all(isinstance(label, int | float) for label in counts)
    guess = "; --task regression for numbers" if task is Task.auto and numbers else ""
    n_labeled = sum(counts.values())
    plural = "class" if len(counts) == 1 else "classes"
    console.note(
        f"{y.name}: {n_labeled} of {len(y)} rows labelled, {len(counts)} {plural} ({shown}), so "
        f"classification{guess}."
    )
    for label in counts:
        if str(label).strip().lower() in MARKS:
            console.warn(
                f"the class {label!r} of {y.name!r} looks like a mark of unlabelled rows; if it is "
                f"one, say --unlabeled {label!r}."
            )
    if len(counts) == 1:
        console.warn(f"{y.name!r} has one class only, which every row will be given.")
    elif 2 * len(counts) > n_labeled and len(counts) > _MAX_CLASSES:
        console.warn(f"{y.name!r} has {len(counts)} classes for {n_labeled} labels.")


def _scalar(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
