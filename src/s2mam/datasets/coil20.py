"""COIL-20 from its images: 20 objects on a turntable, 72 views each."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from s2mam.datasets.folders import existing_folder, obtain
from s2mam.datasets.images import lazy_pixels
from s2mam.exceptions import InvalidInputError

_NAME = re.compile(r"obj(\d+)__(\d+)\.png", re.IGNORECASE)
_DEGREES_A_VIEW = 5


def load_coil20_images(
    folder: str | os.PathLike[str], objects: Sequence[int] | None = None, size: int = 32
) -> Bunch:
    """COIL-20 from the processed images (``coil-20-proc.zip``, unpacked).

    Reading needs Pillow (extra ``images``). The paper takes objects 12 and 13 alone.

    Parameters
    ----------
    folder : path
        The folder ``coil-20-proc`` with ``obj<k>__<view>.png`` (128 x 128, grey), or the one it is
        in.
    objects : sequence of int, optional
        Numbers from 1 to 20; all objects of the folder when not given.
    size : int, default=32
        Side the images are shrunk to.

    Returns
    -------
    Bunch
        X (pixels in [0, 1], row after row), y (codes), class_names (object numbers), angle (of the
        turntable, in degrees), paths, feature_names.

    Examples
    --------
    >>> data = load_coil20_images("coil-20-proc", objects=[1, 2])  # doctest: +SKIP
    >>> X, y = data.X, data.y  # doctest: +SKIP
    """
    place = existing_folder(folder, "coil20_images", "coil-20-proc")
    views = sorted(
        (int(found[1]), int(found[2]), path)
        for path in place.iterdir()
        if (found := _NAME.fullmatch(path.name))
    )
    present = sorted({number for number, _, _ in views})
    chosen = present if objects is None else list(objects)
    absent = [number for number in chosen if number not in present]
    if absent or not chosen:
        raise InvalidInputError(
            f"{place} has no files obj<k>__<view>.png for the objects {absent or 'asked for'}; "
            f"it has the objects {present} {obtain('coil20_images')}"
        )
    rows = [view for number in chosen for view in views if view[0] == number]
    paths: list[Path] = [path for _, _, path in rows]
    pixels = lazy_pixels(paths, size, color=False)
    return Bunch(
        X=np.asarray(pixels["X"]),
        y=np.array([chosen.index(number) for number, _, _ in rows]),
        feature_names=pixels["feature_names"],
        class_names=[str(number) for number in chosen],
        angle=np.array([_DEGREES_A_VIEW * view for _, view, _ in rows]),
        paths=paths,
    )
