"""Component curves for the page: which ones, as data for the pictures, in words and in tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.inspection.bands import component_bands
from s2mam.inspection.components import ComponentCurve, component_curves
from s2mam.inspection.report_parts.held_out import Refits
from s2mam.inspection.report_parts.markup import (
    Markup,
    alike,
    count,
    number,
    percent,
    short_text,
    table,
)

__all__ = ["NEGLIGIBLE", "Effect", "Effects", "effect_table", "read_effects"]

# Share of the largest effect below which an effect is rounding.
NEGLIGIBLE = 1e-6
_MOST_KEPT = 40
_NEAR_MISSES = 4
_MOST_MARKS = 300
_TABLE_ROWS = 9


@dataclass(frozen=True, eq=False)
class Effect:
    """One curve.

    Attributes
    ----------
    curve : ComponentCurve
        The column.
    values : ndarray of shape (g, k)
        Contribution by class; k is 1 for numbers and two classes.
    low, high : ndarray of shape (g, k) or None
        Its band.
    kept : bool
        Whether the column is selected.
    """

    curve: ComponentCurve
    values: FloatArray
    low: FloatArray | None
    high: FloatArray | None
    kept: bool

    def clear_share(self) -> float:
        """Share of the values at which the band leaves out zero, for the clearest class."""
        if self.low is None or self.high is None:
            return float("nan")
        return float(((self.low > 0.0) | (self.high < 0.0)).mean(axis=0).max())

    def words(self, classes: Sequence[str], level: float) -> str:
        """The curve in words, for those who do not see the picture."""
        grid = self.curve.grid
        if not len(grid):
            return "No value is known."
        k = int(np.argmax(np.ptp(self.values, axis=0)))
        values = self.values[:, k]
        least, most = int(np.argmin(values)), int(np.argmax(values))
        whose = f"For {classes[k]}, where it matters most: f" if len(classes) > 1 else "F"
        text = (
            f"{whose}rom {number(values[least])} (at {_value(grid[least])}) to "
            f"{number(values[most])} (at {_value(grid[most])})"
        )
        text += f"; {_shape(values)}." if self.curve.kind == "numeric" else "."
        if self.low is not None:
            text += (
                f" The {percent(level)} band leaves out zero at {percent(self.clear_share())} "
                "of the values."
            )
        if self.curve.n_missing:
            missing = number(np.atleast_1d(self.curve.missing)[k])
            where = count(self.curve.n_missing, "row")
            text += f" Where the value is missing ({where}) it adds {missing}: the dotted line."
        return text + _beyond(self.curve)

    def data(self, *, marks: bool) -> dict[str, Any]:
        """What the picture needs."""
        curve = self.curve
        categories = curve.kind == "categorical"
        observed = np.sort(curve.observed)
        data: dict[str, Any] = {
            "column": curve.column,
            "short": short_text(curve.name),
            "categories": categories,
            "grid": [short_text(v, 18) for v in curve.grid] if categories else curve.grid,
            "values": self.values.T,
            "low": None if self.low is None else self.low.T,
            "high": None if self.high is None else self.high.T,
            "missing": np.atleast_1d(curve.missing) if curve.n_missing else None,
            "view": list(curve.usual_range) if curve.n_beyond else None,
        }
        if categories:
            data["counts"] = np.bincount(observed.astype(np.intp), minlength=len(curve.grid))
        elif marks and len(observed):
            data["marks"] = observed[:: -(-len(observed) // _MOST_MARKS)]
        return data


@dataclass(frozen=True, eq=False)
class Effects:
    """All curves of the page.

    Attributes
    ----------
    shown : list of Effect
        Kept columns, largest effect first, then some that were nearly kept.
    classes : list of str
        Names of the k curves of a column; one empty name when k is 1.
    quantity : str
        What a contribution is added to.
    sizes : ndarray of shape (p,)
        Standard deviation of every column's contribution over the rows.
    selection : ndarray of shape (p,) or None
        Share of the refits that selected each column.
    level : float
        Of the bands.
    n_resamples : int
        Number of refits.
    """

    shown: list[Effect]
    classes: list[str]
    quantity: str
    sizes: FloatArray
    selection: FloatArray | None
    level: float
    n_resamples: int


def read_effects(
    estimator: Any,
    X: Any,
    y: Any,
    refits: Refits,
    *,
    n_resamples: int,
    feature_names: Sequence[str] | None,
) -> Effects:
    """Curves of the columns worth showing, with bands when there are refits.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    X, y
        The rows of the fit.
    refits : Refits
        How copies are fitted.
    n_resamples : int
        Number of refits; 0 for curves without bands.
    feature_names : sequence of str or None
        Names for a table without any.

    Returns
    -------
    Effects
    """
    support: BoolArray = estimator.support_
    sizes = estimator.contributions(X).std(axis=0)
    sizes = sizes if sizes.ndim == 1 else sizes.mean(axis=1)
    columns = _worth_showing(support, estimator.mask_probabilities_, sizes)
    selection: FloatArray | None = None
    low: list[FloatArray | None] = [None] * len(columns)
    high = low
    if n_resamples:
        bands = component_bands(
            estimator,
            X,
            y,
            columns=columns,
            n_resamples=n_resamples,
            level=refits.level,
            sample_weight=refits.sample_weight,
            feature_names=feature_names,
            random_state=refits.random_state,
            n_jobs=refits.n_jobs,
        )
        curves, selection = bands.curves, bands.selection
        low, high = [_by_class(b) for b in bands.low], [_by_class(b) for b in bands.high]
    else:
        curves = component_curves(estimator, X, columns, feature_names=feature_names)
    classes, quantity = _quantity(getattr(estimator, "classes_", None))
    shown = [
        Effect(curve, _by_class(curve.values), a, b, bool(support[curve.column]))
        for curve, a, b in zip(curves, low, high, strict=True)
    ]
    return Effects(shown, classes, quantity, sizes, selection, refits.level, n_resamples)


def effect_table(effect: Effect, classes: Sequence[str]) -> Markup:
    """Some points of a curve, as numbers.

    Parameters
    ----------
    effect : Effect
        The curve.
    classes : sequence of str
        Names of its k lines.

    Returns
    -------
    Markup
    """
    size = len(effect.curve.grid)
    at = np.arange(size)
    if effect.curve.kind != "categorical":
        at = np.unique(np.linspace(0, max(size - 1, 0), _TABLE_ROWS).astype(int))[:size]
    header = ["value", *(classes if len(classes) > 1 else ["adds"])]
    rows = [
        [_value(effect.curve.grid[i]), *(_cell(effect, int(i), k) for k in range(len(classes)))]
        for i in at
    ]
    if effect.curve.n_missing:
        missing = [number(value) for value in np.atleast_1d(effect.curve.missing)]
        rows.append([f"missing ({count(effect.curve.n_missing, 'row')})", *missing])
    return table("What the column adds, with the band in brackets", header, rows)


def _cell(effect: Effect, i: int, k: int) -> str:
    if effect.low is None or effect.high is None:
        return number(effect.values[i, k])
    text, low, high = alike([effect.values[i, k], effect.low[i, k], effect.high[i, k]])
    return f"{text} ({low} to {high})"


def _worth_showing(support: BoolArray, probabilities: FloatArray, sizes: FloatArray) -> list[int]:
    kept = np.flatnonzero(support)
    kept = kept[np.argsort(-sizes[kept], kind="stable")][:_MOST_KEPT]
    left = np.flatnonzero(~support & (sizes > NEGLIGIBLE * sizes.max()))
    left = left[np.argsort(-probabilities[left], kind="stable")][:_NEAR_MISSES]
    return [int(j) for j in np.concatenate([kept, left])]


def _by_class(values: FloatArray) -> FloatArray:
    return values if values.ndim == 2 else values[:, None]


def _quantity(classes: AnyArray | None) -> tuple[list[str], str]:
    if classes is None:
        return [""], "the prediction"
    if len(classes) > 2:
        return [str(label) for label in classes], "the score of the class"
    return [""], f"the log-odds of {short_text(classes[-1])}"


def _shape(values: FloatArray) -> str:
    steps = np.diff(values)
    slack = 0.02 * float(np.ptp(values))
    if np.ptp(values) == 0.0:
        return "flat"
    if steps[steps < 0].sum() >= -slack:
        return "it rises"
    return "it falls" if steps[steps > 0].sum() <= slack else "it rises and falls"


def _beyond(curve: ComponentCurve) -> str:
    if not curve.n_beyond:
        return ""
    verb = "lies" if curve.n_beyond == 1 else "lie"
    ends = f"{number(curve.observed.min(), 4)} to {number(curve.observed.max(), 4)}"
    return f" {count(curve.n_beyond, 'row')} {verb} outside the picture (all values: {ends})."


def _value(value: Any) -> str:
    return number(value, 4) if isinstance(value, float | np.floating) else short_text(value, 60)
