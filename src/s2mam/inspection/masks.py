"""Mask probabilities as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import BoolArray, FloatArray
from s2mam.inspection.components import column_names
from s2mam.inspection.drawing import COLORS, GREY, bare, pyplot, short_name
from s2mam.inspection.frames import data_frame

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["MaskDisplay"]


@dataclass(eq=False, repr=False)
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

    def to_frame(self) -> Any:
        """The probabilities as a pandas table, in the order of the columns.

        Returns
        -------
        pandas.DataFrame
            Columns ``column, probability, selected``.
        """
        return data_frame(
            {"column": self.names, "probability": self.probabilities, "selected": self.support}
        )

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
        bare(ax)
        self.figure_, self.ax_ = ax.figure, ax
        return self
