"""What the upper level minimises: the contract, the criteria through a fit, and the cache."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray

__all__ = [
    "AloCriterion",
    "CachedCriterion",
    "Criterion",
    "FitCriterion",
    "LabeledCriterion",
    "MaskFit",
    "MaskSolver",
    "SmoothCriterion",
]


@runtime_checkable
class Criterion(Protocol):
    """A number per mask, smaller is better; always the same number for the same mask."""

    @property
    def n_columns(self) -> int: ...

    def value(self, mask: ArrayLike) -> float: ...


@runtime_checkable
class SmoothCriterion(Criterion, Protocol):
    """A criterion of real masks with exact derivatives and cheap single additions."""

    @property
    def is_loss(self) -> bool: ...

    def gradient(self, s: ArrayLike) -> FloatArray: ...

    def noise_of(self, mask: ArrayLike) -> float: ...

    def value_and_gradient(self, s: ArrayLike, noise: float) -> tuple[float, FloatArray, float]: ...

    def addition_values(self, mask: ArrayLike, noise: float) -> FloatArray: ...


class MaskFit(Protocol):
    """A lower-level solution as the criteria read it."""

    def labeled_loss(self) -> float: ...

    def approximate_loo(self) -> float: ...


class MaskSolver(Protocol):
    """A lower level: mask in, solution out, optionally started from an earlier solution."""

    @property
    def n_columns(self) -> int: ...

    def solve(self, mask: ArrayLike, start: Any = None) -> MaskFit: ...


class FitCriterion:
    """Base of the criteria that need a lower-level fit; each starts from the previous one.

    Parameters
    ----------
    solver : MaskSolver
        The lower level.

    Attributes
    ----------
    last_fit : MaskFit or None
        Solution of the latest mask; the start of the next one.
    """

    is_loss: ClassVar[bool] = True

    def __init__(self, solver: MaskSolver) -> None:
        self.solver = solver
        self.last_fit: Any = None

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return self.solver.n_columns

    def fit(self, mask: ArrayLike) -> Any:
        """Solve the lower level for a mask."""
        self.last_fit = self.solver.solve(mask, start=self.last_fit)
        return self.last_fit


class LabeledCriterion(FitCriterion):
    """The paper's upper level: loss of the lower solution on the labels it was fitted to.

    It cannot tell signal from noise that fits: every added column lowers it, and only the budget
    holds it back.
    """

    def value(self, mask: ArrayLike) -> float:
        """Return the labelled loss of the lower solution under a mask."""
        return float(self.fit(mask).labeled_loss())


class AloCriterion(FitCriterion):
    """Approximate leave-one-out loss of the lower solution, for any loss and penalty."""

    def value(self, mask: ArrayLike) -> float:
        """Return the approximate leave-one-out loss of the lower solution under a mask."""
        return float(self.fit(mask).approximate_loo())


class CachedCriterion:
    """A criterion that remembers what it was asked.

    Parameters
    ----------
    criterion : Criterion
        Anything with ``value(mask)``.

    Attributes
    ----------
    n_evaluations, n_hits : int
        Masks computed, and masks answered from memory.

    Examples
    --------
    >>> class Size:
    ...     n_columns = 2
    ...     def value(self, mask):
    ...         return float(sum(mask))
    >>> cached = CachedCriterion(Size())
    >>> cached.value([True, False]), cached.value([True, False]), cached.n_evaluations
    (1.0, 1.0, 1)
    """

    def __init__(self, criterion: Criterion) -> None:
        self.criterion = criterion
        self.n_evaluations = 0
        self.n_hits = 0
        self._values: dict[bytes, float] = {}

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return self.criterion.n_columns

    def value(self, mask: ArrayLike) -> float:
        """Return the criterion of a mask, computed at most once."""
        weight = np.ascontiguousarray(mask, dtype=np.float64)
        key = weight.tobytes()
        if key in self._values:
            self.n_hits += 1
        else:
            self._values[key] = self.criterion.value(mask)
            self.n_evaluations += 1
        return self._values[key]

    def to_arrays(self) -> tuple[FloatArray, FloatArray]:
        """Return the masks asked so far, in order, and their values."""
        flat = np.frombuffer(b"".join(self._values), dtype=np.float64)
        masks = flat.reshape(len(self._values), self.n_columns).copy()
        return masks, np.fromiter(self._values.values(), np.float64, len(self._values))

    def restore(self, masks: FloatArray, values: FloatArray) -> None:
        """Remember earlier answers as :meth:`to_arrays` returned them."""
        for mask, value in zip(masks, values, strict=True):
            self._values[np.ascontiguousarray(mask, dtype=np.float64).tobytes()] = float(value)
