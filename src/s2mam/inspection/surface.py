"""Decision surfaces over two or three columns, with the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import ComponentCurve
from s2mam.inspection.display import decision_name
from s2mam.inspection.drawing import COLORS, bare, pyplot, short_name
from s2mam.inspection.isosurface import level_surface
from s2mam.inspection.row_drawing import draw_rows
from s2mam.inspection.surface_values import DecisionSurface, decision_surface

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["DecisionSurfaceDisplay"]

_PLANE_GRID, _SPACE_GRID = 100, 24


@dataclass(eq=False, repr=False)
class DecisionSurfaceDisplay:
    """Decision values over two columns, or the surface that parts the classes over three.

    Parameters
    ----------
    surface : DecisionSurface
        The numbers.

    Attributes
    ----------
    figure_, ax_
        Set by `plot`.

    Examples
    --------
    >>> from s2mam import S2MAMClassifier
    >>> from s2mam.datasets import hide_labels, make_moons
    >>> data = make_moons(n_samples=80, n_uninformative=0, n_noisy=1, random_state=0)
    >>> y = hide_labels(data.y, per_class=5, random_state=0)
    >>> model = S2MAMClassifier(max_iter=5, random_state=0).fit(data.X, y)
    >>> display = DecisionSurfaceDisplay.from_estimator(model, data.X, y, columns=[0, 1])
    >>> display.surface.values.shape
    (100, 100)
    """

    surface: DecisionSurface
    figure_: Any = field(default=None, init=False, repr=False)
    ax_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: AdditiveEstimator,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[int | str],
        reference: int | str = "median",
        grid: int | None = None,
        level: float | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> DecisionSurfaceDisplay:
        """Compute the surface and draw it.

        Parameters
        ----------
        estimator : fitted estimator of this package
            The model.
        X : array-like or dataframe of shape (n, p)
            Rows that say which values to show, and that are drawn.
        y : array-like of shape (n,), optional
            Target with unlabelled rows marked; labelled rows then stand out.
        columns : sequence of two or three int or str
            Columns by position or name.
        reference : "median" or int, default="median"
            Where the other columns are held: medians and most frequent categories, or a row of X.
        grid : int, optional
            Values per numeric column; by default 100 for two columns and 24 for three.
        level : float, optional
            Decision at which the surface over three columns lies; by default 0 for two classes and
            the median over the grid for regression. Of no use with more classes, where surfaces lie
            where the best class changes.
        feature_names : sequence of str, optional
            Names for a table without any.
        ax : matplotlib Axes, optional
            Where to draw; one with ``projection="3d"`` for three columns.

        Returns
        -------
        DecisionSurfaceDisplay
        """
        nodes = grid or (_PLANE_GRID if len(columns) == 2 else _SPACE_GRID)
        surface = decision_surface(
            estimator,
            X,
            y,
            columns,
            reference=reference,
            grid=nodes,
            feature_names=feature_names,
        )
        return cls(surface).plot(ax=ax, level=level)

    def to_frame(self) -> Any:
        """The numbers as a pandas table, one row per node of the grid.

        Returns
        -------
        pandas.DataFrame
        """
        return self.surface.to_frame()

    def plot(self, ax: Any = None, *, level: float | None = None) -> DecisionSurfaceDisplay:
        """Draw the surface and the rows.

        Parameters
        ----------
        ax, level
            See :meth:`from_estimator`.

        Returns
        -------
        DecisionSurfaceDisplay
            Itself, with `figure_` and `ax_`.
        """
        space = len(self.surface.curves) == 3
        if space and any(curve.grid.dtype.kind == "O" for curve in self.surface.curves):
            raise InvalidInputError(
                "A surface over three columns needs numeric ones; draw two columns at a time."
            )
        if ax is None:
            view = {"projection": "3d"} if space else {}
            size = (6.0, 5.2) if space else (5.2, 4.0)
            _, ax = pyplot().subplots(figsize=size, subplot_kw=view, layout="constrained")
        if space:
            self._draw_space(ax, level)
        else:
            self._draw_plane(ax)
        views = [curve.usual_range for curve in self.surface.curves]
        draw_rows(ax, self.surface.rows.within(views), self.surface.classes)
        for name, curve in zip("xyz", self.surface.curves, strict=False):
            _label_axis(ax, name, curve)
        self.figure_, self.ax_ = ax.figure, ax
        return self

    def _draw_plane(self, ax: Any) -> None:
        values = self.surface.values
        first, second = (_axis_values(curve) for curve in self.surface.curves)
        smooth = all(curve.grid.dtype.kind != "O" for curve in self.surface.curves)
        if values.ndim == 3:
            self._draw_regions(ax, first, second, values, smooth)
        else:
            reach = float(np.abs(values).max()) or 1.0
            limits = {} if self.surface.classes is None else {"vmin": -reach, "vmax": reach}
            image = ax.pcolormesh(
                first, second, values.T, cmap="cividis", alpha=0.75, rasterized=True, **limits
            )
            bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
            bar.set_label(decision_name(self.surface.classes, False), fontsize="small")
            bar.ax.tick_params(labelsize="small")
            if smooth and min(values.shape) > 1:
                self._draw_levels(ax, first, second, values)
        bare(ax)

    def _draw_levels(
        self, ax: Any, first: FloatArray, second: FloatArray, values: FloatArray
    ) -> None:
        if self.surface.classes is None:
            lines = ax.contour(first, second, values.T, levels=6, colors="black", linewidths=0.6)
            ax.clabel(lines, fontsize="x-small")
        elif values.min() < 0 < values.max():
            ax.contour(first, second, values.T, levels=[0.0], colors="black", linewidths=1.8)

    def _draw_regions(
        self, ax: Any, first: FloatArray, second: FloatArray, values: FloatArray, smooth: bool
    ) -> None:
        """Where each class has the largest score, in its colour and with its name."""
        best = values.argmax(axis=2)
        for k in range(values.shape[2]):
            inside = np.where(best == k, 1.0, np.nan)
            if np.isnan(inside).all():
                continue
            ax.pcolormesh(
                first,
                second,
                inside.T,
                cmap=_one_color(COLORS[k % len(COLORS)]),
                alpha=0.25,
                rasterized=True,
            )
            self._name_region(ax, first, second, best == k, k)
            # Smooth where both columns are numbers; between categories there is nothing.
            ahead = _lead(values, k) if smooth else np.where(best == k, 1.0, -1.0)
            if min(best.shape) > 1 and ahead.min() < 0 < ahead.max():
                ax.contour(first, second, ahead.T, levels=[0.0], colors="black", linewidths=1.0)

    def _name_region(
        self, ax: Any, first: FloatArray, second: FloatArray, inside: BoolArray, k: int
    ) -> None:
        """The name of a class where its region is, so that it can be told without colour."""
        if self.surface.classes is None:
            return
        nodes = np.argwhere(inside)
        # The mean may lie outside a bent region, its nearest node does not.
        i, j = nodes[((nodes - nodes.mean(axis=0)) ** 2).sum(axis=1).argmin()]
        beside = 0.3 if self.surface.curves[1].grid.dtype.kind == "O" else 0.0
        ax.text(
            first[i],
            second[j] + beside,
            short_name(str(self.surface.classes[k]), 14),
            ha="center",
            va="center",
            fontsize="small",
            fontweight="bold",
            clip_on=True,
            zorder=5,
            bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "0.4", "alpha": 0.85},
        )

    def _draw_space(self, ax: Any, level: float | None) -> None:
        values = self.surface.values
        grids = tuple(curve.grid.astype(np.float64) for curve in self.surface.curves)
        for k, (height, at) in enumerate(self._parting(values, level)):
            triangles = level_surface(grids, height, at)
            color = COLORS[k % len(COLORS)] if values.ndim == 4 else "0.55"
            if not len(triangles):
                continue
            corners = triangles.reshape(-1, 3)
            ax.plot_trisurf(
                corners[:, 0],
                corners[:, 1],
                corners[:, 2],
                triangles=np.arange(len(corners)).reshape(-1, 3),
                color=color,
                alpha=0.35,
                linewidth=0.0,
                shade=len(corners) > 3,
            )
        for name, nodes in zip("xyz", grids, strict=True):
            getattr(ax, f"set_{name}lim")(nodes[0], nodes[-1])

    def _parting(self, values: FloatArray, level: float | None) -> list[tuple[FloatArray, float]]:
        """Functions and the levels at which they part the space."""
        if values.ndim == 4:
            return [(_lead(values, k), 0.0) for k in range(values.shape[3])]
        if level is None:
            level = 0.0 if self.surface.classes is not None else float(np.median(values))
        return [(values, level)]


def _lead(values: FloatArray, k: int) -> FloatArray:
    """How far the score of a class is ahead of the best of the others."""
    lead: FloatArray = values[..., k] - np.delete(values, k, axis=-1).max(axis=-1)
    return lead


def _axis_values(curve: ComponentCurve) -> FloatArray:
    if curve.grid.dtype.kind == "O":
        return np.arange(len(curve.grid), dtype=np.float64)
    return curve.grid.astype(np.float64)


def _label_axis(ax: Any, name: str, curve: ComponentCurve) -> None:
    getattr(ax, f"set_{name}label")(short_name(curve.name), fontsize="small")
    if curve.grid.dtype.kind == "O":
        texts = [short_name(str(value), 12) for value in curve.grid]
        getattr(ax, f"set_{name}ticks")(np.arange(len(texts)), texts)
    ax.tick_params(labelsize="small")


def _one_color(color: str) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([color])
