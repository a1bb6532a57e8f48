"""What all estimators share once fitted: prediction, explanation, selection, files."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.estimators.blockwise import by_blocks
from s2mam.estimators.callback_support import CallbackSupportMixin
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.model import FittedModel, model_from_state
from s2mam.estimators.notebook import ComponentReprMixin
from s2mam.estimators.rehearsal import rehearse
from s2mam.estimators.scored import LabeledScoreMixin
from s2mam.persistence import save
from s2mam.scale import is_streamed

__all__ = ["AdditiveClassifier", "AdditiveEstimator", "AdditiveRegressor"]

# Learned attributes that go into a model file beside the model itself.
_SAVED = (
    "mask_probabilities_",
    "support_",
    "history_",
    "stop_reason_",
    "chosen_",
    "n_features_in_",
    "feature_names_in_",
    "target_name_",
    "classes_",
    "transduction_",
    "n_labeled_",
    "n_iter_",
)


class AdditiveEstimator(
    ComponentReprMixin,
    CallbackSupportMixin,  # type: ignore[misc]
    SelectorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base class of the additive estimators."""

    mask_probabilities_: FloatArray
    support_: BoolArray
    history_: dict[str, list[float]]
    stop_reason_: str
    chosen_: dict[str, Any]
    transduction_: AnyArray
    n_labeled_: int
    n_iter_: int
    classes_: AnyArray
    n_features_in_: int
    target_name_: str

    def contributions(self, X: Any) -> FloatArray:
        """What each column adds to the decision of each row.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows.

        Returns
        -------
        ndarray of shape (n, p) or (n, p, n_classes)
            Rows sum to the decision (the prediction, for regression) less ``intercept_``.
        """
        check_is_fitted(self, "_model")
        if is_streamed(X):
            return by_blocks(self, "contributions", X)  # type: ignore[no-any-return]
        values = self._model.contributions(X, self)
        return values[:, :, 0] if values.shape[2] == 1 else values

    @property
    def intercept_(self) -> float | FloatArray:
        """Decision where all contributions are zero (the mean over the rows, but for PAPER)."""
        check_is_fitted(self, "_model")
        intercept = self._model.intercept
        return float(intercept[0]) if intercept.size == 1 else intercept

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, without pickle; read it with ``s2mam.load``.

        Parameters
        ----------
        path : str or path-like
            The file; an existing one is replaced when the new one is complete.
        """
        check_is_fitted(self, "_model")
        save(self, path)

    def _decide(self, X: Any) -> FloatArray:
        check_is_fitted(self, "_model")
        values = self._model.decision(X, self)
        return values[:, 0] if values.shape[1] == 1 else values

    def _publish(self, fitted: Fitted, n_labeled: int) -> None:
        self._model: FittedModel = fitted.model
        self.mask_probabilities_ = fitted.probabilities
        self.support_ = fitted.support
        self.history_ = fitted.history
        self.stop_reason_ = fitted.stop_reason
        self.chosen_ = fitted.chosen
        self.n_labeled_ = n_labeled
        self.n_iter_ = max(1, len(fitted.history.get("criterion", [])))

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "_model")
        return self.support_

    def _to_state(self) -> dict[str, Any]:
        parameters = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name != "callbacks"
        }
        learned = {
            name: getattr(self, name)
            for name in _SAVED
            if hasattr(self, name) and not _is_lazy(name, getattr(self, name))
        }
        return {
            "parameters": {name: _plain(value) for name, value in parameters.items()},
            "learned": learned,
            "model": self._model.to_state(),
        }

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Self:
        estimator = cls(**state["parameters"])
        for name, value in state["learned"].items():
            if name in _SAVED:
                setattr(estimator, name, value)
        estimator._model = model_from_state(state["model"])
        rehearse(estimator)
        return estimator

    def __getstate__(self) -> Any:
        # Predictions that are not made yet hang on a file, a source or a cluster.
        state = super().__getstate__()
        return {name: value for name, value in state.items() if not _is_lazy(name, value)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


class AdditiveRegressor(LabeledScoreMixin, RegressorMixin, AdditiveEstimator):  # type: ignore[misc]
    """Prediction side of the regressors."""

    def predict(self, X: Any) -> FloatArray:
        """Predicted numbers.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        if is_streamed(X):
            return by_blocks(self, "predict", X)  # type: ignore[no-any-return]
        return self._decide(X)


class AdditiveClassifier(LabeledScoreMixin, ClassifierMixin, AdditiveEstimator):  # type: ignore[misc]
    """Prediction side of the classifiers."""

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of the second class, or one score per class.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        if is_streamed(X):
            return by_blocks(self, "decision_function", X)  # type: ignore[no-any-return]
        return self._decide(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        if is_streamed(X):
            return by_blocks(self, "predict_proba", X)  # type: ignore[no-any-return]
        decision = self._decide(X)
        if self.classes_.size == 1:
            return np.ones((decision.shape[0], 1))
        if decision.ndim == 1:
            positive = expit(decision)
            return np.column_stack([1.0 - positive, positive])
        probabilities: FloatArray = softmax(decision, axis=1)
        return probabilities

    def predict(self, X: Any) -> AnyArray:
        """Most probable class.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
        """
        if is_streamed(X):
            return by_blocks(self, "predict", X)  # type: ignore[no-any-return]
        decision = self._decide(X)
        if self.classes_.size == 1:
            return np.repeat(self.classes_, decision.shape[0])
        codes = (decision > 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1)
        labels: AnyArray = self.classes_[codes]
        return labels


def _is_lazy(name: str, value: Any) -> bool:
    """Whether these are predictions of streamed rows that nobody has asked for yet."""
    return name == "transduction_" and not isinstance(value, np.ndarray)


def _plain(value: Any) -> Any:
    """A parameter as a file can hold it; the state of a generator is of no use after the fit."""
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    return os.fspath(value) if isinstance(value, os.PathLike) else value
