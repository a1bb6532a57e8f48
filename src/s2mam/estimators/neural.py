"""The learner with one small network per column."""

from __future__ import annotations

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.bilevel.options import LoopOptions
from s2mam.bilevel.unit_runs import INTERRUPTED
from s2mam.estimators.extremes import require_moderate
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.neural_masks import evidence_budget, search_evidence
from s2mam.estimators.neural_model import NeuralModel
from s2mam.estimators.rows import TrainingRows
from s2mam.estimators.single import SingleSettings
from s2mam.estimators.watched_loop import run_watched
from s2mam.exceptions import InvalidInputError
from s2mam.neural.backend import require_torch
from s2mam.neural.compare import swap_pairs
from s2mam.neural.final import choose_penalties, fit_final
from s2mam.neural.problem import NeuralProblem
from s2mam.neural.search import HeldOutCriterion, MaskSearch, SearchStopped, relaxed_search

__all__ = ["check_neural", "fit_neural"]

_STAGE = "search"
_SEARCH_STEPS = 150
# Every mask of a policy gradient is a fit of networks: fewer of them than with kernels.
_LOOP_ITERATIONS = 60


def check_neural(learner: str, criterion: str, solver: str, literal: bool) -> str:
    """Check what goes with ``basis="neural"``; return the mask learner.

    Parameters
    ----------
    learner, criterion, solver, literal
        Parameters of the estimator.
    """
    if literal:
        raise InvalidInputError(
            "literal=True is the paper's kernel model and does not go with basis='neural'; leave "
            "out literal=True, or use basis='kernel' or 'fourier'."
        )
    if learner == "posterior":
        raise InvalidInputError(
            "mask_learner='posterior' averages kernel models and does not go with basis='neural'; "
            "use 'auto', 'relaxed', 'rloo' or 'reinforce'."
        )
    learner = "relaxed" if learner == "auto" else learner
    own = "evidence" if learner == "relaxed" else "labeled"
    if criterion not in ("auto", "loo", own):
        raise InvalidInputError(
            f"criterion={criterion!r} does not go with basis='neural' and mask_learner="
            f"{learner!r}; use 'auto', {own!r}, or 'loo', which judges by labels held out in folds."
        )
    if solver != "auto":
        raise InvalidInputError(
            f"solver={solver!r} does not go with basis='neural', whose networks are trained by "
            "gradient steps; use 'auto'."
        )
    require_torch()
    return learner


def fit_neural(rows: TrainingRows, settings: SingleSettings) -> Fitted:
    """Learn a mask, then the networks of its columns.

    Parameters
    ----------
    rows : TrainingRows
    settings : SingleSettings
        ``estimator`` is "relaxed", "rloo" or "reinforce".
    """
    table = rows.tables[0]
    require_moderate(table, rows.readers[0])
    n_classes = 0 if rows.classes is None else int(rows.classes.size)
    problem = NeuralProblem(
        table=table,
        kinds=rows.kinds,
        target=rows.target,
        weights=rows.weights / rows.weights.sum(),
        n_classes=n_classes,
        graph=settings.graph,
        seed=settings.seed,
    )
    varying = np.array(rows.kinds) != "constant"
    if settings.estimator == "relaxed" and settings.criterion != "loo":
        search, mask, reason = search_evidence(problem, settings)
        mask = mask & varying if (mask & varying).any() else mask
        return _publish(rows, problem, search, mask, reason, settings)
    columns = np.flatnonzero(varying)
    learn = _relax if settings.estimator == "relaxed" else _draw_masks
    size = settings.budget or evidence_budget(problem)
    search, reason = learn(problem, columns, size, settings)
    mask = search.top(size)
    if settings.estimator == "relaxed" and reason == "max_iter":
        mask = swap_pairs(problem, search, mask, settings.sparsity)
    return _publish(rows, problem, search, mask, reason, settings)


def _relax(
    problem: NeuralProblem, columns: IntArray, budget: int, settings: SingleSettings
) -> tuple[MaskSearch, str]:
    steps = settings.max_iter or _SEARCH_STEPS
    watch, p = settings.watch, problem.table.shape[1]
    search = MaskSearch(np.zeros(p), np.zeros(p))

    def tell(step: int, now: MaskSearch) -> str | None:
        values = now.history["criterion"]
        details = {"probabilities": now.s.copy(), "criterion": values[-1] if values else None}
        reason = watch.unit_ends(_STAGE, step, details)
        if reason is None and step < steps:
            watch.unit_begins(_STAGE)
        return reason

    watch.begin(steps)
    watch.unit_begins(_STAGE)
    try:
        relaxed_search(
            problem,
            columns,
            float(budget),
            sparsity=settings.sparsity,
            manifold=settings.manifold,
            steps=steps,
            step_size=settings.step_size,
            tell=tell,
            search=search,
        )
    except SearchStopped as stop:
        return search, str(stop)
    except KeyboardInterrupt:
        if not watch.keep_interrupted or not search.strength.any():
            raise
        return search, INTERRUPTED
    return search, "max_iter"


def _draw_masks(
    problem: NeuralProblem, columns: IntArray, budget: int, settings: SingleSettings
) -> tuple[MaskSearch, str]:
    criterion = HeldOutCriterion(
        problem,
        columns,
        held_out=settings.criterion != "labeled",
        sparsity=settings.sparsity,
        manifold=settings.manifold,
    )
    single = settings.estimator == "reinforce"
    options = LoopOptions(
        budget=float(budget),
        estimator=settings.estimator,
        max_iter=settings.max_iter or _LOOP_ITERATIONS,
        n_masks=settings.n_masks or (1 if single else 5),
        step_size=settings.step_size or 0.1,
    )
    state = run_watched(criterion, options, settings.seed, settings.checkpoint, settings.watch)
    history = {name: [float(v) for v in values] for name, values in state.history.items()}
    s = np.zeros(state.s.size)
    s[columns] = state.s[columns]
    return MaskSearch(s, s.copy(), history), state.stop_reason or "max_iter"


def _publish(
    rows: TrainingRows,
    problem: NeuralProblem,
    search: MaskSearch,
    mask: BoolArray,
    reason: str,
    settings: SingleSettings,
) -> Fitted:
    columns = np.flatnonzero(mask)
    penalties = choose_penalties(problem, columns, settings.sparsity, settings.manifold)
    fit = fit_final(problem, columns, penalties)
    support = np.zeros(mask.size, dtype=bool)
    support[fit.nets.columns] = True
    chosen = {
        "sparsity": penalties.sparsity,
        "manifold": penalties.manifold,
        "steps": penalties.steps,
        "held_out_loss": penalties.held_out,
        "budget": int(mask.sum()),
    }
    model = NeuralModel(rows.readers[0], fit.nets, fit.intercept)
    return Fitted(model, _swapped(search.s, mask), support, search.history, reason, chosen)


def _swapped(s: FloatArray, mask: BoolArray) -> FloatArray:
    """Probabilities in which the columns of the mask come first, as after the swaps."""
    new = np.flatnonzero(mask & (s < np.sort(s)[::-1][int(mask.sum()) - 1]))
    gone = np.flatnonzero(~mask)[np.argsort(-s[~mask], kind="stable")][: new.size]
    swapped = s.copy()
    swapped[new], swapped[gone] = s[gone], s[new]
    return swapped
