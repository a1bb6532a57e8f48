"""A contract as a list of laws, each with a name, and the error that says which one is broken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from s2mam.exceptions import InvalidInputError, S2MAMError

__all__ = ["ConformanceError", "close", "obey", "require"]


class ConformanceError(S2MAMError, AssertionError):
    """A part does not keep its contract; the message names the law and what was seen."""


def require(holds: object, message: str) -> None:
    """Raise where something does not hold.

    Examples
    --------
    >>> require(1 > 2, "one is not more than two")
    Traceback (most recent call last):
    ...
    s2mam.conformance.laws.ConformanceError: one is not more than two
    """
    if not holds:
        raise ConformanceError(message)


def close(found: Any, expected: Any, message: str, tolerance: float = 1e-8) -> None:
    """Raise where two arrays differ by more than a share of their size."""
    a, b = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    require(a.shape == b.shape, f"{message} (shapes {a.shape} and {b.shape})")
    size = float(np.abs(b).max(initial=0.0)) or 1.0
    apart = float(np.abs(a - b).max(initial=0.0))
    require(apart <= tolerance * size, f"{message} (they differ by {apart:.3g})")


def obey(laws: Mapping[str, Callable[[], None]], skip: Collection[str]) -> list[str]:
    """Check laws in turn.

    Parameters
    ----------
    laws : mapping of str to callable
        Each raises `ConformanceError` where it is broken.
    skip : collection of str
        Laws to leave out.

    Returns
    -------
    list of str
        Laws that hold.
    """
    unknown = [name for name in skip if name not in laws]
    if unknown:
        raise InvalidInputError(f"There is no law {unknown[0]!r} to skip; there are {list(laws)}.")
    held = []
    for name, law in laws.items():
        if name in skip:
            continue
        try:
            law()
        except ConformanceError as error:
            raise ConformanceError(f"{name}: {error}.") from error
        held.append(name)
    return held
