"""The neighbour graph of the rows before and after masking, on two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.graphs import build_graph
from s2mam.inspection.components import column_names, column_positions, effects
from s2mam.inspection.drawing import bare, pyplot, short_name
from s2mam.inspection.frames import data_frame
from s2mam.inspection.grids import usual_range
from s2mam.inspection.row_drawing import draw_rows
from s2mam.inspection.surface_values import RowPositions, row_positions
from s2mam.intake import TableReader

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["GraphDisplay"]

_TITLES = ("all columns", "masked columns")


@dataclass(eq=False, repr=False)
class GraphDisplay:
    """Edges between neighbouring rows: distances in all columns, and in the masked ones.

    Where junk columns blur the distances, edges join rows of different classes; a good mask leaves
    few of these.

    Parameters
    ----------
    before, after : sparse array of shape (n, n)
        Weights of the edges with all columns, and with the mask.
    rows : RowPositions
        Where the rows are drawn.
    names : tuple of two str
        The columns they are drawn on.
    agreement : tuple of two float
        Share of the edge weight between rows of the same predicted class; for regression the
        correlation of the predictions at both ends of the edges.
    n_components : tuple of two int
        Number of connected parts of each graph.
    classes : ndarray or None
        Classes of a classifier.
    categories : tuple of two tuples or None
        Categories of the two columns; None for numbers.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by `plot`.
    axes_ : ndarray of two matplotlib Axes
        Set by `plot`.

    Examples
    --------
    >>> from s2mam import S2MAMClassifier
    >>> from s2mam.datasets import hide_labels, make_moons
    >>> data = make_moons(n_samples=80, n_uninformative=0, n_noisy=3, random_state=0)
    >>> y = hide_labels(data.y, per_class=5, random_state=0)
    >>> model = S2MAMClassifier(max_iter=5, random_state=0).fit(data.X, y)
    >>> display = GraphDisplay.from_estimator(model, data.X, y, columns=[0, 1], mask="support")
    >>> display.agreement[1] > display.agreement[0]
    True
    """

    before: Any
    after: Any
    rows: RowPositions
    names: tuple[str, str]
    agreement: tuple[float, float]
    n_components: tuple[int, int]
    classes: AnyArray | None = None
    categories: tuple[tuple[Any, ...] | None, ...] = (None, None)
    figure_: Any = field(default=None, init=False, repr=False)
    axes_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: AdditiveEstimator,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[int | str] | None = None,
        mask: str = "probabilities",
        n_neighbors: int = 5,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> GraphDisplay:
        """Build both graphs and draw them.

        Parameters
        ----------
        estimator : fitted estimator of this package
            The model.
        X : array-like or dataframe of shape (n, p)
            The rows.
        y : array-like of shape (n,), optional
            Target with unlabelled rows marked; labelled rows then stand out.
        columns : sequence of two int or str, optional
            Columns to draw on; by default the two with the largest effects.
        mask : {"probabilities", "support"}, default="probabilities"
            What multiplies the columns of the second graph: ``mask_probabilities_`` or
            ``support_``.
        n_neighbors : int, default=5
            Neighbours per row.
        feature_names : sequence of str, optional
            Names for a table without any.
        ax : sequence of two matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        GraphDisplay
        """
        check_is_fitted(estimator, "mask_probabilities_")
        weights = _mask(estimator, mask)
        names = column_names(estimator, feature_names)
        chosen = _two_columns(estimator, X, columns, names)
        reader = TableReader(
            scale=getattr(estimator, "scale", True),
            categorical=getattr(estimator, "categorical", "auto"),
        )
        table = reader.fit_transform(X)
        if len(table) < 3:
            raise InvalidInputError(f"X has {len(table)} rows; a graph to look at needs three.")
        graphs = [
            build_graph(
                table,
                columns_in,
                kinds=reader.kinds_,
                kind="neighbors",
                n_neighbors=min(n_neighbors, len(table) - 1),
                warn=False,
            )
            for columns_in in (np.ones(weights.size), weights)
        ]
        before, after = (sparse.csr_array(graph.weights) for graph in graphs)
        classes = getattr(estimator, "classes_", None)
        predicted = np.asarray(estimator.predict(X))
        fits = [_agreement(weights, predicted, classes is None) for weights in (before, after)]
        display = cls(
            before=before,
            after=after,
            rows=row_positions(estimator, X, y, chosen),
            names=(names[chosen[0]], names[chosen[1]]),
            agreement=(fits[0], fits[1]),
            n_components=(graphs[0].diagnostics.n_components, graphs[1].diagnostics.n_components),
            classes=classes,
            categories=tuple(reader.columns_[j].categories for j in chosen),
        )
        return display.plot(ax=ax)

    def to_frame(self) -> Any:
        """All edges as a pandas table.

        Returns
        -------
        pandas.DataFrame
            Columns ``graph, row, neighbor, weight``, each edge once.
        """
        parts = []
        for title, weights in zip(_TITLES, (self.before, self.after), strict=True):
            edges = sparse.triu(weights, k=1).tocoo()
            parts += [(title, *edge) for edge in zip(edges.row, edges.col, edges.data, strict=True)]
        names = ("graph", "row", "neighbor", "weight")
        return data_frame({name: [part[k] for part in parts] for k, name in enumerate(names)})

    def plot(self, ax: Any = None) -> GraphDisplay:
        """Draw both graphs side by side.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        GraphDisplay
            Itself, with `figure_` and `axes_`.
        """
        ours = ax is None
        if ours:
            _, ax = pyplot().subplots(
                1, 2, figsize=(8.4, 4.0), sharex=True, sharey=True, layout="constrained"
            )
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if axes.size < 2:
            raise InvalidInputError("ax has 1 panel; two graphs are drawn, pass two.")
        for k, weights in enumerate((self.before, self.after)):
            self._draw_edges(axes[k], weights)
            draw_rows(axes[k], self.rows, self.classes, legend=False)
            axes[k].set_title(self._title(k), fontsize="small")
            axes[k].set_xlabel(short_name(self.names[0]), fontsize="small")
            bare(axes[k])
            self._set_view(axes[k])
        axes[0].set_ylabel(short_name(self.names[1]), fontsize="small")
        owner = axes[0].figure if ours else axes[0]
        place = {"loc": "outside lower center", "ncols": 6} if ours else {"loc": "best"}
        handles, labels = axes[0].get_legend_handles_labels()
        owner.legend(handles, labels, frameon=False, fontsize="small", **place)
        self.figure_, self.axes_ = axes[0].figure, axes[:2]
        return self

    def _set_view(self, axis: Any) -> None:
        """Names of categories, and of numbers where nearly all rows are."""
        for k, side in enumerate("xy"):
            values = self.rows.positions[:, k]
            values = values[~np.isnan(values)]
            categories = self.categories[k]
            if categories is not None:
                texts = [short_name(str(value), 12) for value in categories]
                getattr(axis, f"set_{side}ticks")(np.arange(len(texts)), texts)
            elif len(values) and usual_range(values) != (values.min(), values.max()):
                low, high = usual_range(values)
                margin = 0.05 * (high - low)
                getattr(axis, f"set_{side}lim")(low - margin, high + margin)

    def _draw_edges(self, axis: Any, weights: Any) -> None:
        edges = sparse.triu(weights, k=1).tocoo()
        at = self.rows.positions
        ends = np.stack([at[edges.row], at[edges.col]], axis=1)
        strong = edges.data / (edges.data.max(initial=0.0) or 1.0)
        pyplot()
        from matplotlib.collections import LineCollection

        shades = np.column_stack([np.full((len(strong), 3), 0.25), 0.12 + 0.55 * strong])
        axis.add_collection(LineCollection(list(ends), colors=shades, linewidths=0.7, zorder=1))

    def _title(self, k: int) -> str:
        if self.classes is None:
            fits = f"correlation along edges {self.agreement[k]:.2f}"
        else:
            fits = f"{100 * self.agreement[k]:.0f} % of edges within a predicted class"
        return f"{_TITLES[k]}: {fits}"


def _mask(estimator: AdditiveEstimator, mask: str) -> FloatArray:
    if mask not in ("probabilities", "support"):
        raise InvalidInputError(f"mask={mask!r} is unknown; use 'probabilities' or 'support'.")
    chosen = estimator.mask_probabilities_ if mask == "probabilities" else estimator.support_
    weights = np.asarray(chosen, dtype=np.float64)
    if not weights.any():
        raise InvalidInputError("The mask lets no column through, so there is no graph to draw.")
    return np.clip(weights, 0.0, 1.0)


def _two_columns(
    estimator: AdditiveEstimator, X: Any, columns: Sequence[int | str] | None, names: list[str]
) -> list[int]:
    if columns is None:
        sizes = effects(estimator.contributions(X))
        chosen = [int(j) for j in np.argsort(-sizes, kind="stable")[:2]]
    else:
        chosen = column_positions(columns, names)
    if len(set(chosen)) != 2 or len(chosen) != 2:
        raise InvalidInputError(f"columns={columns!r} must name two different columns of X.")
    return chosen


def _agreement(weights: Any, predicted: AnyArray, regression: bool) -> float:
    edges = weights.tocoo()
    first, second = predicted[edges.row], predicted[edges.col]
    total = float(edges.data.sum()) or 1.0
    if not regression:
        return float(edges.data[first == second].sum() / total)
    # Every edge is there in both directions, so that both ends have the same mean and variance.
    mean = float(edges.data @ first) / total
    spread = float(edges.data @ (first - mean) ** 2) / total
    shared = float(edges.data @ ((first - mean) * (second - mean))) / total
    return shared / spread if spread > 0.0 else 1.0
