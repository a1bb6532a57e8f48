"""The evidence after every pair swap, from one factorisation.

With ``M = L L'`` the matrix of a mask and ``B = L^-1 F_h`` the block of a column in it, the matrix
without that column is ``L (I - B B') L'``, so that a column that leaves is a low-rank step back,
as one that enters is a step forward. What all pairs share is computed once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from s2mam._typing import FloatArray
from s2mam.masks.kernels import LabeledKernels

__all__ = ["SwapTerms", "worth_sharing"]

# Numbers times rows of all blocks below which every leaving column may have its own factorisation.
_LARGE = 5e7
# Share of a direction that may be lost with the column that leaves: beyond it digits are.
_MOST_LOST = 1.0 - 1e-8


def worth_sharing(kernels: LabeledKernels) -> bool:
    """Whether one factorisation for all swaps saves enough time to matter."""
    return kernels.padded.size * kernels.size > _LARGE


class SwapTerms:
    """What all swaps of a mask share.

    Parameters
    ----------
    kernels : LabeledKernels
        Its graph is left out.
    mask : (p,) array of bool
    noise : float

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.masks import labeled_kernels
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> kernels = labeled_kernels(np.column_stack([x, x**2]), [0, 1, 2], 3 * x)
    >>> energies, _ = SwapTerms(kernels, [False, True], 0.1).without(1)
    >>> energies.shape, bool(energies[0] < energies[1])
    ((2,), True)
    """

    def __init__(self, kernels: LabeledKernels, mask: ArrayLike, noise: float) -> None:
        self._kernels = kernels
        factor = kernels.without_graph().factor(mask, noise)[0]
        self._target = solve_triangular(factor, kernels.target, lower=True, check_finite=False)
        half = solve_triangular(factor, kernels.features, lower=True, check_finite=False)
        self._energy = float(np.vdot(self._target, self._target)) + kernels.loose.energy / noise
        self._volume = 2.0 * float(np.log(factor.diagonal()).sum())
        self._volume += float(kernels.loose.count * np.log(noise))
        ranks = kernels.ranks
        self._owner = np.repeat(np.arange(ranks.size), ranks)
        self._place = np.arange(ranks.sum()) - np.repeat(kernels.offsets[:-1], ranks)
        self._half: FloatArray = half
        blocks = self._padded(half.T)
        self._grams: FloatArray = blocks @ blocks.transpose(0, 2, 1)
        diagonal = np.arange(self._grams.shape[1])
        self._grams[:, diagonal, diagonal] += 1.0
        self._pulls: FloatArray = blocks @ self._target

    def without(self, leaving: int) -> tuple[FloatArray, FloatArray] | None:
        """Energies and volumes with each column in the place of one of the mask.

        Parameters
        ----------
        leaving : int
            A column of the mask.

        Returns
        -------
        tuple of (p,) arrays, or None
            ``tr(Y'M^-1 Y)`` and ``ln|M|``, meaningless for columns of the mask; None where nearly
            all is lost with the column, and subtraction would not tell what is left.
        """
        lost = self._half[:, self._owner == leaving]
        shares, axes = np.linalg.eigh(lost.T @ lost)
        if shares.max(initial=0.0) > _MOST_LOST:
            return None
        back = lost @ (axes / np.sqrt(1.0 - shares))
        own = back.T @ self._target
        energy = self._energy + float(np.vdot(own, own))
        volume = self._volume + float(np.log1p(-shares).sum())
        met = self._padded((back.T @ self._half).T)
        lower = np.linalg.cholesky(self._grams + met @ met.transpose(0, 2, 1))
        captured = np.linalg.solve(lower, self._pulls + met @ own)
        grown = 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        energies: FloatArray = energy - (captured**2).sum(axis=(1, 2))
        return energies, volume + grown

    def _padded(self, rows: FloatArray) -> FloatArray:
        """One row per feature as one (p, max rank, width) array, zeros behind each last feature."""
        widest = int(self._kernels.ranks.max(initial=0))
        blocks = np.zeros((self._kernels.n_columns, widest, rows.shape[1]))
        blocks[self._owner, self._place] = rows
        return blocks
