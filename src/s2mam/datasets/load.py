"""Data sets by name: from a local folder, scikit-learn, a generator, or the internet."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch

from s2mam._typing import AnyArray
from s2mam.datasets.adni import load_adni
from s2mam.datasets.agedb import load_agedb
from s2mam.datasets.celeba import load_celeba
from s2mam.datasets.coil20 import load_coil20_images
from s2mam.datasets.online import by_hand, fetch
from s2mam.datasets.registry import DatasetInfo, lookup, registry
from s2mam.datasets.synthetic import (
    make_additive_classification,
    make_additive_regression,
    make_friedman,
    make_moons,
)
from s2mam.exceptions import InvalidInputError, S2MAMError

_HOME_VARIABLE = "S2MAM_DATA_HOME"
_MAIN_KEYS = ("X", "y", "feature_names", "target_name", "class_names", "groups")
_IMAGE_SIZE = 32
_GENERATORS: Mapping[str, Callable[..., Bunch]] = {
    "friedman": make_friedman,
    "additive_regression": make_additive_regression,
    "additive_classification": make_additive_classification,
    "moons": make_moons,
}
_FOLDERS: Mapping[str, Callable[[Path], Bunch]] = {
    "adni": lambda folder: load_adni(folder, "ADAS"),
    "agedb": lambda folder: load_agedb(folder, size=_IMAGE_SIZE),
    "celeba": lambda folder: load_celeba(folder, size=_IMAGE_SIZE),
    "coil20_images": lambda folder: load_coil20_images(folder, size=_IMAGE_SIZE),
}


def load(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    *,
    sensitive: bool = False,
    download: bool = True,
    mirrors: Mapping[str, str] | None = None,
) -> Bunch:
    """Load a data set.

    Looked for in ``<data_home>/<name>/data.npz``, then among the sets scikit-learn ships and the
    problems this package draws itself, then (`download`) at UCI, OpenML and as a public copy on
    GitHub, whichever first gives a table of the known shape. Files are compared with a checksum,
    except those of the sites in ``info(name).unverified``, where the shape is all that is checked,
    and those of OpenML, which tells the checksum itself. Restricted sets (`info` gives their
    kind as "folder") are read from ``<data_home>/<name>`` in the layout of their owners.

    A file of your own is loaded as well, known name or not: ``<data_home>/<name>/data.npz`` with
    the arrays ``X`` and ``y`` and, if you like, ``feature_names``, ``target_name``,
    ``class_names`` and ``groups``. For several targets (restricted sets of regression), ``y`` has
    one column each and ``target_names`` their names.

    Parameters
    ----------
    name : str
        One of `list_datasets`, or the folder of your own file.
    data_home : path, optional
        Folder of data sets, and of what is downloaded (below ``downloads``). When not given, the
        environment variable S2MAM_DATA_HOME, else the user's cache folder.
    sensitive : bool, default=False
        Keep columns that `info` lists as sensitive.
    download : bool, default=True
        Whether the set may be fetched from the internet.
    mirrors : mapping, optional
        Other base addresses for "uci", "openml" and "github", such as a mirror in your network.

    Returns
    -------
    Bunch
        X (float array), y (codes 0..k-1 or floats), feature_names, target_name, task, class_names,
        groups (rows that belong together, or None), informative (bool mask, or None when not
        known), name, origin ("file", "scikit-learn", "generated", "folder", "uci", "openml" or
        "github"), further arrays of the source.

    Examples
    --------
    >>> data = load("iris")
    >>> data.X.shape, data.task, data.class_names
    ((150, 4), 'classification', ['setosa', 'versicolor', 'virginica'])
    """
    _check_name(name)
    home = _home(data_home)
    path = home / name / "data.npz"
    facts = registry().get(name)
    if path.is_file():
        data = _from_file(path, facts)
    else:
        facts = lookup(name)
        data = _from_elsewhere(facts, home, download, mirrors)
        data.task, data.target_name = facts.task, facts.target
    data.name = name
    return _finish(data, facts, sensitive)


def _check_name(name: object) -> None:
    """Refuse paths: by one, a known set would come without its checksum and sensitive columns."""
    if not isinstance(name, str) or name in ("", ".", "..") or set(name) & set("/\\\0"):
        raise InvalidInputError(
            f"name={name!r} must be a name of list_datasets() or that of a folder in data_home, "
            "which is where a path belongs."
        )


def _home(data_home: str | os.PathLike[str] | None) -> Path:
    given = data_home or os.environ.get(_HOME_VARIABLE)
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "s2mam"


def _from_elsewhere(
    facts: DatasetInfo, home: Path, download: bool, mirrors: Mapping[str, str] | None
) -> Bunch:
    if facts.kind == "scikit-learn":
        return _from_sklearn(facts)
    if facts.kind == "generated":
        return Bunch(origin="generated", **_GENERATORS[facts.name](random_state=0))
    if facts.kind == "folder":
        return Bunch(**{**_FOLDERS[facts.name](home / facts.name), "origin": "folder"})
    if not download:
        raise S2MAMError(by_hand(facts, home))
    return fetch(facts, home, mirrors)


def _from_file(path: Path, facts: DatasetInfo | None) -> Bunch:
    arrays = _arrays(path, facts)
    y = arrays["y"]
    task = facts.task if facts else "regression" if y.dtype.kind == "f" else "classification"
    names = arrays.get("class_names")
    if task == "classification" and names is None:
        names, y = np.unique(y, return_inverse=True)
    extra = {key: value for key, value in arrays.items() if key not in _MAIN_KEYS}
    return Bunch(
        X=arrays["X"],
        y=y,
        feature_names=_texts(arrays.get("feature_names")),
        target_name=str(arrays.get("target_name", "y")),
        task=task,
        class_names=_texts(names) if task == "classification" else None,
        groups=arrays.get("groups"),
        origin="file",
        **extra,
    )


def _arrays(path: Path, facts: DatasetInfo | None) -> dict[str, AnyArray]:
    content = path.read_bytes()
    if facts is not None and facts.sha256 is not None:
        found = hashlib.sha256(content).hexdigest()
        if found != facts.sha256:
            raise InvalidInputError(
                f"{path} is not the known file for {facts.name!r} (sha256 {found[:12]}..., not "
                f"{facts.sha256[:12]}...); replace it, or rename its folder to load it as your own."
            )
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        raise InvalidInputError(f"{path} is not a readable npz file: {error}.") from None
    if not {"X", "y"} <= arrays.keys() or arrays["X"].ndim != 2:
        raise InvalidInputError(f"{path} must hold a table 'X' and a target 'y'.")
    if len(arrays["X"]) != len(arrays["y"]):
        raise InvalidInputError(
            f"{path}: X has {len(arrays['X'])} rows but y has {len(arrays['y'])}."
        )
    return arrays


def _from_sklearn(facts: DatasetInfo) -> Bunch:
    source = getattr(sklearn.datasets, f"load_{facts.name}")()
    classes = _texts(source.target_names) if facts.task == "classification" else None
    return Bunch(
        X=source.data,
        y=source.target,
        feature_names=_texts(source.feature_names),
        class_names=classes,
        origin="scikit-learn",
    )


def _finish(data: Bunch, facts: DatasetInfo | None, sensitive: bool) -> Bunch:
    """One form for all sources: float X, typed y, sensitive columns out, known mask in."""
    data.X = np.asarray(data.X).astype(np.float64)
    is_class = data.task == "classification"
    data.y = np.asarray(data.y).astype(np.intp if is_class else np.float64)
    names = data.feature_names or [f"x{j + 1}" for j in range(data.X.shape[1])]
    drop = set(facts.sensitive) if facts is not None and not sensitive else set()
    keep = np.array([column not in drop for column in names])
    data.X = data.X[:, keep]
    data.feature_names = [column for column in names if column not in drop]
    if "feature_group" in data:
        data.feature_group = np.asarray(data.feature_group)[keep]
    for optional in ("groups", "class_names", "informative"):
        data.setdefault(optional, None)
    if is_class and data.class_names is None:
        data.class_names = _texts(np.unique(data.y))
    if facts is not None and facts.informative:
        data.informative = np.isin(data.feature_names, facts.informative)
    return data


def _texts(values: AnyArray | list[Any] | None) -> list[str]:
    return [] if values is None else [str(value) for value in values]
