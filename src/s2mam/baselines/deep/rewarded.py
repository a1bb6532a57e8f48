"""Base class of the two forms of SemiReward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from s2mam.baselines.deep.base import DeepBaseline
from s2mam.baselines.deep.rewarder import Judging, build_judges
from s2mam.baselines.deep.tensors import BatchStream, TableTensors
from s2mam.baselines.deep.trunk import build_net, read_hidden
from s2mam.exceptions import InvalidInputError
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan, make_adam, train
from s2mam.training.parameters import nonnegative, positive, whole

__all__ = ["Rewarded"]


class Rewarded(DeepBaseline):
    """What the classifier and the regressor of SemiReward share."""

    paper_name: ClassVar[str] = "SemiReward"

    def __init__(
        self,
        *,
        unlabeled_weight: float = 1.0,
        reward_start: float = 0.1,
        reward_every: int = 10,
        reward_rate: float = 5e-4,
        width: int = 128,
        hidden: Sequence[int] = (100, 50, 50),
        max_iter: int = 3000,
        batch_size: int = 64,
        ratio: int = 7,
        learning_rate: float = 1e-3,
        weight_decay: float = 5e-4,
        average: float = 0.999,
        augmentation: Any = None,
        device: str = "cpu",
        progress: Any = None,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.unlabeled_weight = unlabeled_weight
        self.reward_start = reward_start
        self.reward_every = reward_every
        self.reward_rate = reward_rate
        self.width = width
        self.hidden = hidden
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.ratio = ratio
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.average = average
        self.augmentation = augmentation
        self.device = device
        self.progress = progress
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _build(self, n_inputs: int, n_outputs: int) -> Any:
        nn = load_torch().nn
        width = whole("width", self.width)
        return nn.ModuleDict(
            {
                "student": build_net(n_inputs, n_outputs, self.hidden),
                "judges": build_judges(read_hidden(self.hidden)[-1], n_outputs, width),
            }
        )

    def _run(self, net: Any, stream: BatchStream, loss: Any) -> TrainingLog:
        plan = TrainingPlan(
            steps=self.max_iter,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            cosine=True,
            average=self.average,
            progress=self.progress,
        )
        plan.check()
        rate = positive("reward_rate", self.reward_rate)
        groups = [
            {"params": list(net["student"].parameters())},
            {"params": list(net["judges"].parameters()), "lr": rate},
        ]
        return train(net, loss, plan, draw=stream.draw, optimizer=make_adam(groups, plan))

    def _stream(self, data: TableTensors) -> BatchStream:
        return BatchStream(data, batch_size=self.batch_size, ratio=self.ratio)

    def _judging(self, net: Any, least: int, numbers: bool, by_class: bool = False) -> Judging:
        share = nonnegative("reward_start", self.reward_start)
        if share > 1.0:
            raise InvalidInputError(f"reward_start={self.reward_start!r} must not be above 1.")
        start = max(round(share * whole("max_iter", self.max_iter)), least)
        every = whole("reward_every", self.reward_every)
        return Judging(net["judges"], start, every, numbers, by_class)

    def _forward(self, net: Any, x: Any) -> Any:
        return net["student"](x)
