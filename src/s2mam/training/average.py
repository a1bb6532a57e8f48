"""A running average of weights, which predicts better than the last step's weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from s2mam.training.backend import load_torch

__all__ = ["WeightAverage"]


class WeightAverage:
    """Exponential moving average of a network's parameters.

    After step t the average keeps the share min(decay, 1 - 1 / (t + 1)) of itself, so that short
    runs are not held back at their random start.

    Parameters
    ----------
    net : torch.nn.Module
    decay : float in [0, 1)
    """

    def __init__(self, net: Any, decay: float) -> None:
        self.decay = decay
        self.live = list(net.parameters())
        self.mean = [weight.detach().clone() for weight in self.live]

    def update(self, step: int) -> None:
        """Take the weights of a step in.

        Parameters
        ----------
        step : int
            From 1 on.
        """
        share = 1.0 - min(self.decay, 1.0 - 1.0 / (step + 1))
        torch = load_torch()
        with torch.no_grad():
            torch._foreach_lerp_(self.mean, self.live, share)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """The network holds the average while inside."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    def settle(self) -> None:
        """Leave the average in the network for good."""
        self._exchange()

    def _exchange(self) -> None:
        with load_torch().no_grad():
            for k, weight in enumerate(self.live):
                weight.data, self.mean[k] = self.mean[k], weight.data
