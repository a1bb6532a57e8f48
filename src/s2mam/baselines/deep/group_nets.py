"""Many small tanh networks trained side by side, with a group penalty on their input columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan, train

__all__ = [
    "build_nets",
    "column_norms",
    "evaluate_nets",
    "fit_nets",
    "mean_errors",
    "mean_losses",
    "shrink_groups",
]


def build_nets(count: int, sizes: Sequence[int], *, scaled: bool = True) -> Any:
    """Weights of networks with the same layers.

    Parameters
    ----------
    count : int
        Number of networks, G.
    sizes : sequence of int
        Widths of the layers, columns first.
    scaled : bool
        Divide the normal draws of a layer by the square root of its number of inputs.

    Returns
    -------
    torch.nn.ParameterDict
        "weight<k>" (G, out, in) and "bias<k>" (G, out, 1).
    """
    torch = load_torch()
    nets = torch.nn.ParameterDict()
    for k in range(len(sizes) - 1):
        spread = 1.0 / math.sqrt(sizes[k]) if scaled else 1.0
        shape = (count, sizes[k + 1], sizes[k])
        nets[f"weight{k}"] = torch.nn.Parameter(spread * torch.randn(shape))
        nets[f"bias{k}"] = torch.nn.Parameter(spread * torch.randn(count, sizes[k + 1], 1))
    return nets


def evaluate_nets(nets: Any, x: Any) -> Any:
    """Outputs of all networks.

    Parameters
    ----------
    nets : torch.nn.ParameterDict
    x : (m, p) or (G, m, p) tensor
        Rows, the same for all networks or for each its own.

    Returns
    -------
    (G, out, m) tensor
        Rows come last: products of many thin matrices are several times faster that way.
    """
    torch, depth = load_torch(), len(nets) // 2
    values = x.transpose(-1, -2)
    for k in range(depth):
        values = torch.matmul(nets[f"weight{k}"], values) + nets[f"bias{k}"]
        if k < depth - 1:
            values = torch.tanh(values)
    return values


def column_norms(nets: Any) -> Any:
    """(G, p) norms of the weights that leave each column."""
    return _norms(nets["weight0"].detach())


def _norms(groups: Any) -> Any:
    """(G, p) norms of the columns of (G, h, p) matrices."""
    # Four times faster than torch's own norm, which walks such a tensor against its layout.
    return groups.square().sum(dim=1).sqrt()


def shrink_groups(groups: Any, thresholds: Any) -> Any:
    """Shorten the columns of matrices, to exact zeros where they are short.

    Parameters
    ----------
    groups : (G, h, p) tensor
    thresholds : (G, p) tensor
        How much shorter; may be infinite.

    Examples
    --------
    >>> import torch
    >>> shrink_groups(torch.tensor([[[3.0], [4.0]]]), torch.tensor([[2.5]])).flatten()
    tensor([1.5000, 2.0000])
    """
    norms = _norms(groups).clamp_min(1e-30)
    return groups * (1.0 - thresholds / norms).clamp_min(0.0).unsqueeze(1)


def mean_losses(outputs: Any, y: Any, weights: Any) -> Any:
    """(G,) weighted losses: squared for numbers, cross entropy for class codes.

    Parameters
    ----------
    outputs : (G, out, l) tensor
    y : (l,) or (G, l) tensor
    weights : (G, l) tensor
        Rows sum to one; zero leaves a row out.
    """
    torch = load_torch()
    y = y.expand(outputs.shape[0], -1)
    if y.is_floating_point():
        each = (outputs[:, 0] - y) ** 2
    else:
        each = -torch.log_softmax(outputs, dim=1).gather(1, y.unsqueeze(1))[:, 0]
    return (weights * each).sum(dim=1)


def mean_errors(outputs: Any, y: Any, weights: Any) -> Any:
    """(G,) weighted errors: squared for numbers, the share of wrong classes for class codes.

    Parameters
    ----------
    outputs, y, weights
        As in `mean_losses`.
    """
    if y.is_floating_point():
        return mean_losses(outputs, y, weights)
    wrong = outputs.argmax(dim=1) != y.expand(outputs.shape[0], -1)
    return (weights * wrong).sum(dim=1)


def fit_nets(
    nets: Any, x: Any, y: Any, weights: Any, penalties: Any, plan: TrainingPlan
) -> TrainingLog:
    """Minimise each network's loss plus the penalised norms of its columns, in place.

    Full-batch gradient steps, each followed by the proximal map of the penalty, so that columns
    leave with weights that are exactly zero.

    Parameters
    ----------
    nets : torch.nn.ParameterDict
    x, y, weights
        As in `evaluate_nets` and `mean_losses`.
    penalties : (G, p) tensor
        Infinite for a column that may not be used.
    plan : TrainingPlan
        Without averaging, which would undo the zeros.

    Returns
    -------
    TrainingLog
        Its history is the objective, summed over the networks.
    """
    torch = load_torch()
    optimizer = torch.optim.SGD(nets.parameters(), lr=plan.learning_rate, foreach=True)
    first = nets["weight0"]

    def shrink(_: int) -> None:
        with torch.no_grad():
            first.copy_(shrink_groups(first, plan.learning_rate * penalties))

    # A barred column has norm zero: what it would add is nothing, not zero times infinity.
    finite = penalties.masked_fill(penalties.isinf(), 0.0)

    def objective(_: int) -> Any:
        smooth = mean_losses(evaluate_nets(nets, x), y, weights).sum()
        return smooth + (finite * column_norms(nets)).sum()

    shrink(0)  # a column that is barred must not be seen by the first gradient either
    return train(
        nets,
        objective,
        plan,
        draw=lambda step: step,
        optimizer=optimizer,
        after_step=shrink,
    )
