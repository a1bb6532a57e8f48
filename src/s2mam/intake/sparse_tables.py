"""Sparse matrices as tables: zeros are zeros, and columns become dense a few at a time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from s2mam._typing import FloatArray, IntArray

__all__ = ["column_blocks", "dense_columns", "is_sparse", "read_sparse"]

# Numbers of one block of dense columns: 32 MB.
_BLOCK: Final = 2**22


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array.

    Examples
    --------
    >>> is_sparse(sparse.csr_array(np.eye(2))), is_sparse(np.eye(2))
    (True, False)
    """
    return bool(sparse.issparse(X))


def read_sparse(X: Any, owner: Any, *, reset: bool) -> sparse.csc_array:
    """Validate a sparse table as scikit-learn does; the columns come first afterwards.

    Owners whose tags do not allow sparse input refuse it with scikit-learn's message.
    """
    allowed = ("csc",) if get_tags(owner).input_tags.sparse else False
    checked = validate_data(
        owner,
        X,
        reset=reset,
        accept_sparse=allowed,
        dtype=np.float64,
        ensure_all_finite=False,
    )
    table = sparse.csc_array(checked)
    table.sum_duplicates()
    return table


def dense_columns(table: sparse.csc_array, columns: IntArray) -> FloatArray:
    """Some columns as a dense (n, c) array; what is not stored is zero.

    Examples
    --------
    >>> dense_columns(sparse.csc_array(np.diag([1.0, 2.0])), np.array([1]))
    array([[0.],
           [2.]])
    """
    # The memory order decides about last bits of sums: dense tables usually have this one.
    return np.asarray(table[:, columns].toarray(order="C"), dtype=np.float64)


def column_blocks(n: int, columns: IntArray) -> list[IntArray]:
    """Columns in runs that are about 32 MB when dense.

    Examples
    --------
    >>> [run.tolist() for run in column_blocks(2**21, np.arange(5))]
    [[0, 1], [2, 3], [4]]
    """
    step = max(1, _BLOCK // max(n, 1))
    return [columns[start : start + step] for start in range(0, columns.size, step)]
