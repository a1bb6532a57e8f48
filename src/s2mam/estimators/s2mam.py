"""The estimators with learned masks."""

from __future__ import annotations

from typing import Any, Self

from s2mam.estimators.base import AdditiveClassifier, AdditiveRegressor
from s2mam.estimators.masked import MaskedEstimator

__all__ = ["S2MAMClassifier", "S2MAMRegressor"]


class S2MAMRegressor(MaskedEstimator, AdditiveRegressor):
    """Semi-supervised additive regression that finds the columns that matter.

    By default many masks are averaged: hard masks by their posterior probability, relevance weights
    that keep all columns lightly, on smooth and on rough curves, one curve for all columns, and
    functions spread along graphs over all rows, each weighted by how well it predicts labels it did
    not see. The average of additive models is additive.

    Parameters
    ----------
    n_features_to_select : int, float or "auto"
        Number C of columns, or share of them; "auto" leaves it to the data.
    sparsity, manifold : float or "auto"
        lambda_1 and lambda_2 of the lower level. The default learner has no lambda_1, and its
        graph is switched off by ``manifold=0``; any other value leaves the weight to the data.
    bandwidth : float or "auto"
        mu of the graph weights exp(-d^2 / mu^2).
    basis : {"kernel", "nystrom", "fourier", "neural", "auto"}
        How columns become features: the kernel's own ones, a fixed number of landmarks, or the
        paper's random Fourier features (S2MAM-F); "auto" takes landmarks above 20,000 rows.
        "neural" is one small network per column; its fit needs torch and ends with one mask, by
        default of ``mask_learner="relaxed"``, judged by the evidence of the untrained networks
        (``criterion="loo"``: by held-out labels).
    graph : {"auto", "dense", "neighbors", "anchors", "nystrom", "fourier"}
        Kind of graph; "auto" chooses by size.
    mask_learner : {"auto", "posterior", "relaxed", "rloo", "reinforce"}
        "posterior" (the default) averages over masks; the others end with one mask: "relaxed"
        descends with exact gradients at the expected mask and swaps pairs, "rloo" draws several
        masks with a leave-one-out baseline, "reinforce" is the paper's single draw.
    criterion : {"auto", "labeled", "loo", "evidence"}
        Upper level of the learners that end with one mask.
    n_masks, max_iter, step_size : "auto" or number
        Draws per iteration, iterations (jumps of the mask sampler), and step.
    solver : {"auto", "bcd", "admm"}
        Solver of the lower level.
    literal : bool
        The paper's model to the letter; part of ``PAPER``.
    scale : bool or {"robust", "standard", "rank"}
        Scaling of the numeric columns; True is "robust". The default learner uses ranks beside it.
    categorical : "auto", sequence or None
        Columns to treat as categories.
    unlabeled : "auto", marker or None
        What marks an unlabelled row in y; "auto" is a missing value, None says that all rows are
        labelled.
    random_state : int, RandomState or None
        Seed of all draws.
    n_jobs : int or None
        Folds fitted side by side; the result does not depend on it.
    verbose : int
        1 writes about twenty lines of progress to standard error: what "auto" stands for, units
        done, seconds; 2 writes a line per unit.
    callbacks : sequence of callables, optional
        Called after each unit of work with a dict: ``estimator``, ``stage``, ``done``, ``total``
        (None where nobody knows), ``seconds``, and for policy gradients ``iteration``,
        ``probabilities`` and ``criterion``. One that returns True stops the fit; see Notes.
        scikit-learn's callbacks (``ProgressBar()``, say) go to ``set_callbacks``, from scikit-learn
        1.9 on.
    checkpoint : path, optional
        File in which finished work is kept; a fit that was killed, stopped or interrupted goes on
        from there, with the same parameters and data, to the same bits.
    time_limit : float, optional
        Seconds after which the fit stops as soon as the running unit is finished; see Notes.
    on_interrupt : {"raise", "keep"}
        What a KeyboardInterrupt (Ctrl-C) does: "raise" lets it through, "keep" ends the fit with
        what is done, where that makes a model, and lets it through elsewhere.

    Attributes
    ----------
    mask_probabilities_ : ndarray of shape (p,)
        Probability that each column is in the model.
    support_ : ndarray of bool, shape (p,)
        Columns with probability above one half, or the C most probable ones.
    intercept_ : float
        Mean prediction over the training rows.
    transduction_ : ndarray of shape (n,)
        Predictions of the training rows, labelled ones included.
    history_ : dict of lists
        Criterion and budget per iteration, and more for policy gradients.
    stop_reason_ : str
        Why the learner stopped: "callback", "time_limit" and "interrupted" say that it was before
        its end.
    chosen_ : dict
        What was chosen from the data.

    Notes
    -----
    A fit that is stopped leaves a model that can do everything. The default learner first searches
    for masks (stage "search"), fits its members to all labels ("full"), and refits them without
    each fold of labels ("fold") to weigh them. Stopped among the folds, it weighs the members by
    the folds that are done, before the first one by prior weights; stopped during the search, it
    fits the members in a short run from the masks found so far. An interrupt does the same once the
    first search is done, in the first third of a fit or so; a second one goes through. A policy
    gradient (stage "iteration") stops with the probabilities it has reached, and "relaxed" (stage
    "search", counted in evaluations) with the best mask it has seen; both then fit the model on
    that mask, which takes a moment more.

    Examples
    --------
    >>> from s2mam.datasets import hide_labels, make_friedman
    >>> data = make_friedman(n_uninformative=15, n_noisy=5, random_state=0)
    >>> y = hide_labels(data.y, n_labeled=60, random_state=0)
    >>> model = S2MAMRegressor(random_state=0).fit(data.X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2, 3, 4])
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


class S2MAMClassifier(MaskedEstimator, AdditiveClassifier):
    """Semi-supervised additive classification that finds the columns that matter.

    The learner is that of :class:`S2MAMRegressor`, whose Notes say what a stopped fit leaves
    behind. Decision values are log-odds (one score per class for three or more), calibrated on
    held-out labels.

    Parameters
    ----------
    n_features_to_select : int, float or "auto"
        Number C of columns, or share of them; "auto" leaves it to the data.
    sparsity, manifold : float or "auto"
        lambda_1 and lambda_2 of the lower level. The default learner has no lambda_1, and its
        graph is switched off by ``manifold=0``; any other value leaves the weight to the data.
    bandwidth : float or "auto"
        mu of the graph weights exp(-d^2 / mu^2).
    basis : {"kernel", "nystrom", "fourier", "neural", "auto"}
        How columns become features: the kernel's own ones, a fixed number of landmarks, or the
        paper's random Fourier features (S2MAM-F); "auto" takes landmarks above 20,000 rows.
        "neural" is one small network per column; its fit needs torch and ends with one mask, by
        default of ``mask_learner="relaxed"``, judged by the evidence of the untrained networks
        (``criterion="loo"``: by held-out labels).
    graph : {"auto", "dense", "neighbors", "anchors", "nystrom", "fourier"}
        Kind of graph; "auto" chooses by size.
    mask_learner : {"auto", "posterior", "relaxed", "rloo", "reinforce"}
        "posterior" (the default) averages over masks; the others end with one mask: "relaxed"
        descends with exact gradients at the expected mask and swaps pairs, "rloo" draws several
        masks with a leave-one-out baseline, "reinforce" is the paper's single draw.
    criterion : {"auto", "labeled", "loo", "evidence"}
        Upper level of the learners that end with one mask.
    n_masks, max_iter, step_size : "auto" or number
        Draws per iteration, iterations (jumps of the mask sampler), and step.
    solver : {"auto", "bcd", "admm"}
        Solver of the lower level.
    literal : bool
        The paper's model to the letter; part of ``PAPER``.
    scale : bool or {"robust", "standard", "rank"}
        Scaling of the numeric columns; True is "robust". The default learner uses ranks beside it.
    categorical : "auto", sequence or None
        Columns to treat as categories.
    unlabeled : "auto", marker or None
        What marks an unlabelled row in y; "auto" is a missing value or, for numbers, -1;
        None says that all rows are labelled.
    random_state : int, RandomState or None
        Seed of all draws.
    n_jobs : int or None
        Folds fitted side by side; the result does not depend on it.
    verbose : int
        1 writes about twenty lines of progress to standard error: what "auto" stands for, units
        done, seconds; 2 writes a line per unit.
    callbacks : sequence of callables, optional
        Called after each unit of work with a dict: ``estimator``, ``stage``, ``done``, ``total``
        (None where nobody knows), ``seconds``, and for policy gradients ``iteration``,
        ``probabilities`` and ``criterion``. One that returns True stops the fit; see Notes.
        scikit-learn's callbacks (``ProgressBar()``, say) go to ``set_callbacks``, from scikit-learn
        1.9 on.
    checkpoint : path, optional
        File in which finished work is kept; a fit that was killed, stopped or interrupted goes on
        from there, with the same parameters and data, to the same bits.
    time_limit : float, optional
        Seconds after which the fit stops as soon as the running unit is finished; see Notes.
    on_interrupt : {"raise", "keep"}
        What a KeyboardInterrupt (Ctrl-C) does: "raise" lets it through, "keep" ends the fit with
        what is done, where that makes a model, and lets it through elsewhere.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    mask_probabilities_ : ndarray of shape (p,)
        Probability that each column is in the model.
    support_ : ndarray of bool, shape (p,)
        Columns with probability above one half, or the C most probable ones.
    intercept_ : float or ndarray of shape (n_classes,)
        Mean decision over the training rows.
    transduction_ : ndarray of shape (n,)
        Classes of the training rows, labelled ones included.
    history_ : dict of lists
        Criterion and budget per iteration, and more for policy gradients.
    stop_reason_ : str
        Why the learner stopped: "callback", "time_limit" and "interrupted" say that it was before
        its end.
    chosen_ : dict
        What was chosen from the data.

    Examples
    --------
    >>> from s2mam.datasets import hide_labels, make_moons
    >>> data = make_moons(n_uninformative=4, n_noisy=4, random_state=0)
    >>> y = hide_labels(data.y, per_class=5, random_state=0)
    >>> model = S2MAMClassifier(random_state=0).fit(data.X, y)
    >>> bool(model.score(data.X, data.y) > 0.95)
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
