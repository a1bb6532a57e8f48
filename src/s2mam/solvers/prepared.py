"""A problem made ready for iteration: usable rows, free columns, curvature products."""

from __future__ import annotations

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.losses.base import Loss
from s2mam.solvers.bend import Bend
from s2mam.solvers.layout import GroupLayout
from s2mam.solvers.linear import gram
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.working import ColumnBlock, WorkingSet

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
        self.target: AnyArray = target
        self.weights: FloatArray = weights
        self.penalties: FloatArray = np.asarray(problem.penalties, dtype=np.float64)
        self.quadratic: FloatArray | None = problem.quadratic
        self.fit_intercept = problem.fit_intercept
        self.layout: GroupLayout = problem.layout
        self.outputs: int = problem.loss.n_outputs
        self.scalar = self.outputs == 1
        self.coef_shape = problem.coef_shape
        used = self.penalties > 0
        self.penalised: IntArray = np.flatnonzero(used & (self.layout.sizes > 0))
        self.used_penalties: FloatArray = self.penalties[self.penalised]
        self.free_columns: IntArray = self.layout.columns(np.flatnonzero(~used))
        self.free: FloatArray = self._free_matrix()
        self.working = WorkingSet(features.T, self.free.T, self.layout)
        self._free_squares: FloatArray = self.free * self.free
        self._constant_bend: Bend | None = None
        self._quadratic_groups: IntArray | None = None
        self._quadratic_block: FloatArray = np.empty((0, 0))

    def _free_matrix(self) -> FloatArray:
        parts = [np.ones((len(self.weights), 1))] if self.fit_intercept else []
        if self.free_columns.size:
            parts.append(self.features[:, self.free_columns])
        return np.hstack(parts) if parts else np.empty((len(self.weights), 0))

    def quadratic_block(self, block: ColumnBlock) -> FloatArray:
        """``2Q`` over the columns of ``block``, without the intercept; remembered."""
        assert self.quadratic is not None
        if self._quadratic_groups is block.groups:
            return self._quadratic_block
        width, count, groups = self.layout.width, self.layout.n_groups, block.groups
        if width and not self.free_columns.size:
            # whole blocks are copied faster than single columns
            parts = self.quadratic.reshape(count, width, count, width)[groups][:, :, groups]
            chosen = parts.reshape(len(groups) * width, len(groups) * width)
        else:
            columns = np.concatenate([self.free_columns, block.columns])
            chosen = self.quadratic[np.ix_(columns, columns)]
        self._quadratic_block = 2.0 * chosen
        self._quadratic_groups = groups
        return self._quadratic_block

    def bend_at(self, decision: FloatArray) -> Bend:
        """Curvature of the loss at ``decision``."""
        if self._constant_bend is not None:
            return self._constant_bend
        values = self.curvature(decision)
        mean = values if self.scalar else np.einsum("ikk->i", values) / self.outputs
        energies = mean @ self._free_squares
        if self.quadratic is not None and self.free_columns.size:
            diagonal = self.quadratic.diagonal()[self.free_columns]
            energies[int(self.fit_intercept) :] += 2.0 * diagonal
        units = 1.0 / np.sqrt(np.where(energies > 0.0, energies, 1.0))
        bend = Bend(values, np.sqrt(mean), float(mean.sum()), units)
        if self.loss.is_quadratic:
            self._constant_bend = bend
        return bend

    def energies(self, block: ColumnBlock, bend: Bend) -> FloatArray:
        """Rough bend of the model along the grouped columns of ``block``, to compare a ridge to."""
        energies: FloatArray = bend.total * block.squares
        if self.quadratic is not None:
            energies += 2.0 * self.quadratic[block.columns, block.columns]
        return energies

    def moves(self, groups: IntArray, pulls: FloatArray) -> FloatArray:
        """Decision values each group adds per unit of scale, shape ``(K, groups, l)``."""
        block = self.working.include(groups)
        places = self.working.positions(groups)
        rows = block.rows[self.free.shape[1] :]
        weights = pulls[block.columns].reshape(len(rows), -1).T
        width, held = self.layout.width, len(block.groups)
        if width:
            parts = rows.reshape(held, width, -1)
            shaped = weights.reshape(self.outputs, held, 1, width)
            moves: FloatArray = np.matmul(shaped, parts)[:, :, 0, :]
        else:
            moves = np.stack(
                [self.layout.sum_columns((rows * w[:, None]).T, block.groups).T for w in weights]
            )
        return moves if groups is block.groups else moves[:, places]

    def bend(self, curvature: FloatArray, values: FloatArray) -> FloatArray:
        """Curvature times decision values."""
        if self.scalar:
            return curvature * values
        bent: FloatArray = np.einsum("ikm,im->ik", curvature, values)
        return bent

    def gram(self, columns: FloatArray, curvature: FloatArray) -> FloatArray:
        """Second derivative of the loss along ``columns`` (rows of an array), symmetric."""
        if self.scalar:
            return gram((columns * np.sqrt(curvature)).T)
        size, outputs = len(columns), self.outputs
        whole = np.empty((size, outputs, size, outputs))
        for k in range(outputs):
            for m in range(k + 1):
                block = (columns * curvature[:, k, m]) @ columns.T
                whole[:, k, :, m] = block
                whole[:, m, :, k] = block
        return whole.reshape(size * outputs, size * outputs)

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
