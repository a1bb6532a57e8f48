"""The transformer from images to features."""

from __future__ import annotations

import hashlib
import os
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.images.batches import BatchFolder, embed_batches
from s2mam.images.filters import FilterBank, learn_filters, random_filters
from s2mam.images.pretrained import PretrainedNetwork, load_network
from s2mam.images.sources import ArraySource, ImageSource, open_images

__all__ = ["ImageEmbedder"]

_FILTERS = ("random", "patches")
_SIDE, _TRAINED_SIDE = 32, 224


class ImageEmbedder(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """From images to rows of features, for the estimators of this package.

    Parameters
    ----------
    network : {"patches", "random"}, name or torch.nn.Module, default="patches"
        "patches" learns filters from patches of the images by k-means, without labels; "random"
        draws them. Both need numpy alone. A name such as "resnet18" is a trained network of
        torchvision or timm ("timm:..." for the latter), without its last layer, with weights from
        your cache or the internet. A module is used as it is, on (b, channels, height, width).
    n_filters : int, default=48
        Number of filters; an image gets ``2 * n_filters * pooling**2`` features.
    filter_size : int, default=5
        Side of the filters.
    pooling : int, default=3
        Responses are averaged in pooling x pooling parts of the image.
    shape : tuple of int, optional
        (height, width) or (height, width, channels) of images that are rows of a table; squares
        by default.
    size : int, optional
        Side that image files are shrunk to: by default 32, or 224 for trained networks.
    color : bool, default=False
        Read image files in colour.
    batch_size : int, default=64
        Images that are embedded at once.
    cache : path, optional
        Folder in which finished batches are kept. A call that was stopped goes on from there, and
        a call with the same images and network reads them.
    device : {"auto", "cpu", "cuda", "cuda:<number>"}, default="auto"
        For trained networks; "auto" is a GPU where there is one.
    random_state : int, RandomState or None
        Of the filters.

    Attributes
    ----------
    n_channels_ : int
        Channels of the images.
    n_features_out_ : int
        Features of an image.
    white_ : float or None
        Value of a white pixel in arrays of numbers, 1 or 255; None for files.
    filters_ : ndarray of shape (n_filters, filter_size * filter_size * n_channels_)
        For "patches" and "random".

    Examples
    --------
    >>> import numpy as np
    >>> images = np.random.default_rng(0).uniform(size=(6, 12, 12))
    >>> embedder = ImageEmbedder(n_filters=4, filter_size=3, pooling=2, random_state=0)
    >>> embedder.fit_transform(images).shape
    (6, 32)
    """

    def __init__(
        self,
        network: Any = "patches",
        *,
        n_filters: int = 48,
        filter_size: int = 5,
        pooling: int = 3,
        shape: tuple[int, ...] | None = None,
        size: int | None = None,
        color: bool = False,
        batch_size: int = 64,
        cache: str | os.PathLike[str] | None = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.network = network
        self.n_filters = n_filters
        self.filter_size = filter_size
        self.pooling = pooling
        self.shape = shape
        self.size = size
        self.color = color
        self.batch_size = batch_size
        self.cache = cache
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn or draw the filters, or load the network.

        Parameters
        ----------
        X : path, sequence of paths, ImageTable or array
            A folder stands for all image files below it, in the order of their names. Arrays are
            (n, height, width), (n, height, width, channels) or (n, pixels), bytes or numbers from
            0 to 1 or to 255; the first images say which.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        for name in ("n_filters", "filter_size", "pooling", "batch_size"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InvalidInputError(f"{name}={value!r} must be a whole number from 1 on.")
        source = self._open(X)
        self.white_ = source.white if isinstance(source, ArraySource) else None
        first = source.read(0, 1)
        self.n_channels_ = int(first.shape[3])
        self._net: FilterBank | PretrainedNetwork | None = self._make(source)
        if isinstance(self._net, FilterBank):
            self.filters_ = self._net.filters
        self.n_features_out_ = int(self._net.embed(first).shape[1])
        return self

    def transform(self, X: Any) -> FloatArray:
        """Features of images.

        Parameters
        ----------
        X : path, sequence of paths, ImageTable or array
            As in `fit`.

        Returns
        -------
        ndarray of shape (n, n_features_out_)
        """
        check_is_fitted(self, "n_features_out_")
        source = self._open(X, self.white_)
        channels = int(source.read(0, 1).shape[3])
        if channels != self.n_channels_:
            raise InvalidInputError(
                f"These images have {channels} channels, those of the fit had {self.n_channels_}."
            )
        net = self._network()

        def embed(start: int, stop: int) -> FloatArray:
            return net.embed(source.read(start, stop))

        return embed_batches(len(source), int(self.batch_size), embed, self._folder(source, net))

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def _open(self, X: Any, white: float | None = None) -> ImageSource:
        trained = not (isinstance(self.network, str) and self.network in _FILTERS)
        size = self.size or (_TRAINED_SIDE if trained else _SIDE)
        return open_images(X, shape=self.shape, size=int(size), color=self.color, white=white)

    def _make(self, source: ImageSource) -> FilterBank | PretrainedNetwork:
        if not isinstance(self.network, str) or self.network not in _FILTERS:
            return load_network(self.network, self.device)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        count, side, cells = int(self.n_filters), int(self.filter_size), int(self.pooling)
        if self.network == "patches":
            return learn_filters(source, count, side, cells, rng)
        return random_filters(count, side, self.n_channels_, cells, rng)

    def _network(self) -> FilterBank | PretrainedNetwork:
        if getattr(self, "_net", None) is None:
            self._net = load_network(self.network, self.device)
        assert self._net is not None
        return self._net

    def _folder(
        self, source: ImageSource, net: FilterBank | PretrainedNetwork
    ) -> BatchFolder | None:
        if self.cache is None:
            return None
        facts = {
            "images": source.fingerprint(),
            "network": _fingerprint(net),
            "batch_size": int(self.batch_size),
        }
        return BatchFolder(self.cache, facts)

    def __getstate__(self) -> Any:
        # A trained network is loaded again where it is needed, by its name.
        state = dict(super().__getstate__())
        if isinstance(state.get("_net"), PretrainedNetwork):
            del state["_net"]
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.three_d_array = True
        tags.requires_fit = True
        return tags


def _fingerprint(net: FilterBank | PretrainedNetwork) -> str:
    if isinstance(net, PretrainedNetwork):
        return net.fingerprint()
    digest = hashlib.sha256(f"{net.side} {net.cells}".encode())
    digest.update(np.ascontiguousarray(net.filters).tobytes())
    digest.update(np.ascontiguousarray(net.threshold).tobytes())
    return digest.hexdigest()
