"""Small drawings of the curves that need no script: for paper and cautious mail readers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from s2mam._typing import FloatArray
from s2mam.inspection.report_parts.effects import Effect, Effects
from s2mam.inspection.report_parts.markup import Markup, name, number, tag

__all__ = ["legend", "sketches"]

_WIDTH, _HEIGHT = 180.0, 100.0
_COLORS = 7
_Height = Callable[[FloatArray], FloatArray]


def sketches(effects: Effects) -> Markup:
    """All curves side by side, on one vertical scale.

    Parameters
    ----------
    effects : Effects
        The curves.

    Returns
    -------
    Markup
        A list of figures; the script of the page makes them choose a curve.
    """
    bottom, top = _range(effects)
    figures = []
    for i, effect in enumerate(effects.shown):
        note = f" p = {effect.curve.probability:.2f}" + ("" if effect.kept else ", not kept")
        caption = tag("figcaption", name(effect.curve.name), tag("small", note))
        picture = tag("figure", _drawing(effect, bottom, top), caption)
        figures.append(tag("li", picture, data_curve=i))
    return tag("ul", *figures, class_="sketches")


def legend(classes: list[str]) -> Markup:
    """Which line is which class, with its dashes for those who see or print no colours."""
    items = []
    for k, label in enumerate(classes):
        line = tag("path", "", d="M0 3H32", class_=f"c{k % _COLORS} line")
        swatch = tag("svg", line, viewBox="0 0 32 6", class_="swatch", aria_hidden="true")
        items.append(tag("li", swatch, name(label)))
    return tag("ul", *items, class_="legend")


def _range(effects: Effects) -> tuple[float, float]:
    ends = [0.0]
    for effect in effects.shown:
        for values in (effect.values, effect.low, effect.high):
            if values is not None and values.size:
                seen = values[effect.curve.in_view]
                ends += [float(seen.min()), float(seen.max())]
    bottom, top = min(ends), max(ends)
    return (bottom, top) if top > bottom else (-1.0, 1.0)


def _drawing(effect: Effect, bottom: float, top: float) -> Markup:
    def height(values: FloatArray) -> FloatArray:
        scaled: FloatArray = 4.0 + (_HEIGHT - 8.0) * (top - values) / (top - bottom)
        return scaled

    zero = float(height(np.zeros(1))[0])
    parts = [Markup(f'<path class="zero" d="M0 {zero:.1f}H{_WIDTH:.0f}"/>')]
    draw = _bars if effect.curve.kind == "categorical" else _lines
    if len(effect.curve.grid):
        parts += draw(effect, height)
    label = f"{effect.curve.name}: from {number(effect.values.min(initial=np.inf))} to "
    label += number(effect.values.max(initial=-np.inf))
    box = f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}"
    return tag("svg", *parts, role="img", aria_label=label, viewBox=box)


def _lines(effect: Effect, height: _Height) -> list[Markup]:
    seen = effect.curve.in_view
    grid = effect.curve.grid[seen].astype(np.float64)
    span = float(np.ptp(grid)) or 1.0
    across = 2.0 + (_WIDTH - 4.0) * (grid - grid[0]) / span
    parts = []
    if effect.low is not None and effect.high is not None:
        for k in range(effect.values.shape[1]):
            there = _points(across, height(effect.high[seen, k]))
            back = _points(across[::-1], height(effect.low[seen, k][::-1]))
            parts.append(f'<path class="band c{k % _COLORS}" d="M{there}L{back}Z"/>')
    for k in range(effect.values.shape[1]):
        line = _points(across, height(effect.values[seen, k]))
        parts.append(f'<path class="line c{k % _COLORS}" d="M{line}"/>')
    return [Markup(part) for part in parts]


def _bars(effect: Effect, height: _Height) -> list[Markup]:
    count, classes = effect.values.shape
    slot = _WIDTH / count
    width = 0.8 * slot / classes
    zero = float(height(np.zeros(1))[0])
    parts = []
    for k in range(classes):
        ends = height(effect.values[:, k])
        for i, end in enumerate(ends):
            left = slot * i + 0.1 * slot + width * k
            shape = f"M{left:.1f} {zero:.1f}V{end:.1f}h{width:.1f}V{zero:.1f}Z"
            parts.append(f'<path class="bar c{k % _COLORS}" d="{shape}"/>')
            if effect.low is not None and effect.high is not None:
                low, high = height(effect.low[i, [k]])[0], height(effect.high[i, [k]])[0]
                middle = left + width / 2.0
                parts.append(f'<path class="whisker" d="M{middle:.1f} {low:.1f}V{high:.1f}"/>')
    return [Markup(part) for part in parts]


def _points(across: FloatArray, down: FloatArray) -> str:
    return " ".join(f"{x:.1f} {y:.1f}" for x, y in zip(across, down, strict=True))
