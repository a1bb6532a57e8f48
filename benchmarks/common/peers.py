"""Peers from scikit-learn, all on standardised columns.

Missing values are filled with the column's mean and columns are standardised, both with the
statistics of all training rows, which takes no label. Hyperparameters are chosen by
cross-validation on the labelled rows or are scikit-learn's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.common.methods import Outcome, Task, cpu_clock, predicted
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, SVR

from s2mam._typing import AnyArray

_TREES = 200
_FOLDS = 3
_COSTS = np.logspace(-3, 2, 11)
_SCALE = "standard"


def standardized(task: Task) -> Task:
    """The same task on filled and standardised columns."""
    prepare = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()).fit(task.X)
    return Task(
        prepare.transform(task.X),
        task.y,
        prepare.transform(task.X_test),
        task.kind,
        task.seed,
        task.n_select,
    )


def _forest(task: Task) -> Any:
    kind = RandomForestClassifier if task.is_classification else RandomForestRegressor
    return kind(_TREES, random_state=task.seed)


def _extra_trees(task: Task) -> Any:
    kind = ExtraTreesClassifier if task.is_classification else ExtraTreesRegressor
    return kind(_TREES, random_state=task.seed)


def _support_vectors(task: Task) -> Any:
    # The width of the tube and C mean the same on every data set once y is standardised.
    scaled = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
    return SVC(random_state=task.seed) if task.is_classification else scaled


def _gaussian_process(task: Task) -> Any:
    length = float(np.sqrt(task.X.shape[1]))
    bounds = (1e-1, 1e3 * length)
    if task.is_classification:
        # From a smaller start the marginal likelihood of few labels often ends at "all constant".
        kernel = ConstantKernel(10.0) * RBF(2 * length, bounds)
        return GaussianProcessClassifier(kernel, random_state=task.seed)
    kernel = ConstantKernel(1.0) * RBF(length, bounds)
    return GaussianProcessRegressor(
        kernel + WhiteKernel(0.1, (1e-6, 1e2)), normalize_y=True, random_state=task.seed
    )


def _dummy(task: Task) -> Any:
    return DummyClassifier(strategy="prior") if task.is_classification else DummyRegressor()


def _lasso(task: Task) -> Any:
    return LassoCV(cv=5, max_iter=5000, random_state=task.seed)


def _logistic(task: Task, l1_ratio: float, cost: float = 1.0) -> Any:
    """Logistic regression; liblinear is the fast l1 solver and knows two classes only."""
    solver = "liblinear" if l1_ratio else "lbfgs"
    model = LogisticRegression(
        C=cost, l1_ratio=l1_ratio, solver=solver, max_iter=1000, random_state=task.seed
    )
    several = np.unique(task.y[task.labeled]).size > 2
    return OneVsRestClassifier(model) if l1_ratio and several else model


def _logistic_cv(task: Task, l1_ratio: float) -> Any:
    """Logistic regression whose C is cross-validated, or 1 where a class has a single label."""
    model = _logistic(task, l1_ratio)
    folds = min(_FOLDS, int(np.unique(task.y[task.labeled], return_counts=True)[1].min()))
    if folds < 2:
        return model
    name = "estimator__C" if isinstance(model, OneVsRestClassifier) else "C"
    splitter = StratifiedKFold(folds, shuffle=True, random_state=task.seed)
    return GridSearchCV(model, {name: _COSTS}, cv=splitter)


def _spreading(task: Task) -> Any:
    """Neighbours as by default, but iterated until labels have gone the whole way.

    The default tolerance stops while far rows have no label yet.
    """
    neighbors = min(7, len(task.X) - 1)
    return LabelSpreading(kernel="knn", n_neighbors=neighbors, max_iter=1000, tol=0.0)


def _supervised(make: Callable[[Task], Any]) -> Callable[[Task], Outcome]:
    def method(task: Task) -> Outcome:
        task = standardized(task)
        model = make(task)
        with cpu_clock() as cpu:
            model.fit(task.X[task.labeled], task.y[task.labeled])
        return predicted(model, task, cpu(), _SCALE, **_selection(model, task))

    return method


def _semi_supervised(make: Callable[[Task], Any]) -> Callable[[Task], Outcome]:
    def method(task: Task) -> Outcome:
        task = standardized(task)
        model = make(task)
        with cpu_clock() as cpu:
            model.fit(task.X, task.y)
        outcome = predicted(model, task, cpu(), _SCALE)
        if isinstance(model, LabelSpreading):
            outcome.unlabeled[:] = model.transduction_[~task.labeled]
        return outcome

    return method


def _selection(model: Any, task: Task) -> dict[str, AnyArray]:
    """Columns with a coefficient, of sparse linear models."""
    best = model.best_estimator_ if isinstance(model, GridSearchCV) else model
    if isinstance(best, LassoCV):
        weights = np.abs(best.coef_)
    elif isinstance(best, OneVsRestClassifier):
        weights = np.abs([part.coef_[0] for part in best.estimators_]).max(axis=0)
    elif isinstance(best, LogisticRegression) and best.l1_ratio == 1.0:
        weights = np.abs(best.coef_).max(axis=0)
    else:
        return {}
    return {"ranking": weights, "selected": weights > 0}


REGRESSION = {
    "null": _supervised(_dummy),
    "lasso": _supervised(_lasso),
    "svm": _supervised(_support_vectors),
    "gp": _supervised(_gaussian_process),
    "forest": _supervised(_forest),
    "extra_trees": _supervised(_extra_trees),
}
CLASSIFICATION = {
    "null": _supervised(_dummy),
    "l1_logistic": _supervised(lambda task: _logistic_cv(task, 1.0)),
    "l2_logistic": _supervised(lambda task: _logistic_cv(task, 0.0)),
    "svm": _supervised(_support_vectors),
    "gp": _supervised(_gaussian_process),
    "forest": _supervised(_forest),
    "extra_trees": _supervised(_extra_trees),
    "label_spreading": _semi_supervised(_spreading),
    "self_training": _semi_supervised(lambda task: SelfTrainingClassifier(_logistic(task, 0.0))),
}
