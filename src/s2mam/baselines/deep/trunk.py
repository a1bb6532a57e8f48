"""The one stack of layers that all networks for tables are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from s2mam.exceptions import InvalidInputError
from s2mam.training.backend import load_torch
from s2mam.training.parameters import whole

__all__ = ["build_mlp", "build_net", "build_trunk", "read_hidden"]


def build_mlp(
    sizes: Sequence[int],
    *,
    activation: str | Callable[[], Any] = "ReLU",
    dropout: float = 0.0,
    activate_last: bool = False,
    xavier: bool = False,
) -> Any:
    """Linear layers with activations between them.

    No batch normalisation: with a handful of labels its statistics are noise.

    Parameters
    ----------
    sizes : sequence of int
        Widths, input first.
    activation : str or callable
        Name of a class in ``torch.nn``, or what makes a layer.
    dropout : float
        Share of entries dropped after each activation.
    activate_last : bool
        Whether an activation (and dropout) follows the last layer too.
    xavier : bool
        Glorot's uniform weights and zero biases instead of torch's default.

    Returns
    -------
    torch.nn.Sequential

    Examples
    --------
    >>> import torch
    >>> [tuple(w.shape) for w in build_mlp([3, 5, 2]).parameters()]
    [(5, 3), (5,), (2, 5), (2,)]
    """
    nn = load_torch().nn
    activate = getattr(nn, activation) if isinstance(activation, str) else activation
    layers: list[Any] = []
    for k, (inner, outer) in enumerate(pairwise(sizes)):
        layers.append(nn.Linear(inner, outer))
        if xavier:
            nn.init.xavier_uniform_(layers[-1].weight)
            nn.init.zeros_(layers[-1].bias)
        if activate_last or k < len(sizes) - 2:
            layers.append(activate())
            if dropout > 0:
                layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers)


def build_trunk(n_inputs: int, hidden: Any = (100, 50, 50), **options: Any) -> Any:
    """Layers from the columns to the features that a head reads: `hidden[-1]` of them.

    Parameters
    ----------
    n_inputs : int
    hidden : sequence of int
        Widths, checked as the parameter ``hidden``.
    **options
        Of `build_mlp`.

    Returns
    -------
    torch.nn.Sequential
    """
    return build_mlp((n_inputs, *read_hidden(hidden)), activate_last=True, **options)


def build_net(n_inputs: int, n_outputs: int, hidden: Any = (100, 50, 50), **options: Any) -> Any:
    """The trunk, ``net[0]``, and a linear head on its features, ``net[1]``.

    Parameters
    ----------
    n_inputs, n_outputs : int
    hidden : sequence of int
    **options
        Of `build_mlp`.

    Returns
    -------
    torch.nn.Sequential
    """
    trunk = build_trunk(n_inputs, hidden, **options)
    nn = load_torch().nn
    return nn.Sequential(trunk, nn.Linear(read_hidden(hidden)[-1], n_outputs))


def read_hidden(hidden: Any) -> tuple[int, ...]:
    """Widths of hidden layers, checked.

    Examples
    --------
    >>> read_hidden([20, 10])
    (20, 10)
    """
    if not isinstance(hidden, Sequence) or isinstance(hidden, str) or not hidden:
        raise InvalidInputError(f"hidden={hidden!r} must be a sequence of whole numbers.")
    return tuple(whole("hidden", width) for width in hidden)
