"""Choose an estimator's parameters by hiding labels it has and predicting them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.model_selection import SemiSupervisedStratifiedKFold

__all__ = ["Tuned", "candidates_of"]

# Up to here every label is left out once; above, folds are accurate enough and far cheaper.
MAX_LEAVE_ONE_OUT = 20
N_FOLDS = 5
# Parameters that penalise less when they grow.
_WEAKER = frozenset({"C"})
# A candidate that cannot be fitted loses; anything else is a defect and is not hidden.
_FAILURES = (ValueError, ArithmeticError, np.linalg.LinAlgError)


class Tuned(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator with the parameters that predict held-out labels best.

    Labels are hidden one at a time, or in five stratified folds when there are more than 20 (for
    numbers: dealt out in the order of the target), the estimator is fitted to the rest with the
    hidden rows as unlabelled ones, and the hidden labels are predicted. A label that is the only
    one of its class always trains. Among equal scores the stronger penalty wins: candidates are
    tried from large to small values (small to large for `C`), the first parameter slowest, other
    values in the order given, and the first of the best is taken. With nothing to test on, that is
    the first candidate.

    Parameters
    ----------
    estimator : estimator
        Follows the contract of this package: y holds -1 or NaN where unlabelled. One that has a
        method ``fit_together(models, X, targets)`` is given all its copies at once.
    grid : dict of str to sequence
        Values per parameter.
    random_state : int, RandomState or None
        For the folds.
    early_stop : bool
        Leave a candidate as soon as its errors so far are no fewer than those of the best, and
        try first the labels that most candidates got wrong. Errors only add up and the earlier of
        equals wins, so the choice is the same; most fits are saved.

    Attributes
    ----------
    best_params_ : dict
    best_estimator_ : estimator
        Fitted to all labels.
    losses_ : ndarray
        Error rate or squared error of every candidate, in the order they were tried; with
        `early_stop` a lower bound of it for candidates that were left.
    candidates_ : list of dict
    scheme_ : str
        "leave-one-out", "5 folds", or "none" when nothing could be tested.

    Examples
    --------
    >>> from s2mam import ManifoldAdditiveRegressor
    >>> from s2mam.datasets import hide_labels, make_friedman
    >>> data = make_friedman(60, n_uninformative=0, n_noisy=0, random_state=0)
    >>> y = hide_labels(data.y, n_labeled=12, random_state=0)
    >>> base = ManifoldAdditiveRegressor(manifold=0.0)
    >>> tuned = Tuned(base, {"sparsity": [1e-3, 1e-1, 10.0]}).fit(data.X, y)
    >>> tuned.scheme_, tuned.candidates_[0]
    ('leave-one-out', {'sparsity': 10.0})
    """

    def __init__(
        self,
        estimator: Any,
        grid: Mapping[str, Sequence[Any]],
        *,
        random_state: Any = None,
        early_stop: bool = False,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.random_state = random_state
        self.early_stop = early_stop

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the parameters and fit with them.

        Parameters
        ----------
        X : array of shape (n, p)
        y : array of shape (n,)

        Returns
        -------
        self
        """
        X, y = np.asarray(X), np.asarray(y)
        if y.dtype.kind not in "fiu":
            raise InvalidInputError(f"y must hold numbers or class codes, got dtype {y.dtype}.")
        self.candidates_ = candidates_of(self.grid)
        folds = list(self._folds(X, y)) if len(self.candidates_) > 1 else []
        self.scheme_ = self._scheme if folds else "none"
        self.losses_ = np.zeros(len(self.candidates_))
        if folds:
            at_once = self._losses_at_once(X, y, folds)
            self.losses_ = self._losses(X, y, folds) if at_once is None else at_once
        if not np.isfinite(self.losses_).any():
            raise InvalidInputError(
                f"No parameters of the grid could be fitted; the last error was: {self._last_error}"
            )
        # Folds of different sizes sum in different orders; bits must not break ties.
        best = int(np.flatnonzero(self.losses_ <= self.losses_.min() * (1 + 1e-9))[0])
        self.best_params_ = self.candidates_[best]
        self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        return self

    def predict(self, X: Any) -> AnyArray:
        """Predictions of the chosen estimator.

        Parameters
        ----------
        X : array of shape (m, p)

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self, "best_estimator_")
        predictions: AnyArray = self.best_estimator_.predict(X)
        return predictions

    def __getattr__(self, name: str) -> Any:
        # What the chosen estimator learned, such as transduction_ or support_.
        if name.startswith("_") or not name.endswith("_") or "best_estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.best_estimator_, name)

    def _folds(self, X: AnyArray, y: AnyArray) -> Iterator[IntArray]:
        """Row numbers of the labels that are hidden together."""
        is_class = is_classifier(self.estimator)
        labeled = np.flatnonzero(y != -1 if is_class else ~np.isnan(y))
        if is_class:
            values, counts = np.unique(y[labeled], return_counts=True)
            testable = labeled[np.isin(y[labeled], values[counts > 1])]
        else:
            testable = labeled if labeled.size > 1 else labeled[:0]
        self._scheme = "leave-one-out"
        if labeled.size <= MAX_LEAVE_ONE_OUT:
            yield from (np.array([row]) for row in testable)
            return
        self._scheme = f"{N_FOLDS} folds"
        rng = check_random_state(self.random_state)
        if is_class and testable.size:
            splitter = SemiSupervisedStratifiedKFold(N_FOLDS, shuffle=True, random_state=rng)
            splitter.n_splits = splitter.get_n_splits(X, y)
            yield from (test for _, test in splitter.split(X, y))
        elif not is_class:
            yield from _dealt(labeled, y, rng)

    def _losses_at_once(self, X: AnyArray, y: AnyArray, folds: list[IntArray]) -> FloatArray | None:
        """Loss of every candidate where the estimator can fit copies of itself together."""
        fit_together = getattr(self.estimator, "fit_together", None)
        if fit_together is None:
            return None
        pairs = [(candidate, rows) for candidate in self.candidates_ for rows in folds]
        models = [clone(self.estimator).set_params(**candidate) for candidate, _ in pairs]
        try:
            fit_together(models, X, [self._shown(y, rows) for _, rows in pairs])
        except _FAILURES:
            return None  # one by one, then, to see which one it is
        is_class = is_classifier(self.estimator)
        errors = [
            _error(y[rows], model.predict(X[rows]), is_class)
            for model, (_, rows) in zip(models, pairs, strict=True)
        ]
        totals = np.reshape(errors, (len(self.candidates_), -1)).sum(axis=1)
        return np.where(np.isfinite(totals), totals, np.inf) / sum(rows.size for rows in folds)

    def _shown(self, y: AnyArray, rows: IntArray) -> AnyArray:
        shown = y.copy()
        shown[rows] = -1 if is_classifier(self.estimator) else np.nan
        return shown

    def _losses(self, X: AnyArray, y: AnyArray, folds: list[IntArray]) -> FloatArray:
        """Loss of every candidate; folds that were hard so far come first when racing."""
        size = sum(rows.size for rows in folds)
        best = np.inf
        hardness = np.zeros(len(folds))
        totals = []
        for candidate in self.candidates_:
            order = np.argsort(-hardness, kind="stable") if self.early_stop else range(len(folds))
            total = 0.0
            for k in order:
                error = self._fold_error(candidate, X, y, folds[k])
                total += error
                if np.isfinite(error):
                    hardness[k] += error
                if not np.isfinite(total) or (self.early_stop and total >= best):
                    break
            best = min(best, total)
            totals.append(total)
            if self.early_stop and best == 0.0:
                break
        # Who was not tried cannot have fewer errors than none, and comes later.
        totals += [0.0] * (len(self.candidates_) - len(totals))
        return np.array(totals) / size

    def _fold_error(
        self, candidate: dict[str, Any], X: AnyArray, y: AnyArray, rows: IntArray
    ) -> float:
        """Summed error on hidden labels; infinite for a candidate that cannot be fitted."""
        is_class = is_classifier(self.estimator)
        model = clone(self.estimator).set_params(**candidate)
        try:
            predicted = model.fit(X, self._shown(y, rows)).predict(X[rows])
        except _FAILURES as failure:
            self._last_error = str(failure)
            return float("inf")
        error = _error(y[rows], predicted, is_class)
        if not np.isfinite(error):
            self._last_error = "predictions are not finite"
            return float("inf")
        return error


