"""RLSR: least squares that rescales the columns and guesses the labels of unlabelled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from s2mam._typing import BoolArray, FloatArray
from s2mam.baselines.base import Baseline, BaselineClassifier, BaselineRegressor
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.coding import code_targets
from s2mam.baselines.shared.column_budget import read_budget, top_columns
from s2mam.baselines.shared.parameters import nonnegative, positive, whole
from s2mam.baselines.shared.rescaled import rescaled_least_squares

__all__ = ["RLSRClassifier", "RLSRRegressor"]


class _RLSR(Baseline):
    paper_name: ClassVar[str] = "RLSR"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "gamma": (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3),
    }

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        exponent: float = 1.0,
        n_features_to_select: int | str = "auto",
        max_iter: int = 100,
        max_inner: int = 10,
        tol: float = 1e-6,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.gamma = gamma
        self.exponent = exponent
        self.n_features_to_select = n_features_to_select
        self.max_iter = max_iter
        self.max_inner = max_inner
        self.tol = tol
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        self._budget = read_budget(
            self.n_features_to_select, rows.labeled.size, self.n_features_in_
        )
        self._coding = code_targets(rows)
        found = rescaled_least_squares(
            rows.table,
            rows.labeled,
            self._coding.matrix,
            gamma=positive("gamma", self.gamma),
            exponent=nonnegative("exponent", self.exponent),
            simplex=rows.n_classes > 0,
            max_iter=whole("max_iter", self.max_iter),
            max_inner=whole("max_inner", self.max_inner),
            tol=nonnegative("tol", self.tol),
        )
        self.coef_, self.intercept_ = found.map, found.shift
        self.history_, self.n_iter_ = found.objective, len(found.objective)
        self._encoded_weights = found.column_weights

    def _chosen(self, weights: FloatArray) -> BoolArray:
        chosen = np.zeros(weights.size, dtype=bool)
        chosen[top_columns(weights, self._budget)] = True
        return chosen

    def _scores(self, table: FloatArray) -> FloatArray:
        return self._coding.scores(table @ self.coef_ + self.intercept_)


class RLSRClassifier(_RLSR, BaselineClassifier):
    """Rescaled linear square regression (Chen, Yuan, Nie and Huang, 2017).

    Minimises ``||XW + 1b' - Y||^2 + gamma sum_j ||w_j||^2 / theta_j^exponent`` over the map, the
    column weights theta on the simplex, and labels of the unlabelled rows on the simplex.

    Parameters
    ----------
    gamma : float
        Penalty; positive.
    exponent : float
        Power of theta: 1 is the 2017 method (the squared l2,1 norm), 0 is ridge regression.
    n_features_to_select : int or "auto"
        Columns that `support_` marks, by falling theta; all columns are used for prediction.
    max_iter, max_inner : int
        Rounds, and steps on the map and theta in each.
    tol : float
        Relative fall of the objective that ends the rounds.
    scale, categorical, unlabeled
        As in the estimators of this package.

    Attributes
    ----------
    coef_ : ndarray of shape (q, c)
        Linear map of the encoded columns.
    intercept_ : ndarray of shape (c,)
        Its intercept.
    feature_weights_ : ndarray of shape (p,)
        theta.
    history_ : list of float
        Objective after every round.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = np.where(np.arange(60) < 20, X[:, 2] > 0, -1)
    >>> model = RLSRClassifier(n_features_to_select=1).fit(X, y)
    >>> model.get_support(indices=True)
    array([2])
    """


class RLSRRegressor(_RLSR, BaselineRegressor):
    """Rescaled linear square regression of numbers.

    The published method is about classes, where unlabelled rows take labels in the simplex, the
    convex hull of the labels. Here they take numbers in the interval of the labelled ones, which
    is the same for numbers; this is a choice of ours. Parameters and attributes are those of
    :class:`RLSRClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = np.where(np.arange(60) < 20, X[:, 2], np.nan)
    >>> model = RLSRRegressor(n_features_to_select=1).fit(X, y)
    >>> model.get_support(indices=True)
    array([2])
    """
