"""Data that their owners hand out themselves: where to put them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

import s2mam.datasets
from s2mam.exceptions import S2MAMError

__all__ = ["load_restricted", "stand_in"]

_VARIABLE = "S2MAM_DATA_HOME"
_WHAT = {
    "adni": "the ADNI tables ADNIMERGE*.csv, UCSFFSX_*.csv and NEUROBAT*.csv (ida.loni.usc.edu)",
    "celeba": "the folder CelebAMask-HQ with CelebA-HQ-img and CelebAMask-HQ-attribute-anno.txt",
    "agedb": "the AgeDB images, <id>_<person>_<age>_<f or m>.jpg",
    "coil20_images": "the images of coil-20-proc.zip",
}
# Sets whose tables promise that no person is in both parts.
_IN_GROUPS = ("agedb",)


# Tables that can be had from the pictures of their owners as well.
_PICTURES = {"coil20": "coil20_images"}


def stand_in(name: str, data_home: str | os.PathLike[str] | None = None) -> str:
    """The set to load for a name: its pictures where they are in the folder and its table is not.

    Parameters
    ----------
    name : str
    data_home : path, optional
        The environment variable S2MAM_DATA_HOME when not given.

    Examples
    --------
    >>> stand_in("boston", "data")
    'boston'
    """
    home = data_home or os.environ.get(_VARIABLE)
    pictures = _PICTURES.get(name)
    if home is None or pictures is None or (Path(home) / name / "data.npz").is_file():
        return name
    return pictures if (Path(home) / pictures).is_dir() else name


def load_restricted(
    name: str, data_home: str | os.PathLike[str] | None = None, **args: Any
) -> Bunch:
    """The data in ``<data_home>/<name>``, read by ``s2mam.datasets.load_<name>``.

    A file ``data.npz`` there with arrays X and y, such as features of a network, goes first. For
    "adni", y has one column a score and an array ``target_names`` the names (or y is one score, and
    ``target_name`` its name); for "agedb" an array ``groups`` tells the person of each row.

    Parameters
    ----------
    name : {"adni", "celeba", "agedb", "coil20_images"}
    data_home : path, optional
        The environment variable S2MAM_DATA_HOME when not given.
    **args : object
        Further arguments of the loader.

    Returns
    -------
    Bunch
        X, y and more.

    Raises
    ------
    S2MAMError
        With what to put where, when the folder or an array is not there.
    """
    what = _WHAT.get(name, f"the files of {name}")
    home = data_home or os.environ.get(_VARIABLE)
    place = Path("<folder>" if home is None else home) / name
    if home is None or not place.is_dir():
        raise S2MAMError(
            f"The {name} data may not be passed on with this package: put {what} into {place} and "
            f"pass --data-home <folder> or set {_VARIABLE}."
        )
    if (place / "data.npz").is_file():
        data = s2mam.datasets.load(name, home)
        if name in _IN_GROUPS and data.groups is None:
            raise S2MAMError(
                f"{place / 'data.npz'} has no array 'groups': add the person of each row, as no "
                "person may be in both parts of a split."
            )
        return data
    loader: Any = getattr(s2mam.datasets, f"load_{name}", None)
    if loader is None:
        raise S2MAMError(f"This version of s2mam cannot read {place}: it has no load_{name}.")
    data = loader(place, **args)
    if data.get("X") is None:
        raise S2MAMError(
            f"The pictures in {place} need features first: write the vectors of a network as array "
            f"'X' (one row per picture) beside 'y' into {place / 'data.npz'}."
        )
    # Pictures are read now, once, and not in every cell.
    data.X = np.asarray(data.X, dtype=np.float64)
    return data
