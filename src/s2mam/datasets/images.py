"""Image files as rows of a table, read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import InvalidInputError, MissingDependencyError


class ImageTable:
    """Images as the rows of a table; pixels are read at the first use.

    ``table[rows]`` reads some images and ``numpy.asarray(table)`` all of them. Nothing is kept.

    Parameters
    ----------
    paths : sequence of Path
        The files, one a row.
    size : int
        Side of the square that each image is shrunk to (mean over areas).
    color : bool, default=False
        Three values a pixel (red, green, blue) instead of its grey level.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "grey.png"
    ...     Image.new("L", (8, 8), 51).save(path)
    ...     table = ImageTable([path], size=2)
    ...     pixels = np.asarray(table)
    >>> table.shape, pixels.shape
    ((1, 4), (1, 4))
    """

    def __init__(self, paths: Sequence[Path], size: int, *, color: bool = False) -> None:
        if size < 1:
            raise InvalidInputError(f"size must be at least 1, got {size}.")
        self.paths = list(paths)
        self.size = size
        self.color = color

    @property
    def shape(self) -> tuple[int, int]:
        """Number of images and of values in each."""
        return len(self.paths), self.size**2 * (3 if self.color else 1)

    @property
    def ndim(self) -> int:
        """Two, as for every table."""
        return 2

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, rows: Any) -> FloatArray:
        """One image (an integer), or a table of some (a slice, indices or a mask)."""
        chosen = np.arange(len(self))[rows]
        if np.ndim(chosen) == 0:
            return read_pixels(self.paths[int(chosen)], self.size, color=self.color)
        table = np.empty((len(chosen), self.shape[1]))
        for row, number in enumerate(chosen):
            table[row] = read_pixels(self.paths[number], self.size, color=self.color)
        return table

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return self[:].astype(dtype or np.float64, copy=False)


def read_pixels(path: Path, size: int, *, color: bool = False) -> FloatArray:
    """The pixels of an image as a vector in [0, 1], row after row.

    Parameters
    ----------
    path : Path
        A file in any format that Pillow reads.
    size : int
        Side of the square the image is shrunk to; other shapes are squeezed into it.
    color : bool, default=False
        Red, green and blue of each pixel, one after the other, instead of its grey level.

    Returns
    -------
    ndarray of shape (size * size,) or (size * size * 3,)
    """
    Image = _pillow()
    mode = "RGB" if color else "L"
    try:
        with Image.open(path) as image:
            # JPEG files are decoded small where they are shrunk anyway, which is much faster.
            image.draft(mode, (2 * size, 2 * size))
            bands = image.convert(mode).split()
    except OSError as error:
        raise InvalidInputError(f"{path} is not a readable image: {error}.") from error
    box = Image.Resampling.BOX
    planes = [np.asarray(band.convert("F").resize((size, size), box)) for band in bands]
    return np.stack(planes, axis=-1).astype(np.float64).ravel() / 255


def pixel_names(size: int, color: bool) -> list[str]:
    """Names such as pix_r00_c00, in the order of `read_pixels`."""
    width = max(2, len(str(size - 1)))
    cells = [f"pix_r{r:0{width}d}_c{c:0{width}d}" for r in range(size) for c in range(size)]
    return [f"{cell}_{band}" for cell in cells for band in "rgb"] if color else cells


def lazy_pixels(paths: Sequence[Path], size: int | None, color: bool) -> dict[str, Any]:
    """Entries X and feature_names of a Bunch; both None when no size is asked for."""
    if size is None:
        return {"X": None, "feature_names": None}
    _pillow()  # say at once that it is missing, not at the first use of X
    X = ImageTable(paths, size, color=color)
    return {"X": X, "feature_names": pixel_names(size, color)}


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise MissingDependencyError(
            "Reading images needs Pillow: pip install 's2mam[images]'."
        ) from None
    return Image
