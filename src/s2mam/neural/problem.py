"""What the networks are fitted to: rows, targets, folds of the labels, and the graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.bilevel.lower import GraphSettings
from s2mam.graphs import Laplacian

__all__ = ["NeuralProblem"]

# Unlabelled rows that the graph of a fit holds; more are sampled.
_GRAPH_ROWS = 512
_FOLDS = 5
# Fewer copies of the labels than this are split twice, else a fold says little.
_FEW = 40
# Classes without a label in sight still get finite log-odds.
_LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class NeuralProblem:
    """One fit; labelled rows come first.

    Attributes
    ----------
    table : (n, p) array
        Scaled rows; codes of categories, NaN where missing.
    kinds : tuple of str
    target : (l,) array
        Numbers, or class codes.
    weights : (l,) array
        Positive, sum one.
    n_classes : int
        Zero for numbers.
    graph : GraphSettings
    seed : int
    """

    table: FloatArray
    kinds: tuple[str, ...]
    target: AnyArray
    weights: FloatArray
    n_classes: int
    graph: GraphSettings
    seed: int

    @property
    def n_labeled(self) -> int:
        """Number l of labelled rows."""
        return len(self.target)

    @property
    def n_outputs(self) -> int:
        """One for numbers and two classes, else one per class."""
        return self.n_classes if self.n_classes > 2 else 1

    @cached_property
    def center(self) -> float:
        """What is taken off a numeric target."""
        return 0.0 if self.n_classes else float(self.weights @ self.target)

    @cached_property
    def spread(self) -> float:
        """What a numeric target is divided by."""
        if self.n_classes:
            return 1.0
        variance = float(self.weights @ (self.target - self.center) ** 2)
        return float(np.sqrt(variance)) or 1.0

    @cached_property
    def scaled_target(self) -> AnyArray:
        """Standardised numbers, or the class codes."""
        return self.target if self.n_classes else (self.target - self.center) / self.spread

    @cached_property
    def start(self) -> FloatArray:
        """(k,) the best constant decision on the scale that is trained on."""
        if not self.n_classes:
            return np.zeros(1)
        shares = np.bincount(self.target, self.weights, self.n_classes)
        shares = np.maximum(shares, _LEAST_SHARE)
        shares = shares / shares.sum()
        return np.array([logit(shares[1])]) if self.n_classes == 2 else np.log(shares)

    @cached_property
    def null_loss(self) -> float:
        """Loss of the best constant."""
        if not self.n_classes:
            return 1.0
        if self.n_classes == 2:
            share = expit(self.start[0])
            each = -np.log(np.where(self.target == 1, share, 1.0 - share))
        else:
            each = -self.start[self.target]
        return float(self.weights @ each)

    @cached_property
    def folds(self) -> tuple[FloatArray, FloatArray]:
        """(f, l) training and held-out weights of the labels; lines sum to one.

        Five folds, balanced over classes or over the order of the numbers; few labels are split
        twice. A single label cannot be held out and is in both.
        """
        count = self.n_labeled
        if count == 1:
            return np.ones((1, 1)), np.ones((1, 1))
        rng = np.random.default_rng(self.seed)
        number = min(_FOLDS, count)
        held = []
        for _ in range(2 if count < _FEW else 1):
            # Neighbours in the order of the target go to different folds.
            order = np.lexsort((rng.random(count), self.target))
            fold = np.empty(count, dtype=np.intp)
            fold[order] = (np.arange(count) + rng.integers(number)) % number
            held += [fold == k for k in range(number)]
        test = np.array(held) * self.weights
        train = ~np.array(held) * self.weights
        return train / train.sum(axis=1, keepdims=True), test / test.sum(axis=1, keepdims=True)

    @cached_property
    def graph_rows(self) -> IntArray:
        """Rows of the graph: the labelled ones and a sample of the others."""
        n, labeled = self.table.shape[0], self.n_labeled
        others = np.arange(labeled, n)
        if others.size > _GRAPH_ROWS:
            rng = np.random.default_rng(self.seed)
            others = np.sort(rng.choice(others, _GRAPH_ROWS, replace=False))
        return np.concatenate([np.arange(labeled), others])

    def laplacian(self, mask: AnyArray) -> Laplacian:
        """The Laplacian of the masked rows of the graph.

        Parameters
        ----------
        mask : (p,) array
            Binary, or probabilities.
        """
        weights = np.asarray(mask, dtype=np.float64)
        return self.graph.build(self.table[self.graph_rows], weights, self.kinds)
