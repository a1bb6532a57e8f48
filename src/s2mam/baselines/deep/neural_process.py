"""The neural process of NP-Match: class scores given a set of labelled rows."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from s2mam.baselines.deep.trunk import build_mlp, build_trunk, read_hidden
from s2mam.training.backend import load_torch

__all__ = [
    "Latent",
    "RowMemory",
    "build_process",
    "decode",
    "latent_of",
    "predictive",
    "represent",
    "skew_divergence",
]


class Latent(NamedTuple):
    """A normal distribution with independent entries; both are (r,) tensors."""

    mean: Any
    spread: Any


def build_process(n_inputs: int, n_classes: int, hidden: Any, width: int) -> Any:
    """The networks of a neural process on the features of a trunk.

    Parameters
    ----------
    n_inputs, n_classes : int
    hidden : sequence of int
        Widths of the trunk; the last is the number of features, d.
    width : int
        Size r of representations and of the latent vector.

    Returns
    -------
    torch.nn.ModuleDict
    """
    nn = load_torch().nn
    d = read_hidden(hidden)[-1]
    leaky = partial(nn.LeakyReLU, 0.1)
    make = partial(build_mlp, activation=leaky, xavier=True)
    parts = {
        "trunk": build_trunk(n_inputs, hidden, xavier=True),
        "latent": make((d + n_classes, width, width), activate_last=True),
        "deterministic": make((d + n_classes, width, width), activate_last=True),
        "mean": make((width, width, width)),
        "spread": make((width, width, width)),
        "decoder": make((2 * width + d, d, d), activate_last=True),
        "head": make((d, n_classes)),
    }
    return nn.ModuleDict(parts)


def represent(net: Any, path: str, features: Any, one_hot: Any) -> Any:
    """(m, r) representations of rows with their classes, by the path of a name."""
    return net[path](load_torch().cat([features, one_hot], dim=1))


def latent_of(net: Any, representations: Any) -> Latent:
    """Distribution of the latent vector given the representations (m, r) of a set."""
    pooled = representations.mean(dim=0)
    softplus = load_torch().nn.functional.softplus
    return Latent(net["mean"](pooled), 0.1 + 0.9 * softplus(net["spread"](pooled)))


def decode(net: Any, latent: Latent, noise: Any, features: Any, summary: Any) -> Any:
    """Scores of rows for each draw of the latent vector.

    Parameters
    ----------
    net : torch.nn.ModuleDict
    latent : Latent
    noise : (T, r) tensor
        Standard normal draws.
    features : (m, d) tensor
    summary : (r,) tensor
        Mean of the deterministic representations of the labelled rows.

    Returns
    -------
    (T, m, K) tensor
    """
    draws = latent.mean + latent.spread * noise
    first = net["decoder"][0]
    r, d = summary.numel(), features.shape[1]
    of_draw, of_row, of_set = first.weight.split([r, d, r], dim=1)
    # The first layer is linear in its three inputs: each is sent through it once, not T * m times.
    entered = (draws @ of_draw.T)[:, None] + (features @ of_row.T)[None]
    values = entered + (of_set @ summary + first.bias)
    for layer in net["decoder"][1:]:
        values = layer(values)
    return net["head"](values)


def predictive(scores: Any) -> tuple[Any, Any]:
    """(m, K) probabilities averaged over the draws, and the (m,) entropies of these."""
    probabilities = scores.softmax(dim=2).mean(dim=0)
    return probabilities, load_torch().special.entr(probabilities).sum(dim=1)


def skew_divergence(context: Latent, target: Latent, skew: Any) -> Any:
    """Divergence of two normal distributions from their weighted geometric mean.

    With G proportional to context^(1 - skew) * target^skew it is
    (1 - skew) KL(context, G) + skew KL(target, G).

    Parameters
    ----------
    context, target : Latent
    skew : scalar tensor or float in [0, 1]

    Examples
    --------
    >>> import torch
    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> skew_divergence(Latent(zero, one), Latent(2 * one, one), 0.5)
    tensor(0.5000)
    """
    near, far = context.spread**2, target.spread**2
    middle = 1.0 / ((1.0 - skew) / near + skew / far)
    center = middle * ((1.0 - skew) * context.mean / near + skew * target.mean / far)
    widths = ((1.0 - skew) * near + skew * far) / middle
    logs = middle.log() - (1.0 - skew) * near.log() - skew * far.log()
    gaps = (1.0 - skew) * (center - context.mean) ** 2 + skew * (center - target.mean) ** 2
    return 0.5 * (widths + logs + gaps / middle - 1.0).sum()


class RowMemory:
    """The latest representations; it starts with one random row.

    Parameters
    ----------
    size : int
        Rows kept at most.
    width : int
    like : tensor
        Gives device and precision.
    """

    def __init__(self, size: int, width: int, like: Any) -> None:
        self.size = size
        self.rows = load_torch().randn(1, width, device=like.device, dtype=like.dtype)

    def append(self, rows: Any) -> None:
        """Add rows, (m, r), and forget the oldest beyond the size."""
        self.rows = load_torch().cat([self.rows, rows.detach()])[-self.size :]

    @property
    def mean(self) -> Any:
        """(r,) mean of the rows."""
        return self.rows.mean(dim=0)
