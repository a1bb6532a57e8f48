"""From a downloaded file to the Bunch that `load` returns."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable

import numpy as np
from sklearn.utils import Bunch

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.datasets.archives import unpack
from s2mam.datasets.registry import DatasetInfo
from s2mam.datasets.routes import Route
from s2mam.datasets.tables import Table, read_arff, read_delimited
from s2mam.exceptions import InvalidInputError


def convert(content: bytes, route: Route, facts: DatasetInfo) -> Bunch:
    """Read a file as its route says.

    Parameters
    ----------
    content : bytes
        The file, perhaps an archive.
    route : Route
        How to read it.
    facts : DatasetInfo
        What to expect: task and shape.

    Returns
    -------
    Bunch
        X, y, feature_names, class_names, groups, further arrays.
    """
    if route.format == "mat":
        data = _from_mat(content, route, facts)
    else:
        data = _from_table(content, route, facts)
    if route.sample:
        _sample_rows(data, route.sample)
    found, expected = data.X.shape, (facts.n_rows, facts.n_columns)
    if found[1] != expected[1] or (route.rows_known and found[0] != expected[0]):
        raise InvalidInputError(
            f"the table has {found[0]} rows and {found[1]} columns, "
            f"not {expected[0]} and {expected[1]}"
        )
    if route.names:
        data.feature_names = _predictor_names(route.names, found[1])
    if route.column_groups:
        keys = _parts(data.feature_names, route.column_groups)
        data.feature_group = np.array([list(dict.fromkeys(keys)).index(key) for key in keys])
    return data


def _from_mat(content: bytes, route: Route, facts: DatasetInfo) -> Bunch:
    from scipy.io import loadmat  # few sets need it, and it is slow to import
    from scipy.io.matlab import MatReadError

    try:
        arrays = loadmat(io.BytesIO(content))
        X, labels = arrays["X"], np.ravel(arrays["Y" if "Y" in arrays else "y"])
    except (MatReadError, ValueError, TypeError, NotImplementedError, KeyError) as error:
        raise InvalidInputError(f"the MATLAB file cannot be read: {error}") from error
    y, classes = _target(Table(["y"], [labels.astype(np.float64)]), "y", route, facts)
    # MATLAB counts rows from one.
    kept = {new: arrays[old].astype(np.intp) - 1 for new, old in route.keep.items()}
    return Bunch(X=X, feature_names=[], y=y, class_names=classes, groups=None, **kept)


def _from_table(content: bytes, route: Route, facts: DatasetInfo) -> Bunch:
    tables = [_read(unpack(content, member), route) for member in route.members or ("",)]
    table = _stack(tables, route.indicator)
    target = route.target or tables[0].names[-1]
    if route.complete_rows:
        table = _select_rows(table, ~np.any([table.missing(n) for n in table.names], axis=0))
    out = {target, route.groups, *route.drop, *route.keep.values()}
    predictors = list(route.columns) or [name for name in table.names if name not in out]
    columns, names = _encode(table, predictors, route)
    X = np.column_stack(columns)
    if route.missing_columns < 1:
        X, names = _fill(X, names, route.missing_columns)
    y, classes = _target(table, target, route, facts)
    kept = {new: table.numbers(old) for new, old in route.keep.items()}
    return Bunch(
        X=X, y=y, feature_names=names, class_names=classes, groups=_groups(table, route), **kept
    )


def _read(content: bytes, route: Route) -> Table:
    if route.format == "arff":
        return read_arff(content)
    return read_delimited(content, delimiter=route.delimiter, header=route.header)


def _stack(tables: list[Table], indicator: str) -> Table:
    first = tables[0]
    if any(table.names != first.names for table in tables):
        raise InvalidInputError("the files of the archive do not have the same columns")
    columns = [np.concatenate([table.column(name) for table in tables]) for name in first.names]
    names = list(first.names)
    if indicator:
        names.append(indicator)
        sizes = [len(table.columns[0]) for table in tables]
        columns.append(np.repeat(np.arange(len(tables), dtype=np.float64), sizes))
    return Table(names, columns, first.levels)


def _select_rows(table: Table, rows: BoolArray) -> Table:
    return Table(table.names, [column[rows] for column in table.columns], table.levels)


def _encode(
    table: Table, predictors: list[str], route: Route
) -> tuple[list[FloatArray], list[str]]:
    columns: list[FloatArray] = []
    names: list[str] = []
    for name in predictors:
        if name in route.one_hot:
            texts = table.texts(name)
            levels = table.levels.get(name) or sorted(set(texts))
            columns += [(texts == level).astype(np.float64) for level in levels]
            names += [f"{name}={level}" for level in levels]
        else:
            columns.append(table.numbers(name))
            names.append(name)
    return columns, names


def _fill(X: FloatArray, names: list[str], share: float) -> tuple[FloatArray, list[str]]:
    keep = np.isnan(X).mean(axis=0) <= share
    X = X[:, keep]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    return X, [name for name, kept in zip(names, keep, strict=True) if kept]


def _target(
    table: Table, name: str, route: Route, facts: DatasetInfo
) -> tuple[AnyArray, list[str] | None]:
    if facts.task == "regression":
        return table.numbers(name), None
    labels = _plain_labels(table, name)
    known = list(route.labels) or sorted(set(labels), key=_numeric_first)
    unknown = set(labels) - set(known)
    if unknown:
        raise InvalidInputError(f"the target holds labels that are not known: {sorted(unknown)}")
    codes = {label: code for code, label in enumerate(known)}
    return np.array([codes[label] for label in labels]), [route.labels.get(k, k) for k in known]


def _plain_labels(table: Table, name: str) -> list[str]:
    """Labels as texts, numbers in their shortest form ("1." and "1.0" are "1")."""
    if table.missing(name).any():
        raise InvalidInputError(f"the target {name!r} has missing values")
    return [_shortest(text) for text in table.texts(name)]


def _shortest(text: str) -> str:
    try:
        return f"{float(text):g}"
    except ValueError:
        return str(text)


def _numeric_first(label: str) -> tuple[float, str]:
    try:
        return float(label), label
    except ValueError:
        return math.inf, label


def _groups(table: Table, route: Route) -> AnyArray | None:
    if not route.groups:
        return None
    keys = _parts(table.texts(route.groups), route.groups_pattern)
    return np.unique(keys, return_inverse=True)[1]


def _parts(texts: Iterable[str], pattern: str) -> list[str]:
    found = [(text, re.search(pattern, text)) for text in texts]
    return [match[1] if match else str(text) for text, match in found]


def _sample_rows(data: Bunch, size: int) -> None:
    chosen = np.sort(np.random.default_rng(0).choice(len(data.X), size, replace=False))
    data.X, data.y, data.row_index = data.X[chosen], data.y[chosen], chosen


def _predictor_names(names: str | tuple[str, ...], count: int) -> list[str]:
    if not isinstance(names, str):
        return list(names)
    side = math.isqrt(count)
    return [names.format(number=j + 1, column=j // side, row=j % side) for j in range(count)]
