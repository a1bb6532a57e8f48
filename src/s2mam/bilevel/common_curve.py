"""One curve for all columns: what counts is how many columns are high, or far out, or both.

Answers to a survey, counts of words, pixels or genes often say the same thing many times over, and
their sum says it better than any of them. A curve of its own for every column spends the few labels
on telling columns apart; here all labels go into one curve, which is learned in a moment.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from s2mam._typing import FloatArray
from s2mam.masks.labeled_atoms import AtomFit, LabeledAtoms

__all__ = ["common_curve_fits"]

# A shape whose sum over the columns has a smaller spread is the same for all labelled rows.
_FLAT = 1e-9


def common_curve_fits(
    atoms: LabeledAtoms, common: FloatArray, weights: FloatArray, noises: Sequence[float]
) -> list[AtomFit]:
    """Fit one curve for all columns, at several levels of noise.

    Parameters
    ----------
    atoms : LabeledAtoms
        The labelled rows.
    common : (p, 1 + r, s) array
        The shapes that make up the curve, see :func:`s2mam.bases.common.common_maps`.
    weights : (p,) array
        Prior weight of each column: how much of the curve it has.
    noises : sequence of float
        Noise variances as multiples of the variance of the whole function.

    Returns
    -------
    list of AtomFit
        One per noise.

    Examples
    --------
    >>> from s2mam.masks.labeled_atoms import labeled_atoms
    >>> x = np.random.default_rng(0).normal(size=(8, 20))
    >>> none = np.zeros((20, 8, 1))
    >>> atoms = labeled_atoms(x, none, np.arange(8), x.sum(axis=1, keepdims=True), np.ones(8))
    >>> lines = np.zeros((20, 2, 1))
    >>> lines[:, 0] = 1.0
    >>> (fit,) = common_curve_fits(atoms, lines, np.ones(20), [1e-9])
    >>> bool(np.allclose(fit.straight, 1.0))
    True
    """
    maps = weights[:, None, None] * common
    sums = atoms.straight @ maps[:, 0] + atoms.flat @ maps[:, 1:].reshape(-1, common.shape[2])
    spread = np.sqrt(np.square(sums).sum(axis=0) / (atoms.freedom + 1.0))
    varies = spread > _FLAT
    # Every shape has the same say, and all of them together have unit variance.
    size = np.where(varies, spread, np.inf) * max(float(np.count_nonzero(varies)), 1.0) ** 0.5
    sums, maps = sums / size, maps / size
    fits = []
    for noise in noises:
        coef = np.linalg.solve(sums.T @ sums + noise * np.eye(size.size), sums.T @ atoms.target)
        fits.append(atoms.anchored(maps[:, 0] @ coef, maps[:, 1:] @ coef))
    return fits
