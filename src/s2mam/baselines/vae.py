"""Variational autoencoders of all rows, and a regressor on their codes (M1, AVAE)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from s2mam.baselines.deep.autoencoder import (
    AVERAGE,
    build_coder,
    build_decoder,
    coded,
    fit_head,
    reconstruction,
    train_on_rows,
)
from s2mam.baselines.deep.base import DeepRegressor
from s2mam.baselines.deep.tensors import TableTensors
from s2mam.baselines.deep.trunk import build_mlp, read_hidden
from s2mam.baselines.shared.gaussian_bounds import drawn, kl_to_standard, self_consistency
from s2mam.exceptions import InvalidInputError
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan
from s2mam.training.parameters import nonnegative, positive, whole

__all__ = ["AVAERegressor", "VAERegressor"]


class VAERegressor(DeepRegressor):
    """Variational autoencoder of all rows, and a small network from its codes to the target (M1).

    The autoencoder never sees a label. A tenth of the rows (from 100 rows on) and a tenth of the
    labels (from 20 labels on) are held out to keep the best weights of either part.

    Parameters
    ----------
    n_latent : int
        Length of a code; the published study of tables has 2.
    hidden : sequence of int
        Widths of the encoder; the decoder has them in reverse.
    linear_decoder : bool
        Decode by a linear map, which makes the codes principal components.
    observation_variance : float
        Variance of a column given the code; 0.5 makes the loss the squared error plus the
        divergence of the codes.
    head_size : int
        Hidden units of the network from codes to the target.
    head_max_iter : int
        Steps of its training.
    max_iter : int
        Steps of the training of the autoencoder.
    batch_size : int
    learning_rate : float
    device : {"cpu", "cuda", "auto"}
    progress : callable, optional
        Called as ``progress(step, steps, loss)``.
    random_state : int, RandomState instance or None
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    history_ : list of float
        Loss of the autoencoder.
    head_history_ : list of float
        Squared error of the network from codes to the target, on standardised targets.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) @ [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    >>> y = np.where(np.arange(60) % 2 == 0, X[:, 1], np.nan)
    >>> model = VAERegressor(max_iter=300, random_state=0).fit(X, y)
    >>> bool(model.score(X, X[:, 1]) > 0.5)
    True
    """

    paper_name: ClassVar[str] = "VAE"
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"n_latent": (2, 8, 16)}

    def __init__(
        self,
        *,
        n_latent: int = 2,
        hidden: Sequence[int] = (100, 50, 50),
        linear_decoder: bool = False,
        observation_variance: float = 0.5,
        head_size: int = 20,
        head_max_iter: int = 1000,
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
        self.linear_decoder = linear_decoder
        self.observation_variance = observation_variance
        self.head_size = head_size
        self.head_max_iter = head_max_iter
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
        back = () if self.linear_decoder else hidden[::-1]
        parts = {
            "encoder": build_coder(n_inputs, hidden, size),
            "decoder": build_decoder(size, back, n_inputs),
            "head": build_mlp((size, whole("head_size", self.head_size), n_outputs)),
        }
        return load_torch().nn.ModuleDict(parts)

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        positive("observation_variance", self.observation_variance)
        parts = load_torch().nn.ModuleList([net["encoder"], net["decoder"]])
        plan = TrainingPlan(
            steps=self.max_iter,
            learning_rate=self.learning_rate,
            clip=5.0,
            average=AVERAGE,
            progress=self.progress,
        )
        batch = whole("batch_size", self.batch_size)
        log = train_on_rows(parts, lambda x: self._loss(net, x), plan, data.x, batch)
        codes = coded(net["encoder"], data.x_labeled)[0].detach()
        steps = whole("head_max_iter", self.head_max_iter)
        self.head_history_ = fit_head(net["head"], codes, data.y, steps).history
        return log

    def _loss(self, net: Any, x: Any) -> Any:
        """Negative bound, a mean over rows."""
        code = coded(net["encoder"], x)
        z = drawn(*code, load_torch().randn_like(code[0]))
        return self._negative_bound(net, x, code, z).mean()

    def _negative_bound(self, net: Any, x: Any, code: tuple[Any, Any], z: Any) -> Any:
        fit = reconstruction(x, net["decoder"](z), float(self.observation_variance))
        return kl_to_standard(*code) - fit

    def _forward(self, net: Any, x: Any) -> Any:
        return net["head"](coded(net["encoder"], x)[0])


class AVAERegressor(VAERegressor):
    """Autoencoding variational autoencoder, and a small network from its codes to the target.

    The code of what a code decodes to has to be that code again, up to the correlation `rho`. The
    published method is without labels and for images; the step from codes to the target is taken
    over from the plain autoencoder, so this is a reconstruction of what a study would run.

    Parameters
    ----------
    rho : float from 0 to below 1
        Correlation of the two codes under the prior.
    n_latent : int
        Length of a code.
    hidden, linear_decoder, observation_variance, head_size, head_max_iter
        As in :class:`VAERegressor`.
    max_iter, batch_size, learning_rate, device, progress, random_state
        As in :class:`VAERegressor`.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) @ [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    >>> y = np.where(np.arange(60) % 2 == 0, X[:, 1], np.nan)
    >>> model = AVAERegressor(max_iter=300, n_latent=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, X[:, 1]) > 0.5)
    True
    """

    paper_name: ClassVar[str] = "AVAE"
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"n_latent": (2, 8, 32), "rho": (0.8, 0.95)}

    def __init__(
        self,
        *,
        rho: float = 0.8,
        n_latent: int = 32,
        hidden: Sequence[int] = (100, 50, 50),
        linear_decoder: bool = False,
        observation_variance: float = 0.5,
        head_size: int = 20,
        head_max_iter: int = 1000,
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
        super().__init__(
            n_latent=n_latent,
            hidden=hidden,
            linear_decoder=linear_decoder,
            observation_variance=observation_variance,
            head_size=head_size,
            head_max_iter=head_max_iter,
            max_iter=max_iter,
            batch_size=batch_size,
            learning_rate=learning_rate,
            device=device,
            progress=progress,
            random_state=random_state,
            scale=scale,
            categorical=categorical,
            unlabeled=unlabeled,
        )
        self.rho = rho

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        if nonnegative("rho", self.rho) >= 1.0:
            raise InvalidInputError(f"rho={self.rho!r} must be below 1.")
        return super()._train(net, data)

    def _negative_bound(self, net: Any, x: Any, code: tuple[Any, Any], z: Any) -> Any:
        decoded = net["decoder"](z)
        fit = reconstruction(x, decoded, float(self.observation_variance))
        # The decoded row is data for the second code: the decoder must not make it easy.
        again = coded(net["encoder"], decoded.detach())
        return kl_to_standard(*code) - fit - self_consistency(code, again, float(self.rho))
