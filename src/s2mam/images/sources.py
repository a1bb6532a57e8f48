"""What counts as images: folders, lists of files, arrays, tables of pixels."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from s2mam._typing import AnyArray, FloatArray
from s2mam.datasets.images import ImageTable, read_pixels
from s2mam.exceptions import InvalidInputError

__all__ = ["ArraySource", "FileSource", "ImageSource", "image_files", "open_images"]

_ENDINGS = {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}


class ImageSource(Protocol):
    """Images that are read by number."""

    def __len__(self) -> int: ...

    def read(self, start: int, stop: int) -> FloatArray:
        """Images (b, height, width, channels) with values in [0, 1]."""

    def fingerprint(self) -> str:
        """Changes when the images do."""


@dataclass(frozen=True)
class FileSource:
    """Image files, shrunk to squares.

    Attributes
    ----------
    paths : tuple of Path
    size : int
        Side of the squares.
    color : bool
    """

    paths: tuple[Path, ...]
    size: int
    color: bool

    def __len__(self) -> int:
        return len(self.paths)

    def read(self, start: int, stop: int) -> FloatArray:
        """Images (b, size, size, channels) with values in [0, 1]."""
        shape = (self.size, self.size, 3 if self.color else 1)
        pixels = [read_pixels(path, self.size, color=self.color) for path in self.paths[start:stop]]
        return np.stack(pixels).reshape(-1, *shape)

    def fingerprint(self) -> str:
        """Of names, sizes and times of change: reading all files would take too long."""
        digest = hashlib.sha256(f"{self.size} {self.color}".encode())
        for path in self.paths:
            facts = path.stat()
            digest.update(f"{path.resolve()} {facts.st_size} {facts.st_mtime_ns}\n".encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class ArraySource:
    """Images in memory.

    Attributes
    ----------
    array : (n, height, width, channels) array
    white : float
        Value of a white pixel.
    """

    array: AnyArray
    white: float

    def __len__(self) -> int:
        return len(self.array)

    def read(self, start: int, stop: int) -> FloatArray:
        """Images (b, height, width, channels) with values in [0, 1]."""
        images: FloatArray = self.array[start:stop] / self.white
        return images

    def fingerprint(self) -> str:
        """Of the values."""
        digest = hashlib.sha256(f"{self.array.shape} {self.array.dtype}".encode())
        for image in self.array:
            digest.update(np.ascontiguousarray(image).tobytes())
        return digest.hexdigest()


def open_images(
    X: Any,
    *,
    shape: tuple[int, ...] | None,
    size: int,
    color: bool,
    white: float | None = None,
) -> ImageSource:
    """Images of any kind.

    Parameters
    ----------
    X : path, sequence of paths, ImageTable or array
        A folder stands for all image files below it, in the order of their names. Arrays are (n,
        height, width), (n, height, width, channels), or (n, pixels) with a shape.
    shape : tuple of int, optional
        (height, width) or (height, width, channels) of the rows of a table of pixels; squares by
        default.
    size : int
        Side that files are shrunk to.
    color : bool
        Whether files are read in colour.
    white : float, optional
        Value of a white pixel in arrays that do not hold bytes; by default 255 if any pixel is
        above 1, else 1.

    Examples
    --------
    >>> open_images(np.zeros((2, 16)), shape=None, size=8, color=False).read(0, 2).shape
    (2, 4, 4, 1)
    """
    if isinstance(X, ImageTable):
        return FileSource(tuple(X.paths), X.size, X.color)
    if isinstance(X, str | os.PathLike):
        return FileSource(tuple(image_files(Path(X))), size, color)
    if isinstance(X, Sequence) and len(X) and all(isinstance(one, str | os.PathLike) for one in X):
        return FileSource(tuple(Path(one) for one in X), size, color)
    array = _numbers(X)
    return ArraySource(_with_channels(array, shape), _white(array, white))


def image_files(folder: Path) -> list[Path]:
    """All image files below a folder, by name.

    Parameters
    ----------
    folder : Path
    """
    if not folder.is_dir():
        raise InvalidInputError(f"There is no folder {folder}; pass a folder, files or an array.")
    found = sorted(path for path in _walk(folder) if path.suffix.lower() in _ENDINGS)
    if not found:
        raise InvalidInputError(
            f"There is no image below {folder} (endings {', '.join(sorted(_ENDINGS))})."
        )
    return found


def _walk(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _numbers(X: Any) -> AnyArray:
    array = np.asarray(X)
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"Images of type {array.dtype} cannot be read; pass numbers, files or a folder."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidInputError("Images hold missing or infinite pixels; replace them first.")
    if array.ndim == 0 or not len(array):
        raise InvalidInputError("There are no images; pass at least one.")
    return array


def _white(array: AnyArray, known: float | None) -> float:
    """Value of a white pixel; an error where pixels cannot be between black and white."""
    if array.dtype == np.uint8:
        return 255.0
    least, most = float(array.min()), float(array.max())
    white = known or (255.0 if most > 1.0 else 1.0)
    if least < 0.0 or most > white:
        raise InvalidInputError(
            f"Pixels go from {least:g} to {most:g}, but black is 0 and white is {white:g} here; "
            "pass bytes, or numbers on the same scale for all images, from 0 to 1 or to 255."
        )
    return white


def _with_channels(array: AnyArray, shape: tuple[int, ...] | None) -> AnyArray:
    if array.ndim == 2:
        pixels = array.shape[1]
        side = round(pixels**0.5)
        wanted = (side, side) if shape is None else tuple(shape)
        if len(wanted) not in (2, 3) or int(np.prod(wanted)) != pixels:
            raise InvalidInputError(
                f"Rows of {pixels} pixels are not images of shape {wanted}; pass "
                "shape=(height, width) or (height, width, channels)."
            )
        array = array.reshape(len(array), *wanted)
    if array.ndim == 3:
        array = array[..., None]
    if array.ndim != 4:
        raise InvalidInputError(
            f"An array of {array.ndim} dimensions is not a set of images; pass (n, height, width), "
            "(n, height, width, channels) or (n, pixels)."
        )
    return array
