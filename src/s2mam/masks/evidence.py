"""Marginal likelihood of a mask: which columns explain the labels, noise and scale integrated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray
from s2mam.masks.evidence_swaps import SwapTerms, worth_sharing
from s2mam.masks.factored import solve_factored
from s2mam.masks.kernels import LabeledKernels
from s2mam.masks.noise import best_noise

__all__ = ["EvidenceCriterion"]

_TINY: Final = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class EvidenceCriterion:
    """Negative log evidence per labelled degree of freedom, to be minimised.

    Targets are Gaussian with covariance ``scale * (sum_j s_j K_j + noise I)`` around an unknown
    constant. The constant is projected out, the overall scale is integrated out and the noise
    takes its best value. With N = l - 1 and k outputs that share the covariance::

        value(s) = 1/2 ln(tr(Y'M^-1 Y) / (N k)) + ln|M| / (2 N),    M = sum_j s_j K_j + noise I

    Two labels leave one degree of freedom, which the scale takes up: then all masks are equal.

    Parameters
    ----------
    kernels : LabeledKernels
        Labelled rows of the design.
    noise : float, optional
        Fixed noise; by default each mask gets the noise that suits it best.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.masks import EvidenceCriterion, labeled_kernels
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> features = np.column_stack([x, np.cos(40 * x)])
    >>> criterion = EvidenceCriterion(labeled_kernels(features, [0, 1, 2], 3 * x))
    >>> criterion.value([1, 0]) < criterion.value([0, 0]) < criterion.value([0, 1])
    True
    """

    kernels: LabeledKernels
    noise: float | None = None

    #: The value is a logarithm already: differences mean the same on every data set.
    is_loss: ClassVar[bool] = False

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return self.kernels.n_columns

    def value(self, mask: ArrayLike) -> float:
        """Return the negative log evidence per degree of freedom of a binary or real mask."""
        return self._profile(mask)[1]

    def log_evidence(self, mask: ArrayLike) -> float:
        """Return the log evidence in nats, up to a constant that all masks share."""
        return -self.value(mask) * self.kernels.n_rows * self.kernels.n_outputs

    def noise_of(self, mask: ArrayLike) -> float:
        """Return the noise a mask is evaluated with."""
        return self._profile(mask)[0]

    def gradient(self, s: ArrayLike) -> FloatArray:
        """Return the exact gradient at real weights s (the noise follows its optimum)."""
        return self.value_and_gradient(s, self.noise_of(s))[1]

    def value_and_gradient(self, s: ArrayLike, noise: float) -> tuple[float, FloatArray, float]:
        """Return value, gradient by s and derivative by ln(noise), at a given noise."""
        kernels = self.kernels
        n, loose = kernels.n_rows, kernels.loose
        factor = kernels.factor(s, noise)
        solved = solve_factored(factor, kernels.target)
        energy = max(float(np.vdot(kernels.target, solved)) + loose.energy / noise, _TINY)
        volume = _log_determinant(factor[0]) + loose.count * np.log(noise)
        value = float(self._combine(np.asarray(energy), volume))
        inverse = kernels.inverse(factor)
        slopes = kernels.slopes(s)
        spread = kernels.column_sums(np.einsum("np,np->p", slopes, inverse @ slopes))
        pull = kernels.column_sums(((slopes.T @ solved) ** 2).sum(axis=1))
        gradient = 0.5 * (spread / n - pull / energy)
        trace = float(np.trace(inverse)) + loose.count / noise
        squares = float((solved**2).sum()) + loose.energy / noise**2
        by_noise = 0.5 * noise * (trace / n - squares / energy)
        return value, gradient, by_noise

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
        energy = float(np.vdot(kernels.target, solved)) + kernels.loose.energy / noise
        volume = _log_determinant(factor[0]) + kernels.loose.count * np.log(noise)
        blocks = kernels.padded[out]
        grown = blocks.transpose(0, 2, 1) @ (kernels.inverse(factor) @ blocks)
        rank = grown.shape[1]
        grown[:, np.arange(rank), np.arange(rank)] += 1.0
        lower = np.asarray(np.linalg.cholesky(grown), dtype=np.float64)
        captured = np.linalg.solve(lower, blocks.transpose(0, 2, 1) @ solved)
        energies = energy - (captured**2).sum(axis=(1, 2))
        values = np.full(kernels.n_columns, np.inf)
        values[out] = self._combine(energies, np.add(volume, _log_determinant(lower)))
        return values

    def swap_values(self, mask: ArrayLike, noise: float) -> FloatArray:
        """Return :meth:`addition_values` for ``mask`` without each of its columns in turn.

        Row i belongs to the i-th column of the mask; that column itself gets infinity too. On large
        tables one factorisation serves all rows.
        """
        on = np.asarray(mask, dtype=bool)
        shared = SwapTerms(self.kernels, on, noise) if worth_sharing(self.kernels) else None
        values = np.full((np.count_nonzero(on), on.size), np.inf)
        for row, leaving in enumerate(np.flatnonzero(on)):
            terms = None if shared is None else shared.without(int(leaving))
            if terms is None:
                rest = on.copy()
                rest[leaving] = False
                values[row] = self.addition_values(rest, noise)
                values[row, leaving] = np.inf
            else:
                values[row, ~on] = self._combine(*terms)[~on]
        return values

    def _combine(self, energy: FloatArray, volume: FloatArray) -> FloatArray:
        """Value from tr(Y'M^-1 Y) and ln|M|; equal targets have no energy and stay finite."""
        n, k = self.kernels.n_rows, self.kernels.n_outputs
        result: FloatArray = 0.5 * (np.log(np.maximum(energy, _TINY) / (n * k)) + volume / n)
        return result

    def _profile(self, mask: ArrayLike) -> tuple[float, float]:
        """Return the best noise and the value there, from one eigendecomposition."""
        spectrum, energies, rest = _spectrum(self.kernels, mask)
        n_rest = self.kernels.n_rows - spectrum.size

        def values(noise: FloatArray) -> FloatArray:
            shifted = spectrum[:, None] + noise
            energy = (energies[:, None] / shifted).sum(axis=0) + rest / noise
            volume = np.log(shifted).sum(axis=0) + n_rest * np.log(noise)
            return self._combine(energy, volume)

        if self.noise is not None:
            return self.noise, float(values(np.array([self.noise]))[0])
        return best_noise(values)


def _log_determinant(lower: FloatArray) -> FloatArray:
    """Return ln|A| from the Cholesky factors of one or many matrices A."""
    result: FloatArray = 2.0 * np.log(np.diagonal(lower, axis1=-2, axis2=-1)).sum(axis=-1)
    return result


def _spectrum(kernels: LabeledKernels, mask: ArrayLike) -> tuple[FloatArray, FloatArray, float]:
    """Return eigenvalues of the gram matrix, the targets' energy along each and outside all."""
    active = kernels.active_features(mask)
    rest = kernels.loose.energy
    if active.shape[1] >= kernels.size:
        values, axes = np.linalg.eigh(active @ active.T)
        return np.maximum(values, 0.0), ((axes.T @ kernels.target) ** 2).sum(axis=1), rest
    axes, singular, _ = np.linalg.svd(active, full_matrices=False)
    energies = ((axes.T @ kernels.target) ** 2).sum(axis=1)
    rest += max(float((kernels.target**2).sum() - energies.sum()), 0.0)
    return singular**2, energies, rest
