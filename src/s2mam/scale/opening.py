"""From whatever the user passes as X and y to a source of rows."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from s2mam.exceptions import InvalidInputError
from s2mam.scale.arrays import ArraySource
from s2mam.scale.blocks import RowSource
from s2mam.scale.files import open_file
from s2mam.scale.options import current_options
from s2mam.scale.tables import is_frame, is_tensor, split_column

__all__ = ["is_dask", "is_path", "is_streamed", "open_rows"]


def is_path(X: Any) -> bool:
    """Whether X names a file.

    Examples
    --------
    >>> is_path("rows.parquet"), is_path([[1.0]])
    (True, False)
    """
    return isinstance(X, str | os.PathLike)


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array, data frame or series; Dask is not imported for the question.

    Examples
    --------
    >>> is_dask([[1.0]])
    False
    """
    return "dask" in sys.modules and hasattr(X, "__dask_graph__") and hasattr(X, "ndim")


def is_streamed(X: Any) -> bool:
    """Whether rows are read block by block rather than all at once.

    True for paths, sources, Dask collections and tensors, and for arrays and data frames with more
    than ``stream_rows`` rows.

    Examples
    --------
    >>> is_streamed("rows.csv"), is_streamed(np.zeros((100, 2)))
    (True, False)
    """
    if isinstance(X, RowSource) or is_path(X) or is_dask(X) or is_tensor(X):
        return True
    large = getattr(X, "shape", (0,))[:1] > (current_options().stream_rows,)
    return large and (isinstance(X, np.ndarray) or is_frame(X))


def open_rows(X: Any, y: Any = None, sample_weight: Any = None) -> RowSource:
    """A source of the rows of X, with labels and weights.

    Parameters
    ----------
    X : path, array, memory map, tensor, data frame, Dask collection or RowSource
        The rows.
    y, sample_weight : array, or name of a column
        Labels and weights. A RowSource brings its own.

    Returns
    -------
    RowSource

    Examples
    --------
    >>> open_rows(np.zeros((3, 2)), [1.0, None, 2.0]).n_rows
    3
    """
    if isinstance(X, RowSource):
        if y is not None or sample_weight is not None:
            raise InvalidInputError(
                "A RowSource brings its labels and weights; pass y=None and sample_weight=None."
            )
        return X
    if is_dask(X):
        from s2mam.scale.dask_rows import DaskSource

        return DaskSource(X, y, sample_weight)
    if is_path(X):
        return open_file(X, y, sample_weight)
    if isinstance(y, str) and is_frame(X):
        X, y = split_column(X, y)
    if isinstance(sample_weight, str) and is_frame(X):
        X, sample_weight = split_column(X, sample_weight)
    return ArraySource(X, y, sample_weight)
