"""Uncertainty bands of the component curves that account for the selection of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import ComponentCurve, column_names, component_curves
from s2mam.inspection.frames import data_frame
from s2mam.inspection.grids import grid_table
from s2mam.inspection.resampling import base_weights, bootstrap_weights, labeled_rows, refit

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["ComponentBands", "component_bands"]


@dataclass(frozen=True, eq=False, repr=False)
class ComponentBands:
    """Component curves with pointwise bands, and how often each column was selected.

    Attributes
    ----------
    curves : list of ComponentCurve
        The curves of the fitted model.
    low, high : list of ndarray, each of the shape of ``curves[i].values``
        Ends of the band at each value of the grid, equally far from the curve.
    selection : ndarray of shape (p,)
        Share of the refits that selected each column of the table.
    level : float
        Share of a true curve that the band should hold.
    n_resamples : int
        Number of refits.
    names : list of str
        Names of all columns.
    classes : ndarray or None
        Classes of a classifier.

    Examples
    --------
    >>> from s2mam import ManifoldAdditiveRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=0, random_state=0)
    >>> model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.0).fit(data.X, data.y)
    >>> component_bands(model, data.X, data.y, columns=[0, 3], n_resamples=2, random_state=0)
    ComponentBands(2 curves, level=0.9, n_resamples=2)
    """

    curves: list[ComponentCurve]
    low: list[FloatArray]
    high: list[FloatArray]
    selection: FloatArray
    level: float
    n_resamples: int
    names: list[str] = field(default_factory=list)
    classes: AnyArray | None = None

    def __repr__(self) -> str:
        """The numbers are attributes; here is what they are about."""
        about = f"level={self.level}, n_resamples={self.n_resamples}"
        return f"ComponentBands({len(self.curves)} curves, {about})"

    def to_frame(self) -> Any:
        """All bands as one pandas table.

        Returns
        -------
        pandas.DataFrame
            Columns ``column, value, class, contribution, low, high``; ``class`` is there with
            three or more classes only.
        """
        rows: dict[str, list[Any]] = {"column": [], "value": [], "class": []}
        rows |= {"contribution": [], "low": [], "high": []}
        for curve, low, high in zip(self.curves, self.low, self.high, strict=True):
            for at in np.ndindex(curve.values.shape):
                rows["column"].append(curve.name)
                rows["value"].append(curve.grid[at[0]])
                rows["class"].append(_class_of(self.classes, at))
                rows["contribution"].append(float(curve.values[at]))
                rows["low"].append(float(low[at]))
                rows["high"].append(float(high[at]))
        if not any(curve.values.ndim == 2 for curve in self.curves):
            del rows["class"]
        return data_frame(rows)


def component_bands(
    estimator: AdditiveEstimator,
    X: Any,
    y: Any,
    *,
    columns: Sequence[int | str] | None = None,
    grid: int = 100,
    n_resamples: int = 20,
    level: float = 0.9,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ComponentBands:
    """Bands of the component curves from refits that select their columns anew.

    The model is refitted under random weights of the labelled rows (the Bayesian bootstrap:
    exponential weights, so that every row and every class stays in). Each refit learns its masks
    again, so that the band of a column widens where it is in some refits and not in others.

    At a value x the band reaches ``z sqrt(d(x)^2 + mean d^2)`` to both sides of the curve, with
    d(x)^2 the mean squared distance of the refits from the curve at x, its mean over all values of
    the column beside it, and z the normal quantile of the level. The second term stands for what
    the refits share and cannot show: shrinkage bends all of them alike, by about as much as they
    differ. Without it, bands hold less of a true curve than their level says.

    Read the level as a share of the curve: at 90 %, about nine tenths of the values of the true
    curves of selected columns lie inside, on average over tables; ``benchmarks/bands/results.md``
    measures it. The level does not hold for a column that hardly any refit uses, which has a narrow
    band around zero whatever its true curve: with few labels, bands of all columns that matter hold
    clearly less than their level. Nor does it speak of a curve as a whole, or of what a sum of
    curves cannot express. Junk that resembles the target on these very rows does so in every refit.
    Random weights make chance look like evidence: of selection frequencies,
    :func:`s2mam.inspection.selection_stability` is the stricter judge.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model; it is not changed.
    X, y
        The rows and the target it was fitted to, unlabelled rows included.
    columns : sequence of int or str, optional
        Columns by position or name; by default the selected ones, largest effect first.
    grid : int, default=100
        Number of values per numeric column.
    n_resamples : int, default=20
        Number of refits; each costs a fit. Take 100 or more for bands to publish.
    level : float, default=0.9
        Share of a true curve that the band should hold.
    sample_weight : array-like of shape (n,), optional
        The weights of the fit; the random ones multiply them.
    feature_names : sequence of str, optional
        Names for a table without any.
    random_state : int, RandomState or None
        Seed of the weights and of the refits.
    n_jobs : int or None
        Refits side by side; the result does not depend on it.

    Returns
    -------
    ComponentBands

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> bands = component_bands(model, data.X, data.y, columns=[3], n_resamples=3, random_state=0)
    >>> bands.low[0].shape, float(bands.selection[3])
    ((100,), 1.0)
    """
    check_is_fitted(estimator, "mask_probabilities_")
    if n_resamples < 2:
        raise InvalidInputError(f"n_resamples={n_resamples} must be at least 2.")
    if not 0.0 < level < 1.0:
        raise InvalidInputError(f"level={level} must lie between 0 and 1, both left out.")
    labeled = labeled_rows(estimator, y)
    base = base_weights(sample_weight, labeled)
    curves = component_curves(estimator, X, columns, grid, feature_names=feature_names)
    read = partial(
        _curves_of,
        X=X,
        table=_table(X, estimator.n_features_in_, curves),
        columns=[curve.column for curve in curves],
        centers=estimator.contributions(X).mean(axis=0),
    )
    rng = check_random_state(random_state)
    weights = bootstrap_weights(labeled, base, n_resamples, rng)
    refits = refit(estimator, X, y, weights, read, random_state=rng, n_jobs=n_jobs)
    low, high = [], []
    for i, curve in enumerate(curves):
        draws = np.stack([values[: len(curve.grid), i] for values, _ in refits])
        reach = _reach(draws, curve.values, level)
        low.append(curve.values - reach)
        high.append(curve.values + reach)
    return ComponentBands(
        curves=curves,
        low=low,
        high=high,
        selection=np.mean([support for _, support in refits], axis=0),
        level=level,
        n_resamples=n_resamples,
        names=column_names(estimator, feature_names),
        classes=getattr(estimator, "classes_", None),
    )


def _reach(draws: FloatArray, values: FloatArray, level: float) -> FloatArray:
    """Half the height of the band at each value (g,) or (g, classes), from the refits."""
    # Distances from the curve, not from the mean of the refits: these are shrunk once more than
    # the curve is.
    if not values.size:
        return values  # nothing but missing values
    squared = ((draws - values) ** 2).mean(axis=0)
    reach: FloatArray = norm.ppf((1.0 + level) / 2.0) * np.sqrt(squared + squared.mean(axis=0))
    return reach


def _table(X: Any, n_columns: int, curves: list[ComponentCurve]) -> Any:
    """The grids of the curves side by side; other columns are missing."""
    grids: list[AnyArray] = [np.empty(0)] * n_columns
    for curve in curves:
        grids[curve.column] = curve.grid
    return grid_table(X, grids, 1 + max((len(curve.grid) for curve in curves), default=0))


def _curves_of(
    refitted: Any, *, X: Any, table: Any, columns: list[int], centers: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Contributions of the columns at the grid, and the support of one refit.

    A constant moved from one component to another changes nothing, so every curve is shifted to the
    mean over the rows that it has in the fitted model.
    """
    shift = (centers - refitted.contributions(X).mean(axis=0))[columns]
    values: FloatArray = refitted.contributions(table)[:, columns] + shift
    return values, refitted.support_


def _class_of(classes: AnyArray | None, at: tuple[int, ...]) -> Any:
    return classes[at[1]] if classes is not None and len(at) == 2 else None
