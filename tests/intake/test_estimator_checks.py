"""Intake inside estimators: all of scikit-learn's own checks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from s2mam.intake import (
    TableReader,
    read_classification_target,
    read_regression_target,
    read_weights,
)


class _Ridge(BaseEstimator):
    """Weighted ridge regression on the numbers that intake gives; missing values count as zero."""

    def __init__(self, unlabeled="auto"):
        self.unlabeled = unlabeled

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _solve(self, X, y, sample_weight, read):
        self.reader_ = TableReader()
        Z = self.reader_.fit_transform(X, estimator=self)
        target = read(y, unlabeled=self.unlabeled, n_rows=len(Z))
        w = read_weights(sample_weight, target.labeled)
        row_weight = np.where(target.labeled, 0.0, 1.0)
        row_weight[target.labeled] = w * target.n_labeled
        Z = self.reader_.fit_transform(X, estimator=self, row_weight=row_weight)
        F = np.c_[np.nan_to_num(Z[target.labeled]), np.ones(target.n_labeled)]
        goal = target.y
        if target.classes is not None:
            self.classes_ = target.classes
            goal = np.eye(len(target.classes))[target.y]
        self.coef_ = np.linalg.solve((F.T * w) @ F + 1e-3 * np.eye(F.shape[1]), (F.T * w) @ goal)
        return self

    def _values(self, X):
        check_is_fitted(self)
        Z = self.reader_.transform(X, estimator=self)
        # Row by row sums: BLAS may round a product differently for other batch sizes.
        F = np.c_[np.nan_to_num(Z), np.ones(len(Z))]
        return np.einsum("ij,j...->i...", F, self.coef_)


class RidgeRegressor(RegressorMixin, _Ridge):
    """Regressor on intake."""

    def fit(self, X, y, sample_weight=None):
        return self._solve(X, y, sample_weight, read_regression_target)

    def predict(self, X):
        return self._values(X)


class RidgeClassifier(ClassifierMixin, _Ridge):
    """Classifier on intake."""

    def fit(self, X, y, sample_weight=None):
        return self._solve(X, y, sample_weight, read_classification_target)

    def predict(self, X):
        best = np.argmax(self._values(X), axis=1)
        return self.classes_[best]


def _expected_failures(estimator):
    if isinstance(estimator, RidgeClassifier) and estimator.unlabeled == "auto":
        return {"check_classifiers_classes": "it uses -1 as a class, which here marks rows"}
    return {}


@pytest.mark.filterwarnings("ignore:only one class left")
@parametrize_with_checks(
    [RidgeRegressor(), RidgeClassifier(), RidgeClassifier(unlabeled=None)],
    expected_failed_checks=_expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_labels_of_unlabelled_rows_are_never_read():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    hidden = np.arange(30) % 3 > 0
    marked = np.where(hidden, np.nan, y)
    other = np.where(hidden, -999.0, y)
    first = RidgeRegressor().fit(X, marked).coef_
    np.testing.assert_array_equal(first, RidgeRegressor(unlabeled=-999).fit(X, other).coef_)
