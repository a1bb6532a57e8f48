"""Scores computed on labelled rows alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing

from s2mam.intake.labels import read_classification_target, read_regression_target


class LabeledScorer:
    """A scorer that drops unlabelled rows first; made by `labeled_scorer`.

    Parameters
    ----------
    scoring : str, callable or None
        Any scoring of scikit-learn; None for the estimator's own ``score``.
    unlabeled : "auto", scalar or None
        Marker of unlabelled rows.

    Examples
    --------
    >>> LabeledScorer("r2", "auto")
    labeled_scorer('r2')
    """

    def __init__(self, scoring: str | Callable[..., float] | None, unlabeled: Any) -> None:
        self.scoring = scoring
        self.unlabeled = unlabeled

    def __call__(self, estimator: Any, X: Any, y: Any, **params: Any) -> float:
        """Score the labelled rows of X.

        Parameters
        ----------
        estimator : estimator
            Fitted; a classifier's labels are read as classes.
        X : array-like of shape (n, p)
            Rows.
        y : array-like of shape (n,)
            Target with markers.
        **params : arrays of length n, or anything else
            Passed on; `sample_weight` is reduced to the labelled rows.

        Returns
        -------
        float
        """
        read = read_classification_target if is_classifier(estimator) else read_regression_target
        target = read(y, unlabeled=self.unlabeled)
        rows = np.flatnonzero(target.labeled)
        if params.get("sample_weight") is not None:
            params["sample_weight"] = _safe_indexing(params["sample_weight"], rows)
        scorer = check_scoring(estimator, scoring=self.scoring)
        return float(scorer(estimator, _safe_indexing(X, rows), target.values, **params))

    def __repr__(self) -> str:
        """Show how to make it."""
        marker = "" if self.unlabeled == "auto" else f", unlabeled={self.unlabeled!r}"
        return f"labeled_scorer({self.scoring!r}{marker})"


def labeled_scorer(
    scoring: str | Callable[..., float] | None = None, *, unlabeled: Any = "auto"
) -> LabeledScorer:
    """Make a scorer that drops unlabelled rows before scoring.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        Any scoring of scikit-learn; None for the estimator's own ``score``.
    unlabeled : "auto", scalar or None, default="auto"
        Marker of unlabelled rows, read as the estimators read it.

    Returns
    -------
    LabeledScorer
        For `cross_val_score`, `GridSearchCV` and the like.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> X, y = np.zeros((4, 1)), np.array([1, 1, 0, -1])
    >>> model = DummyClassifier(strategy="constant", constant=1).fit(X, y)
    >>> round(labeled_scorer("accuracy")(model, X, y), 3)
    0.667
    """
    return LabeledScorer(scoring, unlabeled)
