"""The lower level with a graph over more rows than are in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray
from s2mam.bilevel.lower import LowerLevel

__all__ = ["StreamedLevel", "streamed_level"]


@dataclass(frozen=True)
class _Form:
    """A quadratic form that was summed over rows, in the place of a Laplacian."""

    matrix: FloatArray

    def quadratic(self, features: FloatArray) -> FloatArray:
        """The form; the features are those it was summed from."""
        assert features.shape[1] == self.matrix.shape[0]
        return self.matrix


@dataclass(frozen=True)
class StreamedLevel(LowerLevel):
    """A lower level whose labelled rows are in memory and whose graph is a sum over all rows.

    Attributes
    ----------
    total_rows : int
        Rows of the graph.
    form : (P, P) array
        F'LF over all rows, of all features.
    """

    total_rows: int = 0
    form: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def n_rows(self) -> int:
        """Number of rows of the graph."""
        return self.total_rows

    def laplacian(self, mask: ArrayLike) -> Any:
        """The form of the features of a mask's columns."""
        chosen, scale = self._scales(np.asarray(mask, dtype=np.float64))
        matrix = self.form[np.ix_(chosen, chosen)]
        return _Form(scale[:, None] * matrix * scale)


def streamed_level(lower: LowerLevel, form: FloatArray, total_rows: int) -> StreamedLevel:
    """The same lower level with a graph over all rows of a stream.

    Examples
    --------
    >>> from s2mam.bases import build_design
    >>> from s2mam.losses import SquaredLoss
    >>> Z = np.random.default_rng(0).normal(size=(20, 1))
    >>> design = build_design(Z, ("numeric",))
    >>> lower = LowerLevel(
    ...     design, Z, np.arange(20), Z[:, 0], np.full(20, 1 / 20), SquaredLoss(),
    ...     sparsity=0.0, manifold=2.0,
    ... )
    >>> level = streamed_level(lower, np.eye(design.features.shape[1]), 10)
    >>> float(level.problem([1.0]).quadratic[0, 0])
    0.02
    """
    given = {name: getattr(lower, name) for name in LowerLevel.__dataclass_fields__}
    return StreamedLevel(**given, total_rows=total_rows, form=form)
