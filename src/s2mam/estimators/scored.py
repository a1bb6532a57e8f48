"""Scores of labelled rows: a row without a label has no truth to compare with."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from s2mam.exceptions import InvalidInputError
from s2mam.intake import find_unlabeled

__all__ = ["LabeledScoreMixin"]


class LabeledScoreMixin:
    """Stands before scikit-learn's mixins, whose scores would count marks as wrong predictions."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predicted classes, or R2 of the predicted numbers.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows.
        y : array-like of shape (n,)
            Their labels, all of them known.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float

        Raises
        ------
        InvalidInputError
            When rows of y are marked as unlabelled.
        """
        marker = getattr(self, "unlabeled", "auto")
        unlabeled = find_unlabeled(y, unlabeled=marker, classes=is_classifier(self))
        if unlabeled.any():
            raise InvalidInputError(
                f"y has {int(unlabeled.sum())} unlabelled rows, which cannot be scored; pass the "
                "labelled rows alone, or use s2mam.model_selection.labeled_scorer."
            )
        score = super().score  # type: ignore[misc]
        return float(score(X, y, sample_weight=sample_weight))
