"""The paper's graph: a heat weight between every pair of rows."""

from __future__ import annotations

from typing import Final

import numpy as np

from s2mam._typing import FloatArray
from s2mam.graphs.distances import MaskedRows, product_factors

__all__ = ["dense_weights"]

_BLOCK: Final = 256


def dense_weights(rows: MaskedRows, bandwidth: float) -> FloatArray:
    """Return W with ``W_ik = exp(-d_ik^2 / bandwidth^2)`` and a zero diagonal, exactly symmetric.

    The diagonal is irrelevant to the Laplacian L = D - W: a self-weight enters D and W alike and
    cancels. Zero makes the row sums of W the degrees that count. Only blocks on and above the
    diagonal are computed, each while it is in cache; the rest is mirrored.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.graphs.distances import mask_rows
    >>> rows = mask_rows(np.array([[0.0], [1.0], [2.0]]), np.ones(1), ("numeric",))
    >>> dense_weights(rows, 1.0).round(4)
    array([[0.    , 0.3679, 0.0183],
           [0.3679, 0.    , 0.3679],
           [0.0183, 0.3679, 0.    ]])
    """
    # The bandwidth enters after the product: a square over a tiny bandwidth may overflow, and then
    # gives the right weight of zero; inside the product it would be infinity minus infinity.
    left, right = product_factors(rows, -1.0)
    shrink = min(max(bandwidth, 1e-150), 1e150) ** -2
    n = rows.n
    weights = np.empty((n, n))
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        block = left[start:stop] @ right[start:].T
        np.minimum(block, 0.0, out=block)
        with np.errstate(over="ignore"):
            block *= shrink
        np.exp(block, out=block)
        square = block[:, : stop - start]
        square += square.T.copy()
        square *= 0.5
        np.fill_diagonal(square, 0.0)
        weights[start:stop, start:] = block
        weights[stop:, start:stop] = block[:, stop - start :].T
    return weights
