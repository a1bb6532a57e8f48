"""A few points that stand for all rows: centres of clusters, the same for every order of rows."""

from __future__ import annotations

from typing import Final

import numpy as np

from s2mam._typing import FloatArray, IntArray

__all__ = ["choose_landmarks", "landmark_count", "squared_to"]

# Rows that the centres are fitted to, rounds of the fit, and distances held at once.
_ROWS: Final = 20_000
_ROUNDS: Final = 5
_CHUNK: Final = 2**21
_FEWEST, _MOST = 64, 1000


def landmark_count(n: int) -> int:
    """Number of landmarks for n rows: ten times the root of n, between 64 and 1000.

    Examples
    --------
    >>> [landmark_count(n) for n in (30, 500, 100_000)]
    [64, 224, 1000]
    """
    return int(np.clip(round(10.0 * np.sqrt(n)), _FEWEST, _MOST))


def choose_landmarks(points: FloatArray, count: int) -> FloatArray:
    """Centres of ``count`` clusters of the points, or the distinct points if they are fewer.

    The clustering starts from points that are evenly spaced in the order of their norms, so that
    the result needs no seed and does not depend on the order of the rows. A few rounds are enough:
    landmarks need to lie where the rows are, not at the best possible places.

    Examples
    --------
    >>> import numpy as np
    >>> choose_landmarks(np.array([[0.0], [0.2], [5.0], [5.2]]), 2)
    array([[0.1],
           [5.1]])
    """
    distinct = np.unique(points, axis=0)
    if distinct.shape[0] <= count:
        return distinct
    norms = np.einsum("ij,ij->i", distinct, distinct)
    order = np.argsort(norms, kind="stable")
    if order.size > _ROWS:
        order = order[np.linspace(0, order.size - 1, _ROWS).astype(np.intp)]
    sample = distinct[order]
    # The middle of each of `count` equal stretches of the order.
    at = ((np.arange(count) + 0.5) * sample.shape[0] / count).astype(np.intp)
    centres: FloatArray = sample[at]
    for _ in range(_ROUNDS):
        nearest = _nearest(sample, centres)
        sizes = np.bincount(nearest, minlength=count)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, sample)
        moved = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres


def squared_to(points: FloatArray, landmarks: FloatArray) -> FloatArray:
    """Squared distances (n, m), nowhere negative.

    Examples
    --------
    >>> import numpy as np
    >>> squared_to(np.array([[0.0], [3.0]]), np.array([[1.0]])).ravel()
    array([1., 4.])
    """
    squared: FloatArray = points @ (-2.0 * landmarks.T)
    squared += np.einsum("ij,ij->i", points, points)[:, None]
    squared += np.einsum("ij,ij->i", landmarks, landmarks)
    return np.maximum(squared, 0.0, out=squared)


def _nearest(points: FloatArray, centres: FloatArray) -> IntArray:
    step = max(1, _CHUNK // centres.shape[0])
    parts = [
        squared_to(points[start : start + step], centres).argmin(axis=1)
        for start in range(0, points.shape[0], step)
    ]
    return np.concatenate(parts).astype(np.intp)
