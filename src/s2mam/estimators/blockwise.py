"""Predictions of rows that do not fit in memory, or are not in it: Dask in, Dask out, and so on."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import AnyArray
from s2mam.estimators.model import AdditiveModel
from s2mam.exceptions import InvalidInputError
from s2mam.scale.blocks import RowSource
from s2mam.scale.evaluator import AdditiveEvaluator, evaluated_part
from s2mam.scale.opening import is_dask, is_path, open_rows
from s2mam.scale.options import scale_options
from s2mam.scale.tables import is_frame, is_tensor

__all__ = ["BlockwiseRows", "by_blocks", "model_evaluator"]

# No block is so long that it would be cut again.
_ENDLESS = 2**62


class BlockwiseRows:
    """Predictions of a file or a source, made when they are asked for.

    Iterate over it for one array per block of rows; ``numpy.asarray`` puts them together.

    Parameters
    ----------
    source : RowSource
        The rows.
    function : callable
        From the rows of a block to an array with as many rows.
    """

    def __init__(self, source: RowSource, function: Any) -> None:
        self._source = source
        self._function = function

    def __iter__(self) -> Iterator[AnyArray]:
        for block in self._source.blocks():
            yield np.asarray(self._function(block.table))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        whole: AnyArray = np.concatenate(list(self))
        return whole if dtype is None else whole.astype(dtype)


@dataclass(frozen=True)
class _Predictor:
    """One method of an estimator, for a block in memory; it travels."""

    estimator: Any
    method: str

    def __call__(self, table: Any) -> AnyArray:
        with scale_options(stream_rows=_ENDLESS):
            values: AnyArray = getattr(self.estimator, self.method)(self._chosen(table))
        return values

    def _chosen(self, table: Any) -> Any:
        """Without the columns the model was not fitted with, such as the target's."""
        known = getattr(self.estimator, "feature_names_in_", None)
        if known is None or not is_frame(table):
            return table
        frame = nw.from_native(table, eager_only=True)
        wanted = list(known)
        if list(frame.columns) == wanted or not set(wanted) <= set(frame.columns):
            return table  # the estimator itself says what is missing
        return nw.to_native(frame.select(wanted))


def by_blocks(estimator: Any, method: str, X: Any) -> Any:
    """Call a method of a fitted estimator for rows of any kind.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    method : {"predict", "predict_proba", "decision_function", "contributions"}
    X : array, data frame, tensor, Dask collection, path or RowSource

    Returns
    -------
    ndarray for arrays and data frames, a tensor for tensors, a Dask array for Dask collections, and
    :class:`BlockwiseRows` for paths and sources.
    """
    check_is_fitted(estimator, "_model")
    if is_tensor(X):
        return _of_tensor(estimator, method, X)
    predictor = _Predictor(_light(estimator), method)
    if is_dask(X):
        from s2mam.scale.dask_rows import blockwise

        # Shape and type without the rows, from one row of zeros.
        shape, dtype = _form(estimator, method)
        return blockwise(X, predictor, shape, dtype)
    source = open_rows(X)
    lazy = BlockwiseRows(source, predictor)
    return lazy if is_path(X) or isinstance(X, RowSource) else np.asarray(lazy)


def model_evaluator(model: AdditiveModel) -> AdditiveEvaluator:
    """The model in the form that takes blocks of any kind."""
    parts = tuple(
        evaluated_part(part.reader, part.design, part.coef, part.columns.tolist(), clip=model.clip)
        for part in model.parts
        if part.columns.size
    )
    return AdditiveEvaluator(parts, model.intercept, model.parts[0].design.n_columns)


def _light(estimator: Any) -> Any:
    """The estimator without what predictions do not need, since it may travel."""
    light = copy.copy(estimator)
    for name in ("transduction_", "_rows", "history_"):
        light.__dict__.pop(name, None)
    return light


def _form(estimator: Any, method: str) -> tuple[tuple[int, ...], Any]:
    """Shape of the result without its rows, and its type."""
    outputs = int(estimator._model.intercept.size)
    inner = () if outputs == 1 else (outputs,)
    if method == "predict":
        classes = getattr(estimator, "classes_", None)
        return (), np.float64 if classes is None else classes.dtype
    if method == "predict_proba":
        return (int(estimator.classes_.size),), np.float64
    if method == "contributions":
        return (int(estimator.n_features_in_), *inner), np.float64
    return inner, np.float64


def _of_tensor(estimator: Any, method: str, X: Any) -> Any:
    """The answer as a tensor where X is; labels that are text come as an array."""
    import torch

    model = estimator._model
    if not isinstance(model, AdditiveModel):
        raise InvalidInputError(
            "The paper's literal model takes arrays only; pass X.cpu().numpy()."
        )
    evaluator = model_evaluator(model)
    if method == "contributions":
        parts = evaluator.contributions(X).permute(2, 1, 0)
        return parts[:, :, 0] if parts.shape[2] == 1 else parts
    decision = evaluator.decide(X).T
    decision = decision[:, 0] if decision.shape[1] == 1 else decision
    classes = getattr(estimator, "classes_", None)
    if method == "decision_function" or classes is None:
        return decision
    if method == "predict_proba":
        if classes.size == 1:
            return torch.ones_like(decision)[:, None]
        if decision.ndim == 1:
            positive = torch.sigmoid(decision)
            return torch.stack([1.0 - positive, positive], dim=1)
        return torch.softmax(decision, dim=1)
    codes = (decision > 0).long() if decision.ndim == 1 else decision.argmax(dim=1)
    codes = codes if classes.size > 1 else torch.zeros_like(codes)
    if classes.dtype.kind in "biuf":
        return torch.as_tensor(classes, device=X.device)[codes]
    return classes[codes.cpu().numpy()]
