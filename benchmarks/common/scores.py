"""Scores of predictions and of selected columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from benchmarks.common.store import Row
from scipy.special import xlogy

from s2mam._typing import AnyArray

#: Edges of the bins of the calibration of mask probabilities; finer where most columns are.
MASK_BINS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
#: Random orders of columns that a method ranks alike.
_TIE_ORDERS = 50


def accuracy(y: AnyArray, predicted: AnyArray) -> float:
    """Share of right answers."""
    return float(np.mean(y == predicted))


def largest_share(y: AnyArray) -> float:
    """Share of the largest class."""
    return float(np.unique(y, return_counts=True)[1].max() / len(y))


def mean_squared_error(y: AnyArray, predicted: AnyArray) -> float:
    """Mean squared difference."""
    return float(np.mean((y - predicted) ** 2))


def r_squared(y: AnyArray, predicted: AnyArray) -> float:
    """1 - MSE / variance of the scored rows."""
    return float(1.0 - np.mean((y - predicted) ** 2) / np.var(y))


def log_loss(codes: AnyArray, probabilities: AnyArray) -> float:
    """Mean negative log probability of the true class; probabilities below 1e-6 count as that."""
    rows = np.clip(probabilities, 1e-6, 1.0)
    rows = rows / rows.sum(axis=1, keepdims=True)
    return float(-np.mean(xlogy(1.0, rows[np.arange(len(codes)), codes])))


def calibration_error(codes: AnyArray, probabilities: AnyArray, n_bins: int = 10) -> float:
    """Expected calibration error of the top class: mean |confidence - accuracy| over bins."""
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == codes
    place = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    error = 0.0
    for bin_ in np.unique(place):
        inside = place == bin_
        error += abs(confidence[inside].mean() - right[inside].mean()) * inside.mean()
    return float(error)


def selection_scores(selected: AnyArray, source: AnyArray) -> Row:
    """Precision, recall and F1 of a selected set.

    ``source`` gives, for each column, the informative original it carries and -1 for junk: with
    copies, any of them finds the original, and none of them is junk.
    """
    chosen = source[np.asarray(selected, dtype=bool)]
    originals = np.unique(source[source >= 0])
    found = np.unique(chosen[chosen >= 0])
    recall = found.size / originals.size
    precision = float(np.mean(chosen >= 0)) if chosen.size else 0.0
    both = precision + recall
    return {
        "prec": precision,
        "rec": recall,
        "f1": 2 * precision * recall / both if both else 0.0,
        "size": int(chosen.size),
    }


def top_recall(ranking: AnyArray, source: AnyArray) -> float:
    """Share of originals among the highest ranked columns, as many as there are originals.

    Columns with the same rank come in random order, and the mean over such orders counts: the
    informative columns come first in the generators, so that their order would favour a method that
    ranks most columns alike.
    """
    originals = np.unique(source[source >= 0])
    values = np.asarray(ranking, dtype=float)
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(_TIE_ORDERS):
        top = np.lexsort((rng.random(values.size), -values))[: originals.size]
        chosen = source[top]
        shares.append(np.unique(chosen[chosen >= 0]).size / originals.size)
    return float(np.mean(shares))


def mask_calibration(probabilities: AnyArray, informative: AnyArray) -> list[list[float]]:
    """Per bin of MASK_BINS: number of columns, informative ones, sum of the probabilities."""
    place = np.clip(np.searchsorted(MASK_BINS, probabilities, side="right") - 1, 0, 13)
    return [
        [int(inside.sum()), int(informative[inside].sum()), float(probabilities[inside].sum())]
        for inside in (place == bin_ for bin_ in range(len(MASK_BINS) - 1))
    ]


def pooled_calibration(tables: Sequence[list[list[float]]]) -> list[list[float]]:
    """Sum of calibration tables."""
    total: list[list[float]] = np.sum(np.asarray(tables, dtype=float), axis=0).tolist()
    return total
