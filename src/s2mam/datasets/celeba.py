"""CelebA-HQ and CelebA: faces with forty yes-or-no attributes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from s2mam._typing import BoolArray
from s2mam.datasets.folders import existing_folder, find_file, obtain
from s2mam.datasets.images import lazy_pixels
from s2mam.datasets.tables import decode
from s2mam.exceptions import InvalidInputError

_ATTRIBUTE_FILES = ("CelebAMask-HQ-attribute-anno.txt", "list_attr_celeba*.txt")
_IMAGE_FOLDERS = ("CelebA-HQ-img", "img_align_celeba")


def load_celeba(
    folder: str | os.PathLike[str],
    attribute: str = "Smiling",
    *,
    size: int | None = None,
    color: bool = False,
) -> Bunch:
    """CelebA-HQ (as CelebAMask-HQ) or CelebA in the official layout.

    Pixels are read when `size` is given, and then not before X is used: ``data.X[rows]`` or
    ``numpy.asarray(data.X)``. Reading needs Pillow (extra ``images``).

    Parameters
    ----------
    folder : path
        The folder ``CelebAMask-HQ`` with ``CelebA-HQ-img`` and
        ``CelebAMask-HQ-attribute-anno.txt``, or one with ``img_align_celeba`` and
        ``list_attr_celeba.txt``, or the one it is in.
    attribute : str, default="Smiling"
        The target. The paper does not say which one it takes.
    size : int, optional
        Side the images are shrunk to.
    color : bool, default=False
        Three values a pixel instead of its grey level.

    Returns
    -------
    Bunch
        X (`ImageTable`, or None without `size`), y (1 where the attribute is present),
        class_names, attributes (bool table of all), attribute_names, paths, feature_names.

    Examples
    --------
    >>> data = load_celeba("CelebA", "Smiling", size=32)  # doctest: +SKIP
    >>> X, y = data.X, data.y  # doctest: +SKIP
    """
    place = existing_folder(folder, "celeba", "CelebAMask-HQ")
    path = find_file(place, "celeba", *_ATTRIBUTE_FILES)
    names, files, values = _read_attributes(path)
    if attribute not in names:
        raise InvalidInputError(
            f"There is no attribute {attribute!r} in {path.name}; there are: {', '.join(names)}."
        )
    paths = _image_paths(place, files)
    return Bunch(
        **lazy_pixels(paths, size, color),
        y=values[:, names.index(attribute)].astype(np.intp),
        class_names=[f"not {attribute}", attribute],
        target_name=attribute,
        attributes=values,
        attribute_names=names,
        paths=paths,
    )


def _read_attributes(path: Path) -> tuple[list[str], list[str], BoolArray]:
    """Line one counts the images, line two names the attributes, the rest is file and -1 or 1."""
    lines = [line.split() for line in decode(path.read_bytes()).splitlines() if line.strip()]
    if len(lines) < 3 or len(lines[0]) != 1 or not lines[0][0].isdigit():
        raise InvalidInputError(
            f"{path} must begin with the number of images and a line of attribute names."
        )
    names, rows = lines[1], lines[2:]
    if int(lines[0][0]) != len(rows):
        raise InvalidInputError(f"{path} announces {lines[0][0]} images but lists {len(rows)}.")
    for number, row in enumerate(rows, start=3):
        if len(row) != len(names) + 1 or not set(row[1:]) <= {"-1", "1"}:
            raise InvalidInputError(
                f"Row {number} of {path} must have a file name and {len(names)} values -1 or 1."
            )
    return names, [row[0] for row in rows], np.array([row[1:] for row in rows]) == "1"


def _image_paths(place: Path, files: list[str]) -> list[Path]:
    images = next((place / sub for sub in _IMAGE_FOLDERS if (place / sub).is_dir()), None)
    if images is None:
        wanted = " or ".join(_IMAGE_FOLDERS)
        raise InvalidInputError(f"There is no folder {wanted} in {place} {obtain('celeba')}")
    present = {entry.name for entry in os.scandir(images)}
    absent = [file for file in files if file not in present]
    if absent:
        raise InvalidInputError(
            f"{images} lacks {len(absent)} of {len(files)} images, the first is {absent[0]!r} "
            f"{obtain('celeba')}"
        )
    return [images / file for file in files]
