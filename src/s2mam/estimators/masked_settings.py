"""From constructor arguments of the masked estimators to the settings of their learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from s2mam.bases import BASES, resolve_basis
from s2mam.bilevel.lower import GraphSettings
from s2mam.estimators.additive import GRAPHS, SOLVERS
from s2mam.estimators.averaged import AverageSettings
from s2mam.estimators.described import describe_auto
from s2mam.estimators.neural import check_neural
from s2mam.estimators.progress import FitWatch
from s2mam.estimators.rows import TrainingRows
from s2mam.estimators.settings import require_choice, require_count, require_number
from s2mam.estimators.single import SingleSettings
from s2mam.exceptions import InvalidInputError
from s2mam.graphs import automatic_kind
from s2mam.persistence import Checkpoint, UnitStore, fingerprint

if TYPE_CHECKING:
    from s2mam.estimators.masked import MaskedEstimator

__all__ = [
    "average_settings",
    "check_parameters",
    "describe",
    "open_checkpoint",
    "single_settings",
]

LEARNERS = ("auto", "posterior", "relaxed", "rloo", "reinforce")
CRITERIA = ("auto", "labeled", "loo", "evidence")
# Parameters that do not change what is learned, only how one gets there.
_WITHOUT_EFFECT = (
    "callbacks",
    "checkpoint",
    "n_jobs",
    "verbose",
    "random_state",
    "time_limit",
    "on_interrupt",
)


def check_parameters(estimator: MaskedEstimator) -> str:
    """Check what does not depend on the data; return the mask learner."""
    require_choice("basis", estimator.basis, (*BASES, "neural"))
    require_choice("graph", estimator.graph, GRAPHS)
    require_choice("solver", estimator.solver, SOLVERS)
    criterion = require_choice("criterion", estimator.criterion, CRITERIA)
    for name in ("sparsity", "manifold"):
        require_number(name, getattr(estimator, name))
    for name in ("bandwidth", "step_size"):
        require_number(name, getattr(estimator, name), positive=True)
    for name in ("n_masks", "max_iter"):
        require_count(name, getattr(estimator, name))
    learner = require_choice("mask_learner", estimator.mask_learner, LEARNERS)
    if estimator.basis == "neural":
        return check_neural(learner, criterion, estimator.solver, estimator.literal)
    learner = "posterior" if learner == "auto" else learner
    if learner == "posterior" and criterion in ("labeled", "loo"):
        raise InvalidInputError(
            f"criterion={criterion!r} does not go with mask_learner='posterior', which averages "
            "by evidence and held-out labels; use 'auto', or another mask_learner."
        )
    if learner == "relaxed" and criterion == "labeled":
        raise InvalidInputError(
            "criterion='labeled' has no exact gradient for mask_learner='relaxed'; use 'loo', "
            "'evidence' or 'auto'."
        )
    if estimator.literal and learner != "reinforce":
        raise InvalidInputError(
            "literal=True is the paper's algorithm and needs mask_learner='reinforce'; pass "
            "**PAPER for all of its settings."
        )
    if estimator.literal and estimator.basis not in ("kernel", "fourier"):
        raise InvalidInputError(
            f"literal=True is the paper's model, which knows basis='kernel' and 'fourier', not "
            f"{estimator.basis!r}; leave out literal=True or choose one of them."
        )
    return learner


def describe(estimator: MaskedEstimator, learner: str, rows: TrainingRows) -> str:
    """One line on the rows and on what "auto" stands for."""
    n = rows.tables[0].shape[0]
    chosen = {
        "mask_learner": learner,
        "n_features_to_select": "left to the data",
        "basis": resolve_basis("auto", n),
        "graph": automatic_kind(n, dense=learner != "posterior"),
        "bandwidth": "by the distances",
        "solver": "bcd",
        "criterion": "evidence",
    }
    if learner == "posterior":
        # The average has neither; its graph members are weighed by held-out labels.
        del chosen["solver"], chosen["criterion"]
    else:
        chosen |= {"sparsity": "by leave-one-out", "manifold": "by leave-one-out"}
    if estimator.basis == "neural":
        by = "evidence of the untrained networks" if learner == "relaxed" else "held-out labels"
        chosen |= {"solver": "Adam", "criterion": by}
    return describe_auto(estimator, rows, chosen)


def average_settings(
    estimator: MaskedEstimator,
    budget: int | None,
    saved: Checkpoint | None,
    seed: int,
    watch: FitWatch,
) -> AverageSettings:
    """Settings of the average over masks."""
    manifold = require_number("manifold", estimator.manifold)
    bandwidth = require_number("bandwidth", estimator.bandwidth, positive=True)
    return AverageSettings(
        budget=budget,
        use_graph=manifold is None or manifold > 0.0,
        graph_kind=estimator.graph,
        bandwidth="auto" if bandwidth is None else bandwidth,
        max_iter=require_count("max_iter", estimator.max_iter),
        n_jobs=estimator.n_jobs,
        seed=seed,
        store=None if saved is None else UnitStore(saved),
        watch=watch,
        basis=estimator.basis,
    )


def single_settings(
    estimator: MaskedEstimator,
    learner: str,
    budget: int | None,
    saved: Checkpoint | None,
    seed: int,
    watch: FitWatch,
) -> SingleSettings:
    """Settings of the learners that end with one mask."""
    bandwidth = require_number("bandwidth", estimator.bandwidth, positive=True)
    return SingleSettings(
        budget=budget,
        sparsity=require_number("sparsity", estimator.sparsity),
        manifold=require_number("manifold", estimator.manifold),
        graph=GraphSettings(
            kind=estimator.graph,
            bandwidth="auto" if bandwidth is None else bandwidth,
            literal=estimator.literal,
            seed=seed,
        ),
        solver=estimator.solver,
        criterion=estimator.criterion,
        estimator=learner,
        n_masks=require_count("n_masks", estimator.n_masks),
        max_iter=require_count("max_iter", estimator.max_iter),
        step_size=require_number("step_size", estimator.step_size, positive=True),
        seed=seed,
        checkpoint=saved,
        watch=watch,
        basis=estimator.basis,
    )


def open_checkpoint(estimator: MaskedEstimator, rows: TrainingRows, seed: int) -> Checkpoint | None:
    """The checkpoint of this very fit."""
    if estimator.checkpoint is None:
        return None
    if estimator.random_state is None:
        raise InvalidInputError(
            "checkpoint needs a random_state: without one a restarted fit is another fit; pass "
            "a whole number."
        )
    parameters = {
        name: repr(value)
        for name, value in estimator.get_params().items()
        if name not in _WITHOUT_EFFECT
    }
    mark = fingerprint(list(rows.tables), np.asarray(rows.target), rows.weights, parameters, seed)
    return Checkpoint(estimator.checkpoint, mark)
