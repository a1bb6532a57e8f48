"""Weights between rows as a product of a thin matrix with itself: no n x n matrix anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from s2mam._typing import FloatArray, IntArray
from s2mam.graphs.diagnostics import sparse_components
from s2mam.graphs.diagonal import diagonal

__all__ = ["FactoredWeights", "within_unit_radius"]

# Rows of a factor that sum to less than this do not connect anything.
_NO_EDGE = 1e-12


@dataclass(frozen=True)
class FactoredWeights:
    """W = B B' for a factor B of q columns; products cost O(n q).

    The diagonal of W is not zero. In a Laplacian D - W it cancels, as D holds it as well.

    Attributes
    ----------
    factor : (n, q) array or sparse array

    Examples
    --------
    >>> import numpy as np
    >>> weights = FactoredWeights(np.array([[1.0, 0.0], [0.5, 0.5]]))
    >>> weights @ np.ones(2), weights.own
    (array([1.5, 1. ]), array([1. , 0.5]))
    """

    factor: FloatArray | sparse.csr_array

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, n) of W."""
        return (int(self.factor.shape[0]), int(self.factor.shape[0]))

    @property
    def own(self) -> FloatArray:
        """Weight of every row on itself: the diagonal of W."""
        squares = self.factor * self.factor
        return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()

    def __matmul__(self, F: FloatArray) -> FloatArray:
        """Return W F."""
        return np.asarray(self.factor @ (self.factor.T @ F), dtype=np.float64)

    def sums(self) -> FloatArray:
        """Row sums of W, weight on itself included."""
        return self @ np.ones(self.shape[0])

    def scaled(self, rows: FloatArray) -> FactoredWeights:
        """Return diag(rows) W diag(rows)."""
        if sparse.issparse(self.factor):
            return FactoredWeights(sparse.csr_array(diagonal(rows) @ self.factor))
        return FactoredWeights(rows[:, None] * self.factor)

    def toarray(self) -> FloatArray:
        """Return W as an explicit (n, n) array, for small n and checks."""
        return np.asarray(self @ np.eye(self.shape[0]), dtype=np.float64)

    def components(self) -> tuple[int, IntArray]:
        """Number of connected components and each row's, numbered by their first row.

        Rows are connected when they have a column of the factor in common.
        """
        n = self.shape[0]
        if sparse.issparse(self.factor):
            both = sparse.csr_array(sparse.bmat([[None, self.factor], [self.factor.T, None]]))
            labels = sparse_components(both)[1][:n]
        else:
            # A dense column ties all rows together; what is left are rows without any weight.
            linked = np.abs(self.factor).sum(axis=1) > _NO_EDGE
            labels = np.where(linked, -1, np.arange(n))
        _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
        return int(first.size), np.argsort(np.argsort(first))[labels].astype(np.intp)


def within_unit_radius(
    weights: FactoredWeights, degrees: FloatArray
) -> tuple[FactoredWeights, float]:
    """Shrink W until D - W has no negative eigenvalue, and say by how much.

    ``D - W`` is positive semidefinite exactly when ``D^-1/2 W D^-1/2`` has no eigenvalue above one,
    and the eigenvalues of that are those of the small matrix ``B' D^-1 B``. Weights that are
    nowhere negative never need it; approximations may.

    Examples
    --------
    >>> import numpy as np
    >>> weights, radius = within_unit_radius(FactoredWeights(np.array([[1.0], [-1.0]])), np.ones(2))
    >>> radius, weights.toarray().round(6)
    (2.0, array([[ 0.5, -0.5],
           [-0.5,  0.5]]))
    """
    factor = weights.factor
    small = np.asarray(factor.T @ (factor / degrees[:, None]))
    radius = float(np.linalg.eigvalsh(small)[-1]) if small.size else 0.0
    if radius <= 1.0:
        return weights, radius
    return FactoredWeights(factor / np.sqrt(radius)), radius
