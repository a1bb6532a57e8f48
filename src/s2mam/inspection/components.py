"""The component functions of a fitted model as numbers, in the units of the user's table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.grids import column_grid, grid_table, observed_values, usual_range
from s2mam.intake import TableReader

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["ComponentCurve", "column_names", "column_positions", "component_curves", "effects"]


@dataclass(frozen=True, eq=False, repr=False)
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
        Values in the user's units, evenly spaced from the smallest to the largest (denser where
        nearly all rows are, when a few lie far out), or categories.
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

    Examples
    --------
    >>> from s2mam import ManifoldAdditiveRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=0, random_state=0)
    >>> model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.0).fit(data.X, data.y)
    >>> curve = component_curves(model, data.X, columns=[3])[0]
    >>> curve
    ComponentCurve('x3', numeric, 100 values)
    >>> bool(curve.values[-1] > curve.values[0])  # the larger x3, the larger the prediction
    True
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

    def __repr__(self) -> str:
        """The numbers are attributes; here is what they are about."""
        return f"ComponentCurve({self.name!r}, {self.kind}, {len(self.grid)} values)"

    @property
    def usual_range(self) -> tuple[float, float]:
        """Where nearly all values of a numeric column lie: what pictures show.

        It is the whole range unless a few rows lie so far out that the others would be squeezed
        into a corner.
        """
        if self.kind != "numeric" or not len(self.observed):
            return -np.inf, np.inf
        return usual_range(self.observed)

    @property
    def in_view(self) -> BoolArray:
        """Which values of the grid lie in `usual_range`; categories all do."""
        low, high = self.usual_range
        if self.kind != "numeric":
            return np.ones(len(self.grid), dtype=bool)
        inside: BoolArray = (self.grid >= low) & (self.grid <= high)
        return inside

    @property
    def n_beyond(self) -> int:
        """Number of rows of X outside `usual_range`."""
        low, high = self.usual_range
        return int(np.sum((self.observed < low) | (self.observed > high)))


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
    sizes = effects(contributions)
    chosen = _chosen(estimator, columns, names, sizes)
    seen = {j: observed_values(X, j, reader.columns_[j]) for j in chosen}
    grids = [
        column_grid(info, grid, _usual(info.kind, seen.get(j)))
        for j, info in enumerate(reader.columns_)
    ]
    # Additive: what a column adds does not depend on the others, so that one table, with the grids
    # side by side and a last row of missing values, serves them all.
    rows = 1 + max(len(grids[j]) for j in chosen) if chosen else 1
    values = estimator.contributions(grid_table(X, grids, rows)) if chosen else contributions
    curves = []
    for j in chosen:
        info = reader.columns_[j]
        observed = seen[j][~np.isnan(seen[j])]
        missing = values[-1, j]
        curves.append(
            ComponentCurve(
                name=names[j],
                column=j,
                kind=info.kind,
                grid=grids[j],
                values=values[: len(grids[j]), j],
                missing=float(missing) if np.ndim(missing) == 0 else missing,
                observed=observed if info.categories is None else observed.astype(np.intp),
                n_missing=info.n_missing,
                effect=float(sizes[j]),
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


def effects(contributions: FloatArray) -> FloatArray:
    """Standard deviation of each column's contribution over the rows, mean over the classes.

    Parameters
    ----------
    contributions : ndarray of shape (n, p) or (n, p, n_classes)
        From an estimator.

    Returns
    -------
    ndarray of shape (p,)

    Examples
    --------
    >>> effects(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    array([1., 0.])
    """
    spread: FloatArray = contributions.std(axis=0)
    return spread if spread.ndim == 1 else spread.mean(axis=1)


def column_positions(columns: Sequence[int | str], names: Sequence[str]) -> list[int]:
    """Positions of columns given by position or name.

    Parameters
    ----------
    columns : sequence of int or str
        The columns; negative positions count from the end.
    names : sequence of str
        All column names.

    Returns
    -------
    list of int

    Examples
    --------
    >>> column_positions(["b", 0, -1], ["a", "b", "c"])
    [1, 0, 2]
    """
    positions = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                raise InvalidInputError(f"There is no column {column!r}; known: {_some(names)}.")
            positions.append(list(names).index(column))
        elif -len(names) <= column < len(names):
            positions.append(int(column) % len(names))
        else:
            raise InvalidInputError(
                f"There is no column {column}; the table has {len(names)} columns."
            )
    return positions


def _chosen(
    estimator: AdditiveEstimator,
    columns: Sequence[int | str] | None,
    names: list[str],
    sizes: FloatArray,
) -> list[int]:
    if columns is not None:
        return column_positions(columns, names)
    selected = np.flatnonzero(estimator.support_)
    return [int(j) for j in selected[np.argsort(-sizes[selected], kind="stable")]]


def _usual(kind: str, observed: AnyArray | None) -> tuple[float, float] | None:
    if kind != "numeric" or observed is None or np.isnan(observed).all():
        return None
    return usual_range(observed[~np.isnan(observed)])


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
