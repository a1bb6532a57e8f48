"""The upper level: mask probabilities by gradients of the loss on held-out labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.masks.projection import project_budget
from s2mam.neural.backend import require_torch
from s2mam.neural.lower import DECAY, RATE, Sets, Workbench, fit_sets
from s2mam.neural.nets import contributions
from s2mam.neural.problem import NeuralProblem
from s2mam.training.backend import torch_session
from s2mam.training.loop import TrainingPlan, train

__all__ = ["HeldOutCriterion", "MaskSearch", "SearchStopped", "relaxed_search"]

# Steps of the networks before the probabilities move, and between two moves of them.
_WARM_UP, _MOVE_EVERY = 10, 2
# Steps between two graphs, and between two reports.
_GRAPH_EVERY, _TELL_EVERY = 20, 10
# A column with probability zero keeps a network that learns, so that it can come back.
_FLOOR = 0.02
#: Sparsity while masks are searched for, times the loss of the best constant.
SPARSITY = 0.2
_STEP = 0.2
# Losses below this count as this one.
_LEAST = 1e-6
_MASK_STEPS = 100


class SearchStopped(Exception):
    """Ends a search from within; the message is the reason."""


@dataclass
class MaskSearch:
    """Where a search stands.

    Attributes
    ----------
    s : (p,) array
        Mask probabilities.
    strength : (p,) array
        Spread of each column's contribution, weighted by s.
    history : dict of lists
        Held-out loss ("criterion") and sum of the probabilities ("budget") at every report.
    """

    s: FloatArray
    strength: FloatArray
    history: dict[str, list[float]] = field(default_factory=lambda: {"criterion": [], "budget": []})

    def ranking(self) -> IntArray:
        """Columns, best first; equal probabilities are told apart by the strength."""
        order: IntArray = np.lexsort((-self.strength, -self.s.round(6)))
        return order

    def top(self, size: int) -> BoolArray:
        """Mask of the best columns that have a probability at all; at least one column."""
        ranking = self.ranking()
        mask = np.zeros(self.s.size, dtype=bool)
        mask[ranking[:size]] = True
        mask &= self.strength > 0.0
        mask[ranking[0]] = True
        return mask


def relaxed_search(
    problem: NeuralProblem,
    columns: IntArray,
    budget: float,
    *,
    sparsity: float | None,
    manifold: float | None,
    steps: int = 150,
    step_size: float | None = None,
    tell: Callable[[int, MaskSearch], str | None] | None = None,
    search: MaskSearch | None = None,
) -> MaskSearch:
    """Train networks and mask probabilities together.

    Every fold of the labels has its own networks, whose contributions are multiplied by the
    probabilities s. Their weights descend on the labels of the fold; s descends, on the budget
    set, on the labels that the folds hold out.

    Parameters
    ----------
    problem : NeuralProblem
    columns : (q,) array of int
        Columns to choose from.
    budget : float
        Bound on the sum of s.
    sparsity, manifold : float or None
        None is 0.2 times the loss of the best constant, and no graph: before masks are clean a
        graph misleads more often than it helps.
    steps : int
    step_size : float, optional
    tell : callable, optional
        Called with the step and the search every ten steps; an answer ends the search.
    search : MaskSearch, optional
        Filled in place, so that a caller can read it after an interruption.

    Returns
    -------
    MaskSearch

    Raises
    ------
    SearchStopped
        When `tell` gave a reason.
    """
    penalty = SPARSITY * problem.null_loss if sparsity is None else sparsity
    p, q = problem.table.shape[1], columns.size
    found = MaskSearch(np.zeros(p), np.zeros(p)) if search is None else search
    found.s[columns] = min(1.0, budget / q)
    sets = Sets.of_folds(problem, np.ones((1, q)), np.array([penalty]), np.array([manifold or 0.0]))
    bench = Workbench(problem, columns, sets)
    bench.rebuild_graph(found.s)
    rate = _STEP if step_size is None else step_size
    with torch_session(problem.seed, bench.device):
        nets = bench.draw()
        climb = _Climb(bench, nets, found, budget, rate, steps, tell)
        train(
            nets,
            lambda _: bench.objective(nets, climb.weights()),
            TrainingPlan(steps=steps, learning_rate=RATE, weight_decay=DECAY, average=None),
            draw=lambda step: step,
            after_step=climb.after,
        )
    return found


@dataclass
class _Climb:
    """Moves the probabilities between two steps of the networks."""

    bench: Workbench
    nets: Any
    search: MaskSearch
    budget: float
    rate: float
    steps: int
    tell: Callable[[int, MaskSearch], str | None] | None

    def weights(self) -> Any:
        """(1, q) weights of the columns in the lower level."""
        return self.bench.tensor(np.maximum(self.search.s[self.bench.columns], _FLOOR))[None]

    def after(self, step: int) -> None:
        last = step == self.steps
        if step % _MOVE_EVERY == 0 or last or step % _TELL_EVERY == 0:
            self._move(step)
        if step % _GRAPH_EVERY == 0:
            self.bench.rebuild_graph(self.search.s)
        if self.tell is not None and (step % _TELL_EVERY == 0 or last):
            reason = self.tell(step, self.search)
            if reason is not None:
                raise SearchStopped(reason)

    def _move(self, step: int) -> None:
        torch, columns = require_torch(), self.bench.columns
        with torch.no_grad():
            parts, _ = contributions(self.nets, self.bench.inputs)
            parts = parts[..., : self.bench.problem.n_labeled]
            intercept = self.nets["intercept"].detach()
        s = self.bench.tensor(self.search.s[columns]).requires_grad_(True)
        decision = (s[None, :, None, None] * parts).sum(dim=1) + intercept
        loss = self.bench.losses(decision, self.bench.held).mean()
        (gradient,) = torch.autograd.grad(loss, s)
        spread = parts.square().mean(dim=(0, 2, 3)).sqrt().cpu().numpy()
        if step > _WARM_UP:
            # Half the logarithm of the loss descends, so that the same steps suit every scale.
            slope = (
                gradient.cpu().numpy().astype(np.float64) * 0.5 / max(float(loss.detach()), _LEAST)
            )
            fall = 0.5 * (1.0 + np.cos(np.pi * step / self.steps))
            moved = self.search.s[columns] - self.rate * fall * slope
            self.search.s[columns] = project_budget(moved, self.budget)
        self.search.strength[columns] = np.maximum(self.search.s[columns], 1e-9) * spread
        if step % _TELL_EVERY == 0:
            self.search.history["criterion"].append(float(loss.detach()))
            self.search.history["budget"].append(float(self.search.s.sum()))


class HeldOutCriterion:
    """Loss of the networks under a mask, for policy gradients; always trained from one start.

    Parameters
    ----------
    problem : NeuralProblem
    columns : (q,) array of int
        Columns that can matter; others have no effect.
    held_out : bool
        Judge by labels that the folds hold out; else, as in the paper, by those trained on.
    sparsity, manifold : float or None
        As in `relaxed_search`.
    """

    is_loss = True

    def __init__(
        self,
        problem: NeuralProblem,
        columns: IntArray,
        *,
        held_out: bool,
        sparsity: float | None,
        manifold: float | None,
    ) -> None:
        self.problem, self.columns, self.held_out = problem, columns, held_out
        self.sparsity = SPARSITY * problem.null_loss if sparsity is None else sparsity
        self.manifold = manifold or 0.0

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return int(self.problem.table.shape[1])

    def value(self, mask: Any) -> float:
        """Held-out loss under a mask."""
        weights = np.asarray(mask, dtype=np.float64)
        columns = self.columns[weights[self.columns] > 0.0]
        if not columns.size:
            return self.problem.null_loss
        penalties = np.array([self.sparsity]), np.array([self.manifold])
        sets = Sets.of_folds(self.problem, weights[None, columns], *penalties)
        if not self.held_out:
            everything = self.problem.weights[None]
            alone = np.zeros(1, dtype=np.intp)
            sets = Sets(weights[None, columns], everything, everything, *penalties, alone)
        trained = fit_sets(
            self.problem,
            columns,
            sets,
            steps=_MASK_STEPS,
            look_every=_MASK_STEPS,
            graph_mask=weights,
        )
        return float(trained.held_out[-1].mean())
