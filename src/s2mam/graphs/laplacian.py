"""The Laplacian as an operator: quadratic forms and products, dense or sparse alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy import sparse

from s2mam._typing import FloatArray
from s2mam.graphs.diagnostics import GraphDiagnostics, component_labels, find_degeneracy
from s2mam.graphs.diagonal import diagonal
from s2mam.graphs.factored import FactoredWeights

__all__ = ["Laplacian", "Weights"]

Weights: TypeAlias = "FloatArray | sparse.csr_array | FactoredWeights"


@dataclass(frozen=True)
class Laplacian:
    """L = D - W, or I - D^-1/2 W D^-1/2 when normalized; made by :func:`build_graph`.

    Attributes
    ----------
    weights : (n, n) array, sparse array or FactoredWeights
        W: symmetric, not negative, zero on the diagonal. Factored weights are not zero there, which
        cancels in D - W, and approximate ones may be a little negative; D - W is positive
        semidefinite in any case.
    degrees : (n,) array
        Row sums of W, or more.
    normalized : bool
        Rows without any edge have a zero row in the normalized Laplacian, not a one.
    kind : {"dense", "neighbors", "anchors", "nystrom", "fourier"}
        How the weights were made.
    bandwidth : float
        mu of the weights ``exp(-d^2 / mu^2)``.
    n_columns : int
        Number of columns the mask let through.
    """

    weights: Weights
    degrees: FloatArray
    normalized: bool
    kind: str
    bandwidth: float
    n_columns: int

    @property
    def n(self) -> int:
        """Number of rows of the graph."""
        return int(self.degrees.size)

    def apply(self, F: FloatArray) -> FloatArray:
        """Return L F for a vector or a matrix of n rows."""
        root = self._root_degrees if F.ndim == 1 else self._root_degrees[:, None]
        if not self.normalized:
            return self._unnormalized(F)
        result: FloatArray = root * self._unnormalized(root * F)
        return result

    def quadratic(self, F: FloatArray) -> FloatArray:
        """Return F' L F, exactly symmetric, for a matrix of n rows."""
        scaled = self._root_degrees[:, None] * F if self.normalized else F
        product: FloatArray = scaled.T @ self._unnormalized(scaled)
        product += product.T.copy()
        product *= 0.5
        return product

    def toarray(self) -> FloatArray:
        """Return L as an explicit (n, n) array, for small n and checks."""
        return self.apply(np.eye(self.n))

    @cached_property
    def degenerate(self) -> str | None:
        """Why the graph carries no information, or None when it does."""
        if isinstance(self.weights, FactoredWeights):
            others = np.maximum(self.weights.sums() - self.weights.own, 0.0)
            return find_degeneracy(self.weights, others, self.n_columns)
        return find_degeneracy(self.weights, self.degrees, self.n_columns)

    @cached_property
    def diagnostics(self) -> GraphDiagnostics:
        """Bandwidth, degeneracy and connected components; computed when first asked for."""
        if isinstance(self.weights, FactoredWeights):
            n_components, labels = self.weights.components()
        else:
            n_components, labels = component_labels(self.weights)
        return GraphDiagnostics(self.bandwidth, self.degenerate, n_components, labels)

    def normalized_weights(self) -> Weights:
        """Return D^-1/2 W D^-1/2, in the form that the weights have."""
        root = self._root_degrees
        if isinstance(self.weights, FactoredWeights):
            return self.weights.scaled(root)
        if sparse.issparse(self.weights):
            return diagonal(root) @ self.weights @ diagonal(root)
        return root[:, None] * self.weights * root

    @cached_property
    def _root_degrees(self) -> FloatArray:
        """D^-1/2, zero for rows without edges."""
        linked = self.degrees > np.finfo(np.float64).tiny
        return np.where(linked, 1.0 / np.sqrt(np.where(linked, self.degrees, 1.0)), 0.0)

    def _unnormalized(self, F: FloatArray) -> FloatArray:
        degrees = self.degrees if F.ndim == 1 else self.degrees[:, None]
        result = np.asarray(self.weights @ F, dtype=np.float64)
        np.subtract(degrees * F, result, out=result)
        return result
