"""The base model f_z: all columns, a group penalty and a graph, no masks."""

from __future__ import annotations

from typing import Any, Self

from threadpoolctl import threadpool_limits

from s2mam.bases import BASES
from s2mam.bilevel.lower import GraphSettings
from s2mam.estimators.base import AdditiveClassifier, AdditiveEstimator, AdditiveRegressor
from s2mam.estimators.callback_support import with_callbacks
from s2mam.estimators.constant import fit_constant, is_constant
from s2mam.estimators.described import describe_base
from s2mam.estimators.progress import FitWatch
from s2mam.estimators.rows import TrainingRows, read_rows
from s2mam.estimators.settings import require_choice, require_number
from s2mam.estimators.single import SingleSettings, fit_base
from s2mam.estimators.streamed import open_stream
from s2mam.graphs import GRAPH_KINDS
from s2mam.intake.forgetting import forget_learned
from s2mam.scale import current_options, is_streamed

__all__ = ["ManifoldAdditiveClassifier", "ManifoldAdditiveRegressor"]

SOLVERS = ("auto", "bcd", "admm")
GRAPHS = GRAPH_KINDS


class _ManifoldAdditive(AdditiveEstimator):
    """Constructor and fit of the base model."""

    def __init__(
        self,
        *,
        sparsity: float | str = "auto",
        manifold: float | str = "auto",
        bandwidth: float | str = "auto",
        basis: str = "kernel",
        graph: str = "auto",
        solver: str = "auto",
        scale: bool | str | None = True,
        categorical: Any = "auto",
        unlabeled: Any = "auto",
        verbose: int = 0,
    ) -> None:
        self.sparsity = sparsity
        self.manifold = manifold
        self.bandwidth = bandwidth
        self.basis = basis
        self.graph = graph
        self.solver = solver
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled
        self.verbose = verbose

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any, *, classification: bool) -> Self:
        watch = FitWatch(self, X, y, sample_weight)
        settings = self._settings()
        forget_learned(self, "_model")
        if is_streamed(X):
            return self._fit_stream(X, y, sample_weight, classification, settings, watch)
        rows = read_rows(
            self, X, y, sample_weight, classification=classification, scales=(self.scale,)
        )
        if not is_constant(rows):
            watch.say(describe_base(self, rows))
        watch.begin(0)
        self._learn(rows, settings, None)
        self.transduction_ = self.predict(X)
        watch.finish()
        return self

    def _fit_stream(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        classification: bool,
        settings: SingleSettings,
        watch: FitWatch,
    ) -> Self:
        """Fit on rows that are read block by block."""
        stream = open_stream(
            self,
            X,
            y,
            sample_weight,
            classification=classification,
            scales=(self.scale,),
            seed=0,
            n_labeled=current_options().held_rows,
        )
        rows = stream.rows
        constant = is_constant(rows)
        watch.say(stream.describe("the curves"))
        if not constant:
            watch.say(describe_base(self, rows, streamed=True))
        watch.begin(0)
        if rows.classes is not None:
            self.classes_ = rows.classes
        with threadpool_limits(limits=1, user_api="blas"):
            fitted = fit_constant(rows) if constant else stream.fit_base(settings, watch)
        self._publish(fitted, stream.survey.n_labeled)
        self.transduction_ = stream.predict(self, X)
        watch.finish()
        return self

    def _fit_rows(self, rows: TrainingRows, other: AdditiveEstimator) -> Self:
        """Fit on rows that another estimator has read, and on its selected columns alone."""
        for name in ("n_features_in_", "feature_names_in_", "target_name_", "basis"):
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))
        if self.basis == "neural":
            self.basis = "kernel"  # the base model has no networks
        self._learn(rows, self._settings(), other.support_)
        return self

    def _learn(self, rows: TrainingRows, settings: SingleSettings, mask: Any) -> None:
        if rows.classes is not None:
            self.classes_ = rows.classes
        with threadpool_limits(limits=1, user_api="blas"):
            fitted = fit_constant(rows) if is_constant(rows) else fit_base(rows, settings, mask)
        self._publish(fitted, rows.n_labeled)

    def _settings(self) -> SingleSettings:
        bandwidth = require_number("bandwidth", self.bandwidth, positive=True)
        return SingleSettings(
            budget=None,
            sparsity=require_number("sparsity", self.sparsity),
            manifold=require_number("manifold", self.manifold),
            graph=GraphSettings(
                kind=require_choice("graph", self.graph, GRAPHS),
                bandwidth="auto" if bandwidth is None else bandwidth,
            ),
            solver=require_choice("solver", self.solver, SOLVERS),
            basis=require_choice("basis", self.basis, BASES),
        )


