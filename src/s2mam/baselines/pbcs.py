"""PBCS: probabilistic bilevel selection of columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from s2mam._typing import FloatArray
from s2mam.baselines.base import Baseline, BaselineClassifier, BaselineRegressor, one_thread
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.coding import TargetCoding, code_targets
from s2mam.baselines.shared.column_budget import read_budget
from s2mam.baselines.shared.column_search import (
    ColumnSelection,
    SelectionProblem,
    select_columns,
)
from s2mam.baselines.shared.mask_policy import PolicySearch
from s2mam.baselines.shared.parameters import choice, nonnegative, positive, whole
from s2mam.exceptions import InvalidInputError

__all__ = ["PBCSClassifier", "PBCSRegressor"]


class _PBCS(Baseline):
    """What the classifier and the regressor share."""

    paper_name: ClassVar[str] = "PBCS"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "penalty": (1e-3, 1e-2, 1e-1),
        "n_features_to_select": (2, "auto", 8),
    }

    def __init__(
        self,
        *,
        penalty: float = 1e-2,
        n_features_to_select: Any = "auto",
        n_masks: int = 5,
        max_iter: int = 300,
        step: float = 0.05,
        floor: float = 0.02,
        anneal: bool = True,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.penalty = penalty
        self.n_features_to_select = n_features_to_select
        self.n_masks = n_masks
        self.max_iter = max_iter
        self.step = step
        self.floor = floor
        self.anneal = anneal
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    _coding: TargetCoding

    @abstractmethod
    def _problem(self, rows: BaselineRows) -> SelectionProblem:
        """What is to be selected, from the labelled rows."""

    @staticmethod
    def fit_together(models: Sequence[_PBCS], X: Any, targets: Sequence[Any]) -> None:
        """Fit copies of an estimator at once, in a fraction of the time, with the same results.

        Parameters
        ----------
        models : sequence of estimators
            Of one class; they may differ in `penalty` and `n_features_to_select`.
        X : array-like of shape (n, p)
            The rows of all.
        targets : sequence of array-like of shape (n,)
            One target for each.
        """
        classification = is_classifier(models[0])
        rows = [
            m._read(X, y, classification=classification)
            for m, y in zip(models, targets, strict=True)
        ]
        with one_thread():
            problems = [m._problem(own) for m, own in zip(models, rows, strict=True)]
            kinds = [(m._search(), repr(m.random_state)) for m in models]
            if len({*kinds}) > 1 or len({problem.loss for problem in problems}) > 1:
                raise InvalidInputError(
                    "Fits together may differ in penalty and n_features_to_select only."
                )
            found = select_columns(problems, models[0]._search(), models[0].random_state)
            for model, own, selection in zip(models, rows, found, strict=True):
                model._take(selection)
                model._conclude(own)

    def _learn(self, rows: BaselineRows) -> None:
        problem = self._problem(rows)
        self._take(select_columns([problem], self._search(), self.random_state)[0])

    def _take(self, found: ColumnSelection) -> None:
        s, columns = found.probabilities, found.columns
        self._encoded_weights = np.zeros_like(s)
        self._encoded_weights[columns] = np.maximum(s[columns], np.finfo(np.float64).tiny)
        self.mask_probabilities_, self.history_ = s, found.history
        self.n_iter_ = len(self.history_)
        self._columns, self._coef, self._intercept = columns, found.coef, found.intercept

    def _selection(self, rows: BaselineRows, targets: FloatArray, loss: str) -> SelectionProblem:
        shown = rows.table[rows.labeled]
        return SelectionProblem(
            table=shown,
            targets=targets,
            penalty=positive("penalty", self.penalty),
            budget=read_budget(self.n_features_to_select, *shown.shape),
            loss=loss,
        )

    def _search(self) -> PolicySearch:
        floor = nonnegative("floor", self.floor)
        if floor >= 0.5:
            raise InvalidInputError(f"floor={self.floor!r} must be below 0.5.")
        return PolicySearch(
            n_draws=whole("n_masks", self.n_masks, least=2),
            max_iter=whole("max_iter", self.max_iter),
            step=positive("step", self.step),
            floor=floor,
            anneal=bool(self.anneal),
        )

    def _linear(self, table: FloatArray) -> FloatArray:
        values: FloatArray = table[:, self._columns] @ self._coef + self._intercept
        return values


class PBCSRegressor(_PBCS, BaselineRegressor):
    """Probabilistic bilevel selection of columns, with ridge regression inside.

    Each column has a chance of being used. Random masks are drawn, a ridge regression is solved
    on the labelled rows for each, and the loss of the fits (on the same rows, as in the method)
    drives the chances by the policy gradient, under a budget on their sum. In the end the columns
    with the largest chances are kept and the regression is solved on them. A removed column has
    no coefficient, so that judging the fit on masked or on full rows is the same. Unlabelled rows
    are not used but for scaling.

    Parameters
    ----------
    penalty : float
        Weight of the squared norm of the coefficients, next to the mean loss.
    n_features_to_select : int or "auto"
        The budget; "auto" is l / log(l) for l labelled rows.
    n_masks : int
        Masks per step; each one's baseline is the mean loss of the others.
    max_iter : int
        Steps.
    step : float
        First step size of the chances; it falls to zero along a cosine.
    floor : float in [0, 0.5)
        Masks are drawn from chances kept this far from 0 and 1. With 0 a column whose chance has
        reached 0 never comes back, as in the method as published.
    anneal : bool
        Start with all columns and lower the budget step by step.
    random_state : int, RandomState instance or None
        Draws the masks.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    mask_probabilities_ : (q,) array
        Chance of each encoded column.
    history_ : list of float
        Mean loss of the draws of each step, relative to a constant.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 6))
    >>> y = 3 * X[:, 1] - 2 * X[:, 4]
    >>> PBCSRegressor(n_features_to_select=2, random_state=0).fit(X, y).get_support(indices=True)
    array([1, 4])
    """

    def _problem(self, rows: BaselineRows) -> SelectionProblem:
        self._coding = code_targets(rows)
        return self._selection(rows, self._coding.matrix, "squared")

    def _scores(self, table: FloatArray) -> FloatArray:
        return self._coding.scores(self._linear(table))


class PBCSClassifier(_PBCS, BaselineClassifier):
    """Probabilistic bilevel selection of columns, with logistic regression inside.

    As :class:`PBCSRegressor`; several classes have one model each, against the rest, and share
    the columns.

    Parameters
    ----------
    loss : {"logistic", "squared"}
        Loss of the model inside; the squared one needs no iterations.
    penalty, n_features_to_select, n_masks, max_iter, step, floor, anneal, random_state
        As in :class:`PBCSRegressor`.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 6))
    >>> y = (3 * X[:, 1] - 2 * X[:, 4] > 0).astype(int)
    >>> PBCSClassifier(n_features_to_select=2, random_state=0).fit(X, y).get_support(indices=True)
    array([1, 4])
    """

    def __init__(
        self,
        *,
        loss: str = "logistic",
        penalty: float = 1e-2,
        n_features_to_select: Any = "auto",
        n_masks: int = 5,
        max_iter: int = 300,
        step: float = 0.05,
        floor: float = 0.02,
        anneal: bool = True,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.n_features_to_select = n_features_to_select
        self.n_masks = n_masks
        self.max_iter = max_iter
        self.step = step
        self.floor = floor
        self.anneal = anneal
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _problem(self, rows: BaselineRows) -> SelectionProblem:
        loss = choice("loss", self.loss, ("logistic", "squared"))
        one_hot = rows.one_hot[rows.labeled]
        self._threshold = 0.5 if loss == "squared" else 0.0
        return self._selection(rows, one_hot[:, 1:] if rows.n_classes == 2 else one_hot, loss)

    def _scores(self, table: FloatArray) -> FloatArray:
        values = self._linear(table)
        return values[:, 0] - self._threshold if values.shape[1] == 1 else values
