"""PLF (SimRegMatch): pseudo-labels for numbers, mended by similar labelled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from s2mam.baselines.deep.augment import Views, read_augmentation
from s2mam.baselines.deep.base import DeepRegressor
from s2mam.baselines.deep.tensors import Batch, BatchStream, TableTensors
from s2mam.baselines.deep.trunk import build_trunk, read_hidden
from s2mam.exceptions import InvalidInputError
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan, train
from s2mam.training.parameters import nonnegative, positive, whole

__all__ = ["PLFRegressor"]

# Up to so many labels all of them can be similar to a row; beyond, those of the batch.
_LARGEST_BANK = 512
# Standardised targets: everything is certain enough in the first step.
_FIRST_THRESHOLD = 10.0


class PLFRegressor(DeepRegressor):
    """Pseudo-labels from passes with dropout, mixed with labels of similar rows (SimRegMatch).

    In every step the network guesses unlabelled rows several times with dropout on. The mean of
    the guesses is mixed with the labels of the labelled rows whose features are most similar, and
    a strongly changed view of the row has to reach the mixture, where the guesses agree well
    enough: their variance is at most the given percentile of the step before.

    The published defaults differ in two places that leave almost nothing of the method: the
    percentile was on a scale to 1 where 100 was meant, and a temperature of 1 makes all labelled
    rows about equally similar.

    Parameters
    ----------
    n_passes : int
        Guesses per row.
    dropout : float from 0 to below 1
    beta : float in [0, 1]
        Share of the guesses in a pseudo-label; the rest is that of similar rows.
    temperature : float
        Of the similarity, a cosine; smaller means fewer rows count.
    percentile : float in [0, 100]
    unlabeled_weight : float
        Weight of the loss on pseudo-labels.
    hidden : sequence of int
        Widths of the network.
    max_iter : int
        Steps; there is no early stop.
    batch_size, ratio : int
        Labelled rows of a step, and unlabelled rows per labelled one.
    learning_rate : float
    augmentation : TableAugmenter, optional
        How rows are changed.
    device : {"cpu", "cuda", "auto"}
    progress : callable, optional
        Called as ``progress(step, steps, loss)``.
    random_state : int, RandomState instance or None
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    kept_share_ : float
        Share of pseudo-labels that were used, over all steps.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y = np.where(np.arange(60) % 2 == 0, X[:, 1], np.nan)
    >>> model = PLFRegressor(max_iter=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, X[:, 1]) > 0.5)
    True
    """

    paper_name: ClassVar[str] = "PLF"
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "unlabeled_weight": (0.01, 0.1, 1.0),
        "beta": (0.3, 0.6),
    }

    def __init__(
        self,
        *,
        n_passes: int = 5,
        dropout: float = 0.1,
        beta: float = 0.6,
        temperature: float = 0.1,
        percentile: float = 95.0,
        unlabeled_weight: float = 0.01,
        hidden: Sequence[int] = (100, 50, 50),
        max_iter: int = 2000,
        batch_size: int = 32,
        ratio: int = 4,
        learning_rate: float = 1e-3,
        augmentation: Any = None,
        device: str = "cpu",
        progress: Any = None,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.n_passes = n_passes
        self.dropout = dropout
        self.beta = beta
        self.temperature = temperature
        self.percentile = percentile
        self.unlabeled_weight = unlabeled_weight
        self.hidden = hidden
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.ratio = ratio
        self.learning_rate = learning_rate
        self.augmentation = augmentation
        self.device = device
        self.progress = progress
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _build(self, n_inputs: int, n_outputs: int) -> Any:
        hidden = read_hidden(self.hidden)
        dropout = _share("dropout", self.dropout, 1.0)
        if dropout == 1.0:
            raise InvalidInputError(f"dropout={self.dropout!r} must be below 1.")
        nn = load_torch().nn
        trunk = build_trunk(n_inputs, hidden, dropout=dropout)
        return nn.ModuleDict({"trunk": trunk, "head": nn.Linear(hidden[-1], n_outputs)})

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        weight = nonnegative("unlabeled_weight", self.unlabeled_weight)
        views = read_augmentation(self.augmentation).bind(data.x)
        gate = CertaintyGate(_share("percentile", self.percentile, 100.0))
        stream = BatchStream(data, batch_size=self.batch_size, ratio=self.ratio)
        labeler = self._labeler(net, data, views)

        def loss(batch: Batch) -> Any:
            supervised = ((_guess(net, batch.x)[0] - batch.y) ** 2).mean()
            if weight == 0.0:
                return supervised
            targets, variances = labeler(batch)
            kept = gate.keep(variances)
            errors = (_guess(net, views.strong(batch.u))[0] - targets) ** 2
            return supervised + weight * (errors * kept).sum() / kept.sum().clamp(min=1.0)

        plan = TrainingPlan(
            steps=self.max_iter, learning_rate=self.learning_rate, progress=self.progress
        )
        log = train(net, loss, plan, draw=stream.draw)
        self.kept_share_ = gate.share
        return log

    def _labeler(self, net: Any, data: TableTensors, views: Views) -> Any:
        """Function from a batch to pseudo-labels of its unlabelled rows and their variances."""
        torch = load_torch()
        passes = whole("n_passes", self.n_passes, least=2)
        beta = _share("beta", self.beta, 1.0)
        temperature = positive("temperature", self.temperature)
        all_labels = data.y.numel() <= _LARGEST_BANK

        def label(batch: Batch) -> tuple[Any, Any]:
            rows, values = (data.x_labeled, data.y) if all_labels else (batch.x, batch.y)
            with torch.no_grad():
                x = torch.cat([views.weak(batch.u), rows])
                guesses, features = _guess(net, x.repeat(passes, 1))
                split = batch.u.shape[0]
                guesses = guesses.reshape(passes, -1)[:, :split]
                features = features.reshape(passes, x.shape[0], -1).mean(0)
                similar = similar_labels(features[:split], features[split:], values, temperature)
                return mixed_labels(guesses.mean(0), similar, beta), guesses.var(0)

        return label

    def _forward(self, net: Any, x: Any) -> Any:
        return net["head"](net["trunk"](x))


class CertaintyGate:
    """Keeps rows whose variance is at most a percentile of the step before.

    Parameters
    ----------
    percentile : float
        From 0 to 100.
    """

    def __init__(self, percentile: float) -> None:
        self.quantile = percentile / 100.0
        self.threshold: Any = _FIRST_THRESHOLD
        self._shares: list[Any] = []

    def keep(self, variances: Any) -> Any:
        """(m,) ones where a row is kept, else zeros; sets the threshold of the next step."""
        # "At most": where all variances are equal, as without dropout, all rows are kept.
        kept = (variances <= self.threshold).to(variances.dtype)
        self.threshold = variances.quantile(self.quantile)
        self._shares.append(kept.mean())
        return kept

    @property
    def share(self) -> float:
        """Share of all rows so far that were kept."""
        return sum(float(share) for share in self._shares) / max(len(self._shares), 1)


def similar_labels(features: Any, bank: Any, values: Any, temperature: float) -> Any:
    """(m,) means of the bank's values, weighted by the softmax of the cosines of features."""
    normalize = load_torch().nn.functional.normalize
    cosines = normalize(features, dim=1) @ normalize(bank, dim=1).T
    return (cosines / temperature).softmax(dim=1) @ values


def mixed_labels(guesses: Any, similar: Any, beta: float) -> Any:
    """Pseudo-labels: `beta` of the network's guess, the rest from similar rows."""
    return beta * guesses + (1.0 - beta) * similar


def _guess(net: Any, x: Any) -> tuple[Any, Any]:
    """(m,) predictions and (m, d) features before the last layer."""
    features = net["trunk"](x)
    return net["head"](features)[:, 0], features


def _share(name: str, value: Any, whole_: float) -> float:
    if nonnegative(name, value) > whole_:
        raise InvalidInputError(f"{name}={value!r} must be from 0 to {whole_:g}.")
    return float(value)
