"""A problem made ready for iteration: usable rows, free columns, curvature products."""

from __future__ import annotations

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.losses.base import Loss
from s2mam.solvers.layout import GroupLayout
from s2mam.solvers.linear import gram_lower
from s2mam.solvers.problem import GroupProblem

__all__ = ["PreparedProblem"]

# Rows whose curvature has vanished would divide by zero; a larger curvature is only more careful.
_CURVATURE_FLOOR = 1e-12


class PreparedProblem:
    """Arrays of a :class:`GroupProblem` in the form the solvers iterate on.

    Rows of weight zero are dropped. Columns without penalty and the intercept are *free*: they
    are solved for exactly in every linear system; ``free`` holds them side by side, the intercept
    first.
    """

    def __init__(self, problem: GroupProblem) -> None:
        weights = np.asarray(problem.weights, dtype=np.float64)
        features = np.asarray(problem.features, dtype=np.float64)
        target = np.asarray(problem.target)
        if not weights.all():
            kept = np.flatnonzero(weights)
            weights, features, target = weights[kept], features[kept], target[kept]
        self.loss: Loss = problem.loss
        self.features: FloatArray = features
        self._transposed: FloatArray = features.T
        self._squares: FloatArray = np.full(features.shape[1], np.nan)
        self._block_groups: IntArray = np.empty(0, dtype=np.intp)
        self._block: FloatArray = np.empty((0, len(weights)))
        self._quadratic_groups: IntArray = np.empty(0, dtype=np.intp)
        self._quadratic_block: FloatArray = np.empty((0, 0))
        self._buffers: list[FloatArray] = [self._block, self._block]
        self.target: AnyArray = target
        self.weights: FloatArray = weights
        self.penalties: FloatArray = np.asarray(problem.penalties, dtype=np.float64)
        self.quadratic: FloatArray | None = problem.quadratic
        self.fit_intercept = problem.fit_intercept
        self.layout: GroupLayout = problem.layout
        self.outputs: int = problem.loss.n_outputs
        self.coef_shape = problem.coef_shape
        self.penalised: IntArray = np.flatnonzero((self.penalties > 0) & (self.layout.sizes > 0))
        self.free_columns: IntArray = self.layout.columns(np.flatnonzero(self.penalties == 0))
        self.free: FloatArray = self._free_matrix()

    def _free_matrix(self) -> FloatArray:
        parts = [np.ones((len(self.weights), 1))] if self.fit_intercept else []
        if self.free_columns.size:
            parts.append(self.features[:, self.free_columns])
        return np.hstack(parts) if parts else np.empty((len(self.weights), 0))

    @property
    def scalar(self) -> bool:
        """One decision value per row."""
        return self.outputs == 1

    def block(self, groups: IntArray) -> FloatArray:
        """Feature columns of ``groups`` as the rows of an array; not to be written to.

        The last block is remembered: near the solution the same groups come again and again. Two
        buffers take turns, so a block stays valid until the next but one is asked for.
        """
        if np.array_equal(groups, self._block_groups):
            return self._block
        columns = self.layout.columns(groups)
        self._buffers.reverse()
        if len(self._buffers[0]) < len(columns):
            # fresh memory costs more than filling it, so leave room to grow
            room = min(2 * len(columns), len(self._transposed))
            self._buffers[0] = np.empty((room, len(self.weights)))
        self._block = self._buffers[0][: len(columns)]
        np.take(self._transposed, columns, axis=0, out=self._block, mode="clip")
        self._block_groups = groups
        return self._block

    def quadratic_block(self, groups: IntArray) -> FloatArray:
        """``2Q`` over the columns of ``groups``; remembered like :meth:`block`."""
        assert self.quadratic is not None
        if np.array_equal(groups, self._quadratic_groups):
            return self._quadratic_block
        width, count = self.layout.width, self.layout.n_groups
        if width:
            # whole blocks are copied faster than single columns
            parts = self.quadratic.reshape(count, width, count, width)[groups][:, :, groups]
            chosen = parts.reshape(len(groups) * width, len(groups) * width)
        else:
            columns = self.layout.columns(groups)
            chosen = self.quadratic[np.ix_(columns, columns)]
        self._quadratic_block = 2.0 * chosen
        self._quadratic_groups = groups
        return self._quadratic_block

    def cover(self, groups: IntArray) -> IntArray:
        """``groups``, or the remembered ones when they hold all of these and few others."""
        known = self._block_groups
        if len(groups) <= len(known) <= 1.3 * len(groups) and np.isin(groups, known).all():
            return known
        return groups

    def energies(self, groups: IntArray, curvature: FloatArray) -> FloatArray:
        """Rough bend of the model along each column: what a ridge has to be compared with."""
        columns = self.layout.columns(groups)
        squares = self._squares[columns]
        if np.isnan(squares).any():
            block = self.block(groups)
            squares = np.einsum("sl,sl->s", block, block) / len(self.weights)
            self._squares[columns] = squares
        total = float(curvature.sum() if self.scalar else np.einsum("ikk->", curvature))
        energies: FloatArray = (total / self.outputs) * squares
        if self.quadratic is not None:
            energies = energies + 2.0 * self.quadratic[columns, columns]
        return energies

    def moves(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        """Decision values each group adds per unit of scale, shape ``(K, groups, l)``."""
        block = self.block(groups)
        weights = pulls.reshape(len(block), -1).T
        width = self.layout.width
        if width:
            parts = block.reshape(len(groups), width, -1)
            shaped = weights.reshape(self.outputs, len(groups), 1, width)
            moves: FloatArray = np.matmul(shaped, parts)[:, :, 0, :]
            return moves
        summed: FloatArray = np.stack(
            [self.layout.sum_columns((block * w[:, None]).T, groups).T for w in weights]
        )
        return summed

    def bend(self, curvature: FloatArray, values: FloatArray) -> FloatArray:
        """Curvature times decision values."""
        if self.scalar:
            return curvature * values
        bent: FloatArray = np.einsum("ikm,im->ik", curvature, values)
        return bent

    def gram(self, columns: FloatArray, curvature: FloatArray) -> FloatArray:
        """Second derivative of the loss along ``columns`` (rows of an array), lower triangle."""
        if self.scalar:
            return gram_lower((columns * np.sqrt(curvature)).T)
        size, outputs = len(columns), self.outputs
        gram = np.empty((size, outputs, size, outputs))
        for k in range(outputs):
            for m in range(k + 1):
                block = (columns * curvature[:, k, m]) @ columns.T
                gram[:, k, :, m] = block
                gram[:, m, :, k] = block
        return gram.reshape(size * outputs, size * outputs)

    def null_intercept(self) -> FloatArray:
        """Start value of the intercept: the best constant, or zero without intercept."""
        if self.fit_intercept:
            return self.loss.null_intercept(self.target, self.weights)
        return np.zeros(() if self.scalar else (self.outputs,))

    def curvature(self, decision: FloatArray) -> FloatArray:
        """Curvature of the loss, kept away from zero so that every linear system is definite."""
        curvature = self.loss.curvature(self.target, decision, self.weights)
        if self.scalar:
            floor: FloatArray = np.maximum(curvature, _CURVATURE_FLOOR * self.weights)
            return floor
        # The softmax does not feel a common shift of all classes: fix the gauge.
        shift = self.weights / self.outputs**2
        return curvature + shift[:, None, None]

    def quadratic_times(self, coef: FloatArray) -> FloatArray | None:
        """``Q @ coef``, reading only the rows of ``Q`` that meet a non-zero coefficient."""
        if self.quadratic is None:
            return None
        used = np.flatnonzero(coef if self.scalar else coef.any(axis=1))
        if 4 * len(used) > len(coef):
            full: FloatArray = self.quadratic @ coef
            return full
        # Q is symmetric, and its rows lie together in memory
        product: FloatArray = self.quadratic[used].T @ coef[used]
        return product

    def penalty(self, coef: FloatArray) -> float:
        """``sum_g penalties[g] ||coef_g||``."""
        return float(self.penalties @ self.layout.norms(coef))
