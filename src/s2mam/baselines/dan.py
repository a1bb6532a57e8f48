"""DAN: a network that drops columns, by the group lasso and then the adaptive group lasso."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from s2mam.baselines.deep.base import DeepBaseline, DeepClassifier, DeepRegressor
from s2mam.baselines.deep.group_nets import (
    build_nets,
    column_norms,
    evaluate_nets,
    fit_nets,
    mean_errors,
)
from s2mam.baselines.deep.splits import training_weights
from s2mam.baselines.deep.tensors import TableTensors
from s2mam.baselines.deep.trunk import read_hidden
from s2mam.exceptions import InvalidInputError
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan
from s2mam.training.parameters import choice, nonnegative, whole

__all__ = ["DANClassifier", "DANRegressor"]

#: What "auto" chooses from, strongest first: among equals the stronger penalty wins.
_PENALTIES = (2.0, 1.0, 0.5, 0.1, 0.05, 0.01, 0.001)
# Where a single label leaves nothing to choose by.
_WITHOUT_SPLITS = 0.05


class _DAN(DeepBaseline):
    """What the classifier and the regressor share."""

    paper_name: ClassVar[str] = "DAN"
    selects_columns: ClassVar[bool] = True

    def __init__(
        self,
        *,
        penalty: Any = "auto",
        adaptive_penalty: Any = "auto",
        gamma: float = 2.0,
        hidden: Sequence[int] = (10, 10, 10),
        init: str = "scaled",
        n_splits: int = 3,
        max_iter: int = 5000,
        learning_rate: float = 1e-2,
        device: str = "cpu",
        progress: Any = None,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.penalty = penalty
        self.adaptive_penalty = adaptive_penalty
        self.gamma = gamma
        self.hidden = hidden
        self.init = init
        self.n_splits = n_splits
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.device = device
        self.progress = progress
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _build(self, n_inputs: int, n_outputs: int) -> Any:
        return self._nets(1, n_inputs, n_outputs)

    def _nets(self, count: int, n_inputs: int, n_outputs: int) -> Any:
        sizes = (n_inputs, *read_hidden(self.hidden), n_outputs)
        scaled = choice("init", self.init, ("scaled", "normal")) == "scaled"
        return build_nets(count, sizes, scaled=scaled)

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        torch = load_torch()
        gamma = nonnegative("gamma", self.gamma)
        first = _read_penalties("penalty", self.penalty)
        second = _read_penalties("adaptive_penalty", self.adaptive_penalty)
        folds: tuple[Any, Any] = training_weights(
            data.y.numel(), whole("n_splits", self.n_splits), data.x.device
        )
        ones = torch.ones((folds[0].shape[0] + 1, data.x.shape[1]), device=data.x.device)
        lasso = _Stage(self, data, folds, first)
        early = lasso.run(ones)
        # Fits without the held-out rows, so that those judge the second stage honestly too.
        norms = column_norms(lasso.nets)[lasso.chosen_lines]
        adaptive = _Stage(self, data, folds, second)
        late = adaptive.run(adaptive_factors(norms, gamma))
        best = adaptive.chosen_lines[-1]
        with torch.no_grad():
            for name, value in net.items():
                value.copy_(adaptive.nets[name][best : best + 1])
        self.penalty_, self.adaptive_penalty_ = lasso.chosen, adaptive.chosen
        self._encoded_weights = column_norms(net)[0].cpu().numpy().astype(np.float64)
        return TrainingLog(early.history + late.history, [], early.n_iter + late.n_iter)

    def _plan(self) -> TrainingPlan:
        return TrainingPlan(
            steps=self.max_iter,
            learning_rate=self.learning_rate,
            average=None,
            check_every=100,
            progress=self.progress,
        )

    def _forward(self, net: Any, x: Any) -> Any:
        return evaluate_nets(net, x)[0].T


class _Stage:
    """One penalised fit per penalty and split, and of all labelled rows, at the same time."""

    def __init__(
        self, owner: _DAN, data: TableTensors, folds: tuple[Any, Any], penalties: tuple[float, ...]
    ) -> None:
        torch = load_torch()
        train, self.test = folds
        splits = train.shape[0]
        if splits == 0 and len(penalties) > 1:
            penalties = (_WITHOUT_SPLITS,)
        self.owner, self.data, self.penalties, self.splits = owner, data, penalties, splits
        everything = torch.full_like(data.y, 1.0 / data.y.numel(), dtype=train.dtype)[None]
        self.weights = torch.cat([train, everything]).repeat(len(penalties), 1)

    def run(self, factors: Any) -> TrainingLog:
        """Fit, and choose the penalty with the least error on held-out rows.

        `factors` (splits + 1, p) multiply the penalty of each column, for each split and, last,
        for all rows.
        """
        torch, data = load_torch(), self.data
        lines = self.splits + 1
        outputs = max(data.n_classes, 1)
        self.nets = self.owner._nets(self.weights.shape[0], data.x.shape[1], outputs)
        self.nets = self.nets.to(data.x.device)
        sizes = torch.tensor(self.penalties, device=data.x.device).repeat_interleave(lines)
        penalties = sizes[:, None] * factors.repeat(len(self.penalties), 1)
        # 0 * inf: a column that was dropped before stays out whatever the penalty.
        penalties = penalties.nan_to_num(nan=torch.inf, posinf=torch.inf)
        x, plan = data.x_labeled, self.owner._plan()
        log = fit_nets(self.nets, x, data.y, self.weights, penalties, plan)
        best = int(self._held_out(x).argmin()) if self.splits else 0
        self.chosen = self.penalties[best]
        self.chosen_lines = torch.arange(lines) + best * lines
        return log

    def _held_out(self, x: Any) -> Any:
        """(penalties,) errors on held-out rows, summed over the splits."""
        torch = load_torch()
        empty = torch.zeros_like(self.test[:1])
        test = torch.cat([self.test, empty]).repeat(len(self.penalties), 1)
        with torch.no_grad():
            errors = mean_errors(evaluate_nets(self.nets, x), self.data.y, test)
        # Rounded, so that equal shares of wrong rows are equal whatever the order of the sum.
        return errors.reshape(len(self.penalties), -1).sum(dim=1).round(decimals=5)


def adaptive_factors(norms: Any, gamma: float) -> Any:
    """(G, p) factors of the second penalty: powers of norms, one for the strongest column.

    Layers above the first can take over any scale from it, so only ratios of norms mean
    something; infinite for a column that was dropped.

    Parameters
    ----------
    norms : (G, p) tensor
    gamma : float

    Examples
    --------
    >>> import torch
    >>> adaptive_factors(torch.tensor([[0.2, 0.1, 0.0]]), 2.0)
    tensor([[1., 4., inf]])
    """
    strongest = norms.max(dim=1, keepdim=True).values
    return (strongest / norms).pow(gamma).nan_to_num(nan=math.inf, posinf=math.inf)


def _read_penalties(name: str, value: Any) -> tuple[float, ...]:
    if isinstance(value, str):
        if value != "auto":
            raise InvalidInputError(f"{name}={value!r} must be 'auto' or a number.")
        return _PENALTIES
    return (nonnegative(name, value),)


class DANRegressor(_DAN, DeepRegressor):
    """A tanh network whose input columns are selected by an adaptive group lasso.

    First a network is fitted with the group lasso: the weights that leave a column are one group.
    Then a new one is fitted in which the penalty of a column is divided by a power of the norm
    the first one gave it, relative to the largest; a column that the first one dropped stays out.
    Full-batch proximal gradient steps make the weights of dropped columns exactly zero. Only
    labelled rows are used, but for scaling.

    Where it differs from the published code: targets are standardised, since steps of 0.01
    diverge on large ones; the random start of a layer is divided by the square root of its
    inputs (``init="scaled"``), since many columns would saturate the network; norms are relative
    to the largest, since that start makes all of them small, which would drop every column;
    penalties are chosen by rows held out of the labelled ones; all candidates are fitted side by
    side.

    Parameters
    ----------
    penalty, adaptive_penalty : float or "auto"
        Of the two fits, next to the mean loss; "auto" chooses from 0.001 to 2 by the squared error
        on labelled rows that are held out (the rows that judge take no part in either fit).
    gamma : float
        Power of the norms.
    hidden : sequence of int
        Widths of the hidden layers.
    init : {"scaled", "normal"}
        Random start; "normal" is N(0, 1) for all weights, as published.
    n_splits : int
        Random splits for "auto", a third of the rows held out; five folds below 30 labels.
    max_iter : int
        Steps of each of the two fits.
    learning_rate : float
    device : {"cpu", "cuda", "auto"}
    progress : callable, optional
        Called as ``progress(step, steps, loss)``; both fits count from one.
    random_state : int, RandomState instance or None
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    penalty_, adaptive_penalty_ : float
        The chosen ones.
    history_ : list of float
        Objective, summed over all candidates, averaged over every 100 steps; of the first fit
        and then of the second.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = DANRegressor(
    ...     penalty=0.1, adaptive_penalty=0.1, max_iter=500, learning_rate=0.1, random_state=0
    ... )
    >>> model.fit(X, 2 * X[:, 1]).get_support(indices=True)
    array([1])
    """


class DANClassifier(_DAN, DeepClassifier):
    """A tanh network whose input columns are selected by an adaptive group lasso.

    As :class:`DANRegressor`, with the cross entropy of one output per class; the article has
    regression only. The share of wrong classes on held-out rows chooses the penalties: few labels
    are soon separated, the networks are then sure even where they are wrong, and their cross
    entropy would choose a network without columns over any other.

    Parameters
    ----------
    penalty, adaptive_penalty, gamma, hidden, init, n_splits, max_iter, learning_rate
        As in :class:`DANRegressor`.
    device, progress, random_state
        As in :class:`DANRegressor`.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = DANClassifier(
    ...     penalty=0.1, adaptive_penalty=0.1, max_iter=500, learning_rate=0.1, random_state=0
    ... )
    >>> model.fit(X, X[:, 1] > 0).get_support(indices=True)
    array([1])
    """
