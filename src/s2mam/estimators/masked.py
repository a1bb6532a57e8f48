"""Constructor and fit of the estimators with learned masks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from s2mam.estimators.additive import ManifoldAdditiveClassifier, ManifoldAdditiveRegressor
from s2mam.estimators.averaged import fit_average
from s2mam.estimators.base import AdditiveEstimator
from s2mam.estimators.callback_support import with_callbacks
from s2mam.estimators.constant import fit_constant, is_constant
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.masked_settings import (
    average_settings,
    check_parameters,
    describe,
    open_checkpoint,
    single_settings,
)
from s2mam.estimators.neural import fit_neural
from s2mam.estimators.progress import FitWatch
from s2mam.estimators.relaxed import fit_relaxed
from s2mam.estimators.rows import TrainingRows, read_rows, scale_names
from s2mam.estimators.settings import resolve_budget
from s2mam.estimators.single import fit_loop, fit_paper
from s2mam.estimators.streamed import open_stream
from s2mam.exceptions import InvalidInputError
from s2mam.intake.forgetting import forget_learned
from s2mam.scale import is_streamed

__all__ = ["MaskedEstimator"]


class MaskedEstimator(AdditiveEstimator):
    """Constructor and fit of the estimators with masks."""

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str = "auto",
        sparsity: float | str = "auto",
        manifold: float | str = "auto",
        bandwidth: float | str = "auto",
        basis: str = "kernel",
        graph: str = "auto",
        mask_learner: str = "auto",
        criterion: str = "auto",
        n_masks: int | str = "auto",
        max_iter: int | str = "auto",
        step_size: float | str = "auto",
        solver: str = "auto",
        literal: bool = False,
        scale: bool | str | None = True,
        categorical: Any = "auto",
        unlabeled: Any = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callbacks: Sequence[Callable[[dict[str, Any]], bool | None]] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.sparsity = sparsity
        self.manifold = manifold
        self.bandwidth = bandwidth
        self.basis = basis
        self.graph = graph
        self.mask_learner = mask_learner
        self.criterion = criterion
        self.n_masks = n_masks
        self.max_iter = max_iter
        self.step_size = step_size
        self.solver = solver
        self.literal = literal
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any, *, classification: bool) -> Self:
        watch = FitWatch(self, X, y, sample_weight)
        learner = check_parameters(self)
        forget_learned(self, "_model", "_rows")
        scales = scale_names(self.scale) if learner == "posterior" else (self.scale,)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        given = (self, X, y, sample_weight)
        stream = None
        if is_streamed(X):
            stream = open_stream(*given, classification=classification, scales=scales, seed=seed)
            watch.say(stream.describe())
        rows = (
            read_rows(*given, classification=classification, scales=scales)
            if stream is None
            else stream.rows
        )
        if rows.classes is not None:
            self.classes_ = rows.classes
        # Many small solves: one BLAS thread each is fastest, and gives the same bits everywhere.
        with threadpool_limits(limits=1, user_api="blas"):
            fitted = self._learn(learner, rows, seed, watch)
            if stream is not None:
                budget = resolve_budget(self.n_features_to_select, len(rows.kinds))
                fitted = stream.correct(fitted, budget, watch)
        self._publish(fitted, rows.n_labeled if stream is None else stream.survey.n_labeled)
        self._rows = (rows, X)
        self.transduction_ = self.predict(X) if stream is None else stream.predict(self, X)
        watch.finish()
        return self

    def refit_selected(self) -> ManifoldAdditiveClassifier | ManifoldAdditiveRegressor:
        """The plain additive model on the selected columns alone, for those who want one mask.

        Returns
        -------
        ManifoldAdditiveRegressor or ManifoldAdditiveClassifier
            Fitted; takes tables with all columns and reads the selected ones.

        Raises
        ------
        InvalidInputError
            When the estimator was loaded or unpickled: the training rows are not stored.
        """
        check_is_fitted(self, "_model")
        if getattr(self, "_rows", None) is None:
            raise InvalidInputError(
                "refit_selected needs the training rows, which are not stored with a saved model; "
                "fit again, or fit a ManifoldAdditive estimator on the columns of get_support()."
            )
        kind = (
            ManifoldAdditiveClassifier if hasattr(self, "classes_") else ManifoldAdditiveRegressor
        )
        plain = kind(
            sparsity=self.sparsity,
            manifold=self.manifold,
            bandwidth=self.bandwidth,
            graph=self.graph,
            solver=self.solver,
            scale=self.scale,
            categorical=self.categorical,
            unlabeled=self.unlabeled,
        )
        rows, X = self._rows
        plain._fit_rows(rows, self)
        plain.transduction_ = plain.predict(X)
        return plain

    def __getstate__(self) -> Any:
        # Training rows serve refit_selected only; a pickled model should not carry them.
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_rows"}

    def _learn(self, learner: str, rows: TrainingRows, seed: int, watch: FitWatch) -> Fitted:
        if is_constant(rows):
            return fit_constant(rows)
        budget = resolve_budget(self.n_features_to_select, len(rows.kinds))
        watch.say(describe(self, learner, rows))
        saved = open_checkpoint(self, rows, seed)
        if learner == "posterior":
            return fit_average(rows, average_settings(self, budget, saved, seed, watch))
        settings = single_settings(self, learner, budget, saved, seed, watch)
        if self.basis == "neural":
            return fit_neural(rows, settings)
        if learner == "relaxed":
            return fit_relaxed(rows, settings)
        if self.literal:
            return fit_paper(rows, settings)
        return fit_loop(rows, settings)
