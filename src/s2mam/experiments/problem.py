"""From a setting and a repeat to rows: draw, corrupt, split, hide labels."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import Bunch

import s2mam.datasets
from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.experiments.protocol import Protocol, Setting, Source
from s2mam.experiments.restricted import load_restricted, stand_in
from s2mam.intake.notices import warn_user

__all__ = ["Problem", "Seeds", "check_sources", "draw_problem", "draw_seeds"]


@dataclass(frozen=True)
class Seeds:
    """Seeds of one repeat: the same for every system, so that comparisons are paired."""

    rows: int
    junk: int
    labels: int
    fit: int


@dataclass(frozen=True)
class Problem:
    """What a cell fits and is measured on.

    Attributes
    ----------
    X : (n, p) array
        Training rows.
    y : (n,) array
        Target with unlabelled rows marked: all that a system is shown.
    truth : (n,) array
        The whole target, for scores only.
    X_test, y_test : arrays
        Rows that no fit sees.
    informative : (p,) array of bool or None
        Columns that matter; the columns before corruption when the truth is not known; None when
        neither is known.
    mask_known : bool
        Whether `informative` is the truth.
    variance : float
        Variance of all targets; 1 for classes.
    """

    X: FloatArray
    y: AnyArray
    truth: AnyArray
    X_test: FloatArray
    y_test: AnyArray
    informative: BoolArray | None
    mask_known: bool
    variance: float

    @property
    def hidden(self) -> BoolArray:
        """Training rows without a label."""
        marked: BoolArray = np.isnan(self.y) if self.y.dtype.kind == "f" else self.y == -1
        return marked


def draw_seeds(seed: int, repeat: int) -> Seeds:
    """Seeds of a repeat.

    Examples
    --------
    >>> draw_seeds(0, 1) == draw_seeds(0, 1), draw_seeds(0, 1) == draw_seeds(0, 2)
    (True, False)
    """
    state = np.random.SeedSequence(seed, spawn_key=(repeat,)).generate_state(4)
    return Seeds(*(int(value) & 0x7FFFFFFF for value in state))


def draw_problem(
    setting: Setting, seeds: Seeds, data_home: str | os.PathLike[str] | None = None
) -> Problem:
    """The rows of one repeat of a setting.

    Parameters
    ----------
    setting : Setting
    seeds : Seeds
    data_home : path, optional
        Folder of data sets.

    Examples
    --------
    >>> from s2mam.experiments.protocol import Labels, Rows
    >>> source = Source("generator", "make_moons", {"n_uninformative": 0, "n_noisy": 0})
    >>> moons = Setting("moons", "classification", source, Rows(60, 40), Labels(per_class=1))
    >>> problem = draw_problem(moons, draw_seeds(0, 0))
    >>> problem.X.shape, problem.X_test.shape, int((~problem.hidden).sum())
    ((60, 2), (40, 2), 2)
    """
    data = _read(setting, seeds, data_home)
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    y = y.astype(np.float64 if setting.task == "regression" else np.intp)
    junk = setting.corruption
    n_columns = X.shape[1]
    n_junk = junk.n_uninformative + junk.n_noisy
    X = s2mam.datasets.corrupt(
        X,
        junk.n_uninformative,
        junk.n_noisy,
        noisy_reading=junk.noisy_reading,
        random_state=seeds.junk,
    )
    train, test = _split(y, data.get("groups"), setting, seeds.rows)
    sizes = {k: v for k, v in vars(setting.labels).items() if v is not None}
    hidden = s2mam.datasets.hide_labels(y[train], **sizes, random_state=seeds.labels)
    known = data.get("informative")
    informative = None
    if known is not None or n_junk:
        real = np.ones(n_columns, dtype=bool) if known is None else np.asarray(known, dtype=bool)
        informative = np.append(real, np.zeros(n_junk, dtype=bool))
    return Problem(
        X=X[train],
        y=hidden,
        truth=y[train],
        X_test=X[test],
        y_test=y[test],
        informative=informative,
        mask_known=known is not None,
        variance=float(y.var()) if setting.task == "regression" else 1.0,
    )


def check_sources(protocol: Protocol, data_home: str | os.PathLike[str] | None = None) -> None:
    """Raise, before any work, when the data of a setting are not there.

    Parameters
    ----------
    protocol : Protocol
    data_home : path, optional

    Warns
    -----
    S2MAMWarning
        When pictures are read in place of a table that is not there.
    """
    replaced: dict[str, str] = {}
    for setting in protocol.settings:
        if setting.source.kind != "generator":
            data = _load_source(setting.source, data_home)
            _with_target(data, setting.source)
            if setting.source.kind == "dataset" and data.name != setting.source.name:
                replaced[setting.source.name] = data.name
    for name, other in replaced.items():
        warn_user(
            f"There is no {name}/data.npz, so the pictures in {other} are read; results may differ "
            "a little from those of the table."
        )


def _read(setting: Setting, seeds: Seeds, data_home: str | os.PathLike[str] | None) -> Bunch:
    source, rows = setting.source, setting.rows
    if source.kind == "generator":
        if rows.train < 1 or rows.test < 1:
            raise InvalidInputError(
                f"Setting {setting.name!r} draws its rows, so it needs numbers of rows, not shares."
            )
        generate = getattr(s2mam.datasets, source.name, None)
        if not source.name.startswith("make_") or generate is None:
            raise InvalidInputError(f"s2mam.datasets has no generator {source.name!r}.")
        size = int(rows.train + rows.test)
        return generate(size, random_state=seeds.rows, **source.args)
    data = _load_source(source, data_home)
    return _chosen_rows(_with_target(data, source), source)


def _load_source(source: Source, data_home: str | os.PathLike[str] | None) -> Bunch:
    home = None if data_home is None else os.fspath(data_home)
    name = stand_in(source.name, home) if source.kind == "dataset" else source.name
    return _load(source.kind, name, home, tuple(sorted(source.args.items())))


@lru_cache(maxsize=2)
def _load(kind: str, name: str, home: str | None, args: tuple[tuple[str, Any], ...]) -> Bunch:
    """A set as its loader gives it; kept, as the cells of a setting follow each other."""
    if kind == "folder":
        return load_restricted(name, home, **dict(args))
    return s2mam.datasets.load(name, home, **dict(args))


def _with_target(data: Bunch, source: Source) -> Bunch:
    if source.target is None:
        return data
    y = np.asarray(data.y, dtype=np.float64)
    y = y[:, None] if y.ndim == 1 else y
    names = [str(name) for name in np.ravel(data.get("target_names", data.get("target_name", ())))]
    if source.target not in names or len(names) != y.shape[1]:
        raise InvalidInputError(
            f"{source.name!r} has no target {source.target!r}; it has "
            f"{', '.join(names) or 'none'}. In a data.npz, y has one column a target and "
            "'target_names' their names; with one target alone, name its settings in --settings."
        )
    y = y[:, names.index(source.target)]
    # A person without this score is no row of this study.
    return _rows_of(data, ~np.isnan(y), y)


def _chosen_rows(data: Bunch, source: Source) -> Bunch:
    if source.classes is None:
        return data
    names = np.asarray(data.class_names)[np.asarray(data.y, dtype=np.intp)]
    kept = np.isin(names, source.classes)
    if not kept.any():
        raise InvalidInputError(
            f"{source.name!r} has no rows of the classes {', '.join(source.classes)}."
        )
    codes = np.searchsorted(np.unique(names[kept]), names)
    return _rows_of(data, kept, codes)


def _rows_of(data: Bunch, kept: BoolArray, y: AnyArray) -> Bunch:
    groups = data.get("groups")
    part = None if groups is None else np.asarray(groups)[kept]
    return Bunch(**{**data, "X": data.X[kept], "y": y[kept], "groups": part})


def _split(y: AnyArray, groups: Any, setting: Setting, seed: int) -> tuple[AnyArray, AnyArray]:
    """Row numbers of the two parts.

    Where rows are split, not drawn, class shares are kept; rows that belong together stay so.
    """
    rows = setting.rows
    if setting.source.kind == "generator":
        order = np.arange(len(y))
        return order[: int(rows.train)], order[int(rows.train) :]
    n_train = _size(rows.train, rows.max_train, len(y))
    n_test = min(_size(rows.test, rows.max_test, len(y)), len(y) - n_train)
    if n_train < 2 or n_test < 1:
        raise InvalidInputError(f"Setting {setting.name!r} leaves no rows: the set has {len(y)}.")
    if groups is not None:
        return _split_groups(np.asarray(groups), n_train, n_test, seed)
    classes = y if setting.task == "classification" else None
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=n_train,
        test_size=n_test,
        stratify=classes,
        random_state=seed,
    )
    return train, test


def _split_groups(
    groups: AnyArray, n_train: int, n_test: int, seed: int
) -> tuple[AnyArray, AnyArray]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.unique(groups))
    sizes = np.array([np.count_nonzero(groups == group) for group in order])
    first = order[: max(1, int(np.searchsorted(np.cumsum(sizes), n_train, side="right")))]
    inside = np.isin(groups, first)
    train, test = rng.permutation(np.flatnonzero(inside)), rng.permutation(np.flatnonzero(~inside))
    return train[:n_train], test[:n_test]


def _size(wanted: float, most: int | None, total: int) -> int:
    size = round(wanted * total) if wanted < 1 else int(wanted)
    return size if most is None else min(size, most)
