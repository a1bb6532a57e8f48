"""Gaussian process with one squared-exponential kernel, on the tensors of torch.

torch is loaded when a process is made, so that the module loads where it is not installed.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

__all__ = ["KernelPosterior"]

Tensor: TypeAlias = Any

#: Added to the diagonal, in units of the variance of the signal.
_JITTER = 1e-6


class KernelPosterior:
    """A zero-mean process conditioned on noisy values at some rows; all of it has gradients.

    Parameters
    ----------
    rows : (l, d) tensor
    values : (l,) tensor
    log_length, log_signal, log_noise : scalar tensors
        Logarithms of the length of the kernel and of the standard deviations of signal and noise.

    Examples
    --------
    >>> import torch
    >>> zero = torch.tensor(0.0)
    >>> process = KernelPosterior(torch.zeros(1, 1), torch.ones(1), zero, zero, zero)
    >>> process.moments(torch.zeros(1, 1))
    (tensor([0.5000]), tensor([0.5000]))
    """

    def __init__(
        self,
        rows: Tensor,
        values: Tensor,
        log_length: Tensor,
        log_signal: Tensor,
        log_noise: Tensor,
    ) -> None:
        import torch

        self._solve = torch.linalg.solve_triangular
        self.rows = rows
        self.variance = (2.0 * log_signal).exp()
        self.precision = (-2.0 * log_length).exp()
        diagonal = (2.0 * log_noise).exp() + _JITTER * self.variance
        noisy = self.kernel(rows, rows) + diagonal * rows.new_ones(rows.shape[0]).diag()
        self._factor = torch.linalg.cholesky(noisy)
        self._whitened = self._solve(self._factor, values[:, None], upper=False)[:, 0]

    def kernel(self, rows: Tensor, others: Tensor) -> Tensor:
        """(n, m) covariances of the signal."""
        norms = (rows**2).sum(-1)[:, None] + (others**2).sum(-1)[None, :]
        # Rounding may leave a little less than zero.
        distances = (norms - 2.0 * rows @ others.T).clamp(min=0.0)
        return self.variance * (-0.5 * self.precision * distances).exp()

    def log_likelihood(self) -> Tensor:
        """Logarithm of the density of the values."""
        constant = 0.5 * self._whitened.shape[0] * math.log(2.0 * math.pi)
        return -0.5 * (self._whitened**2).sum() - self._factor.diagonal().log().sum() - constant

    def moments(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """(m,) means and (m,) variances of the signal, without noise, at other rows."""
        cross = self._solve(self._factor, self.kernel(self.rows, rows), upper=False)
        return cross.T @ self._whitened, self.variance - (cross**2).sum(0)