def candidates_of(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations, the strongest penalty first.

    Parameters
    ----------
    grid : dict of str to sequence

    Examples
    --------
    >>> candidates_of({"sparsity": [0.1, 1.0], "C": [10, 1]})[:2]
    [{'sparsity': 1.0, 'C': 1}, {'sparsity': 1.0, 'C': 10}]
    """
    ordered = {name: _strongest_first(name, values) for name, values in grid.items()}
    combinations: list[dict[str, Any]] = [{}]
    for name, values in ordered.items():
        combinations = [{**so_far, name: value} for so_far in combinations for value in values]
    return combinations


def _strongest_first(name: str, values: Sequence[Any]) -> list[Any]:
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    if not numbers:
        return list(values)
    return sorted(values, reverse=name not in _WEAKER)


def _dealt(labeled: IntArray, y: AnyArray, rng: np.random.RandomState) -> Iterator[IntArray]:
    """Folds that each span the range of the target."""
    order = labeled[np.argsort(y[labeled], kind="stable")]
    fold = np.concatenate([rng.permutation(N_FOLDS) for _ in range(-(-order.size // N_FOLDS))])[
        : order.size
    ]
    for k in range(N_FOLDS):
        yield np.sort(order[fold == k])


def _error(y: AnyArray, predicted: AnyArray, is_class: bool) -> float:
    if is_class:
        return float(np.count_nonzero(y != predicted))
    difference: FloatArray = np.asarray(predicted, dtype=np.float64) - y
    return float(difference @ difference)
