"""A fitted model as a plain table that anyone can read, and predict with."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import column_names
from s2mam.inspection.frames import data_frame
from s2mam.inspection.grids import column_grid, grid_table, observed_values
from s2mam.intake import ColumnInfo, TableReader

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["ComponentTable", "component_table", "export_lookup"]


@dataclass(frozen=True, eq=False, repr=False)
class ComponentTable:
    """Components as rows of a table.

    The decision of a row is the sum of the intercept and, for every column listed here, the number
    at its value: interpolated linearly between two neighbouring ``number`` lines and held constant
    beyond the last one, read off at a ``category`` line, or taken from the ``missing`` line where
    the value is missing or a category is not listed. Columns that are not listed add nothing.

    Attributes
    ----------
    rows : list of dict
        With ``position, column, kind, value`` and one number per name in `outputs`. Kinds are
        "intercept", "number", "category" and "missing".
    outputs : list of str
        "contribution", or "class " and its name for each of three or more classes.
    columns : list of str
        All columns of the table, in order.
    link : {"identity", "logistic", "softmax"}
        What turns decisions into predictions or probabilities of the classes.
    classes : list or None
        Classes of a classifier.
    interpolation_error : float
        Largest error between two nodes, measured half way, added up over the columns.

    Examples
    --------
    >>> from s2mam import ManifoldAdditiveRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=0, random_state=0)
    >>> model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.0).fit(data.X, data.y)
    >>> table = component_table(model, data.X)
    >>> table
    ComponentTable(6 of 6 columns, ... rows)
    >>> table.to_frame().columns.tolist()
    ['position', 'column', 'kind', 'value', 'contribution']
    """

    rows: list[dict[str, Any]]
    outputs: list[str]
    columns: list[str]
    link: str
    classes: list[Any] | None
    interpolation_error: float

    def __repr__(self) -> str:
        """The numbers are attributes; here is what they are about."""
        used = len({row["position"] for row in self.rows} - {-1})
        return f"ComponentTable({used} of {len(self.columns)} columns, {len(self.rows)} rows)"

    def to_frame(self) -> Any:
        """The rows as a pandas table.

        Returns
        -------
        pandas.DataFrame
        """
        names = ["position", "column", "kind", "value", *self.outputs]
        return data_frame({name: [row[name] for row in self.rows] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, as the JSON file holds it.

        Returns
        -------
        dict
        """
        return {
            "format": "s2mam lookup 1",
            "rule": " ".join((ComponentTable.__doc__ or "").split("\n\n")[1].split()),
            "columns": self.columns,
            "outputs": self.outputs,
            "link": self.link,
            "classes": self.classes,
            "interpolation_error": self.interpolation_error,
            "rows": self.rows,
        }


def component_table(
    estimator: AdditiveEstimator,
    X: Any,
    *,
    grid: int = 200,
    margin: float = 0.25,
    feature_names: Sequence[str] | None = None,
) -> ComponentTable:
    """The components of a model as a table.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    X : array-like or dataframe of shape (n, p)
        Rows that say which values and categories to list, for example the training rows.
    grid : int, default=200
        Nodes of a numeric column: half of them evenly spaced, half at quantiles of X. A column with
        at most that many different values gets a node at each of them, where the table is exact.
    margin : float, default=0.25
        How far the evenly spaced nodes go beyond the values of X, as a share of their range.
    feature_names : sequence of str, optional
        Names for a table without any.

    Returns
    -------
    ComponentTable

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> table = component_table(model, data.X)
    >>> table.rows[0]["kind"], table.outputs, table.link
    ('intercept', ['contribution'], 'identity')
    """
    check_is_fitted(estimator, "mask_probabilities_")
    if grid < 4:
        raise InvalidInputError(f"grid={grid} must be at least 4.")
    if margin < 0.0:
        raise InvalidInputError(f"margin={margin} must not be negative.")
    reader = TableReader(categorical=getattr(estimator, "categorical", "auto")).fit(X)
    names = column_names(estimator, feature_names)
    nodes = [_nodes(X, j, info, grid, margin) for j, info in enumerate(reader.columns_)]
    values = _evaluate(estimator, X, nodes)
    classes = getattr(estimator, "classes_", None)
    outputs = ["contribution"]
    if values.shape[2] > 1 and classes is not None:
        outputs = [f"class {label}" for label in classes]
    start = np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64))
    rows = [_row(-1, "", "intercept", None, outputs, start)]
    used = []
    for j, points in enumerate(nodes):
        added, missing = values[: len(points), j], values[-1, j]
        if not (added.any() or missing.any()):
            continue
        used.append(j)
        kind = "category" if reader.columns_[j].categories is not None else "number"
        rows += [
            _row(j, names[j], kind, point, outputs, at)
            for point, at in zip(points.tolist(), added, strict=True)
        ]
        rows.append(_row(j, names[j], "missing", None, outputs, missing))
    return ComponentTable(
        rows=rows,
        outputs=outputs,
        columns=names,
        link=_link(classes),
        classes=None if classes is None else classes.tolist(),
        interpolation_error=_midway_error(estimator, X, nodes, values, used),
    )


