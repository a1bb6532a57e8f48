"""Posterior probability of a mask over atoms, and of all its one-flip neighbours at once.

Targets are Gaussian with covariance ``I + a (sum of straight kernels + c sum of curved kernels)``
over the atoms that are on; the overall scale and the intercept are integrated out. Switching one
atom is a low-rank change, so the evidence of all 2p neighbours costs one inverse and one product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from s2mam._typing import BoolArray, FloatArray
from s2mam.masks.labeled_atoms import AtomFit, LabeledAtoms
from s2mam.masks.mask_prior import MaskPrior, column_codes

__all__ = ["Hyper", "MaskPosterior"]

Hyper: TypeAlias = tuple[int, int]

_AMPLITUDES = np.geomspace(0.003, 100.0, 16)
_CURVE_SHARES = np.array([0.03, 0.1, 0.3, 1.0])


@dataclass
class MaskPosterior:
    """Log-posterior of (mask, amplitude, curve share) given the labelled rows.

    Attributes
    ----------
    atoms : LabeledAtoms
        The labelled rows.
    prior : MaskPrior
        The prior of the mask; amplitudes and curve shares have a flat prior on their grids.
    """

    atoms: LabeledAtoms
    prior: MaskPrior
    amplitudes: FloatArray = field(default_factory=lambda: _AMPLITUDES)
    curve_shares: FloatArray = field(default_factory=lambda: _CURVE_SHARES)

    def __post_init__(self) -> None:
        self._usable = self.atoms.usable
        # Kernel matrices of the last mask: its neighbours in amplitude and share need them again.
        self._kernels: tuple[bytes, FloatArray, FloatArray] | None = None
        # Climbs and runs that start in different places meet in the same states.
        self._gains: dict[tuple[bytes, Hyper], FloatArray] = {}

    def covariance(self, mask: BoolArray, hyper: Hyper) -> FloatArray:
        """Covariance of the targets up to the overall scale."""
        key = mask.tobytes()
        if self._kernels is None or self._kernels[0] != key:
            p = self.atoms.n_columns
            none = np.zeros(p)
            lines = self.atoms.gram(mask[:p].astype(np.float64), none)
            curves = self.atoms.gram(none, mask[p:].astype(np.float64))
            self._kernels = (key, lines, curves)
        _, lines, curves = self._kernels
        matrix: FloatArray = lines + self.curve_shares[hyper[1]] * curves
        matrix *= self.amplitudes[hyper[0]]
        matrix.flat[:: matrix.shape[0] + 1] += 1.0
        return matrix

    def value(self, mask: BoolArray, hyper: Hyper) -> float:
        """Log-posterior of one state, up to a constant."""
        factor, failed = dpotrf(self.covariance(mask, hyper), lower=1)
        if failed:
            return -np.inf
        dual, _ = dpotrs(factor, self.atoms.target, lower=1)
        k = self.atoms.target.shape[1]
        quadratic = max(float(np.sum(self.atoms.target * dual)), 1e-300)
        log_det = 2.0 * float(np.log(factor.diagonal()).sum())
        return float(
            -0.5 * self.atoms.freedom * k * np.log(quadratic)
            - 0.5 * k * log_det
            + self.prior.value(column_codes(mask))
        )

    def flip_gains(self, mask: BoolArray, hyper: Hyper) -> FloatArray:
        """Change of the log-posterior for each of the 2p flips (do not write to it)."""
        state = (mask.tobytes(), hyper)
        if state not in self._gains:
            self._gains[state] = self._flip_gains(mask, hyper)
        return self._gains[state]

    def _flip_gains(self, mask: BoolArray, hyper: Hyper) -> FloatArray:
        atoms = self.atoms
        p, k = atoms.n_columns, atoms.target.shape[1]
        amplitude = float(self.amplitudes[hyper[0]])
        share = amplitude * float(self.curve_shares[hyper[1]])
        inverse = _inverse(self.covariance(mask, hyper))
        dual = inverse @ atoms.target
        quadratic = max(float(np.sum(atoms.target * dual)), 1e-300)
        sign = np.where(mask, -1.0, 1.0)
        line_det, line_drop = self._line_changes(inverse, dual, amplitude * sign[:p])
        curve_det, curve_drop = self._curve_changes(inverse, dual, share * sign[p:])
        drop = np.concatenate([line_drop, curve_drop]) / quadratic
        log_det = np.concatenate([line_det, curve_det])
        gains = -0.5 * atoms.freedom * k * np.log(np.maximum(1.0 - drop, 1e-12)) - 0.5 * k * log_det
        gains += self.prior.flip_gains(column_codes(mask))
        # An atom that does not vary over the labelled rows has no evidence and is never taken.
        return np.where(self._usable | mask, gains, -np.inf)

    def fit(self, mask: BoolArray, hyper: Hyper) -> AtomFit:
        """Posterior mean of the additive function in one state."""
        p = self.atoms.n_columns
        amplitude = self.amplitudes[hyper[0]]
        share = amplitude * self.curve_shares[hyper[1]]
        return self.atoms.fit(amplitude * mask[:p], share * mask[p:], noise=1.0)

    def _line_changes(
        self, inverse: FloatArray, dual: FloatArray, signed: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Log-determinant and loss of quadratic form when a straight part is switched."""
        lines = self.atoms.straight
        inner = np.einsum("ij,ij->j", lines, inverse @ lines)
        score = np.square(lines.T @ dual).sum(axis=1)
        pivot = np.maximum(1.0 + signed * inner, 1e-10)
        return np.log(pivot), signed * score / pivot

    def _curve_changes(
        self, inverse: FloatArray, dual: FloatArray, signed: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The same for the curved parts."""
        curves = self.atoms.curved
        p, rows, rank = curves.shape
        image = (inverse @ self.atoms.flat).reshape(rows, p, rank).transpose(1, 0, 2)
        transposed = curves.transpose(0, 2, 1)
        pivot = signed[:, None, None] * np.matmul(transposed, image)
        pivot[:, np.arange(rank), np.arange(rank)] += 1.0
        score = np.matmul(transposed, dual)
        solved = np.linalg.solve(pivot, score)
        sign, log_det = np.linalg.slogdet(pivot)
        log_det = np.where(sign > 0, log_det, -23.0)
        return log_det, signed * np.einsum("jrk,jrk->j", score, solved)


def _inverse(matrix: FloatArray) -> FloatArray:
    """Inverse of a positive definite matrix with eigenvalues of at least one."""
    factor, _ = dpotrf(matrix, lower=1)
    lower, _ = dpotri(factor, lower=1)
    lower = np.tril(lower)
    inverse: FloatArray = lower + np.tril(lower, -1).T
    return inverse