class ManifoldAdditiveRegressor(_ManifoldAdditive, AdditiveRegressor):
    """Sparse additive regression on a graph over all rows (the base model f_z).

    Minimises the squared loss on labelled rows plus ``sparsity`` times the sum of the norms of the
    components plus ``manifold / n^2`` times the roughness f'Lf on the graph of all rows.

    Parameters
    ----------
    sparsity : float or "auto"
        lambda_1; "auto" takes the best of a grid by approximate leave-one-out.
    manifold : float or "auto"
        lambda_2; likewise, zero included.
    bandwidth : float or "auto"
        mu of the graph weights exp(-d^2 / mu^2); "auto" adapts to the distances.
    basis : {"kernel", "nystrom", "fourier", "auto"}
        How columns become features: the kernel's own ones, landmarks, or random Fourier features;
        "auto" chooses by size.
    graph : {"auto", "dense", "neighbors", "anchors", "nystrom", "fourier"}
        Kind of graph; "auto" chooses by size.
    solver : {"auto", "bcd", "admm"}
        "auto" is the fast one, "admm" the paper's.
    scale : bool or {"robust", "standard", "rank"}
        Scaling of the numeric columns; True is "robust".
    categorical : "auto", sequence or None
        Columns to treat as categories.
    unlabeled : "auto", marker or None
        What marks an unlabelled row in y; "auto" is a missing value, None says that all rows are
        labelled.
    verbose : int
        1 writes some lines to standard error: what "auto" stands for, the penalties that were
        chosen, seconds.

    Attributes
    ----------
    mask_probabilities_ : ndarray of shape (p,)
        1 for columns with a non-zero component, else 0.
    support_ : ndarray of bool, shape (p,)
        The same as a mask.
    intercept_ : float
        Mean prediction over the training rows.
    transduction_ : ndarray of shape (n,)
        Predictions of the training rows.
    chosen_ : dict
        Penalties that were used, and the duality gap.
    history_ : dict of lists
        Objective along the solver.
    stop_reason_ : str
        Why the solver stopped.

    Examples
    --------
    >>> from s2mam.datasets import hide_labels, make_friedman
    >>> data = make_friedman(n_uninformative=3, n_noisy=2, random_state=0)
    >>> y = hide_labels(data.y, n_labeled=60, random_state=0)
    >>> model = ManifoldAdditiveRegressor().fit(data.X, y)
    >>> bool(model.score(data.X, data.y) > 0.6)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, p)
            All rows, labelled and unlabelled. A path, a Dask collection, a tensor or a source of
            :mod:`s2mam.scale` is read block by block, and so are more than 50,000 rows; y may then
            be the name of a column.
        y : array-like of shape (n,)
            Numbers; missing where unlabelled.
        sample_weight : array-like of shape (n,), optional
            Weights of the labelled rows; those of unlabelled rows are ignored.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, classification=False)


class ManifoldAdditiveClassifier(_ManifoldAdditive, AdditiveClassifier):
    """Sparse additive classification on a graph over all rows (the base model f_z).

    Logistic loss for two classes, multinomial for more, with groups shared over the classes.

    Parameters
    ----------
    sparsity : float or "auto"
        lambda_1; "auto" takes the best of a grid by approximate leave-one-out.
    manifold : float or "auto"
        lambda_2; likewise, zero included.
    bandwidth : float or "auto"
        mu of the graph weights exp(-d^2 / mu^2); "auto" adapts to the distances.
    basis : {"kernel", "nystrom", "fourier", "auto"}
        How columns become features: the kernel's own ones, landmarks, or random Fourier features;
        "auto" chooses by size.
    graph : {"auto", "dense", "neighbors", "anchors", "nystrom", "fourier"}
        Kind of graph; "auto" chooses by size.
    solver : {"auto", "bcd", "admm"}
        "auto" is the fast one, "admm" the paper's.
    scale : bool or {"robust", "standard", "rank"}
        Scaling of the numeric columns; True is "robust".
    categorical : "auto", sequence or None
        Columns to treat as categories.
    unlabeled : "auto", marker or None
        What marks an unlabelled row in y; "auto" is a missing value or, for numbers, -1;
        None says that all rows are labelled.
    verbose : int
        1 writes some lines to standard error: what "auto" stands for, the penalties that were
        chosen, seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    mask_probabilities_ : ndarray of shape (p,)
        1 for columns with a non-zero component, else 0.
    support_ : ndarray of bool, shape (p,)
        The same as a mask.
    intercept_ : float or ndarray of shape (n_classes,)
        Mean decision over the training rows.
    transduction_ : ndarray of shape (n,)
        Classes of the training rows.
    chosen_ : dict
        Penalties that were used, and the duality gap.
    history_ : dict of lists
        Objective along the solver.
    stop_reason_ : str
        Why the solver stopped.

    Examples
    --------
    >>> from s2mam.datasets import hide_labels, make_moons
    >>> data = make_moons(n_uninformative=0, n_noisy=0, random_state=0)
    >>> y = hide_labels(data.y, per_class=8, random_state=0)
    >>> model = ManifoldAdditiveClassifier().fit(data.X, y)
    >>> bool(model.score(data.X, data.y) > 0.85)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or dataframe of shape (n, p)
            All rows, labelled and unlabelled. A path, a Dask collection, a tensor or a source of
            :mod:`s2mam.scale` is read block by block, and so are more than 50,000 rows; y may then
            be the name of a column.
        y : array-like of shape (n,)
            Classes; -1 or missing where unlabelled.
        sample_weight : array-like of shape (n,), optional
            Weights of the labelled rows; those of unlabelled rows are ignored.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, classification=True)
