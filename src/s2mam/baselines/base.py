"""The contract of all baselines: the same markers, names and errors as our own estimators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.baselines.rows import BaselineRows, Encoder, signs
from s2mam.exceptions import InvalidInputError, MemoryLimitError
from s2mam.graphs.memory import memory_allowance
from s2mam.intake import read_classification_target, read_regression_target
from s2mam.intake.forgetting import forget_learned

__all__ = [
    "Baseline",
    "BaselineClassifier",
    "BaselineRegressor",
    "ScalarClassifier",
    "one_thread",
]


@cache
def _blas() -> ThreadpoolController:
    """The BLAS of this process; looking for it takes longer than a small fit."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """A block in which matrix products take one thread: for small ones more are slower."""
    limited: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limited


class Baseline(BaseEstimator):  # type: ignore[misc]
    """A system to compare with.

    A subclass stores its parameters in ``__init__`` (always with `scale`, `categorical` and
    `unlabeled`, passed on by name), learns in `_learn` and scores rows in `_scores`; all else is
    here. A subclass that is not inductive also overrides `_training_scores`.
    """

    #: "regression" or "classification".
    task: ClassVar[str] = ""
    #: The name the paper prints.
    paper_name: ClassVar[str] = ""
    #: Whether new rows are scored by the learned function itself (else by a documented extension).
    inductive: ClassVar[bool] = True
    #: Whether columns are selected; then `_learn` sets `_encoded_weights`.
    selects_columns: ClassVar[bool] = False
    #: Tables of n x n numbers that are there at the peak of a fit, as measured; 0 where none is.
    square_tables: ClassVar[int] = 0
    #: Values that a study tries, by leave-one-out over the labelled rows.
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {}
    #: Packages of an extra that a fit needs; the extra has the name of the first.
    requires: ClassVar[tuple[str, ...]] = ()

    scale: Any
    categorical: Any
    unlabeled: Any
    n_features_in_: int
    classes_: AnyArray
    transduction_: AnyArray
    n_labeled_: int
    #: (q,) importance of each encoded column, zero where it is not used.
    _encoded_weights: FloatArray

    @abstractmethod
    def _learn(self, rows: BaselineRows) -> None:
        """Learn from the rows; set fitted attributes."""

    @abstractmethod
    def _scores(self, table: FloatArray) -> FloatArray:
        """Numbers (regression), scores (m,) of the second of two classes, or (m, K) scores."""

    def _training_scores(self, rows: BaselineRows) -> FloatArray:
        """Scores of the rows of the fit."""
        return self._scores(rows.table)

    def _chosen(self, weights: FloatArray) -> BoolArray:
        """Which columns of X count as selected, from their importance."""
        return weights > 0

    def _fit(self, X: Any, y: Any, *, classification: bool) -> Self:
        rows = self._read(X, y, classification=classification)
        with one_thread():
            self._learn(rows)
            return self._conclude(rows)

    def _read(self, X: Any, y: Any, *, classification: bool) -> BaselineRows:
        """Check and encode what a fit is given."""
        if y is None:
            raise InvalidInputError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None; pass y with unlabelled rows marked."
            )
        forget_learned(self)
        self._encoder = Encoder(self.scale, self.categorical)
        table = self._encoder.fit_transform(X, self)
        self._require_memory(table.shape[0])
        read = read_classification_target if classification else read_regression_target
        target = read(y, unlabeled=self.unlabeled, n_rows=table.shape[0])
        if classification:
            self._read_classes(np.asarray(target.classes))
        self.n_labeled_ = int(np.count_nonzero(target.labeled))
        return BaselineRows(
            table=table,
            labeled=np.flatnonzero(target.labeled),
            target=np.asarray(target.y),
            n_classes=self.classes_.size if classification else 0,
        )

    def _conclude(self, rows: BaselineRows) -> Self:
        """Publish what was learned."""
        scores = self._training_scores(rows)
        if self.selects_columns:
            self._publish_columns()
        self.transduction_ = self._answer(scores)
        return self

    def _require_memory(self, n: int) -> None:
        """Refuse what would not fit, before anything large is allocated."""
        needed, allowed = 8 * self.square_tables * n * n, memory_allowance(None)
        if allowed is not None and needed > allowed:
            raise MemoryLimitError(
                f"{type(self).__name__} works on tables of {n} x {n} numbers and needs about "
                f"{needed / 1e9:.3g} GB, but {allowed / 1e9:.3g} GB are allowed; use fewer rows."
            )

    def _read_classes(self, classes: AnyArray) -> None:
        if classes.size < 2:
            raise InvalidInputError(
                f"{type(self).__name__} needs labels of at least two classes, but the labelled "
                f"rows hold one class only ({classes.tolist()[0]!r}); label a row of another class."
            )
        self.classes_ = classes

    def _publish_columns(self) -> None:
        weights = np.zeros(self.n_features_in_)
        np.maximum.at(weights, self._encoder.owner, np.abs(self._encoded_weights))
        self.feature_weights_ = weights
        self.support_ = self._chosen(weights)

    def _score_rows(self, X: Any) -> FloatArray:
        check_is_fitted(self, "transduction_")
        table = self._encoder.transform(X, self)
        with one_thread():
            return self._scores(table)

    def _answer(self, scores: FloatArray) -> AnyArray:
        return scores

    def get_support(self, indices: bool = False) -> AnyArray:
        """Columns the method selected.

        Parameters
        ----------
        indices : bool
            Positions instead of a mask.

        Returns
        -------
        ndarray
        """
        check_is_fitted(self, "transduction_")
        if not self.selects_columns:
            raise InvalidInputError(
                f"{type(self).__name__} does not select columns; use a method whose "
                "'selects_columns' is true."
            )
        return np.flatnonzero(self.support_) if indices else self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


class BaselineRegressor(RegressorMixin, Baseline):  # type: ignore[misc]
    """Baseline that predicts numbers."""

    task: ClassVar[str] = "regression"

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, p)
            All rows, labelled and unlabelled.
        y : array-like of shape (n,)
            Numbers; missing where unlabelled.

        Returns
        -------
        self
        """
        return self._fit(X, y, classification=False)

    def predict(self, X: Any) -> FloatArray:
        """Predicted numbers.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Rows.

        Returns
        -------
        ndarray of shape (m,)
        """
        return self._score_rows(X)


