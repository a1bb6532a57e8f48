"""Numbers as people read them, in pictures and in reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = ["alike", "number"]


def number(value: Any, digits: int = 3) -> str:
    """A number to read: significant digits, no needless exponent; a dash where there is none.

    Examples
    --------
    >>> number(0.123456), number(1234567.0), number(float("nan"))
    ('0.123', '1,234,567', '–')
    """
    value = float(value)
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    if size >= 10**digits:
        return f"{value:.{digits}g}" if size >= 1e9 else f"{value:,.0f}".replace("-", "−")
    if 0.0 < size < 1e-4:
        return f"{value:.{digits - 1}e}".replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def alike(values: Sequence[float], digits: int = 3) -> list[str]:
    """Numbers to compare: all with the decimals that the largest of them needs.

    Examples
    --------
    >>> alike([0.12, 0.103, 0.1351]), alike([-0.002, -0.0046, 0.00004], 2)
    (['0.120', '0.103', '0.135'], ['−0.0020', '−0.0046', '0.0000'])
    >>> alike([12345.6, 7.0]), alike([float("nan"), 0.0])
    (['12,346', '7'], ['–', '0'])
    """
    sizes = [abs(float(value)) for value in values if math.isfinite(value) and value]
    if not sizes:
        return [number(value) for value in values]
    if not 1e-4 <= max(sizes) < 1e9:
        return [number(value, digits) for value in values]
    decimals = max(0, digits - 1 - math.floor(math.log10(max(sizes))))
    texts = [f"{float(value):,.{decimals}f}" if math.isfinite(value) else "–" for value in values]
    # Nothing is left of the sign of what rounds to zero.
    return [
        text.replace("-", "−" if any(sign in "123456789" for sign in text) else "")
        for text in texts
    ]
