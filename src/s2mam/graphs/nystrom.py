"""The dense graph through landmarks: W is replaced by its Nystrom approximation."""

from __future__ import annotations

from typing import Final

import numpy as np

from s2mam._typing import FloatArray
from s2mam.graphs.distances import MaskedRows
from s2mam.graphs.factored import FactoredWeights, within_unit_radius
from s2mam.graphs.landmarks import choose_landmarks, landmark_count, squared_to

__all__ = ["landmark_factor", "nystrom_weights"]

# Eigenvalues of the landmarks' kernel below this share of the largest are rounding.
_NOISE: Final = 1e-10
_CHUNK: Final = 2**21


def nystrom_weights(
    rows: MaskedRows, bandwidth: float, *, n_landmarks: int | None = None
) -> tuple[FactoredWeights, FloatArray]:
    """Approximate weights ``exp(-d^2 / bandwidth^2)`` and their row sums.

    Parameters
    ----------
    rows : MaskedRows
        The rows.
    bandwidth : float
        mu of the weights.
    n_landmarks : int, optional
        Number of landmarks; by default it grows with the root of the number of rows.

    Returns
    -------
    FactoredWeights
        Shrunk, where needed, so that D - W is positive semidefinite.
    (n,) array
        Degrees D, weights of the rows on themselves included.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.graphs.distances import mask_rows
    >>> from s2mam.graphs.dense import dense_weights
    >>> rows = mask_rows(np.linspace(0, 1, 300)[:, None], np.ones(1), ("numeric",))
    >>> weights, _ = nystrom_weights(rows, 0.3)
    >>> exact = dense_weights(rows, 0.3) + np.eye(300)
    >>> bool(np.abs(weights.toarray() - exact).max() < 1e-3)
    True
    """
    landmarks = choose_landmarks(rows.points, n_landmarks or landmark_count(rows.n))
    weights = FactoredWeights(landmark_factor(rows, landmarks, bandwidth))
    # A row far from all landmarks loses its weights; its degree stays that of its own weight.
    degrees = np.maximum(weights.sums(), np.maximum(weights.own, np.finfo(np.float64).tiny))
    return within_unit_radius(weights, degrees)[0], degrees


def landmark_factor(rows: MaskedRows, landmarks: FloatArray, bandwidth: float) -> FloatArray:
    """B (n, q) with ``B B' = C A^+ C'``, C rows against landmarks, A landmarks among themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.graphs.distances import mask_rows
    >>> rows = mask_rows(np.array([[-1.0], [1.0]]), np.ones(1), ("numeric",))
    >>> factor = landmark_factor(rows, rows.points, 2.0)
    >>> (factor @ factor.T).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    shrink = min(max(bandwidth, 1e-150), 1e150) ** -2
    with np.errstate(over="ignore"):
        among = np.exp(-shrink * squared_to(landmarks, landmarks))
    values, vectors = np.linalg.eigh(among)
    kept = values > _NOISE * values[-1]
    turn = vectors[:, kept] / np.sqrt(values[kept])
    factor = np.empty((rows.n, turn.shape[1]))
    step = max(1, _CHUNK // landmarks.shape[0])
    for start in range(0, rows.n, step):
        part = slice(start, start + step)
        squared = squared_to(rows.points[part], landmarks)
        squared += rows.extra[part, None]
        with np.errstate(over="ignore"):
            squared *= -shrink
        np.matmul(np.exp(squared, out=squared), turn, out=factor[part])
    return factor
