"""Make a data set harder: junk columns added, labels hidden."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils import check_random_state

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.datasets._columns import NoisyReading, junk_columns
from s2mam.exceptions import InvalidInputError
from s2mam.intake.markers import as_vector, equals_marker, unlabeled_rows


def corrupt(
    X: Any,
    n_uninformative: int = 0,
    n_noisy: int = 10,
    *,
    noisy_reading: NoisyReading = "sd",
    random_state: Any = None,
) -> Any:
    """Append columns that say nothing about any target.

    Parameters
    ----------
    X : array-like or dataframe of shape (n, p)
        The table, left as it is.
    n_uninformative : int, default=0
        Number of N(0, 1) columns.
    n_noisy : int, default=10
        Number of N(100, 100) columns, after the former.
    noisy_reading : {"sd", "variance"}, default="sd"
        Whether the second 100 of N(100, 100) is a standard deviation or a variance.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    ndarray or dataframe of shape (n, p + n_uninformative + n_noisy)
        A dataframe for a dataframe; the new columns are called u1, u2, ..., n1, n2, ... .

    Examples
    --------
    >>> corrupt(np.zeros((5, 2)), n_uninformative=3, n_noisy=1, random_state=0).shape
    (5, 6)
    """
    rng = check_random_state(random_state)
    n_rows = len(X)
    junk, names = junk_columns(rng, n_rows, n_uninformative, n_noisy, noisy_reading)
    if nw.dependencies.is_into_dataframe(X):
        return _append_to_frame(X, junk, names)
    array = np.asarray(X)
    if array.ndim != 2:
        raise InvalidInputError(f"X must have rows and columns, got shape {array.shape}.")
    return np.hstack([array, junk])


def hide_labels(
    y: Any,
    *,
    n_labeled: int | None = None,
    per_class: float | None = None,
    fraction: float | None = None,
    random_state: Any = None,
) -> Any:
    """Copy of a target in which only some rows keep their label.

    Exactly one of the three sizes is given. Hidden rows become NaN (float targets), -1 (integers)
    or None (text, bool and objects). Rows that are unlabelled already stay so. A regression target
    of whole numbers should be cast to float first, as -1 is a number there.

    Parameters
    ----------
    y : array-like of shape (n,)
        The target; a pandas or polars series is returned as one.
    n_labeled : int, optional
        Number of labels to keep, drawn at random.
    per_class : int or float, optional
        Labels to keep in each class: a number, or a share below one (at least one label is kept).
    fraction : float, optional
        Share of the labels to keep, drawn at random.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    array-like of shape (n,)

    Examples
    --------
    >>> hide_labels([0, 0, 1, 1], per_class=1, random_state=0)
    array([-1,  0,  1, -1])
    """
    given = [size for size in (n_labeled, per_class, fraction) if size is not None]
    if len(given) != 1:
        raise InvalidInputError("Give exactly one of n_labeled, per_class and fraction.")
    values = as_vector(y)
    candidates = np.flatnonzero(~unlabeled_rows(values, "auto", classes=values.dtype.kind != "f"))
    _refuse_ambiguous(values, candidates)
    rng = check_random_state(random_state)
    if per_class is not None:
        kept = _draw_per_class(rng, values, candidates, per_class)
    else:
        size = n_labeled if fraction is None else _share(fraction, len(candidates), "fraction")
        if size is not None and size != int(size):
            raise InvalidInputError(f"n_labeled must be a whole number, got {size}.")
        kept = _draw(rng, candidates, int(size or 0))
    hidden = np.ones(len(values), dtype=bool)
    hidden[kept] = False
    return _like(y, _mark(values, hidden))


def _append_to_frame(X: Any, junk: FloatArray, names: list[str]) -> Any:
    frame = nw.from_native(X, eager_only=True)
    taken = list(frame.columns)
    labels: list[Any] = [_free_name(name, taken) for name in names]
    if taken and not any(isinstance(name, str) for name in taken):
        # scikit-learn refuses tables that mix text with other column names.
        labels = [max(taken) + 1 + k for k in range(len(names))]
    if frame.implementation.is_pandas():
        import pandas as pd

        return pd.concat([X, pd.DataFrame(junk, columns=labels, index=X.index)], axis=1)
    added = [
        nw.new_series(label, junk[:, k], nw.Float64, backend=frame.implementation)
        for k, label in enumerate(labels)
    ]
    return frame.with_columns(*added).to_native()


def _free_name(name: str, taken: list[Any]) -> str:
    while name in taken:
        name += "_"
    return name


def _refuse_ambiguous(values: AnyArray, candidates: IntArray) -> None:
    uses_minus_one = values.dtype.kind in "iu" and equals_marker(values, -1).any()
    if uses_minus_one and len(np.unique(values[candidates])) < 2:
        raise InvalidInputError(
            "y uses -1 as a class, but -1 marks unlabelled rows; recode the classes to 0 and 1."
        )


def _share(share: float, total: int, name: str) -> int:
    if not 0 < share <= 1:
        raise InvalidInputError(f"{name} must lie in (0, 1], got {share}.")
    return max(1, round(share * total))


def _draw(rng: np.random.RandomState, rows: IntArray, size: int, where: str = "") -> IntArray:
    if not 1 <= size <= len(rows):
        raise InvalidInputError(
            f"Cannot keep {size} labels{where}: there are {len(rows)}, and at least one is needed."
        )
    return rng.choice(rows, size=size, replace=False)


def _draw_per_class(
    rng: np.random.RandomState, values: AnyArray, candidates: IntArray, per_class: float
) -> IntArray:
    kept = []
    for label in np.unique(values[candidates]):
        rows = candidates[values[candidates] == label]
        size = per_class if per_class >= 1 else _share(per_class, len(rows), "per_class")
        if size != int(size):
            raise InvalidInputError(f"per_class must be whole or below one, got {per_class}.")
        kept.append(_draw(rng, rows, int(size), f" of class {label!r}"))
    return np.concatenate(kept)


def _mark(values: AnyArray, hidden: BoolArray) -> AnyArray:
    kind = values.dtype.kind
    if kind == "f":
        marked = values.copy()
        marked[hidden] = np.nan
    elif kind in "iu":
        marked = values.astype(np.int64) if kind == "u" else values.copy()
        marked[hidden] = -1
    else:
        marked = values.astype(object)
        marked[hidden] = None
    return marked


def _like(y: Any, marked: AnyArray) -> Any:
    """The marked labels in the container of `y`: series stay series."""
    if not nw.dependencies.is_into_series(y):
        return marked
    series = nw.from_native(y, series_only=True)
    if series.implementation.is_pandas():
        keeps_type = not isinstance(y.dtype, np.dtype)
        return type(y)(marked, index=y.index, name=y.name, dtype=y.dtype if keeps_type else None)
    values = marked.tolist()
    return nw.new_series(series.name, values, backend=series.implementation).to_native()
