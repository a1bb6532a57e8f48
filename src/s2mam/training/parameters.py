"""Checks of parameters; the errors name the parameter and its value."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam.exceptions import InvalidInputError

__all__ = ["choice", "nonnegative", "positive", "share", "whole"]


def positive(name: str, value: Any) -> float:
    """A finite number above zero.

    Examples
    --------
    >>> positive("gamma", 2)
    2.0
    """
    if _is_number(value) and value > 0:
        return float(value)
    raise InvalidInputError(f"{name}={value!r} must be a positive number.")


def nonnegative(name: str, value: Any) -> float:
    """A finite number that is zero or more."""
    if _is_number(value) and value >= 0:
        return float(value)
    raise InvalidInputError(f"{name}={value!r} must be a number that is not negative.")


def share(name: str, value: Any) -> float:
    """A number above zero, at most one."""
    if _is_number(value) and 0 < value <= 1:
        return float(value)
    raise InvalidInputError(f"{name}={value!r} must be a number above 0, at most 1.")


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number from `least` on."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise InvalidInputError(f"{name}={value!r} must be a whole number from {least} on.")


def choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of the choices."""
    if isinstance(value, str) and value in choices:
        return value
    raise InvalidInputError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}.")


def _is_number(value: Any) -> bool:
    known = isinstance(value, int | float | np.integer | np.floating)
    return known and not isinstance(value, bool) and bool(np.isfinite(value))
