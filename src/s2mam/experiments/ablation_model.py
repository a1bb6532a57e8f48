"""A model with one mask whose parts can be taken out one by one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.bilevel.loop import run_loop
from s2mam.bilevel.lower import GraphSettings, LowerLevel
from s2mam.bilevel.options import LoopOptions
from s2mam.bilevel.tuning import tune
from s2mam.estimators.rows import TrainingRows, read_rows
from s2mam.estimators.single import SingleSettings, build_lower
from s2mam.exceptions import InvalidInputError
from s2mam.graphs import Laplacian
from s2mam.masks.budget import choose_budget
from s2mam.masks.contrasts import class_contrasts
from s2mam.masks.criteria import AloCriterion, Criterion, LabeledCriterion, SmoothCriterion
from s2mam.masks.evidence import EvidenceCriterion
from s2mam.masks.kernels import labeled_kernels
from s2mam.masks.loo import LooCriterion
from s2mam.masks.polish import polish
from s2mam.masks.relaxed import descend, top_mask

__all__ = ["AblationClassifier", "AblationRegressor", "FixedGraphLevel"]

# Weight of the graph per training row, in the middle of the range that tuning tries.
_MANIFOLD = 1e-2
_MAX_SIZE = 30


@dataclass(frozen=True)
class FixedGraphLevel(LowerLevel):
    """The lower level with the graph of all columns, whatever the mask."""

    @cached_property
    def _whole(self) -> Laplacian:
        return super().laplacian(np.ones(self.n_columns))

    def laplacian(self, mask: ArrayLike) -> Laplacian:
        """The Laplacian of the rows with all their columns."""
        return self._whole


class _Ablation(BaseEstimator):  # type: ignore[misc]
    """Constructor, search and fit.

    Parameters
    ----------
    search : {"exact", "rloo", "reinforce"}
        Exact gradients at the expected mask, or policy gradients with or without baseline.
    criterion : {"evidence", "loo", "labeled", "fit_loo"}
        Upper level; the last two need a fit of the lower level per mask.
    polish : bool
        Swap pairs afterwards; for criteria with exact gradients.
    graph : {"none", "masked", "fixed"}
        Graph of the lower level: none, of the masked rows, or of the rows with all columns.
    n_masks, n_evaluations : int
        Masks drawn at a time, and in all.
    scale, categorical, unlabeled, random_state
        As in the estimators of this package.
    """

    def __init__(
        self,
        *,
        search: str = "exact",
        criterion: str = "evidence",
        polish: bool = True,
        graph: str = "none",
        n_masks: int = 5,
        n_evaluations: int = 400,
        scale: Any = True,
        categorical: Any = "auto",
        unlabeled: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.search = search
        self.criterion = criterion
        self.polish = polish
        self.graph = graph
        self.n_masks = n_masks
        self.n_evaluations = n_evaluations
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, *, classification: bool) -> Self:
        rows = read_rows(self, X, y, None, classification=classification, scales=(self.scale,))
        if rows.classes is not None:
            self.classes_ = rows.classes
        with threadpool_limits(limits=1, user_api="blas"):
            self._learn(rows)
        self._reader = rows.readers[0]
        return self

    def _learn(self, rows: TrainingRows) -> None:
        settings = SingleSettings(
            budget=None, sparsity=None, manifold=None, graph=GraphSettings(), solver="auto"
        )
        lower = build_lower(rows, settings)
        if self.graph == "fixed":
            values = {field.name: getattr(lower, field.name) for field in fields(LowerLevel)}
            lower = FixedGraphLevel(**values)
        manifold = 0.0 if self.graph == "none" else _MANIFOLD * lower.n_rows
        smooth = _smooth(rows, lower, "loo" if self.criterion == "loo" else "evidence")
        size = choose_budget(
            _smooth(rows, lower, "evidence"), max_size=min(_MAX_SIZE, lower.n_columns)
        ).size
        mask = self._mask(lower, smooth, max(1, size), manifold)
        level, solution = tune(lower, mask.astype(np.float64), sparsity=None, manifold=manifold)
        self._level, self._solution = level, solution
        self.support_ = mask

    def _mask(
        self, lower: LowerLevel, smooth: SmoothCriterion, size: int, manifold: float
    ) -> BoolArray:
        if self.search == "exact":
            if self.criterion not in ("evidence", "loo"):
                raise InvalidInputError(f"criterion={self.criterion!r} has no exact gradient.")
            mask = top_mask(descend(smooth, size).probabilities, size)
        else:
            state = run_loop(
                self._drawn_criterion(lower, smooth, manifold),
                self._options(size),
                random_state=int(check_random_state(self.random_state).randint(2**31 - 1)),
            )
            mask = top_mask(state.s, size)
        if self.polish and self.criterion in ("evidence", "loo"):
            mask = polish(smooth, mask).mask
        return mask

    def _drawn_criterion(
        self, lower: LowerLevel, smooth: SmoothCriterion, manifold: float
    ) -> Criterion:
        if self.criterion in ("evidence", "loo"):
            return smooth
        level, _ = tune(lower, np.ones(lower.n_columns), sparsity=None, manifold=manifold)
        return LabeledCriterion(level) if self.criterion == "labeled" else AloCriterion(level)

    def _options(self, size: int) -> LoopOptions:
        drawn = 1 if self.search == "reinforce" else self.n_masks
        return LoopOptions(
            budget=float(size),
            estimator=self.search,
            n_masks=drawn,
            max_iter=max(1, self.n_evaluations // drawn),
        )

    def _decision(self, X: Any) -> FloatArray:
        check_is_fitted(self, "_level")
        return self._level.predict(self._solution, self._reader.transform(X))


class AblationRegressor(RegressorMixin, _Ablation):  # type: ignore[misc]
    """Additive regression under one mask, see `_Ablation`.

    Examples
    --------
    >>> from s2mam.datasets import hide_labels, make_friedman
    >>> data = make_friedman(n_uninformative=3, n_noisy=2, random_state=0)
    >>> y = hide_labels(data.y, n_labeled=60, random_state=0)
    >>> model = AblationRegressor(search="rloo", n_evaluations=50, random_state=0).fit(data.X, y)
    >>> bool(model.score(data.X, data.y) > 0.6)
    True
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows whose target is NaN where unlabelled."""
        return self._fit(X, y, classification=False)

    def predict(self, X: Any) -> FloatArray:
        """Predicted numbers."""
        return self._decision(X)


class AblationClassifier(ClassifierMixin, _Ablation):  # type: ignore[misc]
    """Additive classification under one mask, see `_Ablation`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows whose target is -1 where unlabelled."""
        return self._fit(X, y, classification=True)

    def predict(self, X: Any) -> AnyArray:
        """Predicted classes."""
        decision = self._decision(X)
        codes = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        predicted: AnyArray = self.classes_[np.asarray(codes, dtype=np.intp)]
        return predicted


def _smooth(rows: TrainingRows, lower: LowerLevel, name: str) -> EvidenceCriterion | LooCriterion:
    """Criterion with exact gradients, on targets of about unit size."""
    if rows.classes is None:
        share = rows.weights / rows.weights.sum()
        target = rows.target - float(share @ rows.target)
        target = target / (float(np.sqrt(share @ target**2)) or 1.0)
    else:
        target = class_contrasts(rows.target, rows.classes.size)
    kernels = labeled_kernels(
        lower.features_of(np.arange(lower.n_columns), rows.labeled),
        lower.design.offsets,
        target,
        rows.weights,
    )
    return LooCriterion(kernels) if name == "loo" else EvidenceCriterion(kernels)
