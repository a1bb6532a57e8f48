"""One block of functions per column: natural splines, kernel sections or random Fourier features.

All are learned from the labelled rows alone, which is all that a supervised model sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.baselines.shared.parameters import whole
from s2mam.baselines.shared.remember import remember
from s2mam.bases import Design, auto_lengths, build_design

__all__ = ["Blocks", "FourierBlocks", "KernelBlocks", "SplineBlocks", "spline_size"]

# Directions of a block below this share of its largest are ties, not information.
_RANK_TOLERANCE = 1e-6
# Knots closer than this share of a column's range are one knot.
_KNOT_TOLERANCE = 1e-9
# Fewer labels than this cannot pay for the five functions per column of classification.
_FEW_LABELS = 30


# Numbers in a table whose kernels are kept for the next candidate of a grid.
_KEPT_NUMBERS = 20_000


class Blocks(Protocol):
    """Functions of each column, evaluated side by side."""

    @property
    def features(self) -> FloatArray:
        """(l, P) values on the rows of the fit."""
        ...

    @property
    def offsets(self) -> IntArray:
        """(q + 1,) block j is ``features[:, offsets[j]:offsets[j + 1]]``; it may be empty."""
        ...

    def evaluate(self, table: FloatArray, columns: IntArray) -> FloatArray:
        """Values of the given columns' blocks on new rows."""
        ...


