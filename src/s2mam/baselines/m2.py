"""Semi-supervised variational autoencoder whose rows are made of a code and the target (M2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from s2mam.baselines.deep.autoencoder import (
    AVERAGE,
    build_coder,
    build_decoder,
    coded,
    reconstruction,
)
from s2mam.baselines.deep.base import DeepRegressor
from s2mam.baselines.deep.tensors import Batch, BatchStream, TableTensors
from s2mam.baselines.deep.trunk import read_hidden
from s2mam.baselines.shared.gaussian_bounds import drawn, kl_to_standard, log_density
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan, train
from s2mam.training.parameters import nonnegative, positive, whole

__all__ = ["M2Regressor"]


class M2Regressor(DeepRegressor):
    """Autoencoder whose rows are made of a code and the target, which is guessed where unknown.

    Rows without a label count with the bound averaged over the targets the regressor thinks
    likely. Written for classes; for numbers the regressor is Gaussian, one draw stands for the
    average and the prior of the standardised target is N(0, 1).

    Parameters
    ----------
    n_latent : int
        Length of a code.
    hidden : sequence of int
        Widths of regressor and encoder; the decoder has them in reverse.
    alpha : float
        Weight of the regressor's own likelihood on labelled rows, next to the bound of a mean row.
    observation_variance : float
        Variance of a column given code and target.
    max_iter, batch_size, learning_rate, device, progress, random_state
        As in :class:`VAERegressor`.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y = np.where(np.arange(60) % 2 == 0, X[:, 1], np.nan)
    >>> model = M2Regressor(max_iter=300, alpha=10.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, X[:, 1]) > 0.5)
    True
    """

    paper_name: ClassVar[str] = "M2"
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"alpha": (0.1, 1.0, 10.0), "n_latent": (2, 8)}

    def __init__(
        self,
        *,
        n_latent: int = 8,
        hidden: Sequence[int] = (100, 50, 50),
        alpha: float = 0.1,
        observation_variance: float = 0.5,
        max_iter: int = 3000,
        batch_size: int = 64,
        learning_rate: float = 1e-3,
        device: str = "cpu",
        progress: Any = None,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.n_latent = n_latent
        self.hidden = hidden
        self.alpha = alpha
        self.observation_variance = observation_variance
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.device = device
        self.progress = progress
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _build(self, n_inputs: int, n_outputs: int) -> Any:
        hidden, size = read_hidden(self.hidden), whole("n_latent", self.n_latent)
        parts = {
            "regressor": build_coder(n_inputs, hidden, n_outputs),
            "encoder": build_coder(n_inputs + n_outputs, hidden, size),
            "decoder": build_decoder(size + n_outputs, hidden[::-1], n_inputs),
        }
        return load_torch().nn.ModuleDict(parts)

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        positive("observation_variance", self.observation_variance)
        alpha = nonnegative("alpha", self.alpha)
        stream = BatchStream(data, batch_size=self.batch_size, ratio=1, labeled_too=False)
        share = data.labeled.numel() / data.x.shape[0]

        def loss(batch: Batch) -> Any:
            y = batch.y[:, None]
            known = self._labeled_loss(net, batch.x, y).mean()
            own = -log_density(y, *coded(net["regressor"], batch.x)).mean()
            guessed = self._unlabeled_loss(net, batch.u).mean() if share < 1.0 else 0.0
            return share * known + (1.0 - share) * guessed + alpha * own

        plan = TrainingPlan(
            steps=self.max_iter,
            learning_rate=self.learning_rate,
            clip=5.0,
            average=AVERAGE,
            progress=self.progress,
        )
        return train(net, loss, plan, draw=stream.draw)

    def _labeled_loss(self, net: Any, x: Any, y: Any) -> Any:
        """(m,) negative bounds of ln p(x, y), with one draw of the code."""
        zero = load_torch().zeros_like(y)
        return self._row_loss(net, x, y) - log_density(y, zero, zero)

    def _unlabeled_loss(self, net: Any, x: Any) -> Any:
        """(m,) negative bounds of ln p(x), with one draw of target and code.

        The prior of the target and the entropy of its guess together are a divergence, which needs
        no draw.
        """
        guess = coded(net["regressor"], x)
        y = drawn(*guess, load_torch().randn_like(guess[0]))
        return self._row_loss(net, x, y) + kl_to_standard(*guess)

    def _row_loss(self, net: Any, x: Any, y: Any) -> Any:
        """Negative bounds of ln p(x | y)."""
        torch = load_torch()
        code = coded(net["encoder"], torch.cat([x, y], dim=1))
        z = drawn(*code, torch.randn_like(code[0]))
        decoded = net["decoder"](torch.cat([z, y], dim=1))
        return kl_to_standard(*code) - reconstruction(x, decoded, float(self.observation_variance))

    def _forward(self, net: Any, x: Any) -> Any:
        return coded(net["regressor"], x)[0]
