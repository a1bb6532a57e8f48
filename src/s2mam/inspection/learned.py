"""Component curves of a model without any rows: over the values it saw in fit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray
from s2mam.inspection.components import ComponentCurve, column_names, effects
from s2mam.inspection.grids import column_grid, grid_table, usual_range
from s2mam.intake import ColumnInfo

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["learned_curves"]


def learned_curves(
    estimator: AdditiveEstimator, grid: int = 60, *, feature_names: Sequence[str] | None = None
) -> list[ComponentCurve]:
    """Curves of all columns that add something, largest effect first, without any rows.

    A model knows the range, the categories and, on the scale of ranks, the quantiles of its
    columns; this is enough to show a model that was loaded from a file.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    grid : int, default=60
        Number of values of a numeric column, at its quantiles where these are known.
    feature_names : sequence of str, optional
        Names for a table without any.

    Returns
    -------
    list of ComponentCurve
        With no `observed` rows; `effect` is the standard deviation over the grid.

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> learned_curves(model)[0].name
    'x3'
    """
    check_is_fitted(estimator, "_model")
    names = column_names(estimator, feature_names)
    readers = _readers(estimator)
    infos = readers[0]
    grids = [_quantile_grid([columns[j] for columns in readers], grid) for j in range(len(infos))]
    size = 1 + max(len(points) for points in grids)
    with warnings.catch_warnings():
        # The table has no names, and the names seen in fit are in the same order.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        values = estimator.contributions(grid_table(None, grids, size))
    curves = []
    for j, info in enumerate(infos):
        part = values[: len(grids[j]), j]
        missing = values[-1, j]
        if not part.any():
            continue
        curves.append(
            ComponentCurve(
                name=names[j],
                column=j,
                kind=info.kind,
                grid=grids[j],
                values=part,
                missing=float(missing) if np.ndim(missing) == 0 else missing,
                observed=np.empty(0, dtype=np.intp if info.categories else np.float64),
                n_missing=info.n_missing,
                effect=float(effects(part[:, None])[0]),
                probability=float(estimator.mask_probabilities_[j]),
            )
        )
    return sorted(curves, key=lambda curve: -curve.effect)


def _readers(estimator: AdditiveEstimator) -> list[list[ColumnInfo]]:
    """What each part of the model knows of the columns."""
    model: Any = estimator._model
    parts = getattr(model, "parts", None) or (model,)
    return [part.reader.columns_ for part in parts]


def _quantile_grid(infos: list[ColumnInfo], size: int) -> AnyArray:
    known = [info.knots for info in infos if info.knots is not None and info.kind == "numeric"]
    if not known:
        return column_grid(infos[0], size)
    low, high = usual_range(known[0])  # a glance needs no far-out values
    knots = np.unique(known[0])
    knots = knots[(knots >= low) & (knots <= high)]
    at = np.unique(np.linspace(0, len(knots) - 1, size).round().astype(np.intp))
    return knots[at]
