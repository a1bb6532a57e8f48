"""Constructor and fit of the estimators with learned masks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from s2mam.bilevel.lower import GraphSettings
from s2mam.bilevel.state import LoopState
from s2mam.estimators.additive import (
    GRAPHS,
    SOLVERS,
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
)
from s2mam.estimators.averaged import AverageSettings, fit_average
from s2mam.estimators.base import AdditiveEstimator
from s2mam.estimators.constant import fit_constant, is_constant
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.rows import TrainingRows, read_rows, scale_names
from s2mam.estimators.settings import (
    require_choice,
    require_count,
    require_number,
    resolve_budget,
)
from s2mam.estimators.single import SingleSettings, fit_loop, fit_paper, fit_relaxed
from s2mam.exceptions import InvalidInputError
from s2mam.persistence import Checkpoint, UnitStore, fingerprint

__all__ = ["MaskedEstimator"]

LEARNERS = ("auto", "posterior", "relaxed", "rloo", "reinforce")
CRITERIA = ("auto", "labeled", "loo", "evidence")
# Iterations of a policy gradient between two checkpoints.
_CHECKPOINT_EVERY = 25


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

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, classification: bool) -> Self:
        learner = self._check_parameters()
        scales = scale_names(self.scale) if learner == "posterior" else (self.scale,)
        rows = read_rows(self, X, y, sample_weight, classification=classification, scales=scales)
        if rows.classes is not None:
            self.classes_ = rows.classes
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        # Many small solves: one BLAS thread each is fastest, and gives the same bits everywhere.
        with threadpool_limits(limits=1, user_api="blas"):
            fitted = self._learn(learner, rows, seed)
        self._publish(fitted, rows.n_labeled)
        self._rows = (rows, X)
        self.transduction_ = self.predict(X)
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

    def _learn(self, learner: str, rows: TrainingRows, seed: int) -> Fitted:
        if is_constant(rows):
            return fit_constant(rows)
        budget = resolve_budget(self.n_features_to_select, len(rows.kinds))
        saved = self._open_checkpoint(rows, seed)
        if learner == "posterior":
            return fit_average(rows, self._average_settings(budget, saved, seed))
        settings = self._single_settings(learner, budget, saved, seed)
        if learner == "relaxed":
            return fit_relaxed(rows, settings)
        if self.literal:
            return fit_paper(rows, settings)
        return fit_loop(rows, settings)

    def _check_parameters(self) -> str:
        """Check what does not depend on the data; return the mask learner."""
        require_choice("basis", self.basis, ("kernel",))
        require_choice("graph", self.graph, GRAPHS)
        require_choice("solver", self.solver, SOLVERS)
        require_choice("criterion", self.criterion, CRITERIA)
        for name in ("sparsity", "manifold"):
            require_number(name, getattr(self, name))
        for name in ("bandwidth", "step_size"):
            require_number(name, getattr(self, name), positive=True)
        for name in ("n_masks", "max_iter"):
            require_count(name, getattr(self, name))
        learner = require_choice("mask_learner", self.mask_learner, LEARNERS)
        learner = "posterior" if learner == "auto" else learner
        if learner == "posterior" and self.criterion in ("labeled", "loo"):
            raise InvalidInputError(
                f"criterion={self.criterion!r} does not go with mask_learner='posterior', which "
                "averages by evidence and held-out labels; use 'auto', or another mask_learner."
            )
        if learner == "relaxed" and self.criterion == "labeled":
            raise InvalidInputError(
                "criterion='labeled' has no exact gradient for mask_learner='relaxed'; use 'loo', "
                "'evidence' or 'auto'."
            )
        if self.literal and learner != "reinforce":
            raise InvalidInputError(
                "literal=True is the paper's algorithm and needs mask_learner='reinforce'; pass "
                "**PAPER for all of its settings."
            )
        return learner

    def _average_settings(
        self, budget: int | None, saved: Checkpoint | None, seed: int
    ) -> AverageSettings:
        manifold = require_number("manifold", self.manifold)
        bandwidth = require_number("bandwidth", self.bandwidth, positive=True)
        report = self._reporter()
        return AverageSettings(
            budget=budget,
            use_graph=manifold is None or manifold > 0.0,
            graph_kind=self.graph,
            bandwidth="auto" if bandwidth is None else bandwidth,
            max_iter=require_count("max_iter", self.max_iter),
            n_jobs=self.n_jobs,
            seed=seed,
            store=None if saved is None else UnitStore(saved),
            on_unit=lambda done, total: _ignore(report({"done": done, "total": total})),
        )

    def _single_settings(
        self, learner: str, budget: int | None, saved: Checkpoint | None, seed: int
    ) -> SingleSettings:
        bandwidth = require_number("bandwidth", self.bandwidth, positive=True)
        report = self._reporter()

        def on_iteration(state: LoopState) -> bool | None:
            if saved is not None and state.t % _CHECKPOINT_EVERY == 0:
                arrays, scalars = state.to_arrays()
                saved.save({"arrays": arrays, "scalars": scalars})
            return report({"iteration": state.t, "probabilities": state.s})

        return SingleSettings(
            budget=budget,
            sparsity=require_number("sparsity", self.sparsity),
            manifold=require_number("manifold", self.manifold),
            graph=GraphSettings(
                kind=self.graph, bandwidth="auto" if bandwidth is None else bandwidth
            ),
            solver=self.solver,
            criterion=self.criterion,
            estimator=learner,
            n_masks=require_count("n_masks", self.n_masks),
            max_iter=require_count("max_iter", self.max_iter),
            step_size=require_number("step_size", self.step_size, positive=True),
            seed=seed,
            checkpoint=saved,
            on_iteration=on_iteration,
        )

    def _reporter(self) -> Callable[[dict[str, Any]], bool | None]:
        """Call the callbacks and, when verbose, write a line; True asks for a stop."""
        callbacks = list(self.callbacks or [])

        def report(progress: dict[str, Any]) -> bool | None:
            if self.verbose:
                shown = {k: v for k, v in progress.items() if not isinstance(v, np.ndarray)}
                sys.stderr.write(f"[{type(self).__name__}] {shown}\n")
            answers = [callback({"estimator": self, **progress}) for callback in callbacks]
            return any(bool(answer) for answer in answers)

        return report

    def _open_checkpoint(self, rows: TrainingRows, seed: int) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        if self.random_state is None:
            raise InvalidInputError(
                "checkpoint needs a random_state: without one a restarted fit is another fit; pass "
                "a whole number."
            )
        ignored = ("callbacks", "checkpoint", "n_jobs", "verbose", "random_state")
        parameters = {k: repr(v) for k, v in self.get_params().items() if k not in ignored}
        mark = fingerprint(
            list(rows.tables), np.asarray(rows.target), rows.weights, parameters, seed
        )
        return Checkpoint(self.checkpoint, mark)


def _ignore(answer: bool | None) -> None:
    """The average over masks is not stopped half way: a part of it is not an average."""
