"""Numeric columns: kernel -> thin factor -> centred principal features, chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from scipy.linalg.lapack import dtrtrs

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.block import Block, ColumnFactor, empty_block, leading, principal_directions
from s2mam.bases.cholesky import CholeskyFactor, pivoted_cholesky
from s2mam.bases.fourier import fourier_factors
from s2mam.bases.nystrom import nystrom_factors

__all__ = ["numeric_blocks"]

# Doubles one chunk of columns may hold at the usual rank: 16 MB, which stays near the cache.
_CHUNK: Final = 2**21
_USUAL_RANK: Final = 32
# The factor runs past the tolerance so that the rotation can still drop directions within it.
_CHOLESKY_SHARE: Final = 0.1
# Above this square an outlier's linear kernel exceeds the others' values by too many digits.
_LOUD: Final = 1e4


def numeric_blocks(
    Z: FloatArray,
    columns: IntArray,
    lengths: FloatArray,
    *,
    kernel: str,
    linear: float,
    center: bool,
    tolerance: float,
    max_rank: int | None,
    basis: str = "kernel",
    seed: int = 0,
) -> list[Block]:
    """Return the blocks of ``Z[:, columns]``; see :func:`s2mam.bases.build_design`.

    Every column is worked on in sorted order. Thereby the features do not depend on the order of
    rows, down to the last bit, and equal values get equal features.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> [block] = numeric_blocks(
    ...     Z, np.array([0]), np.ones(1), kernel="gaussian", linear=0.0, center=True,
    ...     tolerance=1e-8, max_rank=None,
    ... )
    >>> block.rows.shape
    (7, 50)
    """
    n = Z.shape[0]
    chunk = max(1, _CHUNK // (_USUAL_RANK * max(n, 1)))
    # The rotation picks the best max_rank directions out of twice as many pivots.
    pivots = None if max_rank is None else 2 * max_rank
    blocks: list[Block] = []
    for start in range(0, columns.size, chunk):
        part = columns[start : start + chunk]
        values = np.ascontiguousarray(Z[:, part].T)
        order = np.argsort(values, axis=1, kind="stable")
        values = np.take_along_axis(values, order, axis=1)
        missing = np.isnan(values)
        counts = n - np.count_nonzero(missing, axis=1)
        values[missing] = 0.0
        factors: Sequence[ColumnFactor]
        if basis == "fourier":
            factors = fourier_factors(values, counts, lengths[part], seed=seed, columns=part)
        elif basis == "nystrom":
            factors = nystrom_factors(values, counts, lengths[part], kernel=kernel)
        else:
            factors = _cholesky_factors(
                values, counts, lengths[part], kernel, _CHOLESKY_SHARE * tolerance, pivots
            )
        for at, factor in enumerate(factors):
            blocks.append(
                _rotated(
                    factor,
                    values[at],
                    order[at],
                    int(counts[at]),
                    linear=linear,
                    center=center,
                    tolerance=tolerance,
                    max_rank=max_rank,
                )
            )
    return blocks


def _cholesky_factors(
    values: FloatArray,
    counts: IntArray,
    lengths: FloatArray,
    kernel: str,
    tolerance: float,
    max_rank: int | None,
) -> list[ColumnFactor]:
    factors = pivoted_cholesky(
        values, counts, lengths, kernel=kernel, tolerance=tolerance, max_rank=max_rank
    )
    return [_as_column_factor(factor, values[at]) for at, factor in enumerate(factors)]


def _as_column_factor(factor: CholeskyFactor, values: FloatArray) -> ColumnFactor:
    triangle = factor.rows[:, factor.pivots]
    return ColumnFactor(
        factor.rows,
        values[factor.pivots],
        partial(_back_substitute, triangle),
        factor.residual,
    )


def _rotated(
    factor: ColumnFactor,
    values: FloatArray,
    order: IntArray,
    count: int,
    *,
    linear: float,
    center: bool,
    tolerance: float,
    max_rank: int | None,
) -> Block:
    """Centre one factor, turn it to its principal directions, and put rows back in place."""
    if not count:
        return empty_block(values.size)
    rows, q = factor.rows, factor.rows.shape[0]
    if linear > 0.0:
        rows = np.vstack([rows, np.sqrt(linear) * values])
    mean = rows[:, :count].mean(axis=1) if center else np.zeros(rows.shape[0])
    centred = rows[:, :count] - mean[:, None]
    budget = tolerance * count - factor.residual
    if linear * np.abs(values).max() ** 2 > _LOUD:
        vectors, lost = _directions_of_loud_rows(centred, budget, max_rank)
    else:
        vectors, lost = principal_directions(centred @ centred.T, budget=budget, max_rank=max_rank)
    features = np.zeros((vectors.shape[1], values.size))
    features[:, order[:count]] = vectors.T @ centred
    return Block(
        rows=features,
        pivots=factor.pivots,
        transform=factor.back(vectors[:q]),
        slope=np.sqrt(linear) * vectors[q] if linear > 0.0 else np.zeros(vectors.shape[1]),
        shift=mean @ vectors,
        spectrum=np.einsum("ij,ij->i", features, features),
        residual=factor.residual + lost,
    )


def _directions_of_loud_rows(
    centred: FloatArray, budget: float, max_rank: int | None
) -> tuple[FloatArray, float]:
    """Principal directions without the Gram matrix, whose rounding would drown the kernel part."""
    vectors, singular, _ = np.linalg.svd(centred, full_matrices=False)
    return leading(singular**2, vectors, noise=1e-30, budget=budget, max_rank=max_rank)


def _back_substitute(triangle: FloatArray, right: FloatArray) -> FloatArray:
    """Solve ``triangle @ x = right``: a kernel row times x is a rotated Cholesky row."""
    if not right.size:
        return np.zeros(right.shape)
    solution: FloatArray = dtrtrs(triangle, right)[0]
    return solution
