"""Where a data set can be fetched, and how the file found there becomes a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

Format: TypeAlias = Literal["delimited", "arff", "mat"]

SITES: Mapping[str, str] = {
    "uci": "https://archive.ics.uci.edu/static/public/",
    "openml": "https://api.openml.org/api/v1/json/data/",
    "github": "https://raw.githubusercontent.com/",
}


@dataclass(frozen=True)
class Route:
    """One file on the internet and how to read it.

    Parameters
    ----------
    site : str
        Key of `SITES`.
    path : str
        Address below the site.
    checksum : str or None
        sha256 or md5 of the file, where known.
    members : tuple of str
        Files of the archive, their rows joined in this order; empty for the file itself.
    format : {"delimited", "arff", "mat"}
        Kind of file; "mat" is MATLAB's with the arrays X and Y or y.
    delimiter, header
        See `s2mam.datasets.tables.read_delimited`.
    names : str or tuple of str
        New names for the predictors, in their order: a pattern with {number}, {column} and {row},
        or all of them; those of the file when empty.
    target : str
        Name of the target in the file; its last column when empty.
    labels : mapping
        Class name for each label in the file, in the order of the codes; empty for the sorted
        labels themselves.
    drop : tuple of str
        Columns left out.
    columns : tuple of str
        The predictors by their names in the file, in the order wanted; all other columns that
        have no part of their own when empty.
    groups, groups_pattern : str
        Column that tells which rows belong together, and the part of its text that does.
    column_groups : str
        Part of a predictor's name that it shares with those of its group (feature_group of the
        result); empty for none.
    keep : mapping
        Further arrays of the result, by the column (or MATLAB array) they are read from.
    indicator : str
        Name of an additional column: the number of the member a row comes from.
    one_hot : tuple of str
        Columns turned into one column a level.
    complete_rows : bool
        Leave out rows with missing values.
    missing_columns : float
        Leave out columns with a larger missing share; other gaps are filled with the median.
        1 leaves everything as it is.
    sample : int
        Number of rows to keep, drawn with ``numpy.random.default_rng(0)``; 0 for all.
    rows_known : bool
        Whether the number of rows in the registry was seen in the file itself.
    """

    site: str
    path: str
    checksum: str | None = None
    members: tuple[str, ...] = ()
    format: Format = "delimited"
    delimiter: str = ","
    header: bool = True
    names: str | tuple[str, ...] = ""
    target: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    groups: str = ""
    groups_pattern: str = "(.*)"
    column_groups: str = ""
    keep: Mapping[str, str] = field(default_factory=dict)
    indicator: str = ""
    one_hot: tuple[str, ...] = ()
    complete_rows: bool = False
    missing_columns: float = 1.0
    sample: int = 0
    rows_known: bool = True


@cache
def all_routes() -> dict[str, tuple[Route, ...]]:
    """The routes to each data set, best first.

    Examples
    --------
    >>> all_routes()["ionosphere"][0].path
    '52/ionosphere.zip'
    """
    text = files("s2mam.datasets").joinpath("routes.json").read_text(encoding="utf-8")
    return {name: tuple(map(_read, entries)) for name, entries in json.loads(text).items()}


def _read(entry: dict[str, Any]) -> Route:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
    return Route(**values)
