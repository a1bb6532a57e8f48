"""A convolutional feature extractor in numpy: random filters, or filters learned from patches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.cluster import MiniBatchKMeans

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.images.sources import ImageSource

__all__ = ["FilterBank", "learn_filters", "random_filters"]

# Added to the variance of a patch: flat patches are not blown up to noise. Grey levels in [0, 1].
_FLAT = 1e-3
# Added to the spectrum when patches are whitened, relative to its mean.
_WHITEN = 0.1
_PATCHES = 20_000
# Patch values that are held at once: 64 MB.
_HELD = 2**23


@dataclass(frozen=True)
class FilterBank:
    """Filters on normalised patches, rectified in both directions and summed over a grid of cells.

    Attributes
    ----------
    filters : (d, side * side * channels) array
        The mean of a patch and its contrast are taken off before they are applied.
    side : int
        Side of the patches.
    threshold : (d,) array
        Taken off the size of a response before it counts.
    cells : int
        The responses are averaged in cells x cells parts of the image.
    """

    filters: FloatArray
    side: int
    threshold: FloatArray
    cells: int

    @property
    def n_features(self) -> int:
        """Features of an image."""
        return 2 * len(self.filters) * self.cells**2

    def embed(self, images: FloatArray) -> FloatArray:
        """Features (b, n_features) of images (b, height, width, channels)."""
        height, width = (length - self.side + 1 for length in images.shape[1:3])
        if min(height, width) < self.cells:
            raise InvalidInputError(
                f"Images of {images.shape[1]} x {images.shape[2]} pixels are too small for filters "
                f"of side {self.side} in {self.cells} x {self.cells} cells; lower filter_size or "
                "pooling, or use larger images."
            )
        step = max(1, _HELD // (height * width * (self.filters.shape[1] + len(self.filters))))
        parts = [self._embed(images[k : k + step]) for k in range(0, len(images), step)]
        return np.concatenate(parts)

    def _embed(self, images: FloatArray) -> FloatArray:
        patches = _patches(images, self.side)
        count, height, width = patches.shape[:3]
        responses = normalised(patches.reshape(count * height * width, -1)) @ self.filters.T
        responses = responses.reshape(count, height, width, -1)
        both = np.concatenate(
            [
                np.maximum(responses - self.threshold, 0.0),
                np.maximum(-responses - self.threshold, 0.0),
            ],
            axis=3,
        )
        rows = np.linspace(0, height, self.cells + 1).astype(int)
        columns = np.linspace(0, width, self.cells + 1).astype(int)
        cells = [
            both[:, rows[i] : rows[i + 1], columns[j] : columns[j + 1]].mean(axis=(1, 2))
            for i in range(self.cells)
            for j in range(self.cells)
        ]
        return np.concatenate(cells, axis=1)


def random_filters(
    count: int, side: int, channels: int, cells: int, rng: np.random.Generator
) -> FilterBank:
    """Filters drawn at random; nothing is learned.

    Parameters
    ----------
    count, side, channels, cells : int
    rng : numpy.random.Generator

    Examples
    --------
    >>> bank = random_filters(4, 3, 1, 2, np.random.default_rng(0))
    >>> bank.embed(np.zeros((1, 8, 8, 1))).shape, bank.n_features
    ((1, 32), 32)
    """
    filters = rng.normal(size=(count, side * side * channels))
    filters -= filters.mean(axis=1, keepdims=True)
    filters /= np.linalg.norm(filters, axis=1, keepdims=True) + 1e-12
    return FilterBank(filters, side, np.zeros(count), cells)


def learn_filters(
    source: ImageSource, count: int, side: int, cells: int, rng: np.random.Generator
) -> FilterBank:
    """Centres of k-means over whitened patches of the images; no labels are needed.

    Parameters
    ----------
    source : ImageSource
    count, side, cells : int
    rng : numpy.random.Generator
    """
    patches = normalised(_sample_patches(source, side, rng))
    center = patches.mean(axis=0)
    covariance = np.cov(patches - center, rowvar=False)
    values, vectors = np.linalg.eigh(np.atleast_2d(covariance))
    values = np.maximum(values, 0.0)
    whiten = vectors / np.sqrt(values + _WHITEN * values.mean() + 1e-12) @ vectors.T
    white = (patches - center) @ whiten
    white /= np.linalg.norm(white, axis=1, keepdims=True) + 1e-12
    found = MiniBatchKMeans(
        min(count, len(white)), n_init=1, max_iter=30, batch_size=2048, random_state=_seed(rng)
    ).fit(white)
    centres = found.cluster_centers_
    centres = centres / (np.linalg.norm(centres, axis=1, keepdims=True) + 1e-12)
    filters = centres @ whiten
    # A response counts where it is above what this filter usually gives.
    threshold = np.abs((patches - center) @ filters.T).mean(axis=0)
    return FilterBank(filters, side, threshold, cells)


def normalised(patches: FloatArray) -> FloatArray:
    """Patches (rows) without their mean, divided by their contrast.

    Examples
    --------
    >>> normalised(np.array([[1.0, 1.0], [0.0, 20.0]])).round(2)
    array([[ 0.,  0.],
           [-1.,  1.]])
    """
    centred = patches - patches.mean(axis=1, keepdims=True)
    variance: FloatArray = centred.var(axis=1, keepdims=True)
    result: FloatArray = centred / np.sqrt(variance + _FLAT)
    return result


def _patches(images: FloatArray, side: int) -> FloatArray:
    """(b, height - side + 1, width - side + 1, side * side * channels)."""
    windows = sliding_window_view(images, (side, side), axis=(1, 2))
    flat: FloatArray = windows.reshape(*windows.shape[:3], -1)
    return flat


def _sample_patches(source: ImageSource, side: int, rng: np.random.Generator) -> FloatArray:
    count = len(source)
    chosen = np.sort(rng.permutation(count)[:2000])
    each = max(1, _PATCHES // len(chosen))
    sampled = []
    for number in chosen:
        patches = _patches(source.read(int(number), int(number) + 1), side)
        if not patches.size:
            raise InvalidInputError(f"Images are smaller than filters of side {side}.")
        patches = patches.reshape(-1, patches.shape[3])
        sampled.append(patches[rng.integers(len(patches), size=each)])
    return np.concatenate(sampled)


def _seed(rng: np.random.Generator) -> Any:
    return int(rng.integers(np.iinfo(np.int32).max))
