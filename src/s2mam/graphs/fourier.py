"""The graph of random features: O(n D) instead of O(n^2), as in S2MAM-F.

The paper's random Fourier features are waves; their products scatter around the true weights by
``1 / sqrt(D)``, about half of them below zero, and D - W is then no Laplacian: it has negative
eigenvalues, and a fit that rewards roughness. The default here are *positive* random features,
``exp(w'x - |x|^2)``, whose products have the same mean and are nowhere negative, so that D - W is
positive semidefinite by construction. The paper's waves are the literal form.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from s2mam._typing import FloatArray
from s2mam.graphs.distances import MaskedRows
from s2mam.graphs.factored import FactoredWeights

__all__ = ["N_FEATURES", "literal_weights", "positive_features", "positive_weights", "waves"]

#: Random features of a graph.
N_FEATURES: Final = 256
# The lowest eigenvalue is found to this share; the diagonal gets a little more than needed.
_EIGEN_TOLERANCE: Final = 1e-3
_MARGIN: Final = 1.01


def positive_weights(
    rows: MaskedRows, bandwidth: float, *, n_features: int = N_FEATURES, seed: int = 0
) -> tuple[FactoredWeights, FloatArray]:
    """Weights from positive random features, and their row sums.

    Parameters
    ----------
    rows : MaskedRows
        The rows.
    bandwidth : float
        mu of the weights ``exp(-d^2 / mu^2)``.
    n_features : int
        Number of random features.
    seed : int
        Of the random directions.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.graphs.distances import mask_rows
    >>> rows = mask_rows(np.linspace(-1, 1, 50)[:, None], np.ones(1), ("numeric",))
    >>> weights, degrees = positive_weights(rows, 2.0)
    >>> bool(weights.toarray().min() > 0)
    True
    """
    weights = FactoredWeights(positive_features(rows, bandwidth, n_features, seed))
    return weights, np.maximum(weights.sums(), np.finfo(np.float64).tiny)


def literal_weights(
    rows: MaskedRows, bandwidth: float, *, n_features: int = N_FEATURES, seed: int = 0
) -> tuple[FactoredWeights, FloatArray, float]:
    """The paper's weights from random waves, the degrees, and what had to be added to these.

    Without the addition a fit on this graph may have no minimum; it is the least multiple of the
    identity that leaves D - W without negative eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.graphs.distances import mask_rows
    >>> rows = mask_rows(np.linspace(-9, 9, 50)[:, None], np.ones(1), ("numeric",))
    >>> weights, degrees, added = literal_weights(rows, 1.0, n_features=16)
    >>> bool(weights.toarray().min() < 0), added > 0
    (True, True)
    """
    weights = FactoredWeights(waves(rows, bandwidth, n_features, seed))
    degrees = weights.sums()
    added = max(0.0, -_MARGIN * _lowest(weights, degrees))
    return weights, degrees + added, added


def positive_features(rows: MaskedRows, bandwidth: float, n_features: int, seed: int) -> FloatArray:
    """Features (n, D) with ``E[B B'] = exp(-d^2 / mu^2)``, all positive.

    Directions come in pairs w and -w, which makes the average exact to one order more.
    """
    directions = _directions(rows.points.shape[1], (n_features + 1) // 2, seed)
    points = rows.points * (np.sqrt(2.0) / bandwidth)
    norms = np.einsum("ij,ij->i", points, points)
    along = points @ directions
    both = np.concatenate([along, -along], axis=1)
    both -= norms[:, None] + rows.extra[:, None] / bandwidth**2
    with np.errstate(over="ignore", under="ignore"):
        np.exp(both, out=both)
    both /= np.sqrt(both.shape[1])
    return both


def waves(rows: MaskedRows, bandwidth: float, n_features: int, seed: int) -> FloatArray:
    """The paper's random Fourier features (n, D): cosines and sines in random directions."""
    half = max(1, n_features // 2)
    directions = _directions(rows.points.shape[1], half, seed)
    along = rows.points @ (directions * (np.sqrt(2.0) / bandwidth))
    features = np.concatenate([np.cos(along), np.sin(along)], axis=1)
    features *= np.exp(-rows.extra / bandwidth**2)[:, None] / np.sqrt(half)
    return features


def _directions(width: int, count: int, seed: int) -> FloatArray:
    return np.random.default_rng([seed, 7]).standard_normal((width, count))


def _lowest(weights: FactoredWeights, degrees: FloatArray) -> float:
    """Lowest eigenvalue of D - W, by Lanczos' method on products alone."""
    n = degrees.size
    if n <= 64:
        return float(np.linalg.eigvalsh(np.diag(degrees) - weights.toarray())[0])
    operator = LinearOperator((n, n), matvec=lambda x: degrees * x.ravel() - weights @ x.ravel())
    start = np.cos(np.arange(n))  # any vector will do, but the same one every time
    found = eigsh(operator, k=1, which="SA", tol=_EIGEN_TOLERANCE, v0=start)
    return float(found[0][0])
