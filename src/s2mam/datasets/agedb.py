"""AgeDB: faces of known persons with their age in years."""

from __future__ import annotations

import os
import re

import numpy as np
from sklearn.utils import Bunch

from s2mam.datasets.folders import existing_folder, obtain
from s2mam.datasets.images import lazy_pixels
from s2mam.exceptions import InvalidInputError

_NAME = re.compile(r"(?P<id>\d+)_(?P<person>.+)_(?P<age>\d+)_(?P<gender>[fm])", re.IGNORECASE)


def load_agedb(
    folder: str | os.PathLike[str], *, size: int | None = None, color: bool = False
) -> Bunch:
    """AgeDB from its images, ``<id>_<person>_<age>_<f or m>.jpg``.

    Pixels are read when `size` is given, and then not before X is used: ``data.X[rows]`` or
    ``numpy.asarray(data.X)``. Reading needs Pillow (extra ``images``).

    Parameters
    ----------
    folder : path
        The folder ``AgeDB``, or the one it is in; images may lie in folders of their own.
    size : int, optional
        Side the images are shrunk to.
    color : bool, default=False
        Three values a pixel instead of its grey level.

    Returns
    -------
    Bunch
        X (`ImageTable`, or None without `size`), y (age), groups (code of the person: no person
        should be on both sides of a split), person, gender, paths, feature_names.

    Examples
    --------
    >>> data = load_agedb("AgeDB", size=32)  # doctest: +SKIP
    >>> X, y = data.X, data.y  # doctest: +SKIP
    """
    place = existing_folder(folder, "agedb", "AgeDB")
    paths = [path for path in place.rglob("*") if path.suffix.lower() == ".jpg"]
    if not paths:
        raise InvalidInputError(f"There are no .jpg files in {place} {obtain('agedb')}")
    parsed = []
    for path in paths:
        found = _NAME.fullmatch(path.stem)
        if found is None:
            raise InvalidInputError(
                f"{path} is not called <id>_<person>_<age>_<f or m>.jpg; move it elsewhere."
            )
        parsed.append((int(found["id"]), path, found))
    parsed.sort(key=lambda entry: entry[:2])
    person = np.array([found["person"] for _, _, found in parsed])
    ordered = [path for _, path, _ in parsed]
    return Bunch(
        **lazy_pixels(ordered, size, color),
        y=np.array([float(found["age"]) for _, _, found in parsed]),
        groups=np.unique(person, return_inverse=True)[1],
        person=person,
        gender=np.array([found["gender"].lower() for _, _, found in parsed]),
        paths=ordered,
    )