def export_lookup(
    estimator: AdditiveEstimator, X: Any, path: str | os.PathLike[str], **options: Any
) -> ComponentTable:
    """Write the components of a model to a CSV or JSON file.

    The file predicts without this package: see :class:`ComponentTable` for the rule, which the JSON
    file spells out as well, and :func:`s2mam.inspection.predict_from_lookup` for a few lines of
    numpy that follow it.

    Parameters
    ----------
    estimator, X
        See :func:`component_table`.
    path : path
        Its ending, ``.csv`` or ``.json``, says the format. In a CSV file, values are written as
        JSON writes them, so that the text "1" and the number 1 differ.
    **options
        Further arguments of :func:`component_table`.

    Returns
    -------
    ComponentTable
        What was written.

    Examples
    --------
    >>> import tempfile
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> from s2mam.inspection import predict_from_lookup
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = export_lookup(model, data.X, folder + "/model.csv")
    ...     decision = predict_from_lookup(folder + "/model.csv", data.X)
    >>> bool(np.allclose(decision, model.predict(data.X)))
    True
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in (".csv", ".json"):
        raise InvalidInputError(f"path={str(path)!r} must end in .csv or .json.")
    table = component_table(estimator, X, **options)
    if ending == ".json":
        file.write_text(json.dumps(table.to_dict(), indent=1) + "\n", encoding="utf-8")
        return table
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["position", "column", "kind", "value", *table.outputs])
        for row in table.rows:
            value = "" if row["value"] is None else json.dumps(row["value"], ensure_ascii=False)
            numbers = [repr(row[name]) for name in table.outputs]
            writer.writerow([row["position"], row["column"], row["kind"], value, *numbers])
    return table


def _nodes(X: Any, j: int, info: ColumnInfo, grid: int, margin: float) -> AnyArray:
    points = column_grid(info, 2)
    if info.kind != "numeric":
        return points
    low, high = points
    reach = margin * (high - low)
    even = np.linspace(low - reach, high + reach, max(4, grid // 2))
    observed = observed_values(X, j, info)
    observed = np.unique(observed[~np.isnan(observed)])
    if observed.size > grid:
        observed = np.quantile(observed, np.linspace(0.0, 1.0, grid // 2), method="nearest")
    return np.unique(np.concatenate([even, observed]))


def _evaluate(estimator: AdditiveEstimator, X: Any, nodes: list[AnyArray]) -> FloatArray:
    size = 1 + max(len(points) for points in nodes)
    values = estimator.contributions(grid_table(X, nodes, size))
    return values if values.ndim == 3 else values[:, :, None]


def _midway_error(
    estimator: AdditiveEstimator,
    X: Any,
    nodes: list[AnyArray],
    values: FloatArray,
    used: list[int],
) -> float:
    numeric = [j for j in used if nodes[j].dtype.kind == "f" and len(nodes[j]) > 1]
    if not numeric:
        return 0.0
    halves = [
        (points[1:] + points[:-1]) / 2.0 if j in numeric else points[:1]
        for j, points in enumerate(nodes)
    ]
    truth = _evaluate(estimator, X, halves)
    total = 0.0
    for j in numeric:
        count = len(halves[j])
        between = (values[1 : count + 1, j] + values[:count, j]) / 2.0
        total += float(np.abs(truth[:count, j] - between).max())
    return total


def _row(
    j: int, name: str, kind: str, value: Any, outputs: list[str], numbers: FloatArray
) -> dict[str, Any]:
    row = {"position": j, "column": name, "kind": kind, "value": value}
    return row | dict(zip(outputs, numbers.tolist(), strict=True))


def _link(classes: AnyArray | None) -> str:
    if classes is None:
        return "identity"
    return "logistic" if len(classes) <= 2 else "softmax"
