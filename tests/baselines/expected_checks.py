"""Which of scikit-learn's checks cannot hold where -1 marks unlabelled rows."""

from __future__ import annotations

from s2mam.baselines.base import BaselineClassifier


def expected_failures(estimator):
    if isinstance(estimator, BaselineClassifier) and estimator.unlabeled == "auto":
        return {"check_classifiers_classes": "it uses -1 as a class, which here marks rows"}
    return {}
