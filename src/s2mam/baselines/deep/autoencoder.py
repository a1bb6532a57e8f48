"""Parts of autoencoders for tables: Gaussian codes, decoders, and a regressor on codes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from s2mam.baselines.deep.trunk import build_mlp
from s2mam.baselines.shared.gaussian_bounds import log_density
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan, train

__all__ = [
    "AVERAGE",
    "build_coder",
    "build_decoder",
    "coded",
    "fit_head",
    "held_out",
    "reconstruction",
    "train_on_rows",
]

#: Decay of the average of weights. A longer memory holds on to the directions of the random start
#: in runs of some hundred steps.
AVERAGE = 0.99
# Codes as narrow or wide as this are never wanted, and one far row could bring them about.
_LOG_VARIANCE = 8.0
# With less than this a tenth is too small to choose by.
_LEAST_ROWS = 100
_LEAST_LABELS = 20


def build_coder(n_inputs: int, hidden: Sequence[int], size: int) -> Any:
    """Network from rows to means and logarithmic variances of `size` numbers each."""
    return build_mlp((n_inputs, *hidden, 2 * size))


def build_decoder(size: int, hidden: Sequence[int], n_outputs: int) -> Any:
    """Network from codes to rows; linear without hidden layers."""
    return build_mlp((size, *hidden, n_outputs))


def coded(coder: Any, x: Any) -> tuple[Any, Any]:
    """(m, d) means and (m, d) logarithmic variances of rows x."""
    mean, log_variance = coder(x).chunk(2, dim=-1)
    return mean, log_variance.clamp(-_LOG_VARIANCE, _LOG_VARIANCE)


def reconstruction(x: Any, decoded: Any, variance: float) -> Any:
    """(m,) logarithms of the density of rows around their decoded forms."""
    return log_density(x, decoded, load_torch().full_like(x, math.log(variance)))


def held_out(n: int, least: int, device: Any) -> tuple[Any, Any]:
    """Positions to train on and a tenth to choose by, at random; none below `least` rows."""
    order = load_torch().randperm(n, device=device)
    size = n // 10 if n >= least else 0
    return order[size:], order[:size]


def train_on_rows(
    net: Any, loss: Callable[[Any], Any], plan: TrainingPlan, x: Any, batch_size: int
) -> TrainingLog:
    """Train without labels on rows x; a tenth of them chooses the weights.

    Parameters
    ----------
    net : torch.nn.Module
    loss : callable
        Loss of a (m, q) batch of rows.
    plan : TrainingPlan
    x : (n, q) tensor
    batch_size : int
    """
    torch = load_torch()
    seen, kept = held_out(x.shape[0], _LEAST_ROWS, x.device)
    shape = (min(batch_size, seen.numel()),)

    def draw(step: int) -> Any:
        return x[seen[torch.randint(seen.numel(), shape, device=x.device)]]

    validate = (lambda: float(loss(x[kept]))) if kept.numel() else None
    return train(net, loss, plan, draw=draw, validate=validate)


def fit_head(head: Any, codes: Any, y: Any, steps: int) -> TrainingLog:
    """Train a network from codes to the target; a tenth of the labels says when to stop.

    Parameters
    ----------
    head : torch.nn.Module
    codes : (l, d) tensor
    y : (l,) tensor
    steps : int
    """
    seen, kept = held_out(y.numel(), _LEAST_LABELS, y.device)
    validate = None
    if kept.numel():

        def validate() -> float:
            return float(_squared_error(head, codes[kept], y[kept]))

    plan = TrainingPlan(steps=steps, learning_rate=1e-2, average=None, check_every=10, patience=20)
    return train(
        head,
        lambda rows: _squared_error(head, codes[rows], y[rows]),
        plan,
        draw=lambda step: seen,
        validate=validate,
    )


def _squared_error(head: Any, codes: Any, y: Any) -> Any:
    return ((head(codes)[:, 0] - y) ** 2).mean()
