"""How often columns are selected, beside their mask probabilities, as a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from s2mam.inspection.drawing import COLORS, GREY, bare, pyplot, short_name
from s2mam.inspection.stability import SelectionStability, selection_stability

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["SelectionDisplay"]


@dataclass(eq=False, repr=False)
class SelectionDisplay:
    """Bars: share of the subsamples that select a column. Diamonds: its mask probability.

    Parameters
    ----------
    stability : SelectionStability
        The numbers.

    Attributes
    ----------
    figure_, ax_
        Set by `plot`.

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> display = SelectionDisplay.from_estimator(
    ...     model, data.X, data.y, n_subsamples=2, random_state=0
    ... )
    >>> display.stability.n_subsamples
    2
    """

    stability: SelectionStability
    figure_: Any = field(default=None, init=False, repr=False)
    ax_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: AdditiveEstimator,
        X: Any,
        y: Any,
        *,
        max_columns: int = 20,
        ax: Any = None,
        **options: Any,
    ) -> SelectionDisplay:
        """Refit on subsamples and draw.

        Parameters
        ----------
        estimator, X, y
            See :func:`s2mam.inspection.selection_stability`.
        max_columns : int, default=20
            Number of bars.
        ax : matplotlib Axes, optional
            Where to draw.
        **options
            Further arguments of :func:`s2mam.inspection.selection_stability`.

        Returns
        -------
        SelectionDisplay
        """
        pyplot()  # refits take a while: say first that pictures cannot be drawn
        stability = selection_stability(estimator, X, y, **options)
        return cls(stability).plot(ax=ax, max_columns=max_columns)

    def to_frame(self) -> Any:
        """The numbers as a pandas table.

        Returns
        -------
        pandas.DataFrame
        """
        return self.stability.to_frame()

    def plot(self, ax: Any = None, *, max_columns: int = 20) -> SelectionDisplay:
        """Draw the columns selected most often, the first one on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.
        max_columns : int, default=20
            Number of bars.

        Returns
        -------
        SelectionDisplay
            Itself, with `figure_` and `ax_`.
        """
        numbers = self.stability
        order = np.lexsort((-numbers.probabilities, -numbers.frequency))[:max_columns]
        if ax is None:
            size = (4.8, 1.1 + 0.24 * len(order))
            _, ax = pyplot().subplots(figsize=size, layout="constrained")
        at = np.arange(len(order))
        filled = [COLORS[0] if numbers.support[j] else "white" for j in order]
        ax.barh(at, numbers.frequency[order], color=filled, edgecolor=COLORS[0], linewidth=0.8)
        ax.plot(
            numbers.probabilities[order],
            at,
            "D",
            color=COLORS[1],
            markeredgecolor="white",
            markersize=6,
            clip_on=False,
            label="mask probability, all labels",
        )
        ax.axvline(0.5, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
        ax.set_yticks(at, [short_name(numbers.names[j]) for j in order], fontsize="small")
        ax.set_ylim(len(order) - 0.4, -0.6)
        ax.set_xlim(0.0, 1.0)
        share = f"selected in share of {numbers.n_subsamples} subsamples"
        ax.set_xlabel(f"{share} of {100 * numbers.fraction:.0f} %\n(filled: selected with all)")
        ax.xaxis.label.set_size("small")
        bare(ax)
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")
        self.figure_, self.ax_ = ax.figure, ax
        return self
