"""The largest components as a small piece of HTML: no script, no network, no other package."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.components import ComponentCurve, component_curves
from s2mam.inspection.drawing import COLORS, short_name
from s2mam.inspection.learned import learned_curves
from s2mam.inspection.numbers import number

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["component_html"]

_WIDTH, _HEIGHT, _PAD = 170, 76, 4
_DASHES = ("", "6 3", "6 2 1 2", "2 2", "6 2 1 2 1 2", "1 1", "9 3")


def component_html(
    estimator: AdditiveEstimator,
    X: Any = None,
    *,
    max_columns: int = 6,
    feature_names: Sequence[str] | None = None,
) -> str:
    """The components with the largest effects as HTML with inline drawings.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    X : array-like or dataframe, optional
        Rows that say which values to show; by default the values that the model saw in fit.
    max_columns : int, default=6
        Number of columns shown.
    feature_names : sequence of str, optional
        Names for a table without any.

    Returns
    -------
    str
        A ``div``; names are escaped.

    Examples
    --------
    >>> from s2mam import S2MAMRegressor
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=1, random_state=0)
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, data.y)
    >>> component_html(model, max_columns=2).count("<svg")
    2
    """
    if max_columns < 1:
        raise InvalidInputError(f"max_columns={max_columns} must be at least 1.")
    if X is None:
        curves = learned_curves(estimator, feature_names=feature_names)
    else:
        columns = range(estimator.n_features_in_)
        curves = component_curves(estimator, X, list(columns), 60, feature_names=feature_names)
        curves = [curve for curve in curves if len(curve.grid) and curve.values.any()]
        curves.sort(key=lambda curve: -curve.effect)
    shown = curves[:max_columns]
    classes = getattr(estimator, "classes_", None)
    head = _head(estimator, len(shown), len(curves))
    panels = "".join(_panel(curve, _range(shown)) for curve in shown)
    style = "font-family:sans-serif;font-size:12px;margin:6px 0"
    body = head + _legend(shown, classes) + panels
    return f'<div class="s2mam-components" style="{style}">{body}</div>'


def _head(estimator: AdditiveEstimator, shown: int, active: int) -> str:
    selected = int(np.count_nonzero(estimator.support_))
    text = f"{selected} of {estimator.n_features_in_} columns selected; "
    if not active:
        return f"<div>{text}no column adds anything.</div>"
    which = "all components" if shown == active else f"the {shown} largest of {active} components"
    return f"<div>{text}{which}, on one scale:</div>"


def _legend(curves: list[ComponentCurve], classes: AnyArray | None) -> str:
    if classes is None or not curves or curves[0].values.ndim == 1:
        return ""
    items = []
    for k, label in enumerate(classes):
        line = f'<svg width="26" height="8"><line x1="0" y1="4" x2="26" y2="4" {_stroke(k)}/></svg>'
        items.append(f'<span style="margin-right:10px">{line} {escape(str(label))}</span>')
    return f"<div>{''.join(items)}</div>"


def _panel(curve: ComponentCurve, limits: tuple[float, float]) -> str:
    values = curve.values if curve.values.ndim == 2 else curve.values[:, None]
    draw = _bars if curve.grid.dtype.kind == "O" else _lines
    zero = _height(np.zeros(1), limits)[0]
    axis = (
        f'<line x1="0" x2="{_WIDTH}" y1="{zero:.1f}" y2="{zero:.1f}" '
        'stroke="currentColor" stroke-opacity="0.35" stroke-width="1"/>'
    )
    name = escape(short_name(curve.name))
    title = escape(f"{curve.name}: mask probability {curve.probability:.2f}")
    return (
        '<div style="display:inline-block;margin:4px 12px 4px 0;vertical-align:top">'
        f"<div><b>{name}</b> <small>p = {curve.probability:.2f}</small></div>"
        f'<svg role="img" width="{_WIDTH}" height="{_HEIGHT}"><title>{title}</title>'
        f"{axis}{draw(curve, values, limits)}</svg>"
        f'<div style="width:{_WIDTH}px"><small>{_ends(curve)}</small></div></div>'
    )


def _lines(curve: ComponentCurve, values: FloatArray, limits: tuple[float, float]) -> str:
    grid = curve.grid[curve.in_view]
    low, high = float(grid[0]), float(grid[-1])
    across = _PAD + (_WIDTH - 2 * _PAD) * (grid - low) / ((high - low) or 1.0)
    parts = []
    for k in range(values.shape[1]):
        down = _height(values[curve.in_view, k], limits)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" {_stroke(k)}/>')
    return "".join(parts)


def _bars(curve: ComponentCurve, values: FloatArray, limits: tuple[float, float]) -> str:
    slot = (_WIDTH - 2 * _PAD) / len(curve.grid)
    width = 0.8 * slot / values.shape[1]
    zero = float(_height(np.zeros(1), limits)[0])
    parts = []
    for (i, k), value in np.ndenumerate(values):
        end = float(_height(np.array([value]), limits)[0])
        left = _PAD + slot * i + 0.1 * slot + width * k
        # Opacity tells the classes apart where colours do not.
        parts.append(
            f'<rect x="{left:.1f}" y="{min(zero, end):.1f}" width="{width:.1f}" '
            f'height="{abs(end - zero):.1f}" fill="{COLORS[k % len(COLORS)]}" '
            f'fill-opacity="{1.0 - 0.22 * (k % 4):.2f}">'
            f"<title>{escape(str(curve.grid[i]))}: {value:+.3g}</title></rect>"
        )
    return "".join(parts)


def _ends(curve: ComponentCurve) -> str:
    if curve.grid.dtype.kind == "O":
        names = ", ".join(short_name(str(value), 14) for value in curve.grid[:4])
        return escape(names + (", …" if len(curve.grid) > 4 else ""))
    first, last = curve.grid[curve.in_view][[0, -1]]
    return f'{number(first, 4)}<span style="float:right">{number(last, 4)}</span>'


def _range(curves: list[ComponentCurve]) -> tuple[float, float]:
    low = min(min(float(curve.values.min()) for curve in curves), 0.0)
    high = max(max(float(curve.values.max()) for curve in curves), 0.0)
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def _height(values: FloatArray, limits: tuple[float, float]) -> FloatArray:
    low, high = limits
    share: FloatArray = (high - values) / (high - low)
    return _PAD + (_HEIGHT - 2 * _PAD) * share


def _stroke(k: int) -> str:
    dash = f' stroke-dasharray="{_DASHES[k % len(_DASHES)]}"' if _DASHES[k % len(_DASHES)] else ""
    return f'stroke="{COLORS[k % len(COLORS)]}" stroke-width="2"{dash}'
