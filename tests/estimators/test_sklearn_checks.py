"""scikit-learn's own checks on the public estimators."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam import (
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
    S2MAMClassifier,
    S2MAMRegressor,
)

ESTIMATORS = [
    ManifoldAdditiveRegressor(),
    ManifoldAdditiveClassifier(),
    ManifoldAdditiveClassifier(unlabeled=None),
    S2MAMRegressor(max_iter=20, random_state=0),
    S2MAMClassifier(max_iter=20, random_state=0),
    S2MAMClassifier(max_iter=20, random_state=0, unlabeled=None),
]


def _expected_failures(estimator):
    classifier = isinstance(estimator, S2MAMClassifier | ManifoldAdditiveClassifier)
    if classifier and estimator.unlabeled == "auto":
        return {"check_classifiers_classes": "it uses -1 as a class, which here marks rows"}
    return {}


@pytest.mark.filterwarnings("ignore:only one class left")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
