"""Real data sets from a local folder, from scikit-learn, or fetched from OpenML."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch

from s2mam._typing import AnyArray
from s2mam.datasets.registry import DatasetInfo, lookup, registry
from s2mam.exceptions import InvalidInputError, S2MAMError

_HOME_VARIABLE = "S2MAM_DATA_HOME"
_IN_SKLEARN = ("breast_cancer", "digits", "diabetes", "wine", "iris")
_MAIN_KEYS = ("X", "y", "feature_names", "target_name", "class_names", "groups")


def load(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    *,
    sensitive: bool = False,
    download: bool = True,
) -> Bunch:
    """Load a data set.

    Looked for in ``<data_home>/<name>/data.npz``, then among the sets scikit-learn ships, then
    (`download`) at OpenML. A file of your own in that place is loaded as well, known name or not:
    it holds the arrays ``X`` and ``y`` and, if you like, ``feature_names``, ``target_name``,
    ``class_names`` and ``groups``.

    Parameters
    ----------
    name : str
        One of `list_datasets`, or the folder of your own file.
    data_home : path, optional
        Folder of data sets; the environment variable S2MAM_DATA_HOME when not given.
    sensitive : bool, default=False
        Keep columns that `info` lists as sensitive.
    download : bool, default=True
        Whether the set may be fetched from the internet.

    Returns
    -------
    Bunch
        X (float array), y (codes 0..k-1 or floats), feature_names, target_name, task, class_names,
        groups (rows that belong together, or None), informative (bool mask, or None when not
        known), name, origin ("file", "scikit-learn" or "openml"), further arrays of the file.

    Examples
    --------
    >>> data = load("iris")
    >>> data.X.shape, data.task, data.class_names
    ((150, 4), 'classification', ['setosa', 'versicolor', 'virginica'])
    """
    home = data_home or os.environ.get(_HOME_VARIABLE)
    path = None if home is None else Path(home) / name / "data.npz"
    if path is not None and path.is_file():
        data = _from_file(path, registry().get(name))
    elif name in _IN_SKLEARN:
        data = _from_sklearn(lookup(name))
    else:
        data = _from_openml(lookup(name), download)
    data.name = name
    return _finish(data, registry().get(name), sensitive)


def _from_file(path: Path, facts: DatasetInfo | None) -> Bunch:
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


def _from_sklearn(facts: DatasetInfo) -> Bunch:
    source = getattr(sklearn.datasets, f"load_{facts.name}")()
    classes = _texts(source.target_names) if facts.task == "classification" else None
    return Bunch(
        X=source.data,
        y=source.target,
        feature_names=_texts(source.feature_names),
        target_name=facts.target,
        task=facts.task,
        class_names=classes,
        groups=None,
        origin="scikit-learn",
    )


def _from_openml(facts: DatasetInfo, download: bool) -> Bunch:
    if not download or facts.openml_id is None:
        raise S2MAMError(_where_to_put(facts, "is not on this machine"))
    try:
        # as_frame="auto" would need pandas only for tables with categories; this form always works.
        source = sklearn.datasets.fetch_openml(
            data_id=facts.openml_id, as_frame=False, parser="liac-arff"
        )
    except (OSError, ValueError) as error:  # no network; or refused or unreadable content
        raise S2MAMError(_where_to_put(facts, f"could not be fetched ({error})")) from error
    found = source.details.get("name")
    if found != facts.openml_name:
        raise S2MAMError(_where_to_put(facts, f"was not found: OpenML gave {found!r} for it"))
    y, classes = source.target, None
    if y is None or np.ndim(y) != 1:
        raise S2MAMError(_where_to_put(facts, "has no single target at OpenML"))
    if facts.task == "classification":
        names, y = np.unique(np.asarray(y).astype(str), return_inverse=True)
        classes = _texts(names)
    return Bunch(
        X=source.data,
        y=y,
        feature_names=_texts(source.feature_names),
        target_name=facts.target,
        task=facts.task,
        class_names=classes,
        groups=None,
        origin="openml",
    )


def _where_to_put(facts: DatasetInfo, what: str) -> str:
    place = f"<folder>/{facts.name}/data.npz"
    source = f" Source: {facts.source}" + (f"; {facts.origin}" if facts.origin else "")
    return (
        f"The data set {facts.name!r} {what}. Put its arrays X ({facts.n_rows} x "
        f"{facts.n_columns}) and y into {place} and pass data_home=<folder> or set "
        f"{_HOME_VARIABLE}.{source}."
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
    data.informative = None
    if facts is not None and facts.informative:
        data.informative = np.isin(data.feature_names, facts.informative)
    return data


def _texts(values: AnyArray | list[Any] | None) -> list[str]:
    return [] if values is None else [str(value) for value in values]
