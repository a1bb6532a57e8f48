"""The component functions of a fitted model as numbers, in the units of the user's table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake import TableReader
from s2mam.intake.columns import ColumnInfo, encode_categories
from s2mam.intake.frames import RawColumn

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["ComponentCurve", "column_names", "component_curves"]


@dataclass(frozen=True, eq=False)
class ComponentCurve:
    """Contribution of one column to the decision, as a function of its value.

    Attributes
    ----------
    name : str
        Column name.
    column : int
        Its position in the table.
    kind : {"numeric", "categorical", "constant"}
        What the column holds.
    grid : ndarray of shape (g,)
        Values in the user's units, or categories.
    values : ndarray of shape (g,) or (g, n_classes)
        Contribution at each of them.
    missing : float or ndarray of shape (n_classes,)
        Contribution of a missing value.
    observed : ndarray of shape (n,)
        Values of the column in X (positions in `grid` for categories), missing ones left out.
    n_missing : int
        Number of missing values of the column in X.
    effect : float
        Standard deviation of the contribution over the rows of X (mean over the classes).
    probability : float
        Mask probability of the column.
    """

    name: str
    column: int
    kind: str
    grid: AnyArray
    values: FloatArray
    missing: float | FloatArray
    observed: AnyArray
    n_missing: int
    effect: float
    probability: float


def component_curves(
    estimator: AdditiveEstimator,
    X: Any,
    columns: Sequence[int | str] | None = None,
    grid: int = 100,
    *,
    feature_names: Sequence[str] | None = None,
) -> list[ComponentCurve]:
    """Contribution of each column as a function of its value.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    X : array-like or dataframe of shape (n, p)
        Rows that say which values and categories to show, for example the training rows.
    columns : sequence of int or str, optional
        Columns by position or name; by default the selected ones, largest effect first.
    grid : int, default=100
        Number of values between the smallest and the largest one of a numeric column.
    feature_names : sequence of str, optional
        Names for a table without any.

    Returns
    -------
    list of ComponentCurve
        In the order of `columns`.

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=80, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> curve = component_curves(model, data.X, columns=[3], grid=5)[0]
    >>> curve.name, curve.kind, curve.values.shape
    ('x3', 'numeric', (5,))
    >>> bool(curve.values[-1] > curve.values[0])
    True
    """
    check_is_fitted(estimator, "mask_probabilities_")
    if grid < 2:
        raise InvalidInputError(f"grid={grid} must be at least 2.")
    reader = TableReader(categorical=getattr(estimator, "categorical", "auto")).fit(X)
    names = column_names(estimator, feature_names)
    contributions = estimator.contributions(X)
    effects = _effects(contributions)
    chosen = _positions(estimator, columns, names, effects)
    grids = [_grid(info, grid) for info in reader.columns_]
    # Additive: what a column adds does not depend on the others, so that one table, with the grids
    # side by side and a last row of missing values, serves them all.
    size = 1 + max(len(grids[j]) for j in chosen) if chosen else 1
    values = estimator.contributions(_grid_table(X, grids, size)) if chosen else contributions
    curves = []
    for j in chosen:
        count = len(grids[j])
        missing = values[-1, j]
        curves.append(
            ComponentCurve(
                name=names[j],
                column=j,
                kind=reader.columns_[j].kind,
                grid=grids[j],
                values=values[:count, j],
                missing=float(missing) if np.ndim(missing) == 0 else missing,
                observed=_observed(X, j, reader.columns_[j]),
                n_missing=reader.columns_[j].n_missing,
                effect=float(effects[j]),
                probability=float(estimator.mask_probabilities_[j]),
            )
        )
    return curves


def column_names(estimator: AdditiveEstimator, given: Sequence[str] | None = None) -> list[str]:
    """Names of the columns: the given ones, else those seen in fit, else x0, x1, ... .

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    given : sequence of str, optional
        One name per column.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> column_names(SimpleNamespace(n_features_in_=2))
    ['x0', 'x1']
    """
    p = estimator.n_features_in_
    if given is None:
        seen = getattr(estimator, "feature_names_in_", None)
        return [f"x{j}" for j in range(p)] if seen is None else [str(name) for name in seen]
    if len(given) != p:
        raise InvalidInputError(f"feature_names has {len(given)} names for {p} columns.")
    return [str(name) for name in given]


def _effects(contributions: FloatArray) -> FloatArray:
    spread: FloatArray = contributions.std(axis=0)
    return spread if spread.ndim == 1 else spread.mean(axis=1)


def _positions(
    estimator: AdditiveEstimator,
    columns: Sequence[int | str] | None,
    names: list[str],
    effects: FloatArray,
) -> list[int]:
    if columns is None:
        selected = np.flatnonzero(estimator.support_)
        return [int(j) for j in selected[np.argsort(-effects[selected], kind="stable")]]
    positions = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                raise InvalidInputError(f"There is no column {column!r}; known: {_some(names)}.")
            positions.append(names.index(column))
        elif -len(names) <= column < len(names):
            positions.append(int(column) % len(names))
        else:
            raise InvalidInputError(
                f"There is no column {column}; the table has {len(names)} columns."
            )
    return positions


def _some(names: list[str]) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def _grid(info: ColumnInfo, size: int) -> AnyArray:
    if info.categories is not None:
        return np.array(info.categories, dtype=object)
    if np.isnan(info.low):
        return np.empty(0)  # nothing but missing values
    if info.kind == "constant":
        return np.array([info.low])
    return np.linspace(info.low, info.high, size)


def _grid_table(X: Any, grids: list[AnyArray], size: int) -> Any:
    """A table like X whose columns run through their grids; the last row is missing throughout."""
    padded = [_pad(values, size) for values in grids]
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        if all(isinstance(name, str) for name in frame.columns):
            data = {
                name: column.tolist() for name, column in zip(frame.columns, padded, strict=True)
            }
            return nw.from_dict(data, backend=frame.implementation).to_native()
    if all(column.dtype.kind == "f" for column in padded):
        return np.column_stack(padded)
    table = np.empty((size, len(padded)), dtype=object)
    for j, column in enumerate(padded):
        table[:, j] = column
    return table


def _pad(values: AnyArray, size: int) -> AnyArray:
    missing = None if values.dtype.kind == "O" else np.nan
    column = np.full(size, missing, dtype=values.dtype)
    if len(values):
        kept = values[: size - 1]
        column[: len(kept)] = kept
        # Rows between the end of a short grid and the last one are not read.
        column[len(kept) : -1] = values[0]
    return column


def _observed(X: Any, j: int, info: ColumnInfo) -> AnyArray:
    """Values of one column of X that are not missing; positions in the grid for categories."""
    if nw.dependencies.is_into_dataframe(X):
        values = np.asarray(nw.from_native(X, eager_only=True)[:, j].to_numpy())
    else:
        values = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)[:, j]
    column = RawColumn(info.name, values)
    if info.categories is None:
        numbers = column.numbers()
        return numbers[~np.isnan(numbers)]
    codes = encode_categories(column, info.categories)
    return codes[~np.isnan(codes)].astype(np.intp)
