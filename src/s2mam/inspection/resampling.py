"""Refits of an estimator under other weights of its labelled rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake import find_unlabeled
from s2mam.intake.markers import as_vector

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = [
    "base_weights",
    "bootstrap_weights",
    "class_labels",
    "labeled_rows",
    "refit",
    "subsample_weights",
]

Result = TypeVar("Result")


def labeled_rows(estimator: AdditiveEstimator, y: Any) -> BoolArray:
    """Which rows carry a label, by the marker of the estimator.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    y : array-like of shape (n,)
        The target it was fitted to.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    classes = hasattr(estimator, "classes_")
    labeled: BoolArray = ~find_unlabeled(
        y, unlabeled=getattr(estimator, "unlabeled", "auto"), classes=classes
    )
    if not labeled.any():
        raise InvalidInputError("No row of y is labelled; pass the y of the fit.")
    return labeled


def bootstrap_weights(
    labeled: BoolArray, base: FloatArray, count: int, rng: np.random.RandomState
) -> list[FloatArray]:
    """Weights of the Bayesian bootstrap: Dirichlet shares of the labelled rows.

    Every weight is positive, so that no class ever disappears.

    Parameters
    ----------
    labeled : ndarray of bool, shape (n,)
        Rows whose weights are drawn; the others keep one.
    base : ndarray of shape (n,)
        Weights of the rows in the fit.
    count : int
        Number of draws.
    rng : RandomState
        Where the draws come from.

    Returns
    -------
    list of ndarray of shape (n,)
        The weights of labelled rows sum to the sum of their `base`.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> weights = bootstrap_weights(np.array([True, True, False]), np.ones(3), 1, rng)[0]
    >>> float(weights[2]), float(weights.sum().round(9))
    (1.0, 3.0)
    """
    draws = []
    for _ in range(count):
        weights = np.ones(labeled.size)
        shares = base[labeled] * rng.standard_exponential(int(labeled.sum()))
        weights[labeled] = shares * (base[labeled].sum() / shares.sum())
        draws.append(weights)
    return draws


def subsample_weights(
    labeled: BoolArray,
    base: FloatArray,
    groups: AnyArray | None,
    fraction: float,
    count: int,
    rng: np.random.RandomState,
) -> list[FloatArray]:
    """Weights that leave out some labelled rows; a weight of zero is a row that was not given.

    Parameters
    ----------
    labeled, base, count, rng
        See :func:`bootstrap_weights`.
    groups : ndarray of shape (n_labeled,) or None
        Classes of the labelled rows; each keeps its share, at least one row.
    fraction : float
        Share of the labelled rows that is kept.

    Returns
    -------
    list of ndarray of shape (n,)

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> labeled = np.array([True, True, True, True, False])
    >>> subsample_weights(labeled, np.ones(5), None, 0.5, 1, rng)[0].sum()
    np.float64(3.0)
    """
    rows = np.flatnonzero(labeled)
    codes = np.zeros(rows.size, dtype=np.intp)
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
    draws = []
    for _ in range(count):
        weights = base.copy()
        weights[labeled] = 0.0
        for code in range(int(codes.max()) + 1):
            members = rows[codes == code]
            kept = rng.permutation(members)[: max(1, round(fraction * members.size))]
            weights[kept] = base[kept]
        draws.append(weights)
    return draws


def refit(
    estimator: AdditiveEstimator,
    X: Any,
    y: Any,
    weights: Sequence[FloatArray],
    read: Callable[[Any], Result],
    *,
    random_state: Any,
    n_jobs: int | None,
) -> list[Result]:
    """Fit copies under each of the weights and read something of each.

    Every copy learns its masks anew, from a seed of its own.

    Parameters
    ----------
    estimator : estimator of this package
        Whose parameters to use.
    X, y
        The rows of the fit.
    weights : sequence of ndarray of shape (n,)
        One per copy.
    read : callable
        Called with each fitted copy.
    random_state : int, RandomState or None
        Where the seeds come from.
    n_jobs : int or None
        Copies fitted side by side; the result does not depend on it.

    Returns
    -------
    list
        What `read` returned.
    """
    rng = check_random_state(random_state)
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(weights))
    work = (
        delayed(_fit_and_read)(_quiet_copy(estimator, int(seed)), X, y, weight, read)
        for seed, weight in zip(seeds, weights, strict=True)
    )
    return list(Parallel(n_jobs=n_jobs)(work))


def base_weights(sample_weight: Any, labeled: BoolArray) -> FloatArray:
    """Sample weights of the fit, ones by default.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
        As given to ``fit``.
    labeled : ndarray of bool, shape (n,)
        Which rows carry a label.

    Returns
    -------
    ndarray of shape (n,)
    """
    if sample_weight is None:
        return np.ones(labeled.size)
    given = np.asarray(sample_weight, dtype=np.float64)
    if given.shape != labeled.shape:
        raise InvalidInputError(
            f"sample_weight has shape {given.shape}; pass one weight per row ({labeled.size})."
        )
    return given


def class_labels(estimator: AdditiveEstimator, y: Any, labeled: BoolArray) -> AnyArray | None:
    """Classes of the labelled rows as text, None for regression; other labels are not read."""
    return as_vector(y)[labeled].astype(str) if hasattr(estimator, "classes_") else None


def _quiet_copy(estimator: AdditiveEstimator, seed: int) -> Any:
    """An unfitted copy with its own seed that neither reports nor writes to the checkpoint."""
    wanted = {"random_state": seed, "n_jobs": None, "verbose": 0}
    wanted |= {"callbacks": None, "checkpoint": None}
    parameters = estimator.get_params(deep=False)
    # No clone(): it would copy callbacks, which may hold anything.
    return type(estimator)(**{name: wanted.get(name, v) for name, v in parameters.items()})


def _fit_and_read(
    copy: Any, X: Any, y: Any, weights: FloatArray, read: Callable[[Any], Result]
) -> Result:
    return read(copy.fit(X, y, sample_weight=weights))
