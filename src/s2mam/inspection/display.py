"""Pictures of a fitted model: component functions and mask probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import ComponentCurve, column_names, component_curves
from s2mam.inspection.drawing import COLORS, GREY, draw_bars, draw_lines, pyplot, short_name

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["ComponentDisplay", "MaskDisplay"]


@dataclass(eq=False)
class ComponentDisplay:
    """Component functions of a model, one panel per column.

    Lines for numeric columns, with ticks where the rows are; bars for categories; a dotted line at
    the contribution of a missing value when the column has any.

    Parameters
    ----------
    curves : list of ComponentCurve
        The numbers.
    classes : ndarray or None
        Classes of a classifier.

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
        ax: Any = None,
    ) -> ComponentDisplay:
        """Compute the curves and draw them.

        Parameters
        ----------
        estimator, X, columns, grid, feature_names
            See :func:`s2mam.inspection.component_curves`.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw.

        Returns
        -------
        ComponentDisplay
        """
        curves = component_curves(estimator, X, columns, grid, feature_names=feature_names)
        return cls(curves, getattr(estimator, "classes_", None)).plot(ax=ax)

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
        if self.classes is None:
            return "adds to the prediction"
        if self.curves[0].values.ndim == 2:
            return "adds to the class score"
        return f"adds to the log-odds of {self.classes[-1]}"

    def _draw(self, axis: Any, curve: ComponentCurve) -> None:
        labels = self._labels()
        values = curve.values if curve.values.ndim == 2 else curve.values[:, None]
        axis.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
        draw = draw_bars if curve.kind == "categorical" else draw_lines
        draw(axis, curve, values, labels)
        if curve.n_missing:
            for k, level in enumerate(np.atleast_1d(curve.missing)):
                axis.axhline(level, color=COLORS[k % len(COLORS)], linewidth=0.8, linestyle=":")
        axis.set_xlabel(short_name(curve.name), fontsize="small")
        axis.set_title(f"p = {curve.probability:.2f}", fontsize="x-small", loc="right", pad=2)
        axis.tick_params(labelsize="small")
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)


@dataclass(eq=False)
class MaskDisplay:
    """Probability of each column to be in the model; the selected ones are filled.

    Parameters
    ----------
    names : list of str
        Column names.
    probabilities : ndarray of shape (p,)
        Mask probabilities.
    support : ndarray of bool, shape (p,)
        Selected columns.

    Attributes
    ----------
    figure_, ax_
        Set by `plot`.

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=80, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> MaskDisplay.from_estimator(model).names[:2]
    ['x0', 'x1']
    """

    names: list[str]
    probabilities: FloatArray
    support: BoolArray
    figure_: Any = field(default=None, init=False, repr=False)
    ax_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: AdditiveEstimator,
        *,
        feature_names: Sequence[str] | None = None,
        max_columns: int = 20,
        ax: Any = None,
    ) -> MaskDisplay:
        """Read the probabilities and draw them.

        Parameters
        ----------
        estimator : fitted estimator of this package
            The model.
        feature_names : sequence of str, optional
            Names for a table without any.
        max_columns : int, default=20
            Number of bars.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        MaskDisplay
        """
        check_is_fitted(estimator, "mask_probabilities_")
        names = column_names(estimator, feature_names)
        display = cls(names, estimator.mask_probabilities_, estimator.support_)
        return display.plot(ax=ax, max_columns=max_columns)

    def plot(self, ax: Any = None, *, max_columns: int = 20) -> MaskDisplay:
        """Draw the most probable columns as bars, the best one on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        max_columns : int, default=20
            Number of bars.

        Returns
        -------
        MaskDisplay
            Itself, with `figure_` and `ax_`.
        """
        order = np.argsort(-self.probabilities, kind="stable")[:max_columns]
        if ax is None:
            size = (4.5, 0.6 + 0.24 * len(order))
            _, ax = pyplot().subplots(figsize=size, layout="constrained")
        filled = [COLORS[0] if self.support[j] else "white" for j in order]
        at = np.arange(len(order))
        ax.barh(at, self.probabilities[order], color=filled, edgecolor=COLORS[0], linewidth=0.8)
        ax.axvline(0.5, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
        ax.set_yticks(at, [short_name(self.names[j]) for j in order], fontsize="small")
        ax.invert_yaxis()
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel("mask probability (filled: selected)", fontsize="small")
        ax.tick_params(axis="x", labelsize="small")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        self.figure_, self.ax_ = ax.figure, ax
        return self
