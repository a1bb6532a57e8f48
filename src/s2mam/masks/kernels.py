"""The labelled rows as the smooth criteria see them: feature blocks with the intercept removed.

Every criterion here is a function of the kernel ``sum_j s_j K_j`` between labelled rows. Rows are
scaled by the root of their weight and rotated into the complement of the intercept once, so that
afterwards all noise is white and no constant has to be carried along.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, solve_triangular

from s2mam._typing import FloatArray, IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.masks.contrasts import complement
from s2mam.masks.factored import solve_factored

__all__ = ["GraphTerm", "LabeledKernels", "LooseRows", "labeled_kernels"]


@dataclass(frozen=True)
class GraphTerm:
    """Smoothness on the graph of the masked rows as part of the prior.

    The coefficients of the active features get the prior precision ``I + weight * Q`` instead of
    ``I``, which is the kernel of the semi-supervised problem.

    Attributes
    ----------
    quadratic : callable
        Mask (p,) -> Q, the (P_active, P_active) matrix F'LF of the features of the columns where
        the mask is positive, with the graph built from the masked rows.
    weight : float
        Zero switches the graph off.
    """

    quadratic: Callable[[FloatArray], FloatArray]
    weight: float


@dataclass(frozen=True)
class LooseRows:
    """Directions of the labelled rows that no feature reaches: pure noise under every mask.

    Attributes
    ----------
    count : int
        Their number.
    energy : float
        Squared length of the targets along them.
    leverage : (l,) array
        Squared length of each labelled row along them.
    residual : (l, k) array
        The targets along them, seen at the labelled rows.
    """

    count: int
    energy: float
    leverage: FloatArray
    residual: FloatArray


@dataclass(frozen=True)
class LabeledKernels:
    """Feature blocks and targets in the complement of the intercept.

    Attributes
    ----------
    features : (r, P) array
        r = min(N, P) rows, with N the number of labelled rows of positive weight minus one.
    offsets : (p + 1,) array of int
        Block j occupies ``features[:, offsets[j]:offsets[j + 1]]``.
    target : (r, k) array
        One column per output.
    back : (l, r) array
        Orthonormal columns: row i leads back to labelled row i.
    loose : LooseRows
        The other N - r directions.
    graph : GraphTerm or None
        Warps the features by the graph of the mask.
    """

    features: FloatArray
    offsets: IntArray
    target: FloatArray
    back: FloatArray
    loose: LooseRows
    graph: GraphTerm | None = None

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return self.offsets.size - 1

    @property
    def n_rows(self) -> int:
        """Dimension N of the complement of the intercept."""
        return self.size + self.loose.count

    @property
    def size(self) -> int:
        """Dimension r that the features reach: the order of every matrix here."""
        return int(self.features.shape[0])

    @property
    def n_outputs(self) -> int:
        """Number k of target columns."""
        return int(self.target.shape[1])

    @cached_property
    def ranks(self) -> IntArray:
        """Number of features per column."""
        return np.diff(self.offsets)

    @cached_property
    def padded(self) -> FloatArray:
        """The blocks as one (p, r, max rank) array, zeros behind each block's last feature."""
        blocks = np.zeros((self.n_columns, self.size, int(self.ranks.max(initial=0))))
        for j in range(self.n_columns):
            blocks[j, :, : self.ranks[j]] = self.features[:, self.offsets[j] : self.offsets[j + 1]]
        return blocks

    def without_graph(self) -> LabeledKernels:
        """Return the same rows with the graph left out."""
        return self if self.graph is None else replace(self, graph=None)

    def active_features(self, mask: ArrayLike) -> FloatArray:
        """Return features G with ``G G' = sum_j mask_j K_j`` (warped by the graph, if any)."""
        weight = self._read(mask)
        scale = np.sqrt(np.repeat(weight, self.ranks))
        on = scale > 0.0
        scaled = self.features[:, on] * scale[on]
        if self.graph is None or self.graph.weight == 0.0 or not scaled.size:
            return scaled
        precision = self.graph.weight * self.graph.quadratic(weight)
        precision *= np.outer(scale[on], scale[on])
        precision.flat[:: precision.shape[0] + 1] += 1.0
        factor = np.linalg.cholesky(precision)
        warped: FloatArray = solve_triangular(factor, scaled.T, lower=True).T
        return warped

    def gram(self, mask: ArrayLike) -> FloatArray:
        """Return the (r, r) kernel matrix of a mask."""
        active = self.active_features(mask)
        product: FloatArray = active @ active.T
        return product

    def slopes(self, s: ArrayLike) -> FloatArray:
        """Return W (r, P) such that the derivative of ``gram`` by s_j is ``W_j W_j'``.

        The graph, if any, is held fixed at the one of ``s``.
        """
        weight = self._read(s)
        if self.graph is None or self.graph.weight == 0.0:
            return self.features
        spread = np.repeat(weight, self.ranks)
        on = spread > 0.0
        if not on.all():
            raise InvalidInputError(
                "The gradient with a graph needs s > 0 everywhere; clip s away from zero."
            )
        system = spread[:, None] * (self.graph.weight * self.graph.quadratic(weight))
        system.flat[:: system.shape[0] + 1] += 1.0
        return np.asarray(np.linalg.solve(system.T, self.features.T).T, dtype=np.float64)

    def column_sums(self, values: FloatArray) -> FloatArray:
        """Sum a (P,) vector over each column's block."""
        totals = np.concatenate([[0.0], np.cumsum(values)])
        result: FloatArray = totals[self.offsets[1:]] - totals[self.offsets[:-1]]
        return result

    def factor(self, mask: ArrayLike, noise: float) -> tuple[FloatArray, bool]:
        """Return the Cholesky factor of ``gram(mask) + noise * I`` for scipy's ``cho_solve``."""
        matrix = self.gram(mask)
        matrix.flat[:: self.size + 1] += noise
        factor: tuple[FloatArray, bool] = cho_factor(matrix, lower=True, check_finite=False)
        return factor

    def inverse(self, factor: tuple[FloatArray, bool]) -> FloatArray:
        """Return the explicit inverse of a factorised matrix."""
        result: FloatArray = solve_factored(factor, np.eye(self.size))
        return result

    def _read(self, mask: ArrayLike) -> FloatArray:
        weight = np.asarray(mask, dtype=np.float64)
        if weight.shape != (self.n_columns,):
            raise InvalidInputError(
                f"mask has shape {weight.shape}; pass one entry per column ({self.n_columns})."
            )
        return weight


