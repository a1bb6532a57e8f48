"""Random Fourier features of single columns: the basis of S2MAM-F.

The Gaussian kernel of length h is the mean of ``cos(w (x - x') / h)`` over normal frequencies w. A
draw of them gives features, cosines and sines, whose products scatter around the kernel by
``1 / sqrt(D)``. For a single column a handful of landmarks does far better at the same cost (see
:mod:`s2mam.bases.nystrom`); the waves are here because the paper uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.block import ColumnFactor
from s2mam.exceptions import InvalidInputError

__all__ = ["N_WAVES", "draw_frequencies", "fourier_factors", "require_gaussian", "wave_rows"]

#: Random features of a column: so many, half of them cosines, half sines.
N_WAVES: Final = 100


def draw_frequencies(columns: IntArray, seed: int, *, n_waves: int = N_WAVES) -> FloatArray:
    """Frequencies (c, n_waves) of some columns; a negative one stands for a sine.

    The draw of a column depends on its number and the seed alone, not on the other columns.

    Examples
    --------
    >>> one, other = draw_frequencies(np.array([3, 4]), 0, n_waves=6)
    >>> bool(np.array_equal(one[:3], -one[3:])), bool(np.array_equal(one, other))
    (True, False)
    """
    half = n_waves // 2
    drawn = np.empty((columns.size, half))
    for at, column in enumerate(columns):
        drawn[at] = np.random.default_rng([seed, 11, int(column)]).standard_normal(half)
    drawn = np.maximum(np.abs(drawn), np.finfo(np.float64).tiny)  # the sign is taken
    return np.concatenate([drawn, -drawn], axis=1)


def wave_rows(values: FloatArray, frequencies: FloatArray, lengths: FloatArray) -> FloatArray:
    """Cosines, or sines where the frequency is negative, broadcast against each other.

    Examples
    --------
    >>> wave_rows(np.array([0.0, np.pi / 2]), np.array([[1.0], [-1.0]]), np.ones(1)).round(6)
    array([[1., 0.],
           [0., 1.]])
    """
    angles: FloatArray = values * (np.abs(frequencies) / lengths)
    angles -= np.where(frequencies < 0.0, np.pi / 2.0, 0.0)
    return np.cos(angles, out=angles)


def fourier_factors(
    values: FloatArray, counts: IntArray, lengths: FloatArray, *, seed: int, columns: IntArray
) -> list[ColumnFactor]:
    """Random Fourier features of columns given as rows of ``values``.

    Parameters
    ----------
    values : (c, n) array
        Present values first, any finite number after them.
    counts : (c,) array of int
        How many values are present.
    lengths : (c,) array
        Kernel lengths.
    seed : int
        Of the draw.
    columns : (c,) array of int
        Numbers of the columns, which the draws depend on.

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 50)[None]
    >>> [factor] = fourier_factors(
    ...     x, np.array([50]), np.ones(1), seed=0, columns=np.array([0])
    ... )
    >>> exact = np.exp(-0.5 * (x - x.T) ** 2)
    >>> bool(np.abs(factor.rows.T @ factor.rows - exact).max() < 0.3)
    True
    """
    frequencies = draw_frequencies(columns, seed)
    scale = np.sqrt(2.0 / frequencies.shape[1])
    factors = []
    for at, drawn in enumerate(frequencies):
        rows = scale * wave_rows(values[at], drawn[:, None], lengths[at : at + 1])
        rows[:, counts[at] :] = 0.0
        factors.append(ColumnFactor(rows, drawn, _scaled_by(scale), 0.0))
    return factors


def require_gaussian(kernel: str) -> None:
    """Raise unless the kernel is the one whose frequencies are drawn here."""
    if kernel != "gaussian":
        raise InvalidInputError(
            f'basis="fourier" draws the frequencies of the Gaussian kernel, not of {kernel!r}; use '
            'basis="nystrom" or basis="kernel".'
        )


def _scaled_by(scale: float) -> Callable[[FloatArray], FloatArray]:
    def back(vectors: FloatArray) -> FloatArray:
        return scale * vectors

    return back
