"""The component functions as pictures, one panel per column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.bands import ComponentBands
from s2mam.inspection.components import ComponentCurve, column_positions, component_curves
from s2mam.inspection.drawing import GREY, bare, draw_bars, draw_lines, pyplot, short_name
from s2mam.inspection.frames import data_frame

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["ComponentDisplay", "decision_name"]


@dataclass(eq=False, repr=False)
class ComponentDisplay:
    """Component functions of a model, one panel per column.

    Lines for numeric columns, with ticks and a grey strip where the rows are; bars for categories.
    What a missing value adds stands beside the lines, or is the last bar, when the column has any.

    Parameters
    ----------
    curves : list of ComponentCurve
        The numbers.
    classes : ndarray or None
        Classes of a classifier.
    bands : ComponentBands or None
        Bands of the same curves; drawn as shaded areas, or as whiskers on bars.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by `plot`.
    axes_ : ndarray of matplotlib Axes
        One per curve, set by `plot`.

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=80, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> display = ComponentDisplay.from_estimator(model, data.X, columns=[0, 3])
    >>> len(display.axes_)
    2
    """

    curves: list[ComponentCurve]
    classes: AnyArray | None = None
    bands: ComponentBands | None = None
    figure_: Any = field(default=None, init=False, repr=False)
    axes_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: AdditiveEstimator,
        X: Any,
        columns: Sequence[int | str] | None = None,
        *,
        grid: int = 100,
        feature_names: Sequence[str] | None = None,
        bands: ComponentBands | None = None,
        ax: Any = None,
    ) -> ComponentDisplay:
        """Compute the curves and draw them.

        Parameters
        ----------
        estimator, X, columns, grid, feature_names
            See :func:`s2mam.inspection.component_curves`.
        bands : ComponentBands, optional
            From :func:`s2mam.inspection.component_bands`; the curves are then taken from there.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw.

        Returns
        -------
        ComponentDisplay
        """
        if bands is not None:
            return cls.from_bands(bands, columns, ax=ax)
        curves = component_curves(estimator, X, columns, grid, feature_names=feature_names)
        return cls(curves, getattr(estimator, "classes_", None)).plot(ax=ax)

    @classmethod
    def from_bands(
        cls, bands: ComponentBands, columns: Sequence[int | str] | None = None, *, ax: Any = None
    ) -> ComponentDisplay:
        """Draw curves with their bands.

        Parameters
        ----------
        bands : ComponentBands
            From :func:`s2mam.inspection.component_bands`.
        columns : sequence of int or str, optional
            Some of its columns; by default all of them.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw.

        Returns
        -------
        ComponentDisplay
        """
        curves = {curve.column: curve for curve in bands.curves}
        chosen = list(curves) if columns is None else column_positions(columns, bands.names)
        absent = [bands.names[j] for j in chosen if j not in curves]
        if absent:
            raise InvalidInputError(
                f"There is no band for {absent[0]!r}; name it in the `columns` of component_bands."
            )
        return cls([curves[j] for j in chosen], bands.classes, bands).plot(ax=ax)

    def to_frame(self) -> Any:
        """The curves as one pandas table.

        Returns
        -------
        pandas.DataFrame
            Columns ``column, value``, then ``contribution`` or one column per class.
        """
        labels = self._labels()
        rows: dict[str, list[Any]] = {"column": [], "value": []}
        rows |= {label or "contribution": [] for label in labels}
        for curve in self.curves:
            rows["column"] += [curve.name] * len(curve.grid)
            rows["value"] += curve.grid.tolist()
            for label, values in zip(labels, _two_dimensional(curve.values).T, strict=True):
                rows[label or "contribution"] += values.tolist()
        return data_frame(rows)

    def plot(self, ax: Any = None) -> ComponentDisplay:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, optional
            One per curve; a new figure by default.

        Returns
        -------
        ComponentDisplay
            Itself, with `figure_` and `axes_`.
        """
        if not self.curves:
            raise InvalidInputError("There is no column to draw; name some in `columns`.")
        axes = self._new_axes() if ax is None else np.atleast_1d(np.asarray(ax, dtype=object))
        axes = axes.ravel()
        if axes.size < len(self.curves):
            raise InvalidInputError(f"ax has {axes.size} panels for {len(self.curves)} columns.")
        for axis, curve in zip(axes, self.curves, strict=False):
            self._draw(axis, curve)
        self.axes_ = axes[: len(self.curves)]
        self.figure_ = axes[0].figure
        if len(self._labels()) > 1:
            # Beside the panels where the figure is ours, so that it hides no curve.
            place = {"loc": "outside upper center", "ncols": 4} if ax is None else {"loc": "best"}
            owner = self.figure_ if ax is None else self.axes_[0]
            handles, labels = self.axes_[0].get_legend_handles_labels()
            owner.legend(
                handles, labels, frameon=False, fontsize="small", handlelength=2.6, **place
            )
        return self

    def _new_axes(self) -> Any:
        across = min(3, len(self.curves))
        down = -(-len(self.curves) // across)
        size = (3.2 * across, 2.5 * down)
        _, axes = pyplot().subplots(
            down, across, figsize=size, sharey=True, squeeze=False, layout="constrained"
        )
        for axis in axes.ravel()[len(self.curves) :]:
            axis.set_axis_off()
        for axis in axes[:, 0]:
            axis.set_ylabel(self._quantity(), fontsize="small")
        return axes

    def _labels(self) -> list[str]:
        several = self.curves[0].values.ndim == 2 and self.classes is not None
        return [str(c) for c in self.classes] if several and self.classes is not None else [""]

    def _quantity(self) -> str:
        several = self.curves[0].values.ndim == 2
        return f"adds to the {decision_name(self.classes, several)}"

    def _draw(self, axis: Any, curve: ComponentCurve) -> None:
        axis.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
        draw = draw_bars if curve.grid.dtype.kind == "O" else draw_lines
        draw(axis, curve, _two_dimensional(curve.values), self._labels(), self._ends(curve))
        axis.set_xlabel(short_name(curve.name), fontsize="small")
        title = f"p = {curve.probability:.2f}"
        if self.bands is not None:
            share = self.bands.selection[curve.column]
            title += f", selected in {100 * share:.0f} % of refits"
        axis.set_title(title, fontsize="x-small", loc="right", pad=2)
        bare(axis)

    def _ends(self, curve: ComponentCurve) -> tuple[FloatArray, FloatArray] | None:
        if self.bands is None:
            return None
        i = [other.column for other in self.bands.curves].index(curve.column)
        return _two_dimensional(self.bands.low[i]), _two_dimensional(self.bands.high[i])


def decision_name(classes: AnyArray | None, several: bool) -> str:
    """What contributions add up to, in words.

    Parameters
    ----------
    classes : ndarray or None
        Classes of a classifier.
    several : bool
        Whether there is one score per class.

    Returns
    -------
    str

    Examples
    --------
    >>> decision_name(np.array(["no", "yes"]), several=False)
    'log-odds of yes'
    """
    if classes is None:
        return "prediction"
    return "class score" if several else f"log-odds of {classes[-1]}"


def _two_dimensional(values: FloatArray) -> FloatArray:
    return values if values.ndim == 2 else values[:, None]
