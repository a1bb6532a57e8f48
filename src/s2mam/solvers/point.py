"""A point of the iteration with everything evaluated there."""

from __future__ import annotations

from dataclasses import dataclass

from s2mam._typing import FloatArray

__all__ = ["Point"]


@dataclass(frozen=True)
class Point:
    """Coefficients, their decision values, and the two parts of the objective.

    ``quadratic_coef`` is ``Q @ coef``; ``smooth`` is loss plus quadratic term.
    """

    coef: FloatArray
    intercept: FloatArray
    decision: FloatArray
    quadratic_coef: FloatArray | None
    smooth: float
    penalty: float

    @property
    def objective(self) -> float:
        """Value of what is minimised."""
        return self.smooth + self.penalty
