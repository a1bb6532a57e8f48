"""Which rows a splitter may test on."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from s2mam._typing import AnyArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake.labels import (
    LabeledTarget,
    read_classification_target,
    read_regression_target,
)
from s2mam.intake.markers import as_vector
from s2mam.intake.missing import missing_mask

TargetTask: TypeAlias = Literal["auto", "classification", "regression"]


def read_target(y: Any, unlabeled: Any, task: TargetTask) -> LabeledTarget:
    """Read a target as intake does; "auto" takes whole numbers, text and bool as classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        The target.
    unlabeled : "auto", scalar or None
        The marker.
    task : {"auto", "classification", "regression"}
        What the labels are.

    Returns
    -------
    LabeledTarget

    Examples
    --------
    >>> read_target([0, 1, -1], "auto", "auto").labeled
    array([ True,  True, False])
    >>> read_target([0.5, 1, -1], "auto", "auto").labeled
    array([ True,  True,  True])
    """
    if task not in ("auto", "classification", "regression"):
        raise InvalidInputError(
            f"task must be 'auto', 'classification' or 'regression', got {task!r}."
        )
    values = as_vector(y)
    if task == "auto":
        task = "regression" if _has_fractions(values) else "classification"
    read = read_regression_target if task == "regression" else read_classification_target
    return read(values, unlabeled=unlabeled)


def _has_fractions(values: AnyArray) -> bool:
    present = values[~missing_mask(values)]
    if present.dtype.kind == "O":
        numbers = [value for value in present if isinstance(value, float | np.floating)]
        present = np.array(numbers, dtype=np.float64)
    return present.dtype.kind == "f" and bool(np.any(present != np.floor(present)))
