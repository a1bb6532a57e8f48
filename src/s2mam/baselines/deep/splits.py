"""Splits of the labelled rows for methods that choose their own penalties."""

from __future__ import annotations

from typing import Any

from s2mam.training.backend import load_torch

__all__ = ["training_weights"]

# Below this many labels every one is held out once, in folds.
_FEW = 30
_FOLDS = 5


def training_weights(n_labeled: int, n_splits: int, device: Any) -> tuple[Any, Any]:
    """Weights of the labelled rows in training and in testing, one line per split.

    Random thirds are held out; with fewer than 30 labels it is five folds instead.

    Parameters
    ----------
    n_labeled : int
    n_splits : int
    device : torch.device

    Returns
    -------
    train, test : (s, l) tensors
        Rows sum to one. There are no splits of a single label.
    """
    torch = load_torch()
    if n_labeled < _FEW:
        folds = min(_FOLDS, n_labeled) if n_labeled > 1 else 0
        fold = torch.randperm(n_labeled, device=device) % max(folds, 1)
        held = fold == torch.arange(folds, device=device)[:, None]
    else:
        ranks = torch.stack([torch.randperm(n_labeled, device=device) for _ in range(n_splits)])
        held = ranks < n_labeled // 3
    test = held.to(torch.get_default_dtype())
    train = 1.0 - test
    return train / train.sum(dim=1, keepdim=True), test / test.sum(dim=1, keepdim=True)
