"""Which columns were kept, and how sure that is."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray
from s2mam.inspection.report_parts.effects import NEGLIGIBLE, Effects
from s2mam.inspection.report_parts.facts import TableFacts
from s2mam.inspection.report_parts.markup import (
    Markup,
    alike,
    join,
    long_list,
    name,
    percent,
    short_text,
    table,
    tag,
)

__all__ = ["columns_data", "columns_section", "verdict"]

_FIRM_PROBABILITY, _FIRM_SHARE = 0.9, 0.8
_NEAR_PROBABILITY, _NEAR_SHARE = 0.25, 0.4
_BARS = 20
_OPEN_ROWS = 15
_MOST_ROWS = 2000


def verdict(kept: bool, probability: float, share: float | None) -> str:
    """The two numbers in words.

    Parameters
    ----------
    kept : bool
        Whether the column is selected.
    probability : float
        Mask probability.
    share : float or None
        Share of the refits that selected it.

    Returns
    -------
    str

    Examples
    --------
    >>> verdict(True, 0.99, 1.0), verdict(True, 0.7, 0.9), verdict(True, 0.99, 0.3)
    ('kept, firmly', 'kept, likely', 'kept, unsure')
    >>> verdict(False, 0.4, None), verdict(False, 0.1, 0.0)
    ('left out, unsure', 'left out')
    """
    often = probability if share is None else share
    if kept:
        signs = (probability >= _FIRM_PROBABILITY) + (often >= _FIRM_SHARE)
        if signs == 2:
            return "kept, firmly"
        return "kept, likely" if signs and min(probability, often) > 0.5 else "kept, unsure"
    near = probability >= _NEAR_PROBABILITY or (share is not None and share >= _NEAR_SHARE)
    return "left out, unsure" if near else "left out"


def columns_section(
    facts: TableFacts, effects: Effects, support: BoolArray, probabilities: FloatArray
) -> Markup:
    """Picture, words and table of the selection.

    Parameters
    ----------
    facts : TableFacts
        The columns.
    effects : Effects
        Sizes of the effects and selection in the refits.
    support, probabilities : ndarray of shape (p,)
        What the model kept.

    Returns
    -------
    Markup
    """
    order = _order(effects, support, probabilities)
    sizes = _sizes(effects.sizes)
    rows = []
    for j in order[:_MOST_ROWS]:
        share = None if effects.selection is None else float(effects.selection[j])
        cells: list[Any] = [name(facts.names[j])]
        cells.append(verdict(bool(support[j]), float(probabilities[j]), share))
        cells.append(f"{probabilities[j]:.2f}")
        if share is not None:
            cells.append(percent(share))
        cells.append(sizes[j])
        rows.append(cells)
    header = ["column", "verdict", "probability", "kept in refits", "effect"]
    if effects.selection is None:
        header.remove("kept in refits")
    first = max(_OPEN_ROWS, int(support.sum())) if support.sum() <= 2 * _OPEN_ROWS else _OPEN_ROWS
    caption = "Columns, the kept ones first, the most probable on top"
    parts = [_explain(effects), _picture(order), table(caption, header, rows[:first])]
    if len(rows) > first:
        more = table("The other columns", header, rows[first:])
        summary = tag("summary", f"The other {len(order) - first} columns")
        parts.append(tag("details", summary, more, class_=long_list(len(rows) - first)))
    if len(order) > _MOST_ROWS:
        parts.append(tag("p", f"{len(order) - _MOST_ROWS} more columns are not listed."))
    return join(parts)


def columns_data(
    facts: TableFacts, effects: Effects, support: BoolArray, probabilities: FloatArray
) -> dict[str, Any]:
    """What the picture needs; best column first."""
    order = _order(effects, support, probabilities)[:_BARS]
    return {
        "short": [short_text(facts.names[j], 22) for j in order],
        "kept": [bool(support[j]) for j in order],
        "probability": probabilities[order],
        "share": None if effects.selection is None else effects.selection[order],
    }


def _order(effects: Effects, support: BoolArray, probabilities: FloatArray) -> Any:
    return np.lexsort((-effects.sizes, -probabilities.round(2), ~support))


def _sizes(sizes: FloatArray) -> list[str]:
    """Effects with the same decimals; what these do not show is not called zero."""
    texts = alike(sizes.tolist())
    smallest = next((text for text in texts if "." in text), "1")
    decimals = len(smallest.partition(".")[2])
    least = f"<\xa0{10.0**-decimals:.{decimals}f}"
    tiny = NEGLIGIBLE * float(sizes.max())
    return [
        ("0" if size <= tiny else least) if not text.strip("0.,") else text
        for text, size in zip(texts, sizes, strict=True)
    ]


def _explain(effects: Effects) -> Markup:
    text = (
        "The probability says how strongly the fit believes that the column belongs in the model; "
        "above one half (or among the number asked for) it is kept. Where no column is that "
        "likely, those that count most in the prediction are named instead. "
    )
    if effects.selection is not None:
        text += (
            f"The model was also refitted {effects.n_resamples} times under random weights of the "
            "labelled rows: a column that is kept in few of these refits is there by luck of the "
            "labels. "
        )
    text += (
        f"The effect is the standard deviation of what the column adds to {effects.quantity} over "
        "the rows. Columns that were left out may still be used lightly, and one of several "
        "columns that say the same may stand for all."
    )
    return tag("p", text)


def _picture(order: Any) -> Markup:
    note = f" The first {_BARS} columns are shown." if len(order) > _BARS else ""
    caption = f"Bars: probability, filled where kept. Rings: share of the refits.{note}"
    label = "Bar chart of the probability of each column; the table below has the same numbers"
    plot = tag("div", "", id="columns-plot", class_="plot", role="img", aria_label=label)
    return tag("figure", plot, tag("figcaption", caption), class_="live")
