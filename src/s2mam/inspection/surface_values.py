"""Decision values over two or three columns, the others held at a reference row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import (
    ComponentCurve,
    column_names,
    column_positions,
    component_curves,
)
from s2mam.inspection.frames import data_frame
from s2mam.inspection.grids import grid_table, observed_values, usual_value
from s2mam.inspection.resampling import labeled_rows
from s2mam.intake import TableReader
from s2mam.intake.markers import as_vector

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["DecisionSurface", "RowPositions", "decision_surface", "row_positions"]


@dataclass(frozen=True, eq=False)
class RowPositions:
    """Rows on chosen columns, for scatter plots.

    Attributes
    ----------
    positions : ndarray of shape (n, d)
        Values of the columns, positions of categories; NaN where missing.
    labeled : ndarray of bool, shape (n,)
        Rows with a label; none when no y was given.
    labels : ndarray of shape (n_labeled,) or None
        Their labels: numbers, or positions among the classes.
    """

    positions: FloatArray
    labeled: BoolArray
    labels: AnyArray | None

    def within(self, views: Sequence[tuple[float, float]]) -> RowPositions:
        """The same rows; those outside the ranges of the columns have no position."""
        inside = np.ones(len(self.positions), dtype=bool)
        for values, (low, high) in zip(self.positions.T, views, strict=True):
            inside &= (values >= low) & (values <= high)
        return replace(self, positions=np.where(inside[:, None], self.positions, np.nan))


@dataclass(frozen=True, eq=False, repr=False)
class DecisionSurface:
    """Decision values on a grid.

    Attributes
    ----------
    curves : list of ComponentCurve
        The components of the columns; their grids span the surface.
    values : ndarray of shape (g1, g2[, g3]) or (g1, g2[, g3], n_classes)
        Decision at each node.
    base : ndarray of shape (1,) or (n_classes,)
        Intercept and contributions of the other columns at the reference.
    rows : RowPositions
        Where the rows are.
    classes : ndarray or None
        Classes of a classifier.
    """

    curves: list[ComponentCurve]
    values: FloatArray
    base: FloatArray
    rows: RowPositions
    classes: AnyArray | None

    def to_frame(self) -> Any:
        """One row per node of the grid, as a pandas table.

        Returns
        -------
        pandas.DataFrame
            The columns of the surface by their names, and ``decision``, or one column per class
            called ``decision`` and its name.
        """
        mesh = np.meshgrid(*(curve.grid for curve in self.curves), indexing="ij")
        rows: dict[str, Any] = {
            curve.name: values.ravel() for curve, values in zip(self.curves, mesh, strict=True)
        }
        if self.values.ndim == len(self.curves) or self.classes is None:
            return data_frame(rows | {"decision": self.values.ravel()})
        flat = self.values.reshape(-1, self.values.shape[-1])
        scores = {f"decision {label}": flat[:, k] for k, label in enumerate(self.classes)}
        return data_frame(rows | scores)


def decision_surface(
    estimator: AdditiveEstimator,
    X: Any,
    y: Any,
    columns: Sequence[int | str],
    *,
    reference: int | str,
    grid: int,
    feature_names: Sequence[str] | None,
) -> DecisionSurface:
    """Decision values over two or three columns.

    The model is additive, so that the surface is an outer sum of component curves; nothing is
    approximated.

    Parameters
    ----------
    estimator, X, y, columns, reference, grid, feature_names
        See :meth:`s2mam.inspection.DecisionSurfaceDisplay.from_estimator`.

    Returns
    -------
    DecisionSurface
    """
    check_is_fitted(estimator, "mask_probabilities_")
    chosen = column_positions(columns, column_names(estimator, feature_names))
    if len(set(chosen)) != len(chosen) or len(chosen) not in (2, 3):
        raise InvalidInputError(f"columns={columns!r} must name two or three different columns.")
    curves = [
        # Far-out values of a few rows would leave little of the picture to the others.
        replace(curve, grid=curve.grid[curve.in_view], values=curve.values[curve.in_view])
        for curve in component_curves(estimator, X, chosen, grid, feature_names=feature_names)
    ]
    empty = [curve.name for curve in curves if not len(curve.grid)]
    if empty:
        raise InvalidInputError(f"Column {empty[0]!r} holds no value in X; choose another one.")
    base = _base(estimator, X, chosen, reference)
    d = len(chosen)
    values = base.reshape((1,) * d + (-1,))
    for axis, curve in enumerate(curves):
        shape = [1] * d + [-1]
        shape[axis] = len(curve.grid)
        values = values + curve.values.reshape(shape)
    if base.size == 1:
        values = values[..., 0]
    rows = row_positions(estimator, X, y, chosen)
    return DecisionSurface(curves, values, base, rows, getattr(estimator, "classes_", None))


def row_positions(
    estimator: AdditiveEstimator, X: Any, y: Any, columns: Sequence[int]
) -> RowPositions:
    """Values of some columns of all rows, and the labels of those that have one.

    Parameters
    ----------
    estimator : fitted estimator of this package
        Says which columns are categories and what marks an unlabelled row.
    X : array-like or dataframe
        The rows.
    y : array-like or None
        The target; labels of unlabelled rows are not read.
    columns : sequence of int
        Positions of the columns.

    Returns
    -------
    RowPositions
    """
    reader = TableReader(categorical=getattr(estimator, "categorical", "auto")).fit(X)
    values = [observed_values(X, j, reader.columns_[j]) for j in columns]
    positions = np.column_stack(values).astype(np.float64)
    if y is None:
        return RowPositions(positions, np.zeros(len(positions), dtype=bool), None)
    labeled = labeled_rows(estimator, y)
    if labeled.size != len(positions):
        raise InvalidInputError(f"y has {labeled.size} rows but X has {len(positions)}.")
    labels = as_vector(y)[labeled]
    if hasattr(estimator, "classes_"):
        codes = {label: code for code, label in enumerate(estimator.classes_.tolist())}
        labels = np.array([codes.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    else:
        labels = labels.astype(np.float64)
    return RowPositions(positions, labeled, labels)


def _base(
    estimator: AdditiveEstimator, X: Any, chosen: list[int], reference: int | str
) -> FloatArray:
    """Intercept plus what the other columns add at the reference row."""
    if isinstance(reference, str):
        if reference != "median":
            raise InvalidInputError(
                f"reference={reference!r} is unknown; use 'median' or the position of a row of X."
            )
        reader = TableReader(categorical=getattr(estimator, "categorical", "auto")).fit(X)
        usual = [usual_value(X, j, info) for j, info in enumerate(reader.columns_)]
        added = estimator.contributions(grid_table(X, usual, 2))[0]
    else:
        contributions = estimator.contributions(X)
        if not -len(contributions) <= reference < len(contributions):
            raise InvalidInputError(
                f"There is no row {reference}; X has {len(contributions)} rows."
            )
        added = contributions[reference]
    others = np.delete(added, chosen, axis=0).sum(axis=0)
    return np.atleast_1d(np.asarray(estimator.intercept_ + others, dtype=np.float64))
