"""SSDKL: a Gaussian process on learned features that is to be sure about unlabelled rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam.baselines.deep.autoencoder import held_out
from s2mam.baselines.deep.base import DeepRegressor
from s2mam.baselines.deep.tensors import TableTensors
from s2mam.baselines.deep.trunk import build_mlp, read_hidden
from s2mam.baselines.shared.kernel_posterior import KernelPosterior
from s2mam.exceptions import InvalidInputError, TrainingDivergedError
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan, train
from s2mam.training.parameters import nonnegative, positive, whole

__all__ = ["SSDKLRegressor"]

# With fewer labels a tenth is a row or two: nothing to choose by.
_LEAST_LABELS = 20
_PATIENCE = 50
_LARGEST_GRADIENT = 5.0
_RATE_FALL, _FALL_EVERY = 0.9, 50
_BIAS = 0.1


class SSDKLRegressor(DeepRegressor):
    """Semi-supervised deep kernel learning.

    A network embeds the rows in few dimensions, where a Gaussian process with a
    squared-exponential kernel predicts. Network and process are trained together: by the
    likelihood of the labels, and by the variance of the predictions on unlabelled rows, which is
    to be small. The variance is that of the article, on unlabelled rows; the authors' code has it
    on held-out labelled rows.

    From 20 labels on, a tenth of them is held out, to choose `alpha` and to stop. The final
    process is conditioned on all of them. All sizes of the process are trained as logarithms,
    which keeps them positive.

    Parameters
    ----------
    alpha : float or sequence of float
        Weight of the variance on unlabelled rows; 0 is deep kernel learning from labels alone. Of
        several values the best on the held-out labels is taken, and the middle one when
        there are none.
    hidden : sequence of int
        Widths of the network before the embedding.
    n_embedding : int
        Dimensions of the embedding.
    max_iter : int
        Steps.
    batch_size : int
        Unlabelled rows of a step.
    learning_rate, kernel_learning_rate : float
        Of the network, and of length, signal and noise; both fall by a tenth every 50 steps.
    n_starts : int
        Random starts at most; another one is made when the loss never became smaller.
    device : {"cpu", "cuda", "auto"}
    progress : callable, optional
        Called as ``progress(step, steps, loss)``.
    random_state : int, RandomState instance or None
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    alpha_ : float
        The weight that was taken.
    kernel_ : dict of str to float
        Length of the kernel, and standard deviations of signal and noise for the standardised
        target.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(-2, 2, 60)[:, None]
    >>> y = np.where(np.arange(60) % 3 == 0, np.sin(X[:, 0]), np.nan)
    >>> model = SSDKLRegressor(alpha=1.0, max_iter=100, random_state=0).fit(X, y)
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    paper_name: ClassVar[str] = "SSDKL"
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"alpha": (0.1, 1.0, 10.0)}
    dtype: ClassVar[str] = "float64"

    def __init__(
        self,
        *,
        alpha: float | Sequence[float] = (0.1, 1.0, 10.0),
        hidden: Sequence[int] = (100, 50, 50),
        n_embedding: int = 2,
        max_iter: int = 200,
        batch_size: int = 1000,
        learning_rate: float = 1e-3,
        kernel_learning_rate: float = 0.1,
        n_starts: int = 3,
        device: str = "cpu",
        progress: Any = None,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.alpha = alpha
        self.hidden = hidden
        self.n_embedding = n_embedding
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.kernel_learning_rate = kernel_learning_rate
        self.n_starts = n_starts
        self.device = device
        self.progress = progress
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicted numbers.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Rows.
        return_std : bool
            Also return how unsure the process is about each, noise left out.

        Returns
        -------
        ndarray of shape (m,), or a pair of them
        """
        if not return_std:
            return super().predict(X)
        check_is_fitted(self, "transduction_")
        outputs = self._outputs(self._encoder.transform(X, self))
        return self._decoded(outputs), np.sqrt(outputs[:, 1]) * self._spread

    def _build(self, n_inputs: int, n_outputs: int) -> Any:
        torch = load_torch()
        size = whole("n_embedding", self.n_embedding)
        trunk = build_mlp((n_inputs, *read_hidden(self.hidden), size), xavier=True)
        for layer in trunk:
            if isinstance(layer, torch.nn.Linear):
                torch.nn.init.constant_(layer.bias, _BIAS)
        sizes = {name: torch.zeros(()) for name in ("length", "signal", "noise")}
        return torch.nn.ModuleDict({"trunk": trunk, "kernel": torch.nn.ParameterDict(sizes)})

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        alphas = self._read_alphas()
        starts = whole("n_starts", self.n_starts)
        self._anchors = data.x_labeled.cpu().numpy()
        self._values = data.y.cpu().numpy()
        seen, kept = held_out(data.y.numel(), _LEAST_LABELS, data.x.device)
        if not kept.numel():
            alphas = [alphas[len(alphas) // 2]]
        start = _copied(net)
        tries = []
        for alpha in alphas:
            net.load_state_dict(start)
            log = self._fit_once(net, data, alpha, seen, kept)
            for _ in range(starts - 1):
                if min(log.history) < log.history[0]:
                    break
                net.load_state_dict(self._build(*self._shape).state_dict())
                log = self._fit_once(net, data, alpha, seen, kept)
            tries.append((min(log.validation, default=0.0), alpha, log, _copied(net)))
        _, self.alpha_, log, weights = min(tries, key=lambda one: one[0])
        net.load_state_dict(weights)
        self.kernel_ = {name: math.exp(value.item()) for name, value in net["kernel"].items()}
        return log

    def _read_alphas(self) -> list[float]:
        several = isinstance(self.alpha, Sequence) and not isinstance(self.alpha, str)
        alphas = list(self.alpha) if several else [self.alpha]  # type: ignore[arg-type]
        if not alphas:
            raise InvalidInputError("alpha=() must be a number or hold at least one.")
        return [nonnegative("alpha", alpha) for alpha in alphas]

    def _fit_once(
        self, net: Any, data: TableTensors, alpha: float, seen: Any, kept: Any
    ) -> TrainingLog:
        """Train from where the network stands."""
        torch = load_torch()
        pool = torch.ones(data.x.shape[0], dtype=torch.bool, device=data.x.device)
        pool[data.labeled] = False
        waiting = data.x[pool]
        size = whole("batch_size", self.batch_size) if alpha > 0.0 else 0
        x, y = data.x_labeled, data.y

        def draw(step: int) -> Any:
            return waiting[torch.randperm(waiting.shape[0], device=data.x.device)[:size]]

        def validate() -> float:
            guess, _ = posterior_of(net, x[seen], y[seen]).moments(net["trunk"](x[kept]))
            return float(((guess - y[kept]) ** 2).mean())

        optimizer = self._optimizer(net)

        def slow_down(step: int) -> None:
            if step % _FALL_EVERY == 0:
                for group in optimizer.param_groups:
                    group["lr"] *= _RATE_FALL

        plan = TrainingPlan(
            steps=self.max_iter,
            learning_rate=self.learning_rate,
            average=None,
            check_every=1,
            patience=_PATIENCE if kept.numel() else None,
            progress=self.progress,
        )
        try:
            return train(
                net,
                lambda batch: semi_supervised_loss(net, x[seen], y[seen], batch, alpha),
                plan,
                draw=draw,
                optimizer=optimizer,
                after_step=slow_down,
                validate=validate if kept.numel() else None,
            )
        except torch.linalg.LinAlgError as error:
            raise TrainingDivergedError(
                "The covariance of the labelled rows is no longer finite; lower learning_rate or "
                "kernel_learning_rate, or scale the columns with scale='standard'."
            ) from error

    def _optimizer(self, net: Any) -> Any:
        torch = load_torch()
        rates = (
            ("trunk", positive("learning_rate", self.learning_rate)),
            ("kernel", positive("kernel_learning_rate", self.kernel_learning_rate)),
        )
        groups = [{"params": list(net[part].parameters()), "lr": rate} for part, rate in rates]
        optimizer = torch.optim.Adam(groups)
        weights = list(net.parameters())
        optimizer.register_step_pre_hook(
            lambda *_: torch.nn.utils.clip_grad_value_(weights, _LARGEST_GRADIENT)
        )
        return optimizer

    def _forward(self, net: Any, x: Any) -> Any:
        torch = load_torch()
        anchors, values = torch.as_tensor(self._anchors), torch.as_tensor(self._values)
        mean, variance = posterior_of(net, anchors, values).moments(net["trunk"](x))
        return torch.stack([mean, variance.clamp(min=0.0)], dim=1)


def posterior_of(net: Any, x: Any, y: Any) -> KernelPosterior:
    """The process on embedded rows x with values y."""
    sizes = net["kernel"]
    return KernelPosterior(net["trunk"](x), y, sizes["length"], sizes["signal"], sizes["noise"])


def semi_supervised_loss(net: Any, x: Any, y: Any, others: Any, alpha: float) -> Any:
    """Negative likelihood per label plus `alpha` times the mean variance at other rows."""
    posterior = posterior_of(net, x, y)
    loss = -posterior.log_likelihood() / y.numel()
    if others.shape[0] and alpha > 0.0:
        loss = loss + alpha * posterior.moments(net["trunk"](others))[1].mean()
    return loss


def _copied(net: Any) -> dict[str, Any]:
    return {name: value.clone() for name, value in net.state_dict().items()}