def labeled_kernels(
    features: ArrayLike,
    offsets: ArrayLike,
    target: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    tolerance: float = 1e-6,
    graph: GraphTerm | None = None,
) -> LabeledKernels:
    """Prepare the labelled rows of a design for the smooth criteria.

    Parameters
    ----------
    features : (l, P) array
        Labelled rows of the design's features, ``K_j = F_j F_j'``.
    offsets : (p + 1,) array of int
        Block boundaries.
    target : (l,) or (l, k) array
        Real targets; for classes use :func:`s2mam.masks.class_contrasts`.
    weights : (l,) array, optional
        Not negative; rows of weight zero are left out.
    tolerance : float
        Directions with less than this share of a block's largest eigenvalue are dropped. On few
        labelled rows that halves the number of features. Ignored with a graph, whose quadratic
        form refers to the features as they are.
    graph : GraphTerm, optional
        Adds the smoothness on the masked graph to the prior.

    Examples
    --------
    >>> import numpy as np
    >>> kernels = labeled_kernels(np.eye(4), [0, 2, 4], np.arange(4.0))
    >>> kernels.n_rows, kernels.n_columns, kernels.gram([1, 1]).shape
    (3, 2, (3, 3))
    """
    table = np.asarray(features, dtype=np.float64)
    edges = np.asarray(offsets, dtype=np.intp)
    values = np.asarray(target, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    share = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = share > 0.0
    if np.count_nonzero(kept) < 2:
        raise InvalidInputError(
            f"{np.count_nonzero(kept)} labelled rows have a positive weight; a held-out criterion "
            'needs at least 2. Label more rows or use criterion="labeled".'
        )
    root = np.sqrt(share[kept] / share[kept].mean())
    back = complement(root)
    rotated = back.T @ (root[:, None] * table[kept])
    if graph is None:
        rotated, edges = _compress(rotated, edges, tolerance)
    return _tighten(rotated, edges, back.T @ (root[:, None] * values[kept]), back, graph)


def _tighten(
    features: FloatArray,
    offsets: IntArray,
    target: FloatArray,
    back: FloatArray,
    graph: GraphTerm | None,
) -> LabeledKernels:
    """Keep only the directions the features reach: with many labels the matrices stay small."""
    rows, columns = features.shape
    if columns >= rows:
        nothing = LooseRows(0, 0.0, np.zeros(len(back)), np.zeros((len(back), target.shape[1])))
        return LabeledKernels(features, offsets, target, back, nothing, graph)
    basis, reduced = np.linalg.qr(features)
    within = basis.T @ target
    left = target - basis @ within
    reach = back @ basis
    loose = LooseRows(
        count=rows - columns,
        energy=float((left**2).sum()),
        leverage=np.maximum((back**2).sum(axis=1) - (reach**2).sum(axis=1), 0.0),
        residual=back @ left,
    )
    return LabeledKernels(reduced, offsets, within, reach, loose, graph)


def _compress(
    features: FloatArray, offsets: IntArray, tolerance: float
) -> tuple[FloatArray, IntArray]:
    """Rotate each block to its principal directions and drop the negligible ones."""
    blocks, sizes = [], []
    for start, end in pairwise(offsets):
        block = features[:, start:end]
        if end - start > 1:
            spread, axes = np.linalg.eigh(block.T @ block)
            block = block @ axes[:, spread > tolerance * spread[-1]]
        blocks.append(block)
        sizes.append(block.shape[1])
    edges = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return np.concatenate(blocks, axis=1) if blocks else features, edges
