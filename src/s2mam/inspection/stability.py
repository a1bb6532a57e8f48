"""How often each column is selected when some of the labelled rows are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import column_names
from s2mam.inspection.frames import data_frame
from s2mam.inspection.resampling import (
    base_weights,
    class_labels,
    labeled_rows,
    refit,
    subsample_weights,
)

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["SelectionStability", "selection_stability"]


@dataclass(frozen=True, eq=False, repr=False)
class SelectionStability:
    """How often each column was selected over subsamples of the labelled rows.

    Attributes
    ----------
    names : list of str
        Column names.
    frequency : ndarray of shape (p,)
        Share of the subsamples in which the column was selected.
    mean_probability : ndarray of shape (p,)
        Mean of its mask probability over the subsamples.
    probabilities : ndarray of shape (p,)
        Mask probabilities of the model that was fitted to all labelled rows.
    support : ndarray of bool, shape (p,)
        Columns that this model selected.
    n_subsamples : int
        Number of subsamples.
    fraction : float
        Share of the labelled rows in each.

    Examples
    --------
    >>> from s2mam import ManifoldAdditiveRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=0, random_state=0)
    >>> model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.0).fit(data.X, data.y)
    >>> selection_stability(model, data.X, data.y, n_subsamples=2, random_state=0)
    SelectionStability(6 columns, n_subsamples=2, fraction=0.7)
    """

    names: list[str]
    frequency: FloatArray
    mean_probability: FloatArray
    probabilities: FloatArray
    support: BoolArray
    n_subsamples: int
    fraction: float

    def __repr__(self) -> str:
        """The numbers are attributes; here is what they are about."""
        about = f"n_subsamples={self.n_subsamples}, fraction={self.fraction}"
        return f"SelectionStability({len(self.names)} columns, {about})"

    def to_frame(self) -> Any:
        """One row per column of the table, as a pandas table.

        Returns
        -------
        pandas.DataFrame
            Columns ``column, frequency, mean_probability, probability, selected``.
        """
        return data_frame(
            {
                "column": self.names,
                "frequency": self.frequency,
                "mean_probability": self.mean_probability,
                "probability": self.probabilities,
                "selected": self.support,
            }
        )


def selection_stability(
    estimator: AdditiveEstimator,
    X: Any,
    y: Any,
    *,
    n_subsamples: int = 20,
    fraction: float = 0.7,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> SelectionStability:
    """Refit on subsamples of the labelled rows and count what is selected.

    Unlabelled rows stay in every refit; labelled rows that are not drawn are left out altogether.
    Classes keep their shares, and at least one row each. A high frequency says that the choice does
    not hang on a few rows; it is no proof that the column matters.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model; it is not changed.
    X, y
        The rows and the target it was fitted to, unlabelled rows included.
    n_subsamples : int, default=20
        Number of refits.
    fraction : float, default=0.7
        Share of the labelled rows in each of them.
    sample_weight : array-like of shape (n,), optional
        The weights of the fit.
    feature_names : sequence of str, optional
        Names for a table without any.
    random_state : int, RandomState or None
        Seed of the subsamples and of the refits.
    n_jobs : int or None
        Refits side by side; the result does not depend on it.

    Returns
    -------
    SelectionStability

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> stability = selection_stability(model, data.X, data.y, n_subsamples=3, random_state=0)
    >>> stability.frequency.shape, float(stability.frequency[3])
    ((7,), 1.0)
    """
    check_is_fitted(estimator, "mask_probabilities_")
    if n_subsamples < 1:
        raise InvalidInputError(f"n_subsamples={n_subsamples} must be at least 1.")
    if not 0.0 < fraction < 1.0:
        raise InvalidInputError(f"fraction={fraction} must lie between 0 and 1, both left out.")
    labeled = labeled_rows(estimator, y)
    if labeled.sum() < 2:
        raise InvalidInputError("Subsamples need at least 2 labelled rows; y has 1.")
    rng = check_random_state(random_state)
    weights = subsample_weights(
        labeled,
        base_weights(sample_weight, labeled),
        class_labels(estimator, y, labeled),
        fraction,
        n_subsamples,
        rng,
    )
    refits = refit(estimator, X, y, weights, _selection, random_state=rng, n_jobs=n_jobs)
    return SelectionStability(
        names=column_names(estimator, feature_names),
        frequency=np.mean([support for support, _ in refits], axis=0),
        mean_probability=np.mean([probabilities for _, probabilities in refits], axis=0),
        probabilities=np.array(estimator.mask_probabilities_, dtype=np.float64),
        support=np.array(estimator.support_, dtype=bool),
        n_subsamples=n_subsamples,
        fraction=fraction,
    )


def _selection(refitted: Any) -> tuple[BoolArray, FloatArray]:
    return refitted.support_, refitted.mask_probabilities_
