"""Terms of variational bounds with diagonal Gaussians, on the tensors of torch.

Only methods of the tensors are used, so that the module loads where torch is not installed.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

__all__ = ["drawn", "entropy", "kl_to_standard", "log_density", "self_consistency"]

Tensor: TypeAlias = Any

_LOG_TWO_PI = math.log(2.0 * math.pi)


def drawn(mean: Tensor, log_variance: Tensor, noise: Tensor) -> Tensor:
    """Draws of N(mean, variance) as a smooth function of both, from standard normal noise."""
    return mean + (0.5 * log_variance).exp() * noise


def kl_to_standard(mean: Tensor, log_variance: Tensor) -> Tensor:
    """(n,) divergences of N(mean, variance) from N(0, I).

    Examples
    --------
    >>> import torch
    >>> kl_to_standard(torch.tensor([[0.0, 0.0], [1.0, 0.0]]), torch.zeros(2, 2))
    tensor([0.0000, 0.5000])
    """
    return 0.5 * (mean**2 + log_variance.exp() - 1.0 - log_variance).sum(-1)


def log_density(values: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    """(n,) logarithms of the density of N(mean, variance)."""
    squares = (values - mean) ** 2 * (-log_variance).exp()
    return -0.5 * (squares + log_variance + _LOG_TWO_PI).sum(-1)


def entropy(log_variance: Tensor) -> Tensor:
    """(n,) entropies of Gaussians."""
    return 0.5 * (log_variance + _LOG_TWO_PI + 1.0).sum(-1)


def self_consistency(
    first: tuple[Tensor, Tensor], again: tuple[Tensor, Tensor], rho: float
) -> Tensor:
    """(n,) terms of the autoencoding VAE: codes of the own output should be those of the input.

    The expectation of ln N(again; rho first, (1 - rho²) I) over both codes, plus the entropy of the
    second one. It is at most zero plus a constant of rho, and without dependence on the first
    code for rho = 0.

    Parameters
    ----------
    first : pair of (n, d) tensors
        Mean and logarithmic variance of the code of the input.
    again : pair of (n, d) tensors
        The same of the code of the decoded draw.
    rho : float
        Correlation of the two codes under the prior, from 0 to below 1.
    """
    (mean, log_variance), (mean_again, log_variance_again) = first, again
    spare = 1.0 - rho**2
    spread = log_variance_again.exp() + rho**2 * log_variance.exp()
    squares = spread + (mean_again - rho * mean) ** 2
    fit = -0.5 * (squares / spare + math.log(spare) + _LOG_TWO_PI).sum(-1)
    return fit + entropy(log_variance_again)
