"""Closed-form leave-one-out error of kernel ridge regression with the kernel of a mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray
from s2mam.masks.factored import solve_factored
from s2mam.masks.kernels import LabeledKernels
from s2mam.masks.noise import best_noise

__all__ = ["LooCriterion"]


@dataclass(frozen=True)
class LooCriterion:
    """Mean squared leave-one-out error of the smoother with kernel ``sum_j s_j K_j``.

    With ``R = B (B'KB + noise I)^-1 B'`` (B: complement of the intercept) the residual of row i,
    predicted from the other rows with their own intercept, is ``(R y)_i / R_ii``: no refits.

    Parameters
    ----------
    kernels : LabeledKernels
        Labelled rows of the design. Several outputs add up.
    noise : float, optional
        Fixed ridge; by default each mask gets the one with the smallest error.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.masks import LooCriterion, labeled_kernels
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> features = np.column_stack([x, np.cos(40 * x)])
    >>> criterion = LooCriterion(labeled_kernels(features, [0, 1, 2], 3 * x))
    >>> criterion.value([1, 0]) < criterion.value([0, 1])
    True
    """

    kernels: LabeledKernels
    noise: float | None = None

    #: The value has the unit of the squared target: only ratios compare across data sets.
    is_loss: ClassVar[bool] = True

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return self.kernels.n_columns

    def value(self, mask: ArrayLike) -> float:
        """Return the leave-one-out error of a binary or real mask."""
        return self._profile(mask)[1]

    def noise_of(self, mask: ArrayLike) -> float:
        """Return the ridge a mask is evaluated with."""
        return self._profile(mask)[0]

    def row_losses(self, mask: ArrayLike) -> FloatArray:
        """Return each labelled row's squared error times its relative weight; mean = value."""
        kernels = self.kernels
        noise = self.noise_of(mask)
        factor = kernels.factor(mask, noise)
        residuals = kernels.back @ solve_factored(factor, kernels.target)
        residuals += kernels.loose.residual / noise
        result: FloatArray = (residuals**2).sum(axis=1) / self._leverage(factor, noise) ** 2
        return result

    def gradient(self, s: ArrayLike) -> FloatArray:
        """Return the exact gradient at real weights s (the ridge follows its optimum)."""
        return self.value_and_gradient(s, self.noise_of(s))[1]

    def value_and_gradient(self, s: ArrayLike, noise: float) -> tuple[float, FloatArray, float]:
        """Return value, gradient by s and derivative by ln(noise), at a given noise."""
        kernels = self.kernels
        factor = kernels.factor(s, noise)
        solved = solve_factored(factor, kernels.target)
        spread = solve_factored(factor, kernels.back.T)
        apart, free = kernels.loose.residual / noise, kernels.loose.leverage / noise
        residuals = kernels.back @ solved + apart
        leverage = np.einsum("in,ni->i", kernels.back, spread) + free
        losses = (residuals**2).sum(axis=1) / leverage**2
        pull = spread @ (residuals / leverage[:, None] ** 2)
        bend = spread * np.sqrt(losses / leverage)
        slopes = kernels.slopes(s)
        by_column = ((slopes.T @ bend) ** 2).sum(axis=1)
        by_column -= ((slopes.T @ pull) * (slopes.T @ solved)).sum(axis=1)
        scale = 2.0 / losses.size
        inside = float((bend**2).sum()) - float(np.vdot(pull, solved))
        outside = losses * free / leverage - (residuals * apart).sum(axis=1) / leverage**2
        by_noise = scale * (noise * inside + float(outside.sum()))
        return float(losses.mean()), scale * kernels.column_sums(by_column), by_noise

    def addition_values(self, mask: ArrayLike, noise: float) -> FloatArray:
        """Return the value of ``mask`` with one more column, for every column, at a given noise.

        Columns that are in the mask get infinity. One factorisation serves all columns: adding a
        block is a low-rank update. A graph is left out here; use the result to rank candidates.
        """
        on = np.asarray(mask, dtype=bool)
        out = np.flatnonzero(~on)
        kernels = self.kernels
        factor = kernels.without_graph().factor(on, noise)
        solved = solve_factored(factor, kernels.target)
        blocks = kernels.padded[out]
        turned = kernels.inverse(factor) @ blocks
        grown = blocks.transpose(0, 2, 1) @ turned
        rank = grown.shape[1]
        grown[:, np.arange(rank), np.arange(rank)] += 1.0
        inner = np.linalg.inv(grown)
        # R' = R - (B V) inner (B V)' for every candidate, V = M^-1 F_j.
        outward = kernels.back @ turned
        lost = np.einsum("cir,cir->ci", outward @ inner, outward)
        leverage = self._leverage(factor, noise) - lost
        captured = inner @ (blocks.transpose(0, 2, 1) @ solved)
        before = kernels.back @ solved + kernels.loose.residual / noise
        residuals = before - outward @ captured
        values = np.full(kernels.n_columns, np.inf)
        values[out] = ((residuals**2).sum(axis=2) / leverage**2).mean(axis=1)
        return values

    def _leverage(self, factor: tuple[FloatArray, bool], noise: float) -> FloatArray:
        spread = solve_factored(factor, self.kernels.back.T)
        result: FloatArray = np.einsum("in,ni->i", self.kernels.back, spread)
        result += self.kernels.loose.leverage / noise
        return result

    def _profile(self, mask: ArrayLike) -> tuple[float, float]:
        """Return the best ridge and the value there, from one eigendecomposition."""
        spectrum, axes = np.linalg.eigh(self.kernels.gram(mask))
        spectrum = np.maximum(spectrum, 0.0)
        outward = self.kernels.back @ axes
        inward = axes.T @ self.kernels.target
        squares, loose = outward**2, self.kernels.loose

        def values(noise: FloatArray) -> FloatArray:
            shrink = 1.0 / (spectrum[:, None] + noise)
            shrunk = (shrink[:, :, None] * inward[:, None, :]).reshape(spectrum.size, -1)
            residuals = (outward @ shrunk).reshape(squares.shape[0], noise.size, -1)
            residuals += loose.residual[:, None, :] / noise[:, None]
            leverage = squares @ shrink + loose.leverage[:, None] / noise
            losses = (residuals**2).sum(axis=2) / leverage**2
            result: FloatArray = losses.mean(axis=0)
            return result

        if self.noise is not None:
            return self.noise, float(values(np.array([self.noise]))[0])
        return best_noise(values)
