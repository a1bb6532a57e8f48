"""Predictions from an exported table, with numpy alone: copy it to where the package is not."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import InvalidInputError

__all__ = ["predict_from_lookup"]

_DESCRIBING = ("position", "column", "kind", "value")


def predict_from_lookup(source: Any, X: Any) -> FloatArray:
    """Decision values of rows from an exported table.

    Equal to the model up to rounding at the nodes of numeric columns, for categories and for
    missing values; between the nodes up to the ``interpolation_error`` of the table, measured half
    way between nodes. Beyond the outermost nodes a component is held constant.

    Parameters
    ----------
    source : path, dict or ComponentTable
        A file of :func:`s2mam.inspection.export_lookup`, what ``json.load`` reads from one, or the
        table itself.
    X : array-like of shape (n, p), dataframe, or mapping of names to columns
        Columns are found by name where X has names, else by position.

    Returns
    -------
    ndarray of shape (n,) or (n, n_classes)
        Predictions of a regression, log-odds of the second class, or one score per class.

    Examples
    --------
    >>> rows = [
    ...     {"position": -1, "column": "", "kind": "intercept", "value": None, "contribution": 1.0},
    ...     {"position": 0, "column": "a", "kind": "number", "value": 0.0, "contribution": 0.0},
    ...     {"position": 0, "column": "a", "kind": "number", "value": 2.0, "contribution": 4.0},
    ...     {"position": 0, "column": "a", "kind": "missing", "value": None, "contribution": 0.5},
    ... ]
    >>> predict_from_lookup({"rows": rows}, [[0.5], [9.0], [None]])
    array([2. , 5. , 1.5])
    """
    rows = _rows(source)
    outputs = [name for name in rows[0] if name not in _DESCRIBING]
    components: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        components.setdefault(int(row["position"]), []).append(row)
    start = components.pop(-1)[0]
    total: FloatArray | None = None
    for position, listed in components.items():
        values = _column(X, position, str(listed[0]["column"]))
        added = _component(listed, outputs, values)
        total = added if total is None else total + added
    if total is None:
        total = np.zeros((len(_column(X, 0, None)), len(outputs)))
    total = total + np.array([float(start[name]) for name in outputs])
    return total[:, 0] if len(outputs) == 1 else total


def _rows(source: Any) -> list[Mapping[str, Any]]:
    if hasattr(source, "rows"):
        return list(source.rows)
    if isinstance(source, Mapping):
        return list(source["rows"])
    path = os.fspath(source)
    with open(path, encoding="utf-8", newline="") as stream:
        if path.lower().endswith(".json"):
            return list(json.load(stream)["rows"])
        rows: list[Mapping[str, Any]] = []
        for row in csv.DictReader(stream):
            rows.append({**row, "value": json.loads(row["value"]) if row["value"] else None})
    if not rows or not set(_DESCRIBING) <= set(rows[0]):
        raise InvalidInputError(
            f"{path!r} is not a table of export_lookup: its first line must name "
            f"{', '.join(_DESCRIBING)}."
        )
    return rows


def _column(X: Any, position: int, name: str | None) -> AnyArray:
    """One column as objects, by name where there are names."""
    names = list(X) if isinstance(X, Mapping) else list(getattr(X, "columns", []))
    if names and all(isinstance(known, str) for known in names):
        if name is not None and name not in names:
            raise InvalidInputError(f"X has no column {name!r}, which the table needs.")
        return np.asarray(X[names[0] if name is None else name], dtype=object)
    table = np.asarray(X, dtype=object)
    if table.ndim != 2 or table.shape[1] <= position:
        raise InvalidInputError(
            f"X has shape {table.shape}, but the table needs column {position} ({name!r})."
        )
    return table[:, position]


def _component(listed: list[Mapping[str, Any]], outputs: list[str], values: AnyArray) -> FloatArray:
    """What one column adds to every row (n, outputs)."""
    numbers = np.array([[float(row[name]) for name in outputs] for row in listed])
    kinds = np.array([row["kind"] for row in listed])
    result = np.tile(numbers[kinds == "missing"][0], (len(values), 1))
    present = np.array([_is_present(value) for value in values], dtype=bool)
    if "number" in kinds:
        nodes = np.array([row["value"] for row in listed if row["kind"] == "number"], dtype=float)
        at = values[present].astype(float)
        for k in range(len(outputs)):
            result[present, k] = np.interp(at, nodes, numbers[kinds == "number", k])
        return result
    known = {
        _key(row["value"]): numbers[i] for i, row in enumerate(listed) if row["kind"] == "category"
    }
    for i in np.flatnonzero(present):
        result[i] = known.get(_key(values[i]), result[i])
    return result


def _is_present(value: Any) -> bool:
    """Whether a value is there: None, NaN and the like are not equal to themselves."""
    if value is None:
        return False
    same = value == value
    return isinstance(same, bool | np.bool_) and bool(same)


def _key(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
