"""What the points of the two fast iterations have in common."""

from __future__ import annotations

from typing import Any

__all__ = ["MovingPoint"]


class MovingPoint:
    """A point that moves, knows its objective, and can go back.

    Attributes
    ----------
    smooth, penalty : float
        The two parts of the objective.
    """

    smooth: float
    penalty: float

    @property
    def objective(self) -> float:
        """Value of what is minimised."""
        return self.smooth + self.penalty

    def merit(self, factor: float) -> float:
        """Objective with penalties ``factor`` times as large."""
        return self.smooth + factor * self.penalty

    def state(self) -> dict[str, Any]:
        """All that a move changes; arrays are replaced by moves, never written to."""
        return vars(self).copy()

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to where :meth:`state` was taken."""
        vars(self).update(state)
