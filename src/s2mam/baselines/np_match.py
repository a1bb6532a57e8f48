"""SSNP: NP-Match, pseudo-labels from a neural process that says how unsure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from s2mam._typing import AnyArray
from s2mam.baselines.deep.augment import Views, read_augmentation
from s2mam.baselines.deep.base import DeepClassifier
from s2mam.baselines.deep.curriculum import Curriculum
from s2mam.baselines.deep.neural_process import (
    RowMemory,
    build_process,
    decode,
    latent_of,
    predictive,
    represent,
    skew_divergence,
)
from s2mam.baselines.deep.tensors import Batch, BatchStream, TableTensors
from s2mam.baselines.deep.trunk import read_hidden
from s2mam.baselines.flexmatch import make_curriculum
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan, train
from s2mam.training.parameters import nonnegative, whole

__all__ = ["NPMatchClassifier"]


class NPMatchClassifier(DeepClassifier):
    """Semi-supervised neural process: pseudo-labels that pass a test of their uncertainty.

    A neural process scores rows given the labelled ones and a random vector; several draws of the
    vector show how unsure it is. A weakly changed row whose averaged prediction is confident (by
    the flexible thresholds of FlexMatch) and of low entropy labels the strongly changed one. The
    vector's distributions given labelled and given pseudo-labelled rows are drawn together, each
    with a weight by the entropy of its predictions.

    The method was made for images; the views are those of
    :class:`s2mam.baselines.deep.augment.TableAugmenter`, the network is small, and training starts
    with `burn_in` steps on labelled rows alone (see :class:`FlexMatchClassifier`). The memory of
    deterministic representations takes the labelled rows of a step once, not twice.

    Parameters
    ----------
    threshold : float in (0, 1]
        As in FlexMatch.
    max_entropy : float
        Largest entropy of a pseudo-label, in nats. With two classes 0.4 means a confidence of
        about 0.86.
    align : bool
        Divide predictions by their mean over the batch, which favours rare classes. It assumes
        classes of about equal size.
    unlabeled_weight, divergence_weight : float
        Of the loss on pseudo-labelled rows and of the divergence.
    n_draws : int
        Draws of the random vector.
    width : int
        Size of that vector and of the representations.
    memory : int
        Representations remembered, which stand for the labelled rows in prediction.
    warm_up, burn_in, hidden, max_iter, ratio, learning_rate, weight_decay, average
        As in :class:`FlexMatchClassifier`.
    batch_size : int
        Labelled rows of a step; their number at most.
    clip : float
        Largest norm of the gradient.
    augmentation, device, progress, random_state
        As in :class:`FlexMatchClassifier`.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMClassifier`.

    Attributes
    ----------
    thresholds_ : (n_classes,) array
        At the end of training.
    history_ : list of float
        Mean loss of every 50 steps.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[-3.0], [3.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.full(60, -1)
    >>> y[[0, 1, 30, 31]] = 0, 0, 1, 1
    >>> model = NPMatchClassifier(max_iter=200, burn_in=50, random_state=0).fit(X, y)
    >>> model.score(X, np.repeat([0, 1], 30))
    1.0
    """

    paper_name: ClassVar[str] = "SSNP"
    #: What predictions need beside the weights.
    _context: dict[str, AnyArray]

    def __init__(
        self,
        *,
        threshold: float = 0.95,
        max_entropy: float = 0.4,
        align: bool = True,
        unlabeled_weight: float = 1.0,
        divergence_weight: float = 0.01,
        n_draws: int = 10,
        width: int = 12,
        memory: int = 256,
        warm_up: bool = True,
        burn_in: int = 500,
        hidden: Sequence[int] = (100, 50, 50),
        max_iter: int = 3000,
        batch_size: int = 64,
        ratio: int = 7,
        learning_rate: float = 1e-3,
        weight_decay: float = 5e-4,
        average: float = 0.999,
        clip: float = 3.0,
        augmentation: Any = None,
        device: str = "cpu",
        progress: Any = None,
        random_state: Any = None,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.threshold = threshold
        self.max_entropy = max_entropy
        self.align = align
        self.unlabeled_weight = unlabeled_weight
        self.divergence_weight = divergence_weight
        self.n_draws = n_draws
        self.width = width
        self.memory = memory
        self.warm_up = warm_up
        self.burn_in = burn_in
        self.hidden = hidden
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.ratio = ratio
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.average = average
        self.clip = clip
        self.augmentation = augmentation
        self.device = device
        self.progress = progress
        self.random_state = random_state
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _build(self, n_inputs: int, n_outputs: int) -> Any:
        width = whole("width", self.width)
        return build_process(n_inputs, n_outputs, read_hidden(self.hidden), width)

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        size = min(whole("batch_size", self.batch_size), data.y.numel())
        stream = BatchStream(data, batch_size=size, ratio=self.ratio)
        curriculum = make_curriculum(self.threshold, bool(self.warm_up), data, stream)
        matching = _Matching(
            self, net, read_augmentation(self.augmentation).bind(data.x), curriculum, data
        )
        plan = TrainingPlan(
            steps=self.max_iter,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            cosine=True,
            clip=self.clip,
            average=self.average,
            progress=self.progress,
        )
        log = train(net, matching.loss, plan, draw=stream.draw)
        self.thresholds_ = curriculum.thresholds.cpu().numpy().astype(float)
        # The draws of predictions are made once, so that a row has one answer.
        kept = {
            "latent": matching.latent.rows,
            "summary": matching.deterministic.mean,
            "noise": matching.noise(),
        }
        self._context = {name: value.cpu().numpy() for name, value in kept.items()}
        return log

    def _forward(self, net: Any, x: Any) -> Any:
        torch = load_torch()
        context = {k: torch.as_tensor(v, dtype=x.dtype) for k, v in self._context.items()}
        latent = latent_of(net, context["latent"])
        features = net["trunk"](x)
        return decode(net, latent, context["noise"], features, context["summary"]).mean(dim=0)


class _Matching:
    """The loss of a step, and the memories that live through the steps."""

    def __init__(
        self,
        owner: NPMatchClassifier,
        net: Any,
        views: Views,
        curriculum: Curriculum,
        data: TableTensors,
    ) -> None:
        self.net, self.views, self.curriculum = net, views, curriculum
        self.align, self.n_classes = bool(owner.align), data.n_classes
        self.burn_in = whole("burn_in", owner.burn_in, least=0)
        self.max_entropy = nonnegative("max_entropy", owner.max_entropy)
        self.unlabeled_weight = nonnegative("unlabeled_weight", owner.unlabeled_weight)
        self.divergence_weight = nonnegative("divergence_weight", owner.divergence_weight)
        self.shape = (whole("n_draws", owner.n_draws), owner.width)
        size, width = whole("memory", owner.memory), owner.width
        self.latent = RowMemory(size, width, data.x)
        self.deterministic = RowMemory(size, width, data.x)
        self.like = data.x

    def noise(self) -> Any:
        """(T, r) normal draws."""
        return load_torch().randn(self.shape, device=self.like.device, dtype=self.like.dtype)

    def loss(self, batch: Batch) -> Any:
        if batch.step > self.burn_in:
            labels, kept = self._pseudo_labels(batch)
        net, known = self.net, self._one_hot(batch.y)
        features = net["trunk"](self.views.weak(batch.x))
        context = represent(net, "latent", features, known)
        facts = represent(net, "deterministic", features, known)
        latent, summary = latent_of(net, context), facts.mean(dim=0)
        scores = decode(net, latent, self.noise(), features, summary)
        self.latent.append(context)
        self.deterministic.append(facts)
        total = _cross_entropy(scores, batch.y)
        if batch.step <= self.burn_in or not bool(kept.any()):
            return total
        labels = labels[kept]
        strong = net["trunk"](self.views.strong(batch.u[kept]))
        guessed = represent(net, "latent", strong, self._one_hot(labels))
        other = latent_of(net, guessed)
        guesses = decode(net, other, self.noise(), strong, summary)
        self.latent.append(guessed)
        skew = _skew(scores.detach(), guesses.detach())
        total = total + self.unlabeled_weight * _cross_entropy(guesses, labels)
        return total + self.divergence_weight * skew_divergence(latent, other, skew)

    def _pseudo_labels(self, batch: Batch) -> tuple[Any, Any]:
        """Labels of the batch's unlabelled rows by the memories, and which to learn from."""
        with load_torch().no_grad():
            latent = latent_of(self.net, self.latent.rows)
            features = self.net["trunk"](self.views.weak(batch.u))
            scores = decode(self.net, latent, self.noise(), features, self.deterministic.mean)
            probabilities, entropy = predictive(scores)
            if self.align:
                probabilities = aligned(probabilities)
            confidence, labels = probabilities.max(dim=1)
            sure = entropy <= self.max_entropy
            kept = self.curriculum.passes(confidence, labels) & sure
            confident = (confidence >= self.curriculum.top) & sure
            self.curriculum.update(batch.u_rows, labels, confident)
        return labels, kept

    def _one_hot(self, labels: Any) -> Any:
        one_hot = load_torch().nn.functional.one_hot(labels, self.n_classes)
        return one_hot.to(self.like.dtype)


def aligned(probabilities: Any) -> Any:
    """Rows (m, K) divided by their mean over the batch, and made to sum to one again.

    Examples
    --------
    >>> import torch
    >>> aligned(torch.tensor([[0.9, 0.1], [0.9, 0.1]]))
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    tiny = load_torch().finfo(probabilities.dtype).tiny
    ratios = probabilities / probabilities.mean(dim=0).clamp_min(tiny)
    return ratios / ratios.sum(dim=1, keepdim=True).clamp_min(tiny)


def _cross_entropy(scores: Any, labels: Any) -> Any:
    """Mean over draws and rows of (T, m, K) scores."""
    cross_entropy = load_torch().nn.functional.cross_entropy
    return cross_entropy(scores.flatten(0, 1), labels.repeat(scores.shape[0]))


def _skew(context: Any, target: Any) -> Any:
    """Share of the uncertainty that the context has: the surer side counts for more."""
    first, second = (predictive(scores)[1].mean() for scores in (context, target))
    tiny = load_torch().finfo(first.dtype).tiny
    return first / (first + second).clamp_min(tiny)
