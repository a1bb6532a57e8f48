"""Learners that end with one mask: the base model, policy gradients, the paper's own rule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray
from s2mam.bases import build_design
from s2mam.bases.build import build_recipes
from s2mam.bases.kernels import auto_lengths
from s2mam.bilevel.literal import LiteralLevel
from s2mam.bilevel.lower import GraphSettings, LowerLevel
from s2mam.bilevel.options import LoopOptions, paper_options
from s2mam.bilevel.solution import LowerSolution
from s2mam.bilevel.state import LoopState
from s2mam.bilevel.tuning import tune
from s2mam.bilevel.watch import Watch
from s2mam.estimators.extremes import require_moderate
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.literal_waves import wave_model
from s2mam.estimators.model import AdditiveModel, AdditivePart, FittedModel, LiteralModel
from s2mam.estimators.rows import TrainingRows
from s2mam.estimators.watched_loop import run_watched
from s2mam.exceptions import DegenerateGraphWarning, InvalidInputError
from s2mam.graphs.diagnostics import degeneracy_message
from s2mam.intake.notices import warn_user
from s2mam.losses import LogisticLoss, Loss, MultinomialLoss, SquaredLoss
from s2mam.masks.budget import choose_budget
from s2mam.masks.contrasts import class_contrasts
from s2mam.masks.criteria import Criterion, LabeledCriterion
from s2mam.masks.evidence import EvidenceCriterion
from s2mam.masks.kernels import labeled_kernels
from s2mam.masks.loo import LooCriterion
from s2mam.masks.relaxed import top_mask
from s2mam.persistence import Checkpoint

__all__ = [
    "MAX_SIZE",
    "SingleSettings",
    "build_lower",
    "fit_base",
    "fit_loop",
    "fit_paper",
    "refit",
    "smooth_criterion",
]

# Largest number of columns that a search looks for by itself.
MAX_SIZE = 30
_LINEAR = 0.3
# Tables of more numbers than this get features when they are needed, not all at once.
_HELD = 2**21


@dataclass(frozen=True)
class SingleSettings:
    """Settings of the learners that end with one mask; None means "from the data".

    Attributes
    ----------
    budget : int or None
        Number of columns.
    sparsity, manifold : float or None
        lambda_1 and lambda_2.
    graph : GraphSettings
    solver : str
    criterion : str
        "auto", "labeled", "loo" or "evidence".
    estimator : str
        "reinforce" or "rloo".
    n_masks, max_iter, step_size : int, int and float or None
    seed : int
    checkpoint : Checkpoint or None
    watch : Watch
    basis : str
        See :func:`s2mam.bases.build_design`.
    """

    budget: int | None
    sparsity: float | None
    manifold: float | None
    graph: GraphSettings
    solver: str
    criterion: str = "auto"
    estimator: str = "rloo"
    n_masks: int | None = None
    max_iter: int | None = None
    step_size: float | None = None
    seed: int = 0
    checkpoint: Checkpoint | None = None
    watch: Watch = field(default_factory=Watch)
    basis: str = "kernel"


def build_lower(rows: TrainingRows, settings: SingleSettings) -> LowerLevel:
    """The lower level of a fit; penalties still at zero."""
    table = rows.tables[0]
    require_moderate(table, rows.readers[0])
    _warn_of_empty_graph(rows, settings)
    options: dict[str, Any] = {"linear": _LINEAR, "tolerance": 1e-6, "basis": settings.basis}
    make = build_recipes if table.size > _HELD else build_design
    design = make(table, rows.kinds, **options, seed=settings.seed)
    loss, target = _loss(rows)
    return LowerLevel(
        design,
        table,
        rows.labeled,
        target,
        rows.weights / rows.weights.sum(),
        loss,
        sparsity=0.0,
        manifold=0.0,
        graph=settings.graph,
        solver=settings.solver,
    )


def fit_base(rows: TrainingRows, settings: SingleSettings, mask: BoolArray | None = None) -> Fitted:
    """The base model f_z under a given mask; all columns by default."""
    lower = build_lower(rows, settings)
    weights = np.ones(lower.n_columns) if mask is None else mask.astype(np.float64)
    level, solution = tune(lower, weights, sparsity=settings.sparsity, manifold=settings.manifold)
    return _publish(rows, level, solution, weights, {}, solution.result.stop_reason)


def fit_loop(rows: TrainingRows, settings: SingleSettings) -> Fitted:
    """Policy gradients with lower-level fits that drop masked columns."""
    lower = build_lower(rows, settings)
    criterion: Criterion
    if settings.criterion == "labeled":
        level, _ = tune(
            lower,
            np.ones(lower.n_columns),
            sparsity=settings.sparsity,
            manifold=settings.manifold,
        )
        criterion = LabeledCriterion(level)
    else:
        criterion = smooth_criterion(rows, lower, settings.criterion)
    budget = settings.budget or _default_budget(rows, lower)
    options = LoopOptions(budget=float(budget), estimator=settings.estimator)
    if settings.estimator == "reinforce":
        options = replace(options, n_masks=1)
    options = _with_given(options, settings)
    state = run_watched(criterion, options, settings.seed, settings.checkpoint, settings.watch)
    mask = top_mask(state.s, budget)
    reason = state.stop_reason or "max_iter"
    return refit(rows, lower, mask, state.s.copy(), _history(state), reason, settings)


def fit_paper(rows: TrainingRows, settings: SingleSettings) -> Fitted:
    """Algorithm 1 to the letter, prediction by the expected mask included."""
    if any(kind == "categorical" for kind in rows.kinds):
        raise InvalidInputError(
            "The paper's literal model takes numeric columns only; encode the categorical ones or "
            "use the default settings."
        )
    require_moderate(rows.tables[0], rows.readers[0])
    if settings.budget is not None:  # else the lower level below has warned
        _warn_of_empty_graph(rows, settings)
    table = np.where(np.isnan(rows.tables[0]), 0.0, rows.tables[0])
    loss, target = _loss(rows)
    p = table.shape[1]
    level = LiteralLevel(
        table,
        rows.labeled,
        target,
        rows.weights / rows.weights.sum(),
        loss,
        sparsity=1e-3 if settings.sparsity is None else settings.sparsity,
        manifold=1e-3 if settings.manifold is None else settings.manifold,
        length=auto_lengths(table, ("numeric",) * p),
        graph=settings.graph,
        solver=settings.solver,
        basis=settings.basis,
        seed=settings.seed,
    )
    budget = settings.budget or _default_budget(rows, build_lower(rows, settings))
    options = _with_given(paper_options(float(budget)), settings)
    criterion = LabeledCriterion(level)
    state = run_watched(criterion, options, settings.seed, settings.checkpoint, settings.watch)
    # Algorithm 1 ends with the coefficients of its last step 1 and predicts with E[m] = s.
    solution = level.solve(state.masks[0])
    alpha = solution.alpha if solution.alpha.ndim == 3 else solution.alpha[:, :, None]
    model: FittedModel
    if settings.basis == "fourier":
        model = wave_model(rows.readers[0], level, alpha, state.s.copy())
    else:
        model = LiteralModel(
            rows.readers[0], table, alpha, state.s.copy(), level.design.lengths, level.kernel
        )
    support = top_mask(state.s, budget)
    chosen = {"sparsity": level.sparsity, "manifold": level.manifold, "budget": budget}
    reason = state.stop_reason or "max_iter"
    return Fitted(model, state.s.copy(), support, _history(state), reason, chosen)


def refit(
    rows: TrainingRows,
    lower: LowerLevel,
    mask: BoolArray,
    probabilities: FloatArray,
    history: dict[str, list[float]],
    reason: str,
    settings: SingleSettings,
) -> Fitted:
    """The model on the columns of a mask alone."""
    level, solution = tune(
        lower,
        mask.astype(np.float64),
        sparsity=settings.sparsity,
        manifold=settings.manifold,
    )
    fitted = _publish(rows, level, solution, mask, history, reason)
    # A constant column changes no criterion, so that its probability is whatever it began with.
    constant = np.array(rows.kinds) == "constant"
    return replace(fitted, probabilities=np.where(constant, 0.0, probabilities))


def _publish(
    rows: TrainingRows,
    level: LowerLevel,
    solution: LowerSolution,
    mask: FloatArray | BoolArray,
    history: dict[str, list[float]],
    reason: str,
) -> Fitted:
    coef = np.asarray(solution.full_coef)
    coef = coef[:, None] if coef.ndim == 1 else coef
    part = AdditivePart(rows.readers[0], level.design, coef)
    model = AdditiveModel((part,), np.atleast_1d(solution.intercept).astype(np.float64), clip=False)
    support = np.asarray(mask, dtype=np.float64) > 0
    active = np.zeros(support.size, dtype=bool)
    active[part.columns] = True
    history = history or {"criterion": [float(v) for v in solution.result.trace]}
    chosen: dict[str, Any] = {
        "sparsity": level.sparsity,
        "manifold": level.manifold,
        "gap": float(solution.result.gap),
    }
    # Columns that the sparsity silenced are not selected, whatever the mask says.
    return Fitted(model, active.astype(np.float64), support & active, history, reason, chosen)


def _warn_of_empty_graph(rows: TrainingRows, settings: SingleSettings) -> None:
    """Once a fit, when the user's bandwidth leaves nothing in the graph of all columns."""
    if isinstance(settings.graph.bandwidth, str) or settings.manifold == 0.0:
        return
    graph = settings.graph.build(rows.tables[0], np.ones(len(rows.kinds)), rows.kinds)
    if graph.degenerate is not None:
        warn_user(degeneracy_message(graph.degenerate, graph.bandwidth), DegenerateGraphWarning)


