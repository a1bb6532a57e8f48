"""The outer loop: draw masks, solve below, move the probabilities, rebuild the graph.

One loop for the paper's Algorithm 1 and for its repaired form; see
:class:`s2mam.bilevel.options.LoopOptions`. The graph belongs to the mask and is rebuilt inside
each lower-level solve.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.bilevel.options import LoopOptions
from s2mam.bilevel.solution import StartPoint
from s2mam.bilevel.state import LoopState
from s2mam.exceptions import CheckpointMismatchError, InvalidInputError, S2MAMWarning
from s2mam.masks.criteria import CachedCriterion, Criterion, FitCriterion
from s2mam.masks.draws import draw_masks
from s2mam.masks.gradients import reinforce, rloo
from s2mam.masks.projection import project_budget
from s2mam.masks.relaxed import top_mask

__all__ = ["final_mask", "run_loop"]

_ESTIMATORS = {"reinforce": reinforce, "rloo": rloo}


def run_loop(
    criterion: Criterion,
    options: LoopOptions,
    *,
    random_state: int | np.random.Generator | None = None,
    state: LoopState | None = None,
    on_iteration: Callable[[LoopState], bool | str | None] | None = None,
    on_interrupt: Callable[[LoopState], bool] | None = None,
) -> LoopState:
    """Learn mask probabilities by policy gradients.

    Parameters
    ----------
    criterion : Criterion
        The upper level. Criteria that fit a lower level start each fit from the previous one.
    options : LoopOptions
        ``paper_options(C)`` for Algorithm 1.
    random_state : int, Generator or None
        Ignored when a state is given.
    state : LoopState, optional
        Continue from here; the outcome has the same bits as an uninterrupted run.
    on_iteration : callable, optional
        Called with the state after every iteration; True, or a reason, stops the loop.
    on_interrupt : callable, optional
        Called when a KeyboardInterrupt arrives, with the state after the last finished iteration,
        from which the loop can be continued; True ends the loop with it, else the interrupt goes
        on.

    Returns
    -------
    LoopState
        With ``stop_reason`` set.

    Warns
    -----
    S2MAMWarning
        All probabilities became zero, from where there is no way back.

    Examples
    --------
    >>> import numpy as np
    >>> class Distance:  # to the mask (1, 0, 0)
    ...     n_columns = 3
    ...     def value(self, mask):
    ...         return float(np.abs(np.asarray(mask, dtype=float) - [1, 0, 0]).sum()) + 0.1
    >>> found = run_loop(Distance(), LoopOptions(budget=1), random_state=0)
    >>> final_mask(found, 1), found.stop_reason
    (array([ True, False, False]), 'max_iter')
    """
    if state is None:
        state = _begin(criterion, options, np.random.default_rng(random_state))
    elif state.s.shape != (criterion.n_columns,) or len(state.masks) != options.n_masks:
        raise CheckpointMismatchError(
            f"The state has {state.s.size} columns and {len(state.masks)} masks; the loop has "
            f"{criterion.n_columns} and {options.n_masks}. Resume with the same settings."
        )
    evaluator = _Evaluator(criterion, options, state)
    # A state that was saved where nothing can move stays there.
    state.stop_reason = _absorbed(state, options) if state.t else None
    while state.stop_reason is None:
        if state.t >= options.max_iter:
            state.stop_reason = "max_iter"
            break
        mark: _Mark | None = _Mark(state)
        try:
            _iterate(evaluator, options, state)
            evaluator.store(state)
            mark = None
            wanted = None if on_iteration is None else on_iteration(state)
        except KeyboardInterrupt:
            if mark is not None:
                mark.restore(state)
            if on_interrupt is None or not on_interrupt(state):
                raise
            wanted = "interrupted"
        if wanted and not isinstance(wanted, str):
            wanted = "callback"
        state.stop_reason = _absorbed(state, options) or wanted or None
    return state


def final_mask(state: LoopState, n_select: int, rule: str = "top") -> BoolArray | FloatArray:
    """Return the mask to predict with.

    Parameters
    ----------
    state : LoopState
        After the loop.
    n_select : int
        C, for "top".
    rule : {"top", "expected", "threshold", "best_seen"}
        The C largest probabilities; s itself (the paper); s > 1/2; the best mask evaluated.
    """
    if rule == "top":
        return top_mask(state.s, n_select)
    if rule == "expected":
        return state.s.copy()
    if rule == "threshold":
        above: BoolArray = state.s > 0.5
        return above
    if rule == "best_seen":
        return top_mask(state.s, n_select) if state.best_mask is None else state.best_mask.copy()
    raise InvalidInputError(
        f'rule={rule!r} is unknown; use "top", "expected", "threshold" or "best_seen".'
    )


class _Evaluator:
    """Evaluates masks: through a cache, on a batch, with a warm start, as the options say."""

    def __init__(self, criterion: Criterion, options: LoopOptions, state: LoopState) -> None:
        self.criterion = criterion
        self.batch_size = options.batch_size
        self.cache: CachedCriterion | None = None
        if options.cache and options.batch_size is None:
            self.cache = CachedCriterion(criterion)
            if state.cache_masks is not None and state.cache_values is not None:
                self.cache.restore(state.cache_masks, state.cache_values)
        self.fitting = criterion if isinstance(criterion, FitCriterion) else None
        if self.fitting is not None:
            self.fitting.last_fit = state.start

    def values(self, masks: BoolArray, rng: np.random.Generator) -> FloatArray:
        criterion: Criterion = self.criterion if self.cache is None else self.cache
        if self.batch_size is not None:
            criterion = self._on_batch(rng)
        return np.array([criterion.value(mask) for mask in masks])

    def store(self, state: LoopState) -> None:
        """Put into the state what a resumed loop needs."""
        if self.cache is not None:
            state.cache_masks, state.cache_values = self.cache.to_arrays()
        if self.fitting is not None and self.fitting.last_fit is not None:
            last = self.fitting.last_fit
            state.start = last if isinstance(last, StartPoint) else last.start_point()

    def _on_batch(self, rng: np.random.Generator) -> Criterion:
        if self.fitting is None:
            raise InvalidInputError(
                "batch_size needs a criterion that fits the lower level: "
                'criterion="labeled", or "loo" through the fit.'
            )
        solver: Any = self.fitting.solver
        rows = _draw_batch(solver.n_rows, solver.labeled, int(self.batch_size or 0), rng)
        batch: Criterion = _like(self.fitting, solver.subset(rows))
        return batch


class _Mark:
    """The state as it was before an iteration."""

    def __init__(self, state: LoopState) -> None:
        self.before = replace(state)
        self.bits = state.rng.bit_generator.state

    def restore(self, state: LoopState) -> None:
        """Undo an iteration that did not come to its end."""
        for name in (item.name for item in fields(state)):
            setattr(state, name, getattr(self.before, name))
        state.rng.bit_generator.state = self.bits
        for values in state.history.values():
            del values[state.t :]


def _begin(criterion: Criterion, options: LoopOptions, rng: np.random.Generator) -> LoopState:
    p = criterion.n_columns
    s = np.full(p, min(1.0, options.budget / p))
    if options.first_mask == "ones":
        masks = np.ones((options.n_masks, p), dtype=bool)
    else:
        masks = draw_masks(s, options.n_masks, rng, eps=options.eps)
    state = LoopState(s=s, masks=masks, t=0, rng=rng)
    if options.normalize and getattr(criterion, "is_loss", True):
        null = criterion.value(np.zeros(p, dtype=bool))
        state.null_value = null if null > 0.0 else 1.0
    return state


def _iterate(evaluator: _Evaluator, options: LoopOptions, state: LoopState) -> None:
    """One iteration; masks, probabilities and solutions that belong together stay together."""
    began = time.perf_counter()
    state.t += 1
    values = evaluator.values(state.masks, state.rng)
    best = int(np.argmin(values))
    if values[best] < state.best_value:
        state.best_value = float(values[best])
        state.best_mask = state.masks[best].copy()
    estimate = _ESTIMATORS[options.estimator]
    gradient = estimate(values / state.null_value, state.masks, state.s, eps=options.eps)
    norm = float(np.linalg.norm(gradient))
    if options.clip_norm is not None and norm > options.clip_norm:
        gradient = gradient * (options.clip_norm / norm)
    step = options.step_size / np.sqrt(state.t)
    moved = project_budget(state.s - step * gradient, options.budget)
    mapping = float(np.linalg.norm(state.s - moved)) / step
    state.s = moved
    state.masks = draw_masks(moved, options.n_masks, state.rng, eps=options.eps)
    record = (float(values.mean()), float(moved.sum()), norm, mapping, step)
    for name, value in zip(state.history, (*record, time.perf_counter() - began), strict=True):
        state.history[name].append(float(value))


def _absorbed(state: LoopState, options: LoopOptions) -> str | None:
    """Tell whether no probability can move any more."""
    if options.eps > 0.0 or not np.isin(state.s, (0.0, 1.0)).all():
        return None
    if state.s.any():
        return "absorbed"
    warnings.warn(
        f"All mask probabilities are zero after iteration {state.t}, and none can return: no "
        'column is selected. Lower step_size, set eps > 0 or first_mask="draw".',
        S2MAMWarning,
        stacklevel=4,
    )
    return "dead"


def _draw_batch(n: int, labeled: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """Draw rows without replacement, labelled ones in proportion and at least one."""
    if not 1 <= size <= n:
        raise InvalidInputError(f"batch_size={size} must lie between 1 and the {n} rows.")
    unlabeled = np.setdiff1d(np.arange(n), labeled)
    n_labeled = min(max(round(size * labeled.size / n), 1, size - unlabeled.size), labeled.size)
    rows = np.concatenate(
        [
            rng.choice(labeled, n_labeled, replace=False),
            rng.choice(unlabeled, size - n_labeled, replace=False),
        ]
    )
    return np.sort(rows)


def _like(criterion: FitCriterion, solver: Any) -> Any:
    """Return a criterion of the same kind on another lower level."""
    return type(criterion)(solver)
