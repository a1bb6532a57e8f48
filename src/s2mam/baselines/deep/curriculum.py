"""Thresholds of confidence per class that rise as the class is learned (FlexMatch)."""

from __future__ import annotations

from typing import Any

from s2mam.training.backend import load_torch

__all__ = ["Curriculum", "flexible_thresholds"]


def flexible_thresholds(counts: Any, waiting: Any, top: float, warm_up: bool = True) -> Any:
    """Threshold of each class.

    Parameters
    ----------
    counts : (K,) tensor
        Rows last assigned to each class with confidence.
    waiting : scalar tensor
        Rows never assigned with confidence.
    top : float
        Threshold of a class that is learned as well as any.
    warm_up : bool
        Whether rows that wait hold the thresholds down.

    Returns
    -------
    (K,) tensor

    Examples
    --------
    >>> import torch
    >>> flexible_thresholds(torch.tensor([40.0, 10.0]), torch.tensor(50.0), 0.95)
    tensor([0.6333, 0.1056])
    """
    most = counts.max()
    if warm_up:
        most = load_torch().maximum(most, waiting)
    share = counts / most.clamp_min(1.0)
    return top * share / (2.0 - share)


class Curriculum:
    """Remembers, for every row of the unlabelled stream, its last confident class.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    pool_size : int
        How many of them are in the stream.
    n_classes : int
    top : float
        The fixed threshold that makes an assignment confident.
    warm_up : bool
    like : tensor
        Gives device and precision.
    """

    def __init__(
        self, n_rows: int, pool_size: int, n_classes: int, top: float, warm_up: bool, like: Any
    ) -> None:
        torch = load_torch()
        self.top, self.warm_up = top, warm_up
        self.last = torch.full((n_rows,), n_classes, device=like.device)
        # One more class for rows that wait.
        self.counts = like.new_zeros(n_classes + 1)
        self.counts[-1] = pool_size
        self.thresholds = like.new_zeros(n_classes)

    def passes(self, confidence: Any, labels: Any) -> Any:
        """(m,) whether rows of these labels are confident enough to be learned from."""
        return confidence >= self.thresholds[labels]

    def update(self, rows: Any, labels: Any, confident: Any) -> None:
        """Take in the labels of a batch.

        Parameters
        ----------
        rows : (m,) tensor of int64
            Positions in the table, each once.
        labels : (m,) tensor of int64
        confident : (m,) tensor of bool
            Rows that are not keep their last class.
        """
        torch = load_torch()
        old = self.last[rows]
        new = torch.where(confident, labels, old)
        self.last[rows] = new
        size = self.counts.numel()
        one_hot = torch.nn.functional.one_hot
        change = one_hot(new, size).sum(dim=0) - one_hot(old, size).sum(dim=0)
        self.counts += change
        self.thresholds = flexible_thresholds(
            self.counts[:-1], self.counts[-1], self.top, self.warm_up
        )
