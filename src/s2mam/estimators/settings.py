"""Checks of constructor arguments, made when ``fit`` starts."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from s2mam.exceptions import InvalidInputError

__all__ = [
    "require_choice",
    "require_count",
    "require_level",
    "require_number",
    "require_seconds",
    "resolve_budget",
]


def require_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return a string that must be one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise InvalidInputError(f"{name}={value!r} is unknown; use one of {listed}.")
    return value


def require_number(name: str, value: Any, *, positive: bool = False) -> float | None:
    """Return a finite number that is not negative, or None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    wanted = "positive" if positive else "not negative"
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < 0 or (positive and value == 0):
        raise InvalidInputError(f"{name}={value!r} must be 'auto' or a number that is {wanted}.")
    return float(value)


def require_count(name: str, value: Any) -> int | None:
    """Return a whole number of at least one, or None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if not _is_whole(value) or value < 1:
        raise InvalidInputError(f"{name}={value!r} must be 'auto' or a whole number from 1 on.")
    return int(value)


def require_level(name: str, value: Any) -> int:
    """Return a whole number from zero on; True is one."""
    if not isinstance(value, Integral | bool | np.bool_) or value < 0:
        raise InvalidInputError(f"{name}={value!r} must be a whole number from 0 on.")
    return int(value)


def require_seconds(name: str, value: Any) -> float | None:
    """Return a positive number of seconds, or None for no limit."""
    if value is None:
        return None
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not value > 0:
        raise InvalidInputError(f"{name}={value!r} must be None or a positive number of seconds.")
    return float(value)


def resolve_budget(value: Any, p: int) -> int | None:
    """Number of columns asked for, or None for "auto"."""
    name = "n_features_to_select"
    if isinstance(value, str) and value == "auto":
        return None
    if _is_whole(value):
        if value >= 1:
            return min(int(value), p)
    elif isinstance(value, float | np.floating) and 0.0 < value <= 1.0:
        return max(1, round(float(value) * p))
    raise InvalidInputError(
        f"{name}={value!r} must be 'auto', a whole number from 1 on, or a fraction in (0, 1]."
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
