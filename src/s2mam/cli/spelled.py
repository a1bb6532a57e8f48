"""Numbers as people write them: ``12,5 %``, ``€ 1.234,50``, ``1,234.5``, ``1 234``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Spelled", "decimal_sign", "read_spelled"]

_CURRENCY = r"(?:[€$£¥₹]|EUR|USD|GBP|CHF|JPY|R\$|US\$)"
_PERCENT = r"(?:%|pct\.?|percent)"
_CELL = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<before>{_CURRENCY})?\s*(?P<inner>[+-]?)"
    r"(?P<digits>\d[\d.,'’ ]*|[.,]\d+)"
    rf"(?P<power>[eE][+-]?\d+)?\s*(?P<after>{_CURRENCY}|{_PERCENT})?"
)
# Thousands in groups of three; a leading zero would be no thousand.
_GROUPS = r"(?:[1-9]\d{{0,2}}(?:{0}\d{{3}})+|\d+)"
_SPACED = _GROUPS.format("[ '’]")
# By the sign of the decimals: what stands before it, what marks the thousands.
_STYLES = {
    ".": re.compile(rf"(?:{_GROUPS.format(',')}|{_SPACED})?(?:\.\d*)?"),
    ",": re.compile(rf"(?:{_GROUPS.format('[.]')}|{_SPACED})?(?:,\d*)?"),
}


class Spelled(NamedTuple):
    """Numbers read from text.

    Attributes
    ----------
    numbers : list of float
        In the order of the cells.
    example : tuple of (str, float) or None
        A cell that is not plain, and what it was read as.
    """

    numbers: list[float]
    example: tuple[str, float] | None


def read_spelled(cells: Sequence[str], *, comma: bool = False) -> Spelled | None:
    """Read cells as numbers, all of them or none.

    Parameters
    ----------
    cells : sequence of str
        Filled cells of one column.
    comma : bool, default=False
        Whether a comma is the decimal sign where the cells do not tell: ``1,234`` may be more than
        a thousand or little more than one.

    Returns
    -------
    Spelled or None
        None where a cell spells no number, or where only some are percentages.

    Examples
    --------
    >>> read_spelled(["12,5 %", "7 %"]).numbers
    [12.5, 7.0]
    >>> read_spelled(["€ 1.234,50", "-€ 3"]).numbers
    [1234.5, -3.0]
    >>> read_spelled(["1,234"]).numbers, read_spelled(["1,234"], comma=True).numbers
    ([1234.0], [1.234])
    >>> read_spelled(["12.5 %", "0.125"]) is None, read_spelled(["27.07.2023"]) is None
    (True, True)
    """
    matches = _match(cells)
    fitting = [] if matches is None else _fitting(matches)
    if matches is None or not fitting:
        return None
    decimal = fitting[0] if len(fitting) == 1 else ("," if comma else ".")
    numbers = [_number(match, decimal) for match in matches]
    odd = next((i for i, match in enumerate(matches) if not _is_plain(match.string)), None)
    if odd is None:
        return Spelled(numbers, None)
    return Spelled(numbers, (cells[odd].strip(), numbers[odd]))


def decimal_sign(cells: Sequence[str]) -> str | None:
    """The decimal sign of a column, None where it has no numbers or where both would do.

    Parameters
    ----------
    cells : sequence of str
        Filled cells of one column.

    Examples
    --------
    >>> decimal_sign(["1,5", "1.234,5"]), decimal_sign(["1.5"]), decimal_sign(["7", "1,234"])
    (',', '.', None)
    """
    matches = _match(cells)
    fitting = [] if matches is None else _fitting(matches)
    return fitting[0] if len(fitting) == 1 else None


def _match(cells: Sequence[str]) -> list[re.Match[str]] | None:
    """Parts of the cells; None where one is no number, or where only some are percentages."""
    # Thin and hard spaces part thousands in many a country.
    plain = [re.sub(r"[\u00a0\u2009\u202f]", " ", cell).replace("−", "-").strip() for cell in cells]
    matches = [match for cell in plain if (match := _CELL.fullmatch(cell)) is not None]
    if not cells or len(matches) < len(cells):
        return None
    percent = [re.fullmatch(_PERCENT, match["after"] or "") is not None for match in matches]
    return matches if all(percent) or not any(percent) else None


def _fitting(matches: Sequence[re.Match[str]]) -> list[str]:
    digits = [match["digits"].strip() for match in matches]
    return [sign for sign, style in _STYLES.items() if all(map(style.fullmatch, digits))]


def _number(match: re.Match[str], decimal: str) -> float:
    digits = re.sub(r"[ '’]", "", match["digits"])
    digits = digits.replace("." if decimal == "," else ",", "").replace(decimal, ".")
    negative = (match["sign"] == "-") != (match["inner"] == "-")
    return float(f"{'-' if negative else ''}{digits}{match['power'] or ''}")


def _is_plain(cell: str) -> bool:
    return re.fullmatch(r"[+-]?\d*(\.\d*)?([eE][+-]?\d+)?", cell) is not None
