"""Diagonal matrices for scipy 1.11, which has neither ``diags_array`` nor ``block_array``."""

from __future__ import annotations

from scipy import sparse

from s2mam._typing import FloatArray

__all__ = ["diagonal"]


def diagonal(values: FloatArray) -> sparse.dia_array:
    """Return the sparse matrix with these values on its diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> diagonal(np.array([2.0, 3.0])).toarray()
    array([[2., 0.],
           [0., 3.]])
    """
    return sparse.dia_array((values[None, :], [0]), shape=(values.size, values.size))
