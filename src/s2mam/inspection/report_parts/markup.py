"""HTML that cannot be broken by the text in it: whatever is not `Markup` is escaped."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from s2mam.inspection.numbers import alike, number

__all__ = [
    "Markup",
    "alike",
    "as_json",
    "count",
    "join",
    "long_list",
    "name",
    "names",
    "number",
    "percent",
    "render",
    "short_text",
    "table",
    "tag",
]

# Signs that HTML forbids; a name may hold them all the same.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_FEW_NAMES = 8
_PAGE = 40
# A cell that holds one number and nothing else.
_NUMBER = re.compile("[<+−]?\xa0?[0-9][0-9.,]*(e[+−]?[0-9]+)?(\xa0%)?|–")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def render(value: Any) -> Markup:
    """HTML of a value: `Markup` as it is, all else escaped.

    Parameters
    ----------
    value : object
        Text, a number or `Markup`.

    Returns
    -------
    Markup

    Examples
    --------
    >>> render("<script>")
    '&lt;script&gt;'
    """
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(_FORBIDDEN.sub("\ufffd", str(value)), quote=True))


def join(parts: Iterable[Any], separator: str = "") -> Markup:
    """Render all parts and put them side by side."""
    return Markup(render(separator).join(render(part) for part in parts))


def tag(kind: str, *content: Any, **attributes: Any) -> Markup:
    """One element; ``class_`` and ``aria_label`` stand for ``class`` and ``aria-label``.

    Examples
    --------
    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{render(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{kind}{named}>{join(content)}</{kind}>")


def name(value: Any, width: int = 80) -> Markup:
    """A name of the user's, cut; isolated, so that right-to-left text does not turn the rest."""
    return tag("bdi", short_text(value, width), class_="name")


def names(values: Sequence[Any], most: int = _FEW_NAMES) -> Markup:
    """Some names, cut to fit a sentence, and how many more there are."""
    shown = join([name(value, 48) for value in values[:most]], ", ")
    rest = len(values) - most
    return join([shown, f" and {rest} more"]) if rest > 0 else shown


def count(n: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "column"), count(1200, "row")
    ('1 column', '1,200 rows')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def percent(value: float, digits: int = 0) -> str:
    """A share as a percentage.

    Examples
    --------
    >>> percent(0.256).replace("\\xa0", " ")  # the space does not break
    '26 %'
    """
    if not math.isfinite(value):
        return "–"
    return f"{100 * value:.{digits}f}\xa0%".replace("-", "−")


def short_text(value: Any, width: int = 28) -> str:
    """One line that fits into a picture."""
    text = " ".join(_FORBIDDEN.sub("\ufffd", str(value)).split()) or "(blank)"
    return text if len(text) <= width else text[: width - 1] + "…"


def long_list(n_rows: int) -> str | None:
    """Class of a folded list that stays folded on paper: it would take pages."""
    return "long" if n_rows > _PAGE else None


def table(caption: Any, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Markup:
    """A table that becomes a list of cards on a narrow screen.

    Roles are written out because the cards need another CSS display, which takes the meaning of
    the table away from screen readers.

    Parameters
    ----------
    caption : str or Markup
        What it shows.
    header : sequence of str
        Column titles.
    rows : iterable of sequences
        Cells; the first one of each row names it.

    Returns
    -------
    Markup
    """
    rows = list(rows)
    # Columns of numbers stand to the right, so that their digits stand below each other.
    looks = ["number" if j and _all_numbers(rows, j) else None for j in range(len(header))]
    if len(header) == 2:
        looks[1] = None  # words and numbers, one below the other
    titles = [
        tag("th", title, scope="col", role="columnheader", class_=look)
        for title, look in zip(header, looks, strict=True)
    ]
    lines = []
    for cells in rows:
        first = tag("th", cells[0], scope="row", role="rowheader")
        others = [
            tag("td", cell, role="cell", data_label=title, class_=look)
            for title, cell, look in zip(header[1:], cells[1:], looks[1:], strict=True)
        ]
        lines.append(tag("tr", first, *others, role="row"))
    return tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *titles, role="row"), role="rowgroup"),
        tag("tbody", *lines, role="rowgroup"),
        role="table",
        class_="pairs" if len(header) == 2 else None,
    )


def _all_numbers(rows: Sequence[Sequence[Any]], j: int) -> bool:
    return bool(rows) and all(_NUMBER.fullmatch(str(cells[j])) for cells in rows)


def as_json(value: Any) -> Markup:
    """JSON for a script element: pure ASCII, without any sign that HTML reads.

    Examples
    --------
    >>> as_json({"</script>": [1.0, float("nan")]})
    '{"\\\\u003c/script\\\\u003e":[1.0,null]}'
    """
    text = json.dumps(_plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _plain(value: Any) -> Any:
    """Lists, dicts, text and numbers only; six digits are more than a screen shows."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return str(value)
