"""Curves that all columns have in common, written in the parts of each column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from s2mam._typing import FloatArray

__all__ = ["SHAPES", "common_maps"]

#: Shapes of a common curve: where a scaled value lies, how far out, and that with more weight.
SHAPES: Final[tuple[Callable[[FloatArray], FloatArray], ...]] = (np.positive, np.abs, np.square)

# A feature whose squares sum to less than this does not vary.
_FLAT = 1e-9


def common_maps(
    straight: FloatArray, curved: FloatArray, table: FloatArray, kinds: Sequence[str]
) -> FloatArray:
    """Coefficients with which the parts of each column say the common shapes.

    Parameters
    ----------
    straight : (n, p) array
        Straight parts; centred, zero where a value is missing.
    curved : (p, n, r) array
        Curved parts, likewise; the features of a column are orthogonal to each other and to its
        straight part.
    table : (n, p) array
        Scaled values, NaN where missing.
    kinds : sequence of str
        Kind of each column. Categories have no order, and so no shape in common with numbers.

    Returns
    -------
    (p, 1 + r, len(SHAPES)) array
        Of the straight part and of the curved features; zero for columns without numbers.

    Examples
    --------
    >>> x = np.array([[-1.0], [0.0], [1.0]])
    >>> common_maps(x, np.zeros((1, 3, 1)), 2.0 * x, ["numeric"])[0, 0].tolist()
    [2.0, 0.0, 0.0]
    """
    n, p = table.shape
    maps = np.zeros((p, 1 + curved.shape[2], len(SHAPES)))
    for j in np.flatnonzero([kind == "numeric" for kind in kinds]):
        present = ~np.isnan(table[:, j])
        shapes = np.zeros((n, len(SHAPES)))
        values = np.column_stack([shape(table[present, j]) for shape in SHAPES])
        shapes[present] = values - values.mean(axis=0)
        parts = np.column_stack([straight[:, j], curved[j]])
        sizes = np.square(parts).sum(axis=0)
        varies = sizes > _FLAT
        maps[j, varies] = (parts[:, varies].T @ shapes) / sizes[varies, None]
    return maps
