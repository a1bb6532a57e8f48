"""How a mask learner went: criterion, budget and mask probabilities per iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import column_names
from s2mam.inspection.drawing import COLORS, DASHES, GREY, bare, pyplot, short_name
from s2mam.inspection.frames import data_frame

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["MaskPathDisplay", "MaskRecorder"]

_CRITERIA = {
    "posterior": "− log posterior",
    "relaxed": "criterion",
}


class MaskRecorder:
    """A callback that keeps the mask probabilities of every iteration.

    ``history_`` holds numbers per iteration, not probabilities per column; give this to the
    `callbacks` of an estimator whose learner moves them step by step ("rloo", "reinforce").

    Attributes
    ----------
    probabilities : list of ndarray of shape (p,)
        One per iteration of the latest fit.

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> recorder = MaskRecorder()
    >>> model = S2MAMRegressor(
    ...     mask_learner="rloo", max_iter=4, callbacks=[recorder], random_state=0
    ... ).fit(data.X, data.y)
    >>> len(recorder.probabilities)
    4
    """

    def __init__(self) -> None:
        self.probabilities: list[FloatArray] = []

    def __call__(self, progress: dict[str, Any]) -> None:
        """Keep the probabilities of one iteration.

        Parameters
        ----------
        progress : dict
            What estimators tell their callbacks.
        """
        if "probabilities" not in progress:
            return
        if progress.get("iteration", 1) <= 1:
            self.probabilities.clear()
        self.probabilities.append(np.array(progress["probabilities"], dtype=np.float64))


@dataclass(eq=False, repr=False)
class MaskPathDisplay:
    """Criterion, budget and, where recorded, mask probabilities over the iterations.

    Parameters
    ----------
    names : list of str
        Column names.
    criterion : ndarray of shape (t,)
        Upper-level criterion per iteration; less is better.
    budget : ndarray of shape (t,) or None
        Number of columns: sum of the probabilities, or size of the current mask.
    probabilities : ndarray of shape (t, p) or None
        Mask probabilities, from a `MaskRecorder`.
    learner : str
        The mask learner.
    n_runs : int
        Samplers that stand one after the other in the history, one per scale of the table.
    stop_reason : str
        Why the learner stopped.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by `plot`.
    axes_ : ndarray of matplotlib Axes
        One per quantity, set by `plot`.

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(mask_learner="rloo", max_iter=4, random_state=0)
    >>> display = MaskPathDisplay.from_estimator(model.fit(data.X, data.y))
    >>> display.criterion.shape, display.probabilities is None
    ((4,), True)
    """

    names: list[str]
    criterion: FloatArray
    budget: FloatArray | None = None
    probabilities: FloatArray | None = None
    learner: str = ""
    n_runs: int = 1
    stop_reason: str = ""
    figure_: Any = field(default=None, init=False, repr=False)
    axes_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: AdditiveEstimator,
        *,
        recorder: MaskRecorder | None = None,
        feature_names: Sequence[str] | None = None,
        max_columns: int = 7,
        ax: Any = None,
    ) -> MaskPathDisplay:
        """Read the history and draw it.

        Parameters
        ----------
        estimator : fitted estimator with learned masks
            The model.
        recorder : MaskRecorder, optional
            By default one among its `callbacks`, when there is one.
        feature_names : sequence of str, optional
            Names for a table without any.
        max_columns : int, default=7
            Number of columns with a line of their own.
        ax : sequence of matplotlib Axes, optional
            One per quantity.

        Returns
        -------
        MaskPathDisplay

        Raises
        ------
        InvalidInputError
            When the model learned no masks, or has fewer than two iterations to show.
        """
        check_is_fitted(estimator, "history_")
        learner = getattr(estimator, "mask_learner", None)
        if learner is None:
            raise InvalidInputError(
                f"{type(estimator).__name__} learns no masks, so there is no path to draw; use an "
                "S2MAM estimator."
            )
        learner = "posterior" if learner == "auto" else str(learner)
        criterion = np.asarray(estimator.history_.get("criterion", []), dtype=np.float64)
        if criterion.size < 2:
            raise InvalidInputError(
                f"The history of mask_learner={learner!r} holds {criterion.size} iterations here; "
                "a path needs two. Use 'rloo', 'reinforce' or the default learner."
            )
        if recorder is None:
            callbacks = getattr(estimator, "callbacks", None) or []
            recorder = next((call for call in callbacks if isinstance(call, MaskRecorder)), None)
        recorded = None if recorder is None else recorder.probabilities
        display = cls(
            names=column_names(estimator, feature_names),
            criterion=criterion,
            budget=_budget(estimator.history_, criterion.size),
            probabilities=np.array(recorded) if recorded else None,
            learner=learner,
            n_runs=_runs(estimator._model) if learner == "posterior" else 1,
            stop_reason=estimator.stop_reason_,
        )
        return display.plot(ax=ax, max_columns=max_columns)

    def to_frame(self) -> Any:
        """One row per iteration, as a pandas table.

        Returns
        -------
        pandas.DataFrame
            Columns ``iteration, criterion``, ``budget`` and one per table column where known.
        """
        rows: dict[str, Any] = {"iteration": np.arange(1, self.criterion.size + 1)}
        rows["criterion"] = self.criterion
        if self.budget is not None:
            rows["budget"] = self.budget
        if self.probabilities is not None:
            rows |= {name: self.probabilities[:, j] for j, name in enumerate(self.names)}
        return data_frame(rows)

    def plot(self, ax: Any = None, *, max_columns: int = 7) -> MaskPathDisplay:
        """Draw one panel per quantity that the history has.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, optional
            One per quantity; a new figure by default.
        max_columns : int, default=7
            Number of columns with a line of their own; the others are thin and grey.

        Returns
        -------
        MaskPathDisplay
            Itself, with `figure_` and `axes_`.
        """
        panels = 1 + (self.budget is not None) + (self.probabilities is not None)
        if ax is None:
            _, ax = pyplot().subplots(
                panels, 1, figsize=(5.5, 1.9 * panels), sharex=True, layout="constrained"
            )
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if axes.size < panels:
            raise InvalidInputError(f"ax has {axes.size} panels for {panels} quantities.")
        rest = iter(axes)
        self._line(next(rest), self.criterion, _CRITERIA.get(self.learner, "criterion"))
        if self.budget is not None:
            sampled = self.learner == "posterior"
            self._line(next(rest), self.budget, "columns in the mask" if sampled else "budget")
        if self.probabilities is not None:
            self._lines(next(rest), self.probabilities, max_columns)
        last = axes[panels - 1]
        last.set_xlabel(self._steps(), fontsize="small")
        self.figure_, self.axes_ = axes[0].figure, axes[:panels]
        return self

    def _steps(self) -> str:
        if self.learner == "relaxed":
            return "masks tried, small to large"
        if self.n_runs > 1:
            return f"jump of the mask sampler ({self.n_runs} runs, one per scale)"
        return "iteration" + (f" (stopped: {self.stop_reason})" if self.stop_reason else "")

    def _line(self, axis: Any, values: FloatArray, label: str) -> None:
        for k, part in enumerate(np.array_split(np.arange(values.size), self.n_runs)):
            axis.plot(
                part + 1,
                values[part],
                color=COLORS[k % len(COLORS)],
                linestyle=DASHES[k % len(DASHES)],
                linewidth=1.4,
            )
            if k:
                axis.axvline(part[0] + 0.5, color=GREY, linewidth=0.8)
        axis.set_ylabel(label, fontsize="small")
        bare(axis)

    def _lines(self, axis: Any, values: FloatArray, max_columns: int) -> None:
        steps = np.arange(1, len(values) + 1)
        order = np.argsort(-values[-1], kind="stable")
        for j in order[max_columns:]:
            axis.plot(steps, values[:, j], color=GREY, linewidth=0.7, zorder=1)
        for k, j in enumerate(order[:max_columns]):
            axis.plot(
                steps,
                values[:, j],
                color=COLORS[k % len(COLORS)],
                linestyle=DASHES[k % len(DASHES)],
                label=short_name(self.names[j], 18),
            )
        axis.set_ylim(-0.02, 1.02)
        axis.set_ylabel("mask probability", fontsize="small")
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="x-small")
        bare(axis)


def _runs(model: Any) -> int:
    """Runs of the default learner: one per scale, one after the other."""
    return len({str(part.reader.scale) for part in getattr(model, "parts", ())}) or 1


def _budget(history: dict[str, list[float]], size: int) -> FloatArray | None:
    values = np.asarray(history.get("budget", []), dtype=np.float64)
    return values if values.size == size else None
