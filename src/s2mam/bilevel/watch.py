"""Whoever follows a fit while it runs, and may stop it between two units of work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Watch"]


class Watch:
    """Follows a fit; this one only looks on, others override what they need.

    A learner calls :meth:`begin` once, then :meth:`unit_begins` and :meth:`unit_ends` around every
    unit of work. Units whose results come from a checkpoint are counted but not announced.

    Attributes
    ----------
    keep_interrupted : bool
        A KeyboardInterrupt ends the fit with what is done, where that makes a model.

    Examples
    --------
    >>> class Twice(Watch):
    ...     def unit_ends(self, stage, done, details=None):
    ...         return "enough" if done == 2 else None
    >>> [Twice().unit_ends("search", done) for done in (1, 2)]
    [None, 'enough']
    """

    keep_interrupted: bool = False

    def begin(self, total: int | None) -> None:
        """Work starts, in at most so many units; None when nobody knows."""

    def unit_begins(self, stage: str) -> None:
        """A unit of a stage starts."""

    def unit_ends(
        self, stage: str, done: int, details: Mapping[str, Any] | None = None
    ) -> str | None:
        """A unit is finished, as number `done`; the answer is a reason to stop, or None."""
        return None
