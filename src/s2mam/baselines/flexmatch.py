"""FlexMatch: pseudo-labels above a threshold that follows how well each class is learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from s2mam.baselines.deep.augment import read_augmentation
from s2mam.baselines.deep.base import DeepClassifier
from s2mam.baselines.deep.curriculum import Curriculum
from s2mam.baselines.deep.tensors import Batch, BatchStream, TableTensors
from s2mam.baselines.deep.trunk import build_net
from s2mam.exceptions import InvalidInputError
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog, TrainingPlan, train
from s2mam.training.parameters import nonnegative, positive, whole

__all__ = ["FlexMatchClassifier"]


class FlexMatchClassifier(DeepClassifier):
    """Consistency training with pseudo-labels and flexible thresholds.

    The class that the network sees in a weakly changed row is the label of the strongly changed
    one, if the network is sure enough. How sure it must be depends on the class: classes of which
    few rows are confidently known have lower thresholds.

    The method was made for images; weak and strong views of a row of a table are the choice of
    :class:`s2mam.baselines.deep.augment.TableAugmenter`. All thresholds start at zero, so that
    every guess of the untrained network would be learned: here training starts with `burn_in`
    steps on labelled rows alone. With two classes a threshold below one half does nothing.

    Parameters
    ----------
    threshold : float in (0, 1]
        Confidence that makes an assignment count, and the highest threshold of a class.
    unlabeled_weight : float
        Of the loss on unlabelled rows.
    warm_up : bool
        Whether rows not yet assigned hold the thresholds down.
    burn_in : int
        First steps, without unlabelled rows.
    hidden : sequence of int
        Widths of the hidden layers.
    max_iter : int
        Steps. There is no early stopping: a few labels cannot spare rows for validation.
    batch_size : int
        Labelled rows of a step; eight times their number at most.
    ratio : int
        Unlabelled rows per labelled row of a step.
    learning_rate, weight_decay : float
        Of AdamW; the rate falls along a cosine.
    average : float in [0, 1)
        Decay of the average of the weights that predicts.
    augmentation : TableAugmenter, optional
        Weak and strong views.
    device : {"cpu", "cuda", "auto"}
    progress : callable, optional
        Called as ``progress(step, steps, loss)``.
    random_state : int, RandomState instance or None
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
    >>> y[[0, 30]] = 0, 1
    >>> model = FlexMatchClassifier(max_iter=200, burn_in=50, random_state=0).fit(X, y)
    >>> model.score(X, np.repeat([0, 1], 30))
    1.0
    """

    paper_name: ClassVar[str] = "FlexMatch"

    def __init__(
        self,
        *,
        threshold: float = 0.95,
        unlabeled_weight: float = 1.0,
        warm_up: bool = True,
        burn_in: int = 500,
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
        self.threshold = threshold
        self.unlabeled_weight = unlabeled_weight
        self.warm_up = warm_up
        self.burn_in = burn_in
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
        return build_net(n_inputs, n_outputs, self.hidden)

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        torch = load_torch()
        functional = torch.nn.functional
        views = read_augmentation(self.augmentation).bind(data.x)
        stream = BatchStream(data, batch_size=self.batch_size, ratio=self.ratio)
        curriculum = make_curriculum(self.threshold, bool(self.warm_up), data, stream)
        burn_in = whole("burn_in", self.burn_in, least=0)
        weight = nonnegative("unlabeled_weight", self.unlabeled_weight)

        def loss(batch: Batch) -> Any:
            known = views.weak(batch.x)
            if batch.step <= burn_in:
                return functional.cross_entropy(net(known), batch.y)
            with torch.no_grad():
                guesses = net(views.weak(batch.u))
            labels, kept = pseudo_labels(guesses, batch.u_rows, curriculum)
            size = batch.y.numel()
            logits = net(torch.cat([known, views.strong(batch.u)]))
            supervised = functional.cross_entropy(logits[:size], batch.y)
            each = functional.cross_entropy(logits[size:], labels, reduction="none")
            # The mean is over all rows, not over those kept: few sure rows weigh little.
            return supervised + weight * (each * kept).mean()

        log = train(net, loss, self._plan(), draw=stream.draw)
        self.thresholds_ = curriculum.thresholds.cpu().numpy().astype(float)
        return log

    def _plan(self) -> TrainingPlan:
        return TrainingPlan(
            steps=self.max_iter,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            cosine=True,
            average=self.average,
            progress=self.progress,
        )

    def _forward(self, net: Any, x: Any) -> Any:
        return net(x)


def make_curriculum(
    threshold: Any, warm_up: bool, data: TableTensors, stream: BatchStream
) -> Curriculum:
    """Flexible thresholds over the unlabelled stream.

    Parameters
    ----------
    threshold : float
        The parameter of that name, checked here.
    warm_up : bool
    data : TableTensors
    stream : BatchStream
    """
    top = positive("threshold", threshold)
    if top > 1.0:
        raise InvalidInputError(f"threshold={threshold!r} must not be above 1.")
    size = stream.pool.numel()
    return Curriculum(data.x.shape[0], size, data.n_classes, top, warm_up, data.x)


def pseudo_labels(logits: Any, rows: Any, curriculum: Curriculum) -> tuple[Any, Any]:
    """Labels of weakly changed rows, and which are sure enough; the curriculum learns of them.

    Parameters
    ----------
    logits : (m, K) tensor
        Without gradients.
    rows : (m,) tensor
        Positions in the table.
    curriculum : Curriculum

    Returns
    -------
    labels : (m,) tensor of int64
    kept : (m,) tensor of bool
    """
    confidence, labels = logits.softmax(dim=1).max(dim=1)
    kept = curriculum.passes(confidence, labels)
    curriculum.update(rows, labels, confidence >= curriculum.top)
    return labels, kept