class BaselineClassifier(ClassifierMixin, Baseline):  # type: ignore[misc]
    """Baseline that predicts classes."""

    task: ClassVar[str] = "classification"

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, p)
            All rows, labelled and unlabelled.
        y : array-like of shape (n,)
            Classes; -1 or missing where unlabelled.

        Returns
        -------
        self
        """
        return self._fit(X, y, classification=True)

    def decision_function(self, X: Any) -> FloatArray:
        """Score of the second class, or one score per class.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Rows.

        Returns
        -------
        ndarray of shape (m,) or (m, n_classes)
        """
        return self._score_rows(X)

    def predict(self, X: Any) -> AnyArray:
        """Class with the highest score.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Rows.

        Returns
        -------
        ndarray of shape (m,)
        """
        return self._answer(self._score_rows(X))

    def _answer(self, scores: FloatArray) -> AnyArray:
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: AnyArray = self.classes_[codes]
        return labels


class ScalarClassifier(BaselineClassifier):
    """Classifier made of one real function (two classes) or one against the rest (more)."""

    _functions: list[Any]

    @abstractmethod
    def _learn_function(self, rows: BaselineRows, targets: FloatArray) -> Any:
        """Learn one function from targets +1 and -1 of the labelled rows."""

    @abstractmethod
    def _evaluate(self, function: Any, table: FloatArray) -> FloatArray:
        """(m,) values of a learned function."""

    def _weights_of(self, function: Any) -> FloatArray:
        """(q,) importance of the encoded columns in one function (methods that select)."""
        raise InvalidInputError(f"{type(self).__name__} does not select columns.")

    def _learn(self, rows: BaselineRows) -> None:
        wanted = [1] if rows.n_classes == 2 else range(rows.n_classes)
        self._functions = [
            self._learn_function(rows, signs(rows.target, positive)) for positive in wanted
        ]
        if self.selects_columns:
            each = [np.abs(self._weights_of(function)) for function in self._functions]
            self._encoded_weights = np.max(each, axis=0)

    def _scores(self, table: FloatArray) -> FloatArray:
        scores = np.column_stack([self._evaluate(one, table) for one in self._functions])
        return scores[:, 0] if scores.shape[1] == 1 else scores
