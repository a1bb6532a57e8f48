"""What the columns add to the decision of one row, or of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import column_names
from s2mam.inspection.contribution_drawing import draw_strips, draw_waterfall
from s2mam.inspection.display import decision_name
from s2mam.inspection.drawing import pyplot, short_name
from s2mam.inspection.frames import data_frame
from s2mam.inspection.grids import observed_values
from s2mam.intake import TableReader

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["ContributionDisplay"]


@dataclass(eq=False, repr=False)
class ContributionDisplay:
    """From the intercept to the decision, column by column.

    One row is drawn as a waterfall: bars that start where the one before ended. All rows are drawn
    as strips of colour, one line per column, rows sorted by their decision. The columns that add
    most have a line each and the rest one together, so that what is drawn adds up exactly.

    Parameters
    ----------
    names : list of str
        Column names.
    contributions : ndarray of shape (n, p) or (n, p, n_classes)
        What each column adds.
    intercept : ndarray of shape (1,) or (n_classes,)
        Where the sums start.
    classes : ndarray or None
        Classes of a classifier.
    values : list of str or None
        Values of the columns in the row of a waterfall.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by `plot`.
    axes_ : ndarray of matplotlib Axes
        One, or one per class for strips of several; set by `plot`.

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> display = ContributionDisplay.from_estimator(model, data.X, row=0, top=3)
    >>> labels, steps = display.steps(0, top=3)
    >>> len(steps), bool(np.isclose(model.intercept_ + steps.sum(), model.predict(data.X[:1])[0]))
    (4, True)
    """

    names: list[str]
    contributions: FloatArray
    intercept: FloatArray
    classes: AnyArray | None = None
    values: list[str] | None = None
    figure_: Any = field(default=None, init=False, repr=False)
    axes_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: AdditiveEstimator,
        X: Any,
        *,
        row: int | None = None,
        target: Any = None,
        top: int = 10,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> ContributionDisplay:
        """Compute the contributions and draw them.

        Parameters
        ----------
        estimator : fitted estimator of this package
            The model.
        X : array-like or dataframe of shape (n, p)
            Rows to explain.
        row : int, optional
            Position of the row of a waterfall; all rows by default.
        target : class, optional
            Class whose score is drawn, with three or more. By default the predicted one for a
            waterfall, all of them for strips.
        top : int, default=10
            Number of columns with a line of their own.
        feature_names : sequence of str, optional
            Names for a table without any.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw.

        Returns
        -------
        ContributionDisplay
        """
        check_is_fitted(estimator, "mask_probabilities_")
        contributions = estimator.contributions(X)
        values = None
        if row is not None:
            row = _checked_row(row, len(contributions))
            values = _values_of_row(estimator, X, row)
        display = cls(
            names=column_names(estimator, feature_names),
            contributions=contributions,
            intercept=np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64)),
            classes=getattr(estimator, "classes_", None),
            values=values,
        )
        return display.plot(row=row, target=target, top=top, ax=ax)

    @property
    def decision(self) -> FloatArray:
        """Intercept plus contributions: shape (n,) or (n, n_classes)."""
        total: FloatArray = self.contributions.sum(axis=1) + (
            self.intercept if self.contributions.ndim == 3 else self.intercept[0]
        )
        return total

    def steps(self, row: int, *, target: Any = None, top: int = 10) -> tuple[list[str], FloatArray]:
        """The steps of a waterfall: the columns that add most to a row, then the rest together.

        Parameters
        ----------
        row : int
            Position of the row.
        target : class, optional
            Class, with three or more; the predicted one by default.
        top : int, default=10
            Number of columns with a step of their own.

        Returns
        -------
        labels : list of str
            Column names, and "n others" last when there are any.
        steps : ndarray
            What they add; with the intercept they sum to the decision.
        """
        added = self._scores(self._class(row, target))[row]
        order, rest = _largest(np.abs(added), top)
        labels = [self.names[j] for j in order]
        steps = added[order]
        if rest.size:
            labels.append(f"{rest.size} others" if rest.size > 1 else self.names[rest[0]])
            steps = np.append(steps, added[rest].sum())
        return labels, steps

    def to_frame(self, target: Any = None) -> Any:
        """One line per row, as a pandas table.

        Parameters
        ----------
        target : class, optional
            Class, with three or more; the first one by default.

        Returns
        -------
        pandas.DataFrame
            Columns ``intercept``, one per column of the table, ``decision``.
        """
        k = 0 if target is None else self._class(0, target)
        scores = self._scores(k)
        columns: dict[str, Any] = {"intercept": np.full(len(scores), self.intercept[k])}
        columns |= {name: scores[:, j] for j, name in enumerate(self.names)}
        columns["decision"] = scores.sum(axis=1) + self.intercept[k]
        return data_frame(columns)

    def plot(
        self, *, row: int | None = None, target: Any = None, top: int = 10, ax: Any = None
    ) -> ContributionDisplay:
        """Draw the waterfall of one row, or the strips of all rows.

        Parameters
        ----------
        row, target, top, ax
            See :meth:`from_estimator`.

        Returns
        -------
        ContributionDisplay
            Itself, with `figure_` and `axes_`.
        """
        if top < 1:
            raise InvalidInputError(f"top={top} must be at least 1.")
        if row is None:
            return self._plot_strips(target, top, ax)
        row = _checked_row(row, len(self.contributions))
        k = self._class(row, target)
        labels, steps = self.steps(row, target=target, top=top)
        if ax is None:
            size = (6.0, 1.4 + 0.27 * len(steps))
            _, ax = pyplot().subplots(figsize=size, layout="constrained")
        draw_waterfall(
            ax, [self._with_value(label) for label in labels], steps, float(self.intercept[k])
        )
        ax.set_xlabel(self._quantity(k), fontsize="small")
        ax.set_title(f"row {row}", fontsize="small", loc="left")
        self.figure_, self.axes_ = ax.figure, np.array([ax], dtype=object)
        return self

    def _plot_strips(self, target: Any, top: int, ax: Any) -> ContributionDisplay:
        several = self.contributions.ndim == 3
        shown = (
            range(self.intercept.size) if several and target is None else [self._class(0, target)]
        )
        order, rest = _largest(np.abs(self.contributions).mean(axis=(0, 2) if several else 0), top)
        if ax is None:
            size = (6.5, len(shown) * (1.3 + 0.22 * (len(order) + 1)))
            _, ax = pyplot().subplots(
                len(shown), 1, figsize=size, squeeze=False, layout="constrained"
            )
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if axes.size < len(shown):
            raise InvalidInputError(f"ax has {axes.size} panels for {len(shown)} classes.")
        labels = [short_name(self.names[j]) for j in order]
        labels += [f"{rest.size} others"] if rest.size else []
        for axis, k in zip(axes, shown, strict=False):
            scores = self._scores(k)
            lines = [scores[:, j] for j in order] + [scores[:, rest].sum(axis=1)] * bool(rest.size)
            draw_strips(axis, labels, np.array(lines), float(self.intercept[k]), self._quantity(k))
        axes[len(shown) - 1].set_xlabel(
            "rows, from the lowest to the highest decision", fontsize="small"
        )
        self.figure_, self.axes_ = axes[0].figure, axes[: len(shown)]
        return self

    def _scores(self, k: int) -> FloatArray:
        return self.contributions if self.contributions.ndim == 2 else self.contributions[:, :, k]

    def _class(self, row: int, target: Any) -> int:
        """Position of a class among the scores; zero where there is one score."""
        if self.contributions.ndim == 2 or self.classes is None:
            if target is not None:
                raise InvalidInputError(
                    "target chooses among the scores of three or more classes; here is one score."
                )
            return 0
        if target is None:
            return int(self.decision[row].argmax())
        found = np.flatnonzero(self.classes == target)
        if not found.size:
            raise InvalidInputError(
                f"There is no class {target!r}; known: {', '.join(map(str, self.classes))}."
            )
        return int(found[0])

    def _quantity(self, k: int) -> str:
        several = self.contributions.ndim == 3
        name = decision_name(self.classes, several)
        return f"score of {self.classes[k]}" if several and self.classes is not None else name

    def _with_value(self, label: str) -> str:
        if self.values is None or label not in self.names:
            return short_name(label)
        return f"{short_name(label, 22)} = {short_name(self.values[self.names.index(label)], 12)}"


def _largest(size: FloatArray, top: int) -> tuple[IntArray, IntArray]:
    """Positions of the largest entries, and of the others; what adds nothing is with the others."""
    order = np.argsort(-size, kind="stable")
    active = int(np.count_nonzero(size))
    # One left over would take the place of its own line.
    kept = active if active <= top + 1 and order.size == active else min(top, active)
    return order[:kept], order[kept:]


def _checked_row(row: int, n_rows: int) -> int:
    if not -n_rows <= row < n_rows:
        raise InvalidInputError(f"There is no row {row}; X has {n_rows} rows.")
    return row % n_rows


def _values_of_row(estimator: AdditiveEstimator, X: Any, row: int) -> list[str]:
    reader = TableReader(categorical=getattr(estimator, "categorical", "auto")).fit(X)
    texts = []
    for j, info in enumerate(reader.columns_):
        value = observed_values(X, j, info)[row]
        if np.isnan(value):
            texts.append("missing")
        else:
            known = info.categories
            texts.append(f"{value:.4g}" if known is None else str(known[int(value)]))
    return texts
