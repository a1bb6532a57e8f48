"""The one training loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from s2mam.exceptions import InvalidInputError, TrainingDivergedError
from s2mam.training.average import WeightAverage
from s2mam.training.backend import load_torch
from s2mam.training.parameters import nonnegative, positive, whole

__all__ = ["TrainingLog", "TrainingPlan", "make_adam", "train"]

#: Called with the step, the number of steps and the mean loss since the last call.
Progress = Callable[[int, int, float], None]


@dataclass(frozen=True)
class TrainingPlan:
    """How long and in which steps a network is trained.

    Parameters
    ----------
    steps : int
        Checked as ``max_iter``.
    learning_rate : float
        Of Adam.
    weight_decay : float
        Decoupled from the gradient, as in AdamW.
    cosine : bool
        Let the learning rate fall to zero along a quarter of a cosine.
    clip : float, optional
        Largest norm of the gradient.
    average : float, optional
        Decay of the running average of the weights that is kept in the end; None keeps the last.
    check_every : int
        Steps between two looks at the loss.
    patience : int, optional
        Looks without a better loss before training stops; None trains all steps.
    progress : callable, optional
        Called as ``progress(step, steps, loss)`` at every look.
    """

    steps: int = 3000
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    cosine: bool = False
    clip: float | None = None
    average: float | None = 0.999
    check_every: int = 50
    patience: int | None = None
    progress: Progress | None = None

    def check(self) -> None:
        """Complain about values that cannot be used."""
        whole("max_iter", self.steps)
        positive("learning_rate", self.learning_rate)
        nonnegative("weight_decay", self.weight_decay)
        whole("check_every", self.check_every)
        if self.clip is not None:
            positive("clip", self.clip)
        if self.patience is not None:
            whole("patience", self.patience)
        if self.average is not None and nonnegative("average", self.average) >= 1.0:
            raise InvalidInputError(f"average={self.average!r} must be below 1.")
        if self.progress is not None and not callable(self.progress):
            raise InvalidInputError(f"progress={self.progress!r} must be a callable or None.")


@dataclass
class TrainingLog:
    """What happened.

    Attributes
    ----------
    history : list of float
        Mean training loss between looks.
    validation : list of float
        What `validate` gave at the looks.
    n_iter : int
        Steps taken.
    stop_reason : {"max_iter", "patience"}
    """

    history: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    n_iter: int = 0
    stop_reason: str = "max_iter"


def train(
    net: Any,
    loss: Callable[[Any], Any],
    plan: TrainingPlan,
    *,
    draw: Callable[[int], Any],
    optimizer: Any = None,
    after_step: Callable[[int], None] | None = None,
    validate: Callable[[], float] | None = None,
) -> TrainingLog:
    """Train a network in place.

    In the end it is in evaluation mode and holds the averaged weights, if the plan averages, or
    those with the best validation loss, if there is one.

    Parameters
    ----------
    net : torch.nn.Module
    loss : callable
        ``loss(draw(step))`` is a scalar tensor to be made smaller.
    plan : TrainingPlan
    draw : callable
        Gives what a step sees; `BatchStream.draw`, or any function of the step (from 1 on).
    optimizer : torch.optim.Optimizer, optional
        By default AdamW over the parameters of the network.
    after_step : callable, optional
        Called with the step after each update of the weights.
    validate : callable, optional
        Loss on labelled rows that were held out of training, never rows to be predicted; called
        without gradients, in evaluation mode, with the averaged weights. Without it patience goes
        by the training loss.

    Returns
    -------
    TrainingLog
    """
    plan.check()
    run = _Run(net, plan, optimizer)
    net.train()
    for step in range(1, plan.steps + 1):
        run.step(step, loss(draw(step)))
        if after_step is not None:
            after_step(step)
        if (step % plan.check_every == 0 or step == plan.steps) and run.look(step, validate):
            break
    run.finish(validate is not None)
    return run.log


def make_adam(groups: Any, plan: TrainingPlan) -> Any:
    """AdamW with the rates of a plan.

    Parameters
    ----------
    groups : list of parameters, or of dicts of them as torch.optim takes them
    plan : TrainingPlan

    Returns
    -------
    torch.optim.AdamW
    """
    torch = load_torch()
    rates = {"lr": plan.learning_rate, "weight_decay": plan.weight_decay}
    # Small networks spend their time on starting operations: let there be few.
    try:
        return torch.optim.AdamW(groups, **rates, fused=True)
    except RuntimeError:  # this torch has no fused step for this device
        return torch.optim.AdamW(groups, **rates, foreach=True)


class _Run:
    """State of one call of `train`."""

    def __init__(self, net: Any, plan: TrainingPlan, optimizer: Any) -> None:
        self.net, self.plan = net, plan
        self.parameters = list(net.parameters())
        if optimizer is None:
            optimizer = make_adam(self.parameters, plan)
        self.optimizer = optimizer
        self.average = None if plan.average is None else WeightAverage(net, plan.average)
        self.rates = [group["lr"] for group in optimizer.param_groups]
        self.log = TrainingLog()
        self.total: Any = 0.0
        self.since = 0
        self.best = math.inf
        self.waited = 0
        self.kept: dict[str, Any] | None = None

    def step(self, step: int, value: Any) -> None:
        if self.plan.cosine:
            fall = math.cos(0.5 * math.pi * (step - 1) / self.plan.steps)
            for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
                group["lr"] = rate * fall
        self.optimizer.zero_grad()
        value.backward()
        if self.plan.clip is not None:
            load_torch().nn.utils.clip_grad_norm_(self.parameters, self.plan.clip)
        self.optimizer.step()
        if self.average is not None:
            self.average.update(step)
        # Summed on the device: looking at every loss would make the host wait for each step.
        self.total = self.total + value.detach()
        self.since += 1
        self.log.n_iter = step

    def look(self, step: int, validate: Callable[[], float] | None) -> bool:
        """Record the loss, and say whether to stop."""
        mean = float(self.total) / self.since
        if not math.isfinite(mean):
            raise TrainingDivergedError(
                f"The training loss is not finite after {step} steps; lower the learning rate (it "
                f"starts at {self.rates[0]:g}), or scale the columns with scale='standard'."
            )
        self.total, self.since = 0.0, 0
        self.log.history.append(mean)
        if self.plan.progress is not None:
            self.plan.progress(step, self.plan.steps, mean)
        judged = mean if validate is None else self._validated(validate)
        if judged < self.best:
            self.best, self.waited = judged, 0
            return False
        self.waited += 1
        if self.plan.patience is None or self.waited < self.plan.patience:
            return False
        self.log.stop_reason = "patience"
        return True

    def _validated(self, validate: Callable[[], float]) -> float:
        self.net.eval()
        with load_torch().no_grad(), self._settled():
            value = float(validate())
            if value < self.best:
                self.kept = {k: v.clone() for k, v in self.net.state_dict().items()}
        self.net.train()
        self.log.validation.append(value)
        return value

    def _settled(self) -> AbstractContextManager[None]:
        return nullcontext() if self.average is None else self.average.in_use()

    def finish(self, validated: bool) -> None:
        if validated and self.kept is not None:
            self.net.load_state_dict(self.kept)
        elif self.average is not None:
            self.average.settle()
        self.net.eval()
