"""SemiReward: a learned judge decides which pseudo-labels to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2mam.baselines.deep.augment import Views, read_augmentation
from s2mam.baselines.deep.base import DeepClassifier, DeepRegressor
from s2mam.baselines.deep.curriculum import Curriculum
from s2mam.baselines.deep.rewarded import Rewarded
from s2mam.baselines.deep.rewarder import Judging
from s2mam.baselines.deep.tensors import Batch, TableTensors
from s2mam.baselines.flexmatch import make_curriculum, pseudo_labels
from s2mam.training.backend import load_torch
from s2mam.training.loop import TrainingLog
from s2mam.training.parameters import choice, nonnegative, whole

__all__ = ["SemiRewardClassifier", "SemiRewardRegressor"]


class SemiRewardClassifier(Rewarded, DeepClassifier):
    """FlexMatch whose pseudo-labels must also please a learned rewarder.

    A rewarder learns, from labelled rows and labels of a generator, how well a label suits a row.
    From then on a pseudo-label counts only if its reward is not below the mean of its batch, and
    the rewarder goes on learning from those that passed. By default it is the mean of the labels
    of the same class: with a common mean, as published, all that passes is of the class that the
    rewarder likes better, and the network forgets the others (on two clouds with three labels each
    it then falls from 95 % to 70 %).

    This is what the article describes rather than what the public code does: there the generator
    gets no gradient (its labels are rounded), rewards are computed across the batch, and the best
    batches are never picked. Here class labels of the generator are Gumbel samples with straight
    gradients, a reward depends on its own row and label, and half of the labels that the rewarder
    learns from are random. The method was made for images; the views are those of
    :class:`s2mam.baselines.deep.augment.TableAugmenter`.

    Parameters
    ----------
    threshold, unlabeled_weight, warm_up, burn_in
        As in :class:`FlexMatchClassifier`.
    reward_mean : {"class", "batch"}
        What a reward is compared with.
    reward_start : float in [0, 1]
        Share of the steps in which the rewarder learns from labelled rows before it is used; not
        before `burn_in` steps.
    reward_every : int
        Later it learns in every so many steps.
    reward_rate : float
        Learning rate of rewarder and generator.
    width : int
        Of the rewarder.
    hidden, max_iter, batch_size, ratio, learning_rate, weight_decay, average
        As in :class:`FlexMatchClassifier`.
    augmentation, device, progress, random_state
        As in :class:`FlexMatchClassifier`.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMClassifier`.

    Attributes
    ----------
    thresholds_ : (n_classes,) array
        At the end of training.
    history_ : list of float
        Mean loss of every 50 steps, judges included.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[-3.0], [3.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.full(60, -1)
    >>> y[[0, 30]] = 0, 1
    >>> model = SemiRewardClassifier(max_iter=200, burn_in=50, random_state=0).fit(X, y)
    >>> model.score(X, np.repeat([0, 1], 30))
    1.0
    """

    def __init__(
        self,
        *,
        threshold: float = 0.95,
        unlabeled_weight: float = 1.0,
        warm_up: bool = True,
        burn_in: int = 500,
        reward_mean: str = "class",
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
        self.threshold = threshold
        self.unlabeled_weight = unlabeled_weight
        self.warm_up = warm_up
        self.burn_in = burn_in
        self.reward_mean = reward_mean
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

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        functional = load_torch().nn.functional
        stream = self._stream(data)
        views = read_augmentation(self.augmentation).bind(data.x)
        curriculum = make_curriculum(self.threshold, bool(self.warm_up), data, stream)
        burn_in = whole("burn_in", self.burn_in, least=0)
        weight = nonnegative("unlabeled_weight", self.unlabeled_weight)
        means = choice("reward_mean", self.reward_mean, ("class", "batch"))
        judging = self._judging(net, burn_in, numbers=False, by_class=means == "class")
        student = net["student"]

        def loss(batch: Batch) -> Any:
            features = student[0](views.weak(batch.x))
            known = functional.one_hot(batch.y, data.n_classes).to(features.dtype)
            total = functional.cross_entropy(student[1](features), batch.y)
            total = total + judging.first_stage(batch.step, features, known)
            if batch.step <= burn_in:
                return total
            labels, counted, judged = self._judged(net, views, batch, curriculum, judging)
            each = functional.cross_entropy(
                student(views.strong(batch.u)), labels, reduction="none"
            )
            return total + weight * (each * counted).mean() + judged

        log = self._run(net, stream, loss)
        self.thresholds_ = curriculum.thresholds.cpu().numpy().astype(float)
        return log

    def _judged(
        self, net: Any, views: Views, batch: Batch, curriculum: Curriculum, judging: Judging
    ) -> tuple[Any, Any, Any]:
        """Pseudo-labels, which count, and the loss of the judges on them."""
        torch, student = load_torch(), net["student"]
        with torch.no_grad():
            features = student[0](views.weak(batch.u))
            logits = student[1](features)
        labels, kept = pseudo_labels(logits, batch.u_rows, curriculum)
        codes = torch.nn.functional.one_hot(labels, logits.shape[1]).to(logits.dtype)
        passed, judged = judging.second_stage(batch.step, features, codes)
        return labels, kept * passed, judged


class SemiRewardRegressor(Rewarded, DeepRegressor):
    """Consistency training for numbers whose pseudo-labels must please a learned rewarder.

    The network's prediction for a row is the pseudo-label of its strongly changed view, with the
    absolute error as the loss, at a weight that rises over the first 40 % of the steps. The
    rewarder is that of :class:`SemiRewardClassifier`; the reward of a number should be
    exp(-distance to the true one), in standard deviations of the target, where the public code
    rounds targets to whole numbers from 0 to 99.

    Parameters
    ----------
    unlabeled_weight : float
        Of the loss on unlabelled rows.
    reward_start, reward_every, reward_rate, width
        As in :class:`SemiRewardClassifier`.
    hidden, max_iter, batch_size, ratio, learning_rate, weight_decay, average
        As in :class:`FlexMatchClassifier`.
    augmentation, device, progress, random_state
        As in :class:`FlexMatchClassifier`.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    history_ : list of float
        Mean loss of every 50 steps, judges included.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> y = np.where(np.arange(80) < 40, X[:, 0] + 5, np.nan)
    >>> model = SemiRewardRegressor(max_iter=300, random_state=0).fit(X, y)
    >>> bool(model.score(X, X[:, 0] + 5) > 0.9)
    True
    """

    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        torch = load_torch()
        stream = self._stream(data)
        views = read_augmentation(self.augmentation).bind(data.x)
        weight = nonnegative("unlabeled_weight", self.unlabeled_weight)
        judging = self._judging(net, 0, numbers=True)
        student, rise = net["student"], 0.4 * whole("max_iter", self.max_iter)

        def loss(batch: Batch) -> Any:
            features = student[0](views.weak(batch.x))
            total = (student[1](features)[:, 0] - batch.y).abs().mean()
            total = total + judging.first_stage(batch.step, features, batch.y[:, None])
            with torch.no_grad():
                plain = student[0](batch.u)
                labels = student[1](plain)
            passed, judged = judging.second_stage(batch.step, plain, labels)
            each = (student(views.strong(batch.u)) - labels).abs()[:, 0]
            ramp = weight * min(batch.step / rise, 1.0)
            return total + ramp * (each * passed).mean() + judged

        return self._run(net, stream, loss)
