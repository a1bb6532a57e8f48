"""Targets in: which rows carry a label, and what the labels are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.exceptions import InvalidInputError, NoLabelsError
from s2mam.intake.markers import AUTO, as_vector, equals_marker, is_auto, unlabeled_rows
from s2mam.intake.missing import missing_mask
from s2mam.intake.notices import warn_user


@dataclass(frozen=True, eq=False)
class LabeledTarget:
    """A target whose unlabelled rows have been set apart.

    Parameters
    ----------
    labeled : ndarray of bool, shape (n,)
        True for rows with a label.
    y : ndarray, shape (l,)
        Labels of those rows, in row order: floats (regression) or codes into `classes`.
    classes : ndarray or None
        Sorted class labels; None for regression.
    """

    labeled: BoolArray
    y: FloatArray | IntArray
    classes: AnyArray | None = None

    @property
    def n_labeled(self) -> int:
        """Number of rows with a label."""
        return len(self.y)

    @property
    def values(self) -> AnyArray:
        """Labels of the labelled rows as the user wrote them (classes, not codes)."""
        return self.y if self.classes is None else self.classes[self.y]


def read_regression_target(
    y: Any, *, unlabeled: Any = AUTO, n_rows: int | None = None
) -> LabeledTarget:
    """Read a numeric target in which some rows are unlabelled.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numbers; NaN, None and pandas NA mark unlabelled rows.
    unlabeled : "auto", scalar or None, default="auto"
        A further marker, such as -999. None: every row is labelled and a missing value is an error.
    n_rows : int, optional
        Number of rows of X, checked.

    Returns
    -------
    LabeledTarget
        With float `y` and no classes.

    Examples
    --------
    >>> target = read_regression_target([1.5, None, 2.0])
    >>> target.labeled
    array([ True, False,  True])
    >>> target.y
    array([1.5, 2. ])
    """
    values = as_vector(y, n_rows)
    labeled = _labeled_rows(values, unlabeled, classes=False)
    rows = np.flatnonzero(labeled)
    present = _as_numbers(values[labeled], rows)
    _reject_infinite(present, rows)
    return LabeledTarget(labeled=labeled, y=present)


def read_classification_target(
    y: Any, *, unlabeled: Any = AUTO, n_rows: int | None = None
) -> LabeledTarget:
    """Read class labels in which some rows are unlabelled.

    Parameters
    ----------
    y : array-like of shape (n,)
        Class labels: numbers, text or bool. NaN, None, pandas NA and the number -1 mark unlabelled
        rows.
    unlabeled : "auto", scalar or None, default="auto"
        A scalar such as "?" or 99 replaces -1 as the marker, ``np.nan`` leaves only missing values.
        None: every row is labelled and a missing value is an error.
    n_rows : int, optional
        Number of rows of X, checked.

    Returns
    -------
    LabeledTarget
        `y` holds codes into `classes`, which keeps the dtype of the labels.

    Examples
    --------
    >>> target = read_classification_target(["cat", "dog", None, "cat"])
    >>> target.classes[target.y].tolist()
    ['cat', 'dog', 'cat']
    >>> read_classification_target([0, 1, -1, 1]).labeled
    array([ True,  True, False,  True])
    """
    values = as_vector(y, n_rows)
    labeled = _labeled_rows(values, unlabeled, classes=True)
    present = _as_classes(values[labeled], np.flatnonzero(labeled))
    classes, codes = np.unique(present, return_inverse=True)
    if is_auto(unlabeled):
        _warn_about_minus_one(values, labeled, classes)
    return LabeledTarget(labeled=labeled, y=codes.astype(np.intp), classes=classes)


def _labeled_rows(values: AnyArray, unlabeled: Any, *, classes: bool) -> BoolArray:
    hidden = unlabeled_rows(values, unlabeled, classes=classes)
    if unlabeled is None:
        missing = np.flatnonzero(missing_mask(values))
        if len(missing):
            raise InvalidInputError(
                f"y is missing in {len(missing)} rows (first: row {missing[0]}) although "
                "unlabeled=None says that every row is labelled; pass unlabeled='auto'."
            )
    if hidden.all():
        raise NoLabelsError(
            f"None of the {len(values)} rows of y is labelled (unlabeled={unlabeled!r}); at least "
            "one label is needed."
        )
    return ~hidden


def _as_numbers(present: AnyArray, rows: IntArray) -> FloatArray:
    """Labels as floats; text that does not spell a number is named with its row."""
    if present.dtype.kind in "mM":
        raise InvalidInputError("y holds dates; a regression target must be numeric.")
    try:
        return present.astype(np.float64)
    except (TypeError, ValueError):
        for row, value in zip(rows, present, strict=True):
            if not _spells_number(value):
                raise InvalidInputError(
                    f"y holds {value!r} in row {row}; a regression target must be numeric. If it "
                    "marks unlabelled rows, pass it as unlabeled=."
                ) from None
        raise


def _spells_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _reject_infinite(present: FloatArray, rows: IntArray) -> None:
    infinite = rows[np.isinf(present)]
    if len(infinite):
        raise InvalidInputError(
            f"Input y contains infinity in {len(infinite)} rows (first: row {infinite[0]}); "
            "replace it, or use NaN to mark the row as unlabelled."
        )


def _as_classes(present: AnyArray, rows: IntArray) -> AnyArray:
    """Class labels with one dtype that np.unique can sort."""
    if present.dtype.kind in "mM":
        raise InvalidInputError("Unknown label type: dates. Convert the classes of y to text.")
    if present.dtype.kind == "O":
        present = _one_type(present)
    if present.dtype.kind == "f":
        _reject_infinite(present, rows)
        if np.any(present != np.floor(present)):
            raise InvalidInputError(
                "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
                "expects discrete classes on a regression target with continuous values."
            )
    return present


def _one_type(present: AnyArray) -> AnyArray:
    if all(isinstance(value, str) for value in present):
        return present
    types = sorted({type(value).__name__ for value in present})
    if any(isinstance(value, str) for value in present):
        raise InvalidInputError(
            f"Unknown label type: y mixes text with other labels (types {types}); use one type for "
            "all classes, and unlabeled= to name the marker of unlabelled rows."
        )
    try:
        plain = np.array(present.tolist())
    except ValueError:  # lists of different lengths among them
        plain = present
    if plain.dtype.kind not in "biuf" or plain.ndim != 1:
        raise InvalidInputError(
            f"Unknown label type: y holds {types}; classes must be numbers, text or bool."
        )
    return plain


def _warn_about_minus_one(values: AnyArray, labeled: BoolArray, classes: AnyArray) -> None:
    if len(classes) == 1 and equals_marker(values[~labeled], -1).any():
        warn_user(
            "only one class left after -1 was read as unlabelled; pass unlabeled=None or "
            "unlabeled=np.nan if -1 is a class."
        )
    if classes.dtype.kind in "OU" and "-1" in classes and not all(map(_spells_number, classes)):
        warn_user(
            "the text '-1' was read as a class; pass unlabeled='-1' if it marks unlabelled rows."
        )
