"""One small network per column, many sets of them side by side, as batched tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.bases.neural import LINE_REACH
from s2mam.neural.backend import require_torch
from s2mam.neural.problem import NeuralProblem

__all__ = [
    "FIRST",
    "LAST",
    "ColumnInputs",
    "column_levels",
    "contributions",
    "draw_nets",
    "draw_start",
]

#: Widths: of the first hidden layer, and of the values that the output layer reads.
FIRST, LAST = 16, 16
# Slopes and places of the first layer's steps, for columns of about unit spread.
_SLOPE, _REACH = 1.5, 2.0


@dataclass(frozen=True)
class ColumnInputs:
    """Values of some columns on some rows, as tensors.

    Attributes
    ----------
    x : (q, 1, m) tensor
        Zero where missing.
    present : (q, 1, m) tensor
        One where there is a value.
    count : (q, 1, 1) tensor
        Number of values.
    category : (q, 1, 1) tensor of bool
    one_hot : (q, LAST, m) tensor
        Zero for numeric columns.
    """

    x: Any
    present: Any
    count: Any
    category: Any
    one_hot: Any

    @classmethod
    def read(
        cls, table: FloatArray, kinds: Sequence[str], levels: FloatArray, device: Any
    ) -> ColumnInputs:
        """Put columns on a device.

        Parameters
        ----------
        table : (m, q) array
        kinds : sequence of q str
        levels : (q, LAST) array
            From `column_levels`.
        device : torch.device
        """
        torch = require_torch()
        present = ~np.isnan(table.T)[:, None]
        values = np.where(present, table.T[:, None], 0.0)
        category = np.array([kind == "categorical" for kind in kinds])[:, None, None]
        one_hot = (values == levels[:, :, None]) & category & present

        def tensor(array: AnyArray, kind: Any = torch.float32) -> Any:
            return torch.as_tensor(array, dtype=kind, device=device)

        return cls(
            x=tensor(np.where(category, 0.0, values)),
            present=tensor(present),
            count=tensor(np.maximum(present.sum(axis=2, keepdims=True), 1)),
            category=tensor(category, torch.bool),
            one_hot=tensor(one_hot),
        )


def column_levels(table: FloatArray, kinds: Sequence[str]) -> FloatArray:
    """(q, LAST) codes of the most frequent levels of categorical columns, NaN elsewhere.

    Examples
    --------
    >>> column_levels(np.array([[2.0], [0.0], [2.0]]), ["categorical"])[0, :3]
    array([ 2.,  0., nan])
    """
    levels = np.full((table.shape[1], LAST), np.nan)
    for j, kind in enumerate(kinds):
        if kind == "categorical":
            codes, counts = np.unique(table[~np.isnan(table[:, j]), j], return_counts=True)
            common = codes[np.argsort(-counts, kind="stable")][:LAST]
            levels[j, : common.size] = common
    return levels


def draw_nets(problem: NeuralProblem, columns: IntArray, variants: IntArray, device: Any) -> Any:
    """Untrained networks; outputs start at zero, so that the model starts as a constant.

    Parameters
    ----------
    problem : NeuralProblem
    columns : (q,) array of int
        A column's network starts the same whatever the other columns are.
    variants : (g,) array of int
        Sets of the same number start alike.
    device : torch.device

    Returns
    -------
    torch.nn.ParameterDict
        "w1", "b1" (g, q, FIRST, 1), "w2" (g, q, LAST - 1, FIRST), "b2" (g, q, LAST - 1, 1), "out"
        (g, q, k, LAST), "intercept" (g, k, 1).
    """
    torch = require_torch()
    drawn = [draw_start(problem, columns, variant) for variant in range(int(variants.max()) + 1)]
    arrays = {name: np.stack([drawn[v][name] for v in variants]) for name in drawn[0]}
    shape = (len(variants), columns.size, problem.n_outputs, LAST)
    arrays["out"] = np.zeros(shape)
    arrays["intercept"] = np.tile(problem.start[:, None], (len(variants), 1, 1))
    nets = torch.nn.ParameterDict()
    for name, array in arrays.items():
        nets[name] = torch.nn.Parameter(
            torch.as_tensor(array, dtype=torch.float32, device=device).contiguous()
        )
    return nets


def draw_start(problem: NeuralProblem, columns: IntArray, variant: int) -> dict[str, FloatArray]:
    """The two hidden layers of one set of untrained networks.

    Parameters
    ----------
    problem : NeuralProblem
    columns : (q,) array of int
    variant : int

    Returns
    -------
    dict of arrays
        "w1", "b1", "w2" and "b2" as in `draw_nets`, without the axis of the sets.
    """
    rng = np.random.default_rng([problem.seed, variant])
    p = problem.table.shape[1]
    slopes = rng.normal(0.0, _SLOPE, (p, FIRST, 1))
    places = rng.uniform(-_REACH, _REACH, (p, FIRST, 1))
    second = rng.normal(0.0, 1.0 / np.sqrt(FIRST), (p, LAST - 1, FIRST))
    biases = rng.normal(0.0, 0.3, (p, LAST - 1, 1))
    drawn = {"w1": slopes, "b1": -slopes * places, "w2": second, "b2": biases}
    return {name: array[columns] for name, array in drawn.items()}


def contributions(nets: Any, inputs: ColumnInputs) -> tuple[Any, Any]:
    """Centred contributions of all columns in all sets.

    Parameters
    ----------
    nets : torch.nn.ParameterDict
    inputs : ColumnInputs

    Returns
    -------
    values : (g, q, k, m) tensor
        Zero where a value is missing.
    means : (g, q, k, 1) tensor
        What was taken off.
    """
    torch = require_torch()
    first = torch.tanh(nets["w1"] * inputs.x + nets["b1"])
    second = torch.tanh(torch.matmul(nets["w2"], first) + nets["b2"])
    line = LINE_REACH * torch.tanh(inputs.x / LINE_REACH)
    hidden = torch.cat([line.expand(second.shape[0], -1, -1, -1), second], dim=2)
    if bool(inputs.category.any()):
        hidden = torch.where(inputs.category, inputs.one_hot, hidden)
    raw = torch.matmul(nets["out"], hidden)
    means = (raw * inputs.present).sum(dim=3, keepdim=True) / inputs.count
    return (raw - means) * inputs.present, means
