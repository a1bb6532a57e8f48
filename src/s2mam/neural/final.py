"""The model on the columns of a mask: penalties by held-out labels, then frozen networks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.neural import NeuralColumns
from s2mam.neural.backend import require_torch
from s2mam.neural.lower import Sets, Trained, fit_sets
from s2mam.neural.nets import contributions
from s2mam.neural.problem import NeuralProblem

__all__ = ["FrozenFit", "Penalties", "choose_penalties", "fit_final"]

# Networks of a column that are averaged in the end.
_AVERAGED = 4
_STEPS, _LOOK_EVERY = 240, 20
# Relative to the loss of the best constant, and to the number of rows.
_SPARSITIES = (1e-3, 1e-2, 5e-2)
_MANIFOLDS = (0.0, 1e-3, 1e-2, 1e-1)
# A contribution this small beside the decision is what is left of a silenced column.
_SILENT = 0.02


@dataclass(frozen=True)
class Penalties:
    """What held-out labels chose.

    Attributes
    ----------
    sparsity, manifold : float
    steps : int
        Steps of training, the third penalty.
    held_out : float
        Loss with them on labels that were held out.
    """

    sparsity: float
    manifold: float
    steps: int
    held_out: float


@dataclass(frozen=True)
class FrozenFit:
    """The fitted functions.

    Attributes
    ----------
    nets : NeuralColumns
        In the units of the target; silenced columns are left out.
    intercept : (k,) array
        Mean decision over the training rows.
    """

    nets: NeuralColumns
    intercept: FloatArray


def choose_penalties(
    problem: NeuralProblem, columns: IntArray, sparsity: float | None, manifold: float | None
) -> Penalties:
    """Choose what is None, and the number of steps, by held-out labels.

    Parameters
    ----------
    problem : NeuralProblem
    columns : (q,) array of int
    sparsity, manifold : float or None
    """
    known = (sparsity,) if sparsity is not None else _scaled(_SPARSITIES, problem.null_loss)
    first = 0.0 if manifold is None else manifold
    found = _best(problem, columns, [(value, first) for value in known])
    rows = problem.graph_rows.size
    if manifold is None and rows > problem.n_labeled:
        # The graph costs a pass over all rows, so its weight comes second.
        weights = _scaled(_MANIFOLDS, rows * problem.null_loss)
        found = _best(problem, columns, [(found.sparsity, value) for value in weights])
    return found


def fit_final(problem: NeuralProblem, columns: IntArray, chosen: Penalties) -> FrozenFit:
    """Fit all labels, a few times from different starts, and freeze the average.

    Parameters
    ----------
    problem : NeuralProblem
    columns : (q,) array of int
    chosen : Penalties
    """
    everything = np.tile(problem.weights, (_AVERAGED, 1))
    sets = Sets(
        masks=np.ones((_AVERAGED, columns.size)),
        train=everything,
        held=everything,
        sparsity=np.full(_AVERAGED, chosen.sparsity),
        manifold=np.full(_AVERAGED, chosen.manifold),
        variants=np.arange(_AVERAGED),
    )
    graph_mask = np.zeros(problem.table.shape[1])
    graph_mask[columns] = 1.0
    trained = fit_sets(problem, columns, sets, steps=chosen.steps, graph_mask=graph_mask)
    return _freeze(trained)


def _best(
    problem: NeuralProblem, columns: IntArray, candidates: list[tuple[float, float]]
) -> Penalties:
    graph_mask = np.zeros(problem.table.shape[1])
    graph_mask[columns] = 1.0
    sparsity, manifold = np.array(candidates).T
    masks = np.ones((len(candidates), columns.size))
    trained = fit_sets(
        problem,
        columns,
        Sets.of_folds(problem, masks, sparsity, manifold),
        steps=_STEPS,
        look_every=_LOOK_EVERY,
        graph_mask=graph_mask,
    )
    losses = np.array(trained.held_out).reshape(len(trained.looks), len(candidates), -1)
    means = losses.mean(axis=2)
    look, best = np.unravel_index(int(means.argmin()), means.shape)
    return Penalties(
        float(sparsity[best]), float(manifold[best]), trained.looks[look], float(means[look, best])
    )


def _freeze(trained: Trained) -> FrozenFit:
    """Networks as arrays, in the units of the target, centred on all training rows."""
    bench, problem = trained.bench, trained.bench.problem
    with require_torch().no_grad():
        parts, means = contributions(trained.nets, bench.inputs)
        total = parts.sum(dim=1).mean(dim=0)
        spreads = parts.mean(dim=0).square().mean(dim=(1, 2)).sqrt()
        heard = (spreads > _SILENT * total.square().mean().sqrt()).cpu().numpy()
        arrays = {
            name: value.detach().cpu().numpy().astype(np.float64)
            for name, value in trained.nets.items()
        }
        taken = means[..., 0].mean(dim=0).cpu().numpy().astype(np.float64)
    nets = NeuralColumns(
        columns=bench.columns[heard],
        first_weights=arrays["w1"][..., 0][:, heard],
        first_biases=arrays["b1"][..., 0][:, heard],
        second_weights=arrays["w2"][:, heard],
        second_biases=arrays["b2"][..., 0][:, heard],
        outputs=problem.spread * arrays["out"][:, heard],
        levels=bench.levels[heard],
        shifts=np.zeros((int(heard.sum()), problem.n_outputs)),
    )
    present = ~np.isnan(problem.table[:, nets.columns])[:, :, None]
    centers = nets.evaluate(problem.table).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    state = nets.to_state() | {"shifts": centers}
    # Training centred on the rows that it saw; what that leaves is part of the constant.
    rest = (centers - problem.spread * taken[heard]).sum(axis=0)
    intercept = arrays["intercept"][:, :, 0].mean(axis=0)
    return FrozenFit(
        NeuralColumns.from_state(state), problem.center + problem.spread * intercept + rest
    )


def _scaled(values: tuple[float, ...], unit: float) -> tuple[float, ...]:
    return tuple(value * unit for value in values)
