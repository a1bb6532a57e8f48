"""The lower level: sets of networks trained side by side under masks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.graphs import Laplacian
from s2mam.neural.backend import device_for, require_torch
from s2mam.neural.nets import FIRST, ColumnInputs, column_levels, contributions, draw_nets
from s2mam.neural.problem import NeuralProblem
from s2mam.training.backend import torch_session
from s2mam.training.loop import TrainingPlan, train

__all__ = ["DECAY", "RATE", "Sets", "Trained", "Workbench", "fit_sets"]

#: Step of Adam; full batches, so that it can be long.
RATE = 0.02
#: Of all weights, decoupled from the gradient.
DECAY = 1e-3
# Keeps the norm of a group differentiable at zero.
_TINY = 1e-8


@dataclass(frozen=True)
class Sets:
    """What distinguishes g sets of networks; every set is one additive model.

    Attributes
    ----------
    masks : (g, q) array
        Weights of the columns.
    train, held : (g, l) arrays
        Weights of the labels in the loss that is minimised and in the one that judges.
    sparsity, manifold : (g,) arrays
        lambda_1 and lambda_2.
    variants : (g,) array of int
        Which random start.
    """

    masks: FloatArray
    train: FloatArray
    held: FloatArray
    sparsity: FloatArray
    manifold: FloatArray
    variants: IntArray

    @classmethod
    def of_folds(
        cls,
        problem: NeuralProblem,
        masks: FloatArray,
        sparsity: AnyArray,
        manifold: AnyArray,
    ) -> Sets:
        """All folds of each line of masks, with its penalties; the folds of a line are together.

        Parameters
        ----------
        problem : NeuralProblem
        masks : (c, q) array
        sparsity, manifold : (c,) arrays
        """
        train, held = problem.folds
        folds, count = len(train), len(masks)
        return cls(
            masks=np.repeat(masks, folds, axis=0),
            train=np.tile(train, (count, 1)),
            held=np.tile(held, (count, 1)),
            sparsity=np.repeat(np.asarray(sparsity, dtype=np.float64), folds),
            manifold=np.repeat(np.asarray(manifold, dtype=np.float64), folds),
            variants=np.zeros(count * folds, dtype=np.intp),
        )


class Workbench:
    """Tensors of one training run and the terms of its objective.

    Parameters
    ----------
    problem : NeuralProblem
    columns : (q,) array of int
        Columns that may be used.
    sets : Sets
    """

    def __init__(self, problem: NeuralProblem, columns: IntArray, sets: Sets) -> None:
        self.problem, self.columns, self.sets = problem, columns, sets
        self.uses_graph = bool((sets.manifold > 0.0).any())
        rows = problem.graph_rows if self.uses_graph else np.arange(problem.n_labeled)
        self.device = device_for(sets.masks.size * FIRST * rows.size)
        kinds = [problem.kinds[j] for j in columns]
        self.levels = column_levels(problem.table[:, columns], kinds)
        table = problem.table[np.ix_(rows, columns)]
        self.inputs = ColumnInputs.read(table, kinds, self.levels, self.device)
        self.masks = self.tensor(sets.masks)
        self.train, self.held = self.tensor(sets.train), self.tensor(sets.held)
        self.sparsity = self.tensor(sets.sparsity)
        self.manifold = self.tensor(sets.manifold)
        torch = require_torch()
        kind = torch.int64 if problem.n_classes > 2 else torch.float32
        self.y = torch.as_tensor(problem.scaled_target, device=self.device).to(kind)
        self.laplacian: Laplacian | None = None

    def tensor(self, array: AnyArray) -> Any:
        """Numbers on the device."""
        torch = require_torch()
        return torch.as_tensor(array, dtype=torch.float32, device=self.device)

    def draw(self) -> Any:
        """Untrained networks."""
        return draw_nets(self.problem, self.columns, self.sets.variants, self.device)

    def rebuild_graph(self, mask: FloatArray) -> None:
        """The graph of the rows under a mask (p,)."""
        if self.uses_graph:
            self.laplacian = self.problem.laplacian(mask)

    def losses(self, decision: Any, weights: Any) -> Any:
        """(g,) losses of decisions (g, k, l) of the labelled rows."""
        functional = require_torch().nn.functional
        if not self.problem.n_classes:
            each = (decision[:, 0] - self.y) ** 2
        elif self.problem.n_classes == 2:
            each = functional.softplus((1.0 - 2.0 * self.y) * decision[:, 0])
        else:
            target = self.y.expand(decision.shape[0], -1).unsqueeze(1)
            each = -functional.log_softmax(decision, dim=1).gather(1, target)[:, 0]
        return (weights * each).sum(dim=1)

    def objective(self, nets: Any, masks: Any) -> Any:
        """Sum over the sets of loss, group penalty and roughness on the graph."""
        parts, _ = contributions(nets, self.inputs)
        decision = (masks[:, :, None, None] * parts).sum(dim=1) + nets["intercept"]
        total = self.losses(decision[..., : self.problem.n_labeled], self.train)
        norms = (nets["out"].square().sum(dim=(2, 3)) + _TINY).sqrt()
        total = total + self.sparsity * norms.sum(dim=1)
        if self.laplacian is not None:
            total = total + self.manifold * self.roughness(decision)
        return total.sum()

    def roughness(self, decision: Any) -> Any:
        """(g,) values of f'Lf / m^2 of decisions (g, k, m).

        The graph may be dense, sparse or factored, so the product with it is made in numpy; the
        gradient of f'Lf is 2 L f, which the returned tensor has.
        """
        assert self.laplacian is not None
        shape = decision.shape
        flat = decision.detach().reshape(-1, shape[2]).T.cpu().numpy().astype(np.float64)
        product = self.tensor(self.laplacian.apply(flat).T).reshape(shape)
        twice = 2.0 * (decision * product) - decision.detach() * product
        return twice.sum(dim=(1, 2)) / shape[2] ** 2

    def held_out(self, nets: Any) -> FloatArray:
        """(g,) losses on the labels that were held out."""
        with require_torch().no_grad():
            parts, _ = contributions(nets, self.inputs)
            parts = parts[..., : self.problem.n_labeled]
            decision = (self.masks[:, :, None, None] * parts).sum(dim=1) + nets["intercept"]
            values: FloatArray = self.losses(decision, self.held).cpu().numpy().astype(np.float64)
        return values


@dataclass
class Trained:
    """Trained sets.

    Attributes
    ----------
    bench : Workbench
    nets : torch.nn.ParameterDict
    looks : list of int
        Steps after which the held-out losses were computed.
    held_out : list of (g,) arrays
    """

    bench: Workbench
    nets: Any
    looks: list[int] = field(default_factory=list)
    held_out: list[FloatArray] = field(default_factory=list)


def fit_sets(
    problem: NeuralProblem,
    columns: IntArray,
    sets: Sets,
    *,
    steps: int,
    look_every: int | None = None,
    graph_mask: FloatArray | None = None,
    on_look: Callable[[int], None] | None = None,
) -> Trained:
    """Train sets of networks from their start.

    Parameters
    ----------
    problem : NeuralProblem
    columns : (q,) array of int
    sets : Sets
    steps : int
    look_every : int, optional
        Steps between two looks at the held-out labels; never by default.
    graph_mask : (p,) array, optional
        Mask of the graph, where one is used.
    on_look : callable, optional
        Called with the step at every look.

    Returns
    -------
    Trained
    """
    bench = Workbench(problem, columns, sets)
    if graph_mask is not None:
        bench.rebuild_graph(graph_mask)
    plan = TrainingPlan(steps=steps, learning_rate=RATE, weight_decay=DECAY, average=None)
    with torch_session(problem.seed, bench.device):
        result = Trained(bench, bench.draw())

        def look(step: int) -> None:
            if look_every is not None and step % look_every == 0:
                result.looks.append(step)
                result.held_out.append(bench.held_out(result.nets))
                if on_look is not None:
                    on_look(step)

        train(
            result.nets,
            lambda _: bench.objective(result.nets, bench.masks),
            plan,
            draw=lambda step: step,
            after_step=look,
        )
    return result
