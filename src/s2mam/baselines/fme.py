"""f-FME and r-FME: labels smooth over an anchor graph and nearly linear in the columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from s2mam._typing import FloatArray
from s2mam.baselines.base import Baseline, BaselineClassifier, BaselineRegressor
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.anchors import anchor_graph, choose_anchors
from s2mam.baselines.shared.coding import code_targets
from s2mam.baselines.shared.flexible_embedding import (
    Embedding,
    fast_embedding,
    reduced_embedding,
)
from s2mam.baselines.shared.parameters import positive, whole

__all__ = ["FFMEClassifier", "FFMERegressor", "RFMEClassifier", "RFMERegressor"]

# More anchors than this make the methods slow without making them better.
_MOST_ANCHORS = 500


class _FME(Baseline):
    """What the four classes share; the embedding is what differs."""

    #: Weight of the labels when the user gives none.
    _usual_weight: ClassVar[float] = 1e9
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "mu": (1e-4, 1e-3, 1e-2, 1e-1),
        "gamma": (1e-2, 1e-1, 1.0, 1e1),
    }

    def __init__(
        self,
        *,
        mu: float = 1e-3,
        gamma: float = 1.0,
        label_weight: float | None = None,
        n_anchors: int | None = None,
        n_nearest: int = 3,
        weights: str = "lae",
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.mu = mu
        self.gamma = gamma
        self.label_weight = label_weight
        self.n_anchors = n_anchors
        self.n_nearest = n_nearest
        self.weights = weights
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled
        self.random_state = random_state

    @abstractmethod
    def _embed(
        self, rows: BaselineRows, anchors: FloatArray, graph: FloatArray, targets: FloatArray
    ) -> Embedding:
        """Soft labels of the rows and their linear map."""

    def _penalties(self) -> dict[str, float]:
        weight = self._usual_weight if self.label_weight is None else self.label_weight
        values = {"mu": self.mu, "gamma": self.gamma, "label_weight": weight}
        return {name: positive(name, value) for name, value in values.items()}

    def _learn(self, rows: BaselineRows) -> None:
        self._penalties()
        wanted = min(max(rows.n // 2, 1), _MOST_ANCHORS)
        if self.n_anchors is not None:
            wanted = whole("n_anchors", self.n_anchors)
        nearest = whole("n_nearest", self.n_nearest)
        self.anchors_ = choose_anchors(rows.table, wanted, self.random_state)
        graph = anchor_graph(rows.table, self.anchors_, s=nearest, weights=self.weights)
        self._coding = code_targets(rows)
        found = self._embed(rows, self.anchors_, graph, self._coding.matrix)
        self.soft_labels_, self.coef_, self.intercept_ = found.labels, found.map, found.shift

    def _training_scores(self, rows: BaselineRows) -> FloatArray:
        return self._coding.scores(self.soft_labels_)

    def _scores(self, table: FloatArray) -> FloatArray:
        return self._coding.scores(table @ self.coef_ + self.intercept_)


class _FMEClassifier(_FME, BaselineClassifier):
    """Adds the balance of the classes to the soft labels."""

    def __init__(
        self,
        *,
        mu: float = 1e-3,
        gamma: float = 1.0,
        label_weight: float | None = None,
        n_anchors: int | None = None,
        n_nearest: int = 3,
        weights: str = "lae",
        normalize_classes: bool = True,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            mu=mu,
            gamma=gamma,
            label_weight=label_weight,
            n_anchors=n_anchors,
            n_nearest=n_nearest,
            weights=weights,
            scale=scale,
            categorical=categorical,
            unlabeled=unlabeled,
            random_state=random_state,
        )
        self.normalize_classes = normalize_classes

    def _training_scores(self, rows: BaselineRows) -> FloatArray:
        labels = self.soft_labels_
        masses = labels.sum(axis=0)
        # Soft labels can be negative; without a positive mass there is no share to speak of.
        if self.normalize_classes and masses.min() > 0:
            labels = labels / masses
        return self._coding.scores(labels)


class _Fast(_FME):
    paper_name: ClassVar[str] = "f-FME"

    def _embed(
        self, rows: BaselineRows, anchors: FloatArray, graph: FloatArray, targets: FloatArray
    ) -> Embedding:
        return fast_embedding(rows.table, graph, rows.labeled, targets, **self._penalties())


class _Reduced(_FME):
    paper_name: ClassVar[str] = "r-FME"
    # Soft labels live on anchors: with as many labels as anchors, keeping every label exactly would
    # leave nothing to smooth.
    _usual_weight: ClassVar[float] = 10.0

    def _embed(
        self, rows: BaselineRows, anchors: FloatArray, graph: FloatArray, targets: FloatArray
    ) -> Embedding:
        return reduced_embedding(anchors, graph, rows.labeled, targets, **self._penalties())


class FFMERegressor(_Fast, BaselineRegressor):
    """Fast flexible manifold embedding (Qiu and others, 2019) on one column of numbers.

    Minimises ``tr F'LF + sum_labelled label_weight (F_i - y_i)^2 + mu (||XW + 1b' - F||^2 + gamma
    ||W||^2)``, L the Laplacian of an anchor graph; closed form, linear in the rows. Rows of the
    fit take F (`transduction_`), new rows the linear map ``W'x + b``. The paper is about classes;
    numbers are standardised and used as its one label column.

    Parameters
    ----------
    mu : float
        Weight of the linear fit; positive.
    gamma : float
        Ridge penalty of the linear map; positive.
    label_weight : float, optional
        Weight of the labels; a large one keeps them. 1e9 for f-FME, 10 for r-FME when not given.
    n_anchors : int, optional
        Anchors by k-means; half of the rows, at most 500, when not given.
    n_nearest : int
        Anchors of each row.
    weights : {"lae", "gaussian"}
        Weights on the anchors: local reconstruction or Gaussian.
    scale, categorical, unlabeled
        As in the estimators of this package.
    random_state : int, RandomState or None
        Seed of the clustering.

    Attributes
    ----------
    soft_labels_ : ndarray of shape (n, c)
        F, for numbers in standard units.
    coef_ : ndarray of shape (q, c)
        Linear map W of the encoded columns.
    intercept_ : ndarray of shape (c,)
        b.
    anchors_ : ndarray of shape (m, q)
        Anchors.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 1.0, 21)[:, None]
    >>> y = np.where(np.arange(21) % 5 == 0, X[:, 0], np.nan)
    >>> model = FFMERegressor(random_state=0).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.5) < 0.1)
    True
    """


class FFMEClassifier(_Fast, _FMEClassifier):
    """Fast flexible manifold embedding (Qiu and others, 2019), one label column per class.

    Parameters and attributes are those of :class:`FFMERegressor`, and `normalize_classes`: divide
    the soft labels of each class by their sum before rows of the fit take the largest. New rows
    are classified by the linear map, so that `predict` and `transduction_` can differ. The model
    has no penalty that selects columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.linspace(0, 1, 10), np.linspace(3, 4, 10)][:, None]
    >>> y = np.r_[0, [-1] * 9, 1, [-1] * 9]
    >>> FFMEClassifier(random_state=0).fit(X, y).predict([[1.0], [3.5]])
    array([0, 1])
    """


class RFMERegressor(_Reduced, BaselineRegressor):
    """Reduced flexible manifold embedding: unknown labels on the anchors, one column of numbers.

    As :class:`FFMERegressor`, but the soft labels Q belong to the anchors Z, with the Laplacian
    ``I - S^-1/2 B'B S^-1/2``; rows of the fit take ``F = BQ`` and the linear map is that of the
    anchors.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 1.0, 21)[:, None]
    >>> y = np.where(np.arange(21) % 5 == 0, X[:, 0], np.nan)
    >>> model = RFMERegressor(random_state=0).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.5) < 0.1)
    True
    """


class RFMEClassifier(_Reduced, _FMEClassifier):
    """Reduced flexible manifold embedding, one label column per class.

    As :class:`FFMEClassifier` with the unknowns of :class:`RFMERegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.linspace(0, 1, 10), np.linspace(3, 4, 10)][:, None]
    >>> y = np.r_[0, [-1] * 9, 1, [-1] * 9]
    >>> RFMEClassifier(random_state=0).fit(X, y).predict([[1.0], [3.5]])
    array([0, 1])
    """
