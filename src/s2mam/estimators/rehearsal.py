"""A model from a file has to predict before anybody gets it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from s2mam._typing import AnyArray
from s2mam.intake import TableReader

__all__ = ["rehearse"]


class _Stranger(BaseEstimator):  # type: ignore[misc]
    """Owner of a table without names."""

    def __init__(self, n_features: int) -> None:
        self.n_features_in_ = n_features


def rehearse(estimator: Any) -> None:
    """Predict three rows with a loaded estimator, and compare what it says of itself.

    Checksums tell damage, not a state that another program put together. Shapes and types
    that do not belong together show when they are used, so they are used here.

    Parameters
    ----------
    estimator : estimator
        With its ``_model`` and learned attributes.

    Raises
    ------
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError
        When it is not a model; the reader of files makes one error of all of them.
    """
    model = estimator._model
    readers = [part.reader for part in model.parts] if hasattr(model, "parts") else [model.reader]
    p = readers[0].n_features_in_
    _require(all(reader.n_features_in_ == p for reader in readers), "its parts differ in columns")
    for column in readers[0].columns_:
        named = column.kind != "categorical" or column.categories is not None
        _require(named, f"column {column.name!r} has no categories")
    rows = _typical_rows(readers[0])
    owner = _Stranger(p)
    # Values that are too large for the bases are refused by name elsewhere.
    with np.errstate(all="ignore"):
        decision = model.decision(rows, owner)
        contributions = model.contributions(rows, owner)
    k = np.asarray(model.intercept).size
    _require(decision.shape == (3, k) and contributions.shape == (3, p, k), "shapes disagree")
    _require(decision.dtype == np.float64, "its decision is not a number")
    _require(bool(np.isfinite(decision).all()), "its decision is not finite")
    total = contributions.sum(axis=1) + model.intercept
    _require(np.allclose(total, decision, rtol=1e-6, atol=1e-6), "its parts do not add up")
    _check_learned(estimator, readers[0], k)


def _check_learned(estimator: Any, reader: TableReader, k: int) -> None:
    p = reader.n_features_in_
    _require(type(estimator.n_features_in_) is int, "n_features_in_ is not a whole number")
    _require(estimator.n_features_in_ == p, "n_features_in_ is not the number of columns")
    support, chance = estimator.support_, estimator.mask_probabilities_
    _require(support.shape == (p,) and support.dtype == np.bool_, "support_ is not a mask")
    _require(chance.shape == (p,) and chance.dtype.kind == "f", "mask_probabilities_ has no shape")
    _require(bool((np.abs(chance - 0.5) <= 0.5 + 1e-9).all()), "mask_probabilities_ are none")
    if hasattr(estimator, "feature_names_in_"):
        names = [column.name for column in reader.columns_]
        _require(list(estimator.feature_names_in_) == names, "feature_names_in_ are other names")
    if hasattr(type(estimator), "predict_proba"):
        classes = estimator.classes_
        _require(isinstance(classes, np.ndarray) and classes.ndim == 1, "classes_ is no list")
        _require(classes.size > 0, "there is no class")
        _require(k == (classes.size if classes.size > 2 else 1), "classes_ has another length")
        _require(np.unique(classes).size == classes.size, "classes_ repeats a class")


def _typical_rows(reader: TableReader) -> AnyArray:
    """The lowest and the highest value of each column, or its first and last category; nothing."""
    rows: AnyArray = np.empty((3, reader.n_features_in_), dtype=object)
    for j, column in enumerate(reader.columns_):
        ends = column.categories if column.categories else (column.low, column.high)
        rows[:, j] = [ends[0], ends[-1], None]
    return rows


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
