"""Which columns of a table a model is fitted to, and those that a fitted model asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam.cli.console import Console
from s2mam.cli.names import choose, near, quoted, some
from s2mam.cli.numbers import is_text
from s2mam.exceptions import InvalidInputError

__all__ = ["ModelColumns", "choose_columns", "model_columns", "require_column", "select"]

# Text with fewer different values than this is never taken for names or identifiers.
_FEW = 20
# Text in which this share of the cells is different has nothing to learn from.
_NEARLY_ALL = 0.9
_MOSTLY_DATES = 0.95
_DATE = (
    r"(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})|\d{4}[./-]\d{1,2}[./-]\d{1,2}"
    r"|\d{1,2}[ -]?[A-Za-zäû.]{3,9}[ -]?\d{4})(?:[T ,]+\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2})?"
)
_ID = re.compile(r"(?:^|[^a-z])(?:id|uid|uuid|nr|no|num|number|index|key)(?:$|[^a-z])", re.I)


def require_column(frame: Any, name: str, label: str) -> None:
    """Refuse a table without a column; the message lists near names.

    Parameters
    ----------
    frame : pandas.DataFrame
    name, label : str
        The column and the table.
    """
    names = list(frame.columns)
    if name not in names:
        numbers = all(map(_spells_number, names))
        hint = " The first line of a table must hold the column names." if numbers else ""
        raise InvalidInputError(
            f"{label} has no column {name!r}; {near(name, names, what='it has')}{hint}"
        )
    if f"{name}.1" in names:
        raise InvalidInputError(f"{label} has two columns named {name!r}; rename one of them.")


def choose_columns(
    frame: Any,
    target: str,
    console: Console,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    categorical: Sequence[str] | None = None,
) -> tuple[Any, list[str]]:
    """The table to learn from, and the names of columns that are categories by wish.

    Left out, with a note, is what no model can learn from: row numbers without a name, dates, and
    text that is different in every row. What `columns` or `categorical` name outright stays.

    Parameters
    ----------
    frame : pandas.DataFrame
    target : str
        Never among the columns.
    console : Console
        Hears what is left out.
    columns, drop, categorical : sequences of str, optional
        Options of the user, with commas and patterns.

    Returns
    -------
    table : pandas.DataFrame
    categories : list of str
    """
    names = [name for name in frame.columns if name != target]
    kept = choose("--columns", columns, names) if columns else names
    gone = set(choose("--drop", drop, names))
    kept = [name for name in kept if name not in gone]
    categories = [n for n in choose("--categorical", categorical, names) if n in kept]
    asked = {*categories, *(kept if columns else [])}
    useless = {
        name: why
        for name in kept
        if name not in asked and (why := _why_useless(frame[name], name)) is not None
    }
    for why in dict.fromkeys(useless.values()):
        left = [name for name in kept if useless.get(name) == why]
        console.note(f"Left out, {why}: {some(left)} (--columns or --categorical keep them).")
    kept = [name for name in kept if name not in useless]
    if not kept:
        raise InvalidInputError(f"There is no column left to learn {target!r} from.")
    for name in kept:
        if name not in asked and (what := _like_an_identifier(frame[name], name)) is not None:
            console.warn(
                f"column {name!r} {what}; if it only numbers them, say --drop {quoted(name)}."
            )
    return frame[kept], categories


@dataclass(frozen=True)
class ModelColumns:
    """Columns of a fitted model.

    Attributes
    ----------
    names : list of str or None
        None where the model was fitted without names.
    text, numeric : set of str
        Those that are categories of text, and those that are numbers.
    """

    names: list[str] | None
    text: set[str]
    numeric: set[str]


def model_columns(estimator: Any) -> ModelColumns:
    """What a fitted model knows about its columns.

    Parameters
    ----------
    estimator : fitted estimator of this package
    """
    model = estimator._model
    reader = model.parts[0].reader if hasattr(model, "parts") else model.reader
    text, numeric = set(), set()
    for column in reader.columns_:
        if column.categories is None:
            numeric.add(column.name)
        elif any(isinstance(category, str) for category in column.categories):
            text.add(column.name)
    names = getattr(estimator, "feature_names_in_", None)
    return ModelColumns(None if names is None else [str(n) for n in names], text, numeric)


def select(frame: Any, estimator: Any, label: str) -> Any:
    """The columns of a table that a model asks for, in its order.

    Parameters
    ----------
    frame : pandas.DataFrame
    estimator : fitted estimator of this package
    label : str
        Name of the table, for messages.

    Returns
    -------
    pandas.DataFrame or ndarray
        An array where the model was fitted without names.
    """
    names = model_columns(estimator).names
    if names is None:
        wanted = estimator.n_features_in_
        if frame.shape[1] != wanted:
            raise InvalidInputError(
                f"The model was fitted to {wanted} columns without names, and {label} has "
                f"{frame.shape[1]}; give it these columns alone, in the order of the fit."
            )
        return frame.to_numpy()
    # The reader takes the spaces around names away; a model of a script may have them.
    bare = {name.strip(): name for name in names if name.strip() not in names}
    frame = frame.rename(columns=bare)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        hint = near(absent[0], list(frame.columns), what="it has")
        plural = "column" if len(absent) == 1 else "columns"
        raise InvalidInputError(
            f"{label} lacks {len(absent)} {plural} of the model: {some(absent)}; {hint}"
        )
    return frame[names]


def _why_useless(series: Any, name: str) -> str | None:
    from pandas.api.types import is_datetime64_any_dtype, is_timedelta64_dtype

    if name.startswith("column ") and _counts_rows(series):
        return "a row number without a name"
    if is_datetime64_any_dtype(series) or is_timedelta64_dtype(series):
        return "dates, which need to be numbers"
    if is_text(series):
        filled = series.dropna().astype(str).str.strip()
        if len(filled) and filled.str.fullmatch(_DATE).mean() >= _MOSTLY_DATES:
            return "dates, which need to be numbers"
        if filled.nunique() > max(_FEW, _NEARLY_ALL * len(filled)):
            every = filled.nunique() == len(filled)
            return f"text that is different in {'' if every else 'nearly '}every row"
    return None


def _like_an_identifier(series: Any, name: str) -> str | None:
    if _counts_rows(series):
        return "counts the rows"
    from pandas.api.types import is_integer_dtype

    filled = series.dropna()
    alike = is_integer_dtype(series) and len(filled) > _FEW and filled.is_unique
    return "is a different whole number in every row" if alike and _ID.search(name) else None


def _counts_rows(series: Any) -> bool:
    """Whether whole numbers go up or down by the same step from row to row."""
    from pandas.api.types import is_integer_dtype

    from s2mam.inspection.leaks import counts_rows

    if not is_integer_dtype(series) or len(series) < 3 or series.isna().any():
        return False
    return bool(counts_rows(series.to_numpy(dtype=np.float64)[:, None]))


def _spells_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
