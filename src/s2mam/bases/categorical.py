"""Categorical columns: the kernel that is one for equal codes and zero for different ones."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bases.block import Block, empty_block, principal_directions

__all__ = ["categorical_block", "level_table", "lookup"]


def categorical_block(
    codes: FloatArray, *, center: bool, tolerance: float, max_rank: int | None
) -> Block:
    """Return the block of one column of integer codes, NaN where missing.

    With counts c of the levels and N present rows, the centred indicators have the Gram matrix
    ``diag(c) - cc'/N``: the rotation needs only the counts, never the indicators. Centred, L levels
    have rank L - 1.

    Examples
    --------
    >>> import numpy as np
    >>> block = categorical_block(
    ...     np.array([0.0, 2.0, 2.0, np.nan]), center=True, tolerance=1e-8, max_rank=None
    ... )
    >>> block.pivots, block.rows.round(3)
    (array([0., 2.]), array([[ 0.943, -0.471, -0.471,  0.   ]]))
    """
    present = ~np.isnan(codes)
    levels, level_counts = np.unique(codes[present], return_counts=True)
    if not levels.size:
        return empty_block(codes.size)
    counts = level_counts.astype(np.float64)
    total = float(counts.sum())
    mean = counts / total if center else np.zeros(levels.size)
    gram = np.diag(counts) - total * np.outer(mean, mean)
    vectors, lost = principal_directions(gram, budget=tolerance * total, max_rank=max_rank)
    shift = mean @ vectors
    rows = lookup(codes, levels, level_table(vectors, shift)).T
    return Block(
        rows=np.ascontiguousarray(rows),
        pivots=levels,
        transform=vectors,
        slope=np.zeros(vectors.shape[1]),
        shift=shift,
        spectrum=np.einsum("ij,ij->i", rows, rows),
        residual=lost,
    )


def level_table(transform: FloatArray, shift: FloatArray) -> FloatArray:
    """Return the features of every level, and a last row of zeros for what is not a level.

    Examples
    --------
    >>> import numpy as np
    >>> level_table(np.array([[2.0], [1.0]]), np.array([0.5])).ravel()
    array([1.5, 0.5, 0. ])
    """
    return np.vstack([transform - shift, np.zeros((1, shift.size))])


def lookup(codes: FloatArray, levels: FloatArray, table: FloatArray) -> FloatArray:
    """Return the table's row of each code; missing and unknown codes get the last row.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1.5], [0.5], [0.0]])
    >>> lookup(np.array([7.0, 3.0, np.nan]), np.array([3.0, 4.0]), table).ravel()
    array([0. , 1.5, 0. ])
    """
    at = np.searchsorted(levels, codes)
    known = at < levels.size
    known[known] = levels[at[known]] == codes[known]
    result: FloatArray = table[np.where(known, at, levels.size)]
    return result