def _loss(rows: TrainingRows) -> tuple[Loss, Any]:
    if rows.classes is None:
        return SquaredLoss(), rows.target
    if rows.classes.size == 2:
        return LogisticLoss(), rows.target.astype(np.float64)
    return MultinomialLoss(rows.classes.size), rows.target


def smooth_criterion(
    rows: TrainingRows, lower: LowerLevel, name: str
) -> EvidenceCriterion | LooCriterion:
    """The criterion of a name, on the labelled rows of the design."""
    if rows.classes is None:
        share = rows.weights / rows.weights.sum()
        center = float(share @ rows.target)
        target = rows.target - center
        target = target / (float(np.sqrt(share @ target**2)) or 1.0)
    else:
        target = class_contrasts(rows.target, rows.classes.size)
    features = lower.features_of(np.arange(lower.n_columns), rows.labeled)
    kernels = labeled_kernels(features, lower.design.offsets, target, rows.weights)
    return LooCriterion(kernels) if name == "loo" else EvidenceCriterion(kernels)


def _default_budget(rows: TrainingRows, lower: LowerLevel) -> int:
    criterion = smooth_criterion(rows, lower, "evidence")
    return max(1, choose_budget(criterion, max_size=min(MAX_SIZE, lower.n_columns)).size)


def _with_given(options: LoopOptions, settings: SingleSettings) -> LoopOptions:
    given = {
        "n_masks": settings.n_masks,
        "max_iter": settings.max_iter,
        "step_size": settings.step_size,
    }
    changes: dict[str, Any] = {name: v for name, v in given.items() if v is not None}
    return replace(options, **changes)


def _history(state: LoopState) -> dict[str, list[float]]:
    return {name: [float(v) for v in values] for name, values in state.history.items()}
