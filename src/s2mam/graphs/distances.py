"""Squared distances between masked rows, in a form that one matrix product can compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from s2mam._typing import FloatArray

__all__ = ["MaskedRows", "mask_rows", "squared_distances"]

# Values are cut here so that sums of squares stay finite; rows that far apart share no edge anyway.
_LARGEST: Final = 1e140


@dataclass(frozen=True)
class MaskedRows:
    """Rows as points: the squared distance of i and k is ``|x_i - x_k|^2 + extra_i + extra_k``.

    Attributes
    ----------
    points : (n, q) array
        Masked numeric columns, and indicator columns for categorical ones.
    extra : (n,) array
        Variance of the values that row i misses; zero for complete rows.
    """

    points: FloatArray
    extra: FloatArray

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.points.shape[0])


def mask_rows(Z: FloatArray, mask: FloatArray, kinds: Sequence[str]) -> MaskedRows:
    """Embed the masked rows so that plain squared distances are those of the mask.

    Column j is multiplied by ``mask[j]`` and thus adds ``mask[j]^2 (z_ij - z_kj)^2``; a categorical
    column adds ``mask[j]^2`` where the codes differ. Columns with a mask of zero are never read.

    A missing value counts as an independent draw from the values that its column does show: the
    column adds the *average* squared difference over such draws. So a row that misses a value is
    neither close to nor far from all others on that account, and every distance is finite.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0, 1.0, 5.0], [3.0, 2.0, 7.0], [np.nan, 2.0, 9.0]])
    >>> rows = mask_rows(Z, np.array([1.0, 1.0, 0.0]), ("numeric", "categorical", "numeric"))
    >>> squared_distances(rows).round(6)
    array([[ 0. , 10. ,  5.5],
           [10. ,  0. ,  4.5],
           [ 5.5,  4.5,  0. ]])
    """
    n = Z.shape[0]
    extra = np.zeros(n)
    wanted = np.asarray(kinds, dtype=object)
    numeric = np.flatnonzero((wanted == "numeric") & (mask > 0.0))
    parts = [_numeric_points(Z[:, numeric], mask[numeric], extra)]
    for j in np.flatnonzero((wanted == "categorical") & (mask > 0.0)):
        parts.append(_categorical_points(Z[:, j], float(mask[j]), extra))
    return MaskedRows(np.concatenate(parts, axis=1), extra)


def _numeric_points(values: FloatArray, mask: FloatArray, extra: FloatArray) -> FloatArray:
    """Return centred, masked columns with gaps filled; add the gaps' variance to ``extra``."""
    missing = np.isnan(values)
    points = np.clip(values, -_LARGEST, _LARGEST)
    # The median, not the mean: one wild row must not move all others far from the origin, where
    # the matrix product would cancel their differences away.
    if missing.any():
        points[:, missing.all(axis=0)] = 0.0
        points -= np.nanmedian(points, axis=0)
    else:
        points -= np.median(points, axis=0)
    points *= mask
    for j in np.flatnonzero(missing.any(axis=0)):
        gaps = missing[:, j]
        seen = points[~gaps, j]
        points[gaps, j] = seen.mean() if seen.size else 0.0
        extra[gaps] += seen.var() if seen.size else 0.0
    return points


def _categorical_points(codes: FloatArray, mask: float, extra: FloatArray) -> FloatArray:
    """Return indicators scaled so that two different codes are ``mask`` apart."""
    gaps = np.isnan(codes)
    levels, at = np.unique(codes[~gaps], return_inverse=True)
    points = np.zeros((codes.size, levels.size))
    points[np.flatnonzero(~gaps), at] = mask / np.sqrt(2.0)
    if gaps.any() and levels.size:
        seen = points[~gaps]
        points[gaps] = seen.mean(axis=0)
        extra[gaps] += seen.var(axis=0).sum()
    return points


def product_factors(rows: MaskedRows, scale: float) -> tuple[FloatArray, FloatArray]:
    """Return A and B such that ``A @ B.T`` is ``scale`` times the squared distances.

    The row norms ride along as two extra columns, which saves two passes over the n x n result.
    The diagonal is not meant to be used: it doubles ``extra``.
    """
    points = rows.points
    norms = np.einsum("ij,ij->i", points, points) + rows.extra
    ones = np.ones(rows.n)
    left = np.column_stack([points * (-2.0 * scale), scale * norms, scale * ones])
    right = np.column_stack([points, ones, norms])
    return left, right


def squared_distances(rows: MaskedRows) -> FloatArray:
    """Return the (n, n) squared distances, exactly zero on the diagonal and nowhere negative.

    Examples
    --------
    >>> import numpy as np
    >>> rows = mask_rows(np.array([[0.0, 9.0], [3.0, 5.0]]), np.array([1.0, 0.0]), ("numeric",) * 2)
    >>> squared_distances(rows)
    array([[0., 9.],
           [9., 0.]])
    """
    left, right = product_factors(rows, 1.0)
    result: FloatArray = left @ right.T
    result += result.T.copy()
    result *= 0.5
    np.maximum(result, 0.0, out=result)
    np.fill_diagonal(result, 0.0)
    return result
