"""The rewarder of SemiReward, which judges labels of rows, and the generator that tries it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from s2mam.baselines.deep.trunk import build_mlp
from s2mam.training.backend import load_torch

__all__ = ["Judging", "build_judges", "fake_labels", "judge_losses", "rewards", "similarity"]


def build_judges(n_features: int, n_outputs: int, width: int) -> Any:
    """The rewarder, which reads features and a label, and the generator of labels.

    Parameters
    ----------
    n_features : int
    n_outputs : int
        Classes, or 1 for a number.
    width : int
        Of the tokens of a row and of a label.

    Returns
    -------
    torch.nn.ModuleDict
        Keys "row", "label", "mix", "score" make up the rewarder.
    """
    nn = load_torch().nn
    parts = {
        "row": nn.Sequential(nn.Linear(n_features, width), nn.LayerNorm(width)),
        # Of a one-hot code this is a table of class vectors, through which gradients can pass.
        "label": nn.Sequential(nn.Linear(n_outputs, width), nn.LayerNorm(width)),
        "mix": build_mlp((width, 2 * width, width)),
        "score": build_mlp((width, max(width // 2, 1), 1)),
        "generator": build_mlp((n_features, 2 * width, width, max(width // 2, 1), n_outputs)),
    }
    return nn.ModuleDict(parts)


def rewards(judges: Any, features: Any, labels: Any) -> Any:
    """How well labels suit their rows, between 0 and 1.

    Each label looks at two tokens, its row's and its own, and no other row: a reward does not
    depend on the batch.

    Parameters
    ----------
    judges : torch.nn.ModuleDict
    features : (m, d) tensor
    labels : (m, n_outputs) tensor
        One-hot classes, or standardised numbers.

    Returns
    -------
    (m,) tensor
    """
    torch = load_torch()
    row, label = judges["row"](features), judges["label"](labels)
    tokens = torch.stack([row, label], dim=1)
    attention = (tokens @ label.unsqueeze(2) / math.sqrt(label.shape[1])).softmax(dim=1)
    seen = label + (attention * tokens).sum(dim=1)
    # Products of the tokens let a small rewarder tell whether row and label belong together.
    mixed = seen + judges["mix"](seen + row * label)
    return torch.sigmoid(judges["score"](mixed))[:, 0]


def similarity(labels: Any, truth: Any, numbers: bool) -> Any:
    """What the reward of labels should be, given the true ones.

    Parameters
    ----------
    labels, truth : (m, n_outputs) tensors
    numbers : bool
        Whether they are standardised numbers: exp(-distance). Classes: 1 if equal, else 0.5.

    Examples
    --------
    >>> import torch
    >>> similarity(torch.eye(2), torch.tensor([[1.0, 0.0], [1.0, 0.0]]), numbers=False)
    tensor([1.0000, 0.5000])
    """
    torch = load_torch()
    if numbers:
        return torch.exp(-(labels - truth).abs()[:, 0])
    return (torch.nn.functional.cosine_similarity(labels, truth, dim=1) + 1.0) / 2.0


def fake_labels(judges: Any, features: Any, numbers: bool) -> Any:
    """Labels that the generator draws for rows; gradients reach it.

    Parameters
    ----------
    judges : torch.nn.ModuleDict
    features : (m, d) tensor
    numbers : bool
    """
    outputs = judges["generator"](features)
    if numbers:
        return outputs
    return load_torch().nn.functional.gumbel_softmax(outputs, hard=True)


def judge_losses(judges: Any, features: Any, truth: Any, numbers: bool) -> Any:
    """Loss that teaches the rewarder to tell labels apart and the generator to please it.

    Half of the labels that the rewarder sees are drawn at random: a generator that has become
    good shows no wrong ones, and the rewarder would forget what they look like.

    Parameters
    ----------
    judges : torch.nn.ModuleDict
    features : (m, d) tensor
        Without gradients.
    truth : (m, n_outputs) tensor
    numbers : bool

    Returns
    -------
    scalar tensor
    """
    torch = load_torch()
    fake = fake_labels(judges, features, numbers)
    drawn = torch.rand(fake.shape[0], 1, device=fake.device) < 0.5
    shown = torch.where(drawn, _random_labels(truth, numbers), fake.detach())
    squares = torch.nn.functional.mse_loss
    teach = squares(rewards(judges, features, shown), similarity(shown, truth, numbers))
    with _frozen(judges):
        pleased = rewards(judges, features, fake)
    return teach + squares(pleased, torch.ones_like(pleased))


def _random_labels(truth: Any, numbers: bool) -> Any:
    torch = load_torch()
    if numbers:
        return truth + torch.randn_like(truth)
    classes = truth.shape[1]
    drawn = torch.randint(classes, truth.shape[:1], device=truth.device)
    return torch.nn.functional.one_hot(drawn, classes).to(truth.dtype)


@contextmanager
def _frozen(judges: Any) -> Iterator[None]:
    """The rewarder is not a leaf of what is computed inside; the generator is."""
    weights = [w for name, part in judges.items() if name != "generator" for w in part.parameters()]
    for weight in weights:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)


class Judging:
    """When the judges learn, and what they let pass.

    Parameters
    ----------
    judges : torch.nn.ModuleDict
    start : int
        Last step in which they learn from labelled rows; from then on they judge.
    every : int
        Later they learn in every so many steps, from what they let pass.
    numbers : bool
        Whether labels are numbers.
    by_class : bool
        Whether a reward is compared with the mean of its class in the batch, not of all rows.
    """

    def __init__(
        self, judges: Any, start: int, every: int, numbers: bool, by_class: bool = False
    ) -> None:
        self.judges, self.start, self.every, self.numbers = judges, start, every, numbers
        self.by_class = by_class

    def first_stage(self, step: int, features: Any, truth: Any) -> Any:
        """Loss of the judges on labelled rows; zero once the judges are at work."""
        if step > self.start:
            return 0.0
        return judge_losses(self.judges, features.detach(), truth, self.numbers)

    def second_stage(self, step: int, features: Any, labels: Any) -> tuple[Any, Any]:
        """Which pseudo-labels pass, (m,) of 0 and 1, and the loss of the judges on these."""
        torch = load_torch()
        if step <= self.start:
            return torch.ones_like(features[:, 0]), 0.0
        with torch.no_grad():
            values = rewards(self.judges, features, labels)
        passed = values >= self._means(values, labels)
        if step % self.every or not bool(passed.any()):
            return passed.to(features.dtype), 0.0
        loss = judge_losses(self.judges, features[passed], labels[passed], self.numbers)
        return passed.to(features.dtype), loss

    def _means(self, values: Any, labels: Any) -> Any:
        """What each reward has to reach."""
        if not self.by_class:
            return values.mean()
        totals, counts = values @ labels, labels.sum(dim=0)
        # Reached by the mean itself, also where rounding would lift it above a lone row.
        return labels @ (totals / counts.clamp_min(1.0)) - 1e-6