def spline_size(df: Any, n_labeled: int, *, classification: bool) -> int:
    """Functions per column: as asked, or three, and five for classes when labels allow it.

    Below seven labels "auto" is half of the `l - 1` dimensions of centred values, so that it
    matters which column a function is of: blocks of all dimensions describe any values, whatever
    the column, and rounding would choose among the columns.

    Examples
    --------
    >>> spline_size("auto", 10, classification=True), spline_size(4, 10, classification=True)
    (3, 4)
    >>> [spline_size("auto", size, classification=True) for size in (4, 5, 7, 30)]
    [1, 2, 3, 5]
    """
    if isinstance(df, str) and df == "auto":
        wanted = 5 if classification and n_labeled >= _FEW_LABELS else 3
        return max(1, min(wanted, (n_labeled - 1) // 2))
    return whole("df", df)


@dataclass(frozen=True)
class SplineBlocks:
    """Natural cubic splines, centred and orthonormal on the rows of the fit.

    With ``f_j = features_j @ beta`` the norm of ``beta`` is the empirical norm
    ``sqrt(mean(f_j^2))`` of the function. Made by :meth:`fit`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> blocks = SplineBlocks.fit(np.column_stack([x, x > 0.5, np.zeros(20)]), df=3)
    >>> blocks.offsets
    array([0, 3, 4, 4])
    >>> first = blocks.features[:, :3]
    >>> bool(np.allclose(first.T @ first / 20, np.eye(3)))
    True
    """

    features: FloatArray
    offsets: IntArray
    low: FloatArray
    width: FloatArray
    #: (df + 1, q) knots on [0, 1]; where values tie the first is repeated.
    knots: FloatArray
    means: FloatArray
    transforms: FloatArray
    kept: BoolArray

    @classmethod
    def fit(cls, table: FloatArray, df: int) -> SplineBlocks:
        """Blocks of `df` functions with interior knots at quantiles.

        Parameters
        ----------
        table : ndarray of shape (l, q)
            Rows that carry a label.
        df : int
            Functions per column besides the constant; a column with few distinct values has fewer.

        Returns
        -------
        SplineBlocks
        """
        low = table.min(axis=0)
        width = table.max(axis=0) - low
        width[width == 0.0] = 1.0
        knots = _distinct_knots(
            np.quantile((table - low) / width, np.linspace(0, 1, df + 1), axis=0)
        )
        raw = _natural_basis(_rescale(table, low, width), knots)
        means = raw.mean(axis=1)
        left, values, right = np.linalg.svd(raw - means[:, None], full_matrices=False)
        kept = (values > _RANK_TOLERANCE * values[:, :1]) & (values > 0.0)
        root = np.sqrt(table.shape[0])
        inverse = np.where(kept, root / np.where(kept, values, 1.0), 0.0)
        return cls(
            features=root * left.transpose(1, 0, 2)[:, kept],
            offsets=_offsets(kept.sum(axis=1)),
            low=low,
            width=width,
            knots=knots,
            means=means,
            transforms=right.transpose(0, 2, 1) * inverse[:, None],
            kept=kept,
        )

    def evaluate(self, table: FloatArray, columns: IntArray) -> FloatArray:
        """Values on new rows; outside the range of the fit a function stays at its end value."""
        inside = _rescale(table[:, columns], self.low[columns], self.width[columns])
        raw = _natural_basis(inside, self.knots[:, columns]) - self.means[columns, None]
        values: FloatArray = raw @ self.transforms[columns]
        return values.transpose(1, 0, 2)[:, self.kept[columns]]


def _kernel_design(table: FloatArray, length: float | str) -> Design:
    varies = np.ptp(table, axis=0) > 0.0
    kinds = ["numeric" if varied else "constant" for varied in varies]
    return build_design(table, kinds, length=length, center=False, max_rank=None)


# As many as leave-one-out has folds at most, so that every candidate finds those of the first.
_kept_design = remember(21)(_kernel_design)


@dataclass(frozen=True)
class KernelBlocks:
    """Gaussian kernel sections at the rows of the fit: ``f_j = sum_i a_i k(x_i, .)``.

    The features are a rotation of the kernel matrix ``K_j`` that drops its null space:
    ``features_j = U S`` for ``K_j = U S U'``, so the norm of the coefficients is that of ``a``.

    Parameters
    ----------
    design : Design
        The columns' kernels.

    Examples
    --------
    >>> import numpy as np
    >>> blocks = KernelBlocks.fit(np.column_stack([np.linspace(-1, 1, 9), np.ones(9)]))
    >>> blocks.offsets[1] > 3, blocks.offsets[2] - blocks.offsets[1]
    (np.True_, np.int64(0))
    """

    design: Design

    @classmethod
    def fit(cls, table: FloatArray, length: float | str = "auto") -> KernelBlocks:
        """Kernels whose length is given or each column's median distance; none if constant."""
        build = _kept_design if table.size <= _KEPT_NUMBERS else _kernel_design
        return cls(build(table, length))

    @property
    def features(self) -> FloatArray:
        """(l, P) values on the rows of the fit."""
        return self.design.features * np.sqrt(self.design.spectra)

    @property
    def offsets(self) -> IntArray:
        """(q + 1,) where the blocks begin and end."""
        return self.design.offsets

    def evaluate(self, table: FloatArray, columns: IntArray) -> FloatArray:
        """Values of the given columns' blocks on new rows."""
        spectra = [self.design.spectra[self.design.block(int(j))] for j in columns]
        return self.design.evaluate(table, columns) * np.sqrt(np.concatenate(spectra))


@dataclass(frozen=True)
class FourierBlocks:
    """Random cosines whose products approximate a Gaussian kernel per column, centred.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.linspace(-1, 1, 30)[:, None]
    >>> blocks = FourierBlocks.fit(table, 8, np.random.RandomState(0))
    >>> bool(np.allclose(blocks.evaluate(table, np.array([0])), blocks.features))
    True
    """

    features: FloatArray
    offsets: IntArray
    frequencies: FloatArray
    phases: FloatArray
    means: FloatArray

    @classmethod
    def fit(cls, table: FloatArray, size: int, random: np.random.RandomState) -> FourierBlocks:
        """`size` features per column; frequencies from each column's median distance."""
        q = table.shape[1]
        lengths = auto_lengths(table, ("numeric",) * q)
        frequencies = random.normal(size=(q, size)) / lengths[:, None]
        phases = random.uniform(0.0, 2.0 * np.pi, size=(q, size))
        values = _cosines(table, frequencies, phases)
        means = values.mean(axis=0)
        # centring makes the block of a constant column vanish up to rounding; make it exact
        features = np.where(np.ptp(table, axis=0)[:, None] > 0.0, values - means, 0.0)
        return cls(
            features=features.reshape(len(table), q * size),
            offsets=np.arange(q + 1) * size,
            frequencies=frequencies,
            phases=phases,
            means=means,
        )

    def evaluate(self, table: FloatArray, columns: IntArray) -> FloatArray:
        """Values of the given columns' blocks on new rows."""
        values = _cosines(table[:, columns], self.frequencies[columns], self.phases[columns])
        return (values - self.means[columns]).reshape(len(table), -1)


def _rescale(table: FloatArray, low: FloatArray, width: FloatArray) -> FloatArray:
    return np.clip((table - low) / width, 0.0, 1.0)


def _distinct_knots(knots: FloatArray) -> FloatArray:
    """Sorted knots per column with ties moved to the lower end, where they change nothing."""
    tied = np.diff(knots, axis=0, prepend=-1.0) <= _KNOT_TOLERANCE
    ordered: FloatArray = np.sort(np.where(tied, knots[0], knots), axis=0)
    return ordered


def _natural_basis(inside: FloatArray, knots: FloatArray) -> FloatArray:
    """(q, m, df) natural cubic splines of values in [0, 1], without the constant.

    The identity and, for each knot but the last two, the difference of two truncated cubes that
    makes the second derivative vanish at the ends.
    """
    inner = knots[:-1]
    cubes = np.maximum(inside - inner[:, None], 0.0) ** 3 / (1.0 - inner)[:, None]
    basis: FloatArray = np.concatenate([inside[None], cubes[:-1] - cubes[-1]]).transpose(2, 1, 0)
    return basis


def _cosines(table: FloatArray, frequencies: FloatArray, phases: FloatArray) -> FloatArray:
    scale = np.sqrt(2.0 / phases.shape[1])
    waves: FloatArray = scale * np.cos(table[:, :, None] * frequencies + phases)
    return waves


def _offsets(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
