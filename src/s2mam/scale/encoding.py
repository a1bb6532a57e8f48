"""Raw rows of a block to the scaled values of some columns, wherever the rows are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.bilevel.views import CLIP
from s2mam.exceptions import InvalidInputError
from s2mam.intake import ColumnInfo, TableReader
from s2mam.scale.namespace import Place, place_of
from s2mam.scale.tables import is_frame, is_tensor

__all__ = ["ColumnEncoder"]


@dataclass(frozen=True)
class ColumnEncoder:
    """Scales the chosen columns of raw rows as a fitted reader does; the others are not read.

    Attributes
    ----------
    reader : TableReader
        Fitted.
    columns : (c,) array of int
        Positions of the chosen columns.
    clip : bool
        Whether numbers are clipped as the default learner does.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [4.0, np.nan]])
    >>> encoder = ColumnEncoder(TableReader(scale=None).fit(X), np.array([1]), clip=True)
    >>> encoder.encode(X)
    array([[ 4.,  4., nan]])
    """

    reader: TableReader
    columns: IntArray
    clip: bool
    _placed: dict[Any, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def infos(self) -> list[ColumnInfo]:
        """What is known of the chosen columns."""
        return [self.reader.columns_[j] for j in self.columns]

    def encode(self, table: Any) -> Any:
        """Scaled values (c, b); NaN where a value is missing or its category unknown."""
        if table.shape[1] != len(self.reader.columns_):
            raise InvalidInputError(
                f"A block has {table.shape[1]} columns, but {len(self.reader.columns_)} were seen "
                "when fitting; pass the same columns."
            )
        place = place_of(table)
        plain = is_tensor(table) or (not is_frame(table) and table.dtype.kind in "biuf")
        if plain and not any(info.categories is not None for info in self.infos):
            values = self._scale(place.cast(table[:, self._on(place)["columns"]].T), place)
        else:
            values = place.put(self._encode_columns(table))
        return self._clipped(values, place)

    def _encode_columns(self, table: Any) -> FloatArray:
        """One column after the other, as the reader itself would."""
        values = np.empty((self.columns.size, table.shape[0]))
        for at, (j, info) in enumerate(zip(self.columns.tolist(), self.infos, strict=True)):
            values[at] = info.encode(_raw_column(table, j))
        return values

    def _scale(self, values: Any, place: Place) -> Any:
        on = self._on(place)
        if on["ranked"]:
            return _interpolate(values, self.infos, on, place)
        values = values - on["center"]
        values /= on["scale"]
        return values

    def _clipped(self, values: Any, place: Place) -> Any:
        if not self.clip:
            return values
        clipped = place.xp.clip(values, -CLIP, CLIP)
        codes = self._on(place)["coded"]
        return clipped if codes is None else place.xp.where(codes, values, clipped)

    def _on(self, place: Place) -> dict[str, Any]:
        key = (str(place.device), str(place.dtype))
        if key not in self._placed:
            infos = self.infos
            coded = np.array([[info.categories is not None] for info in infos], dtype=bool)
            ranked = any(info.knots is not None for info in infos)
            self._placed[key] = {
                "columns": place.put(self.columns),
                "center": place.put(np.array([[info.center] for info in infos], dtype=float)),
                "scale": place.put(np.array([[info.scale] for info in infos], dtype=float)),
                "coded": place.put(coded) if coded.any() else None,
                "ranked": ranked,
                **(_segments(infos, place) if ranked and place.device is not None else {}),
            }
        return self._placed[key]


def _raw_column(table: Any, j: int) -> AnyArray:
    if is_frame(table):
        return np.asarray(nw.from_native(table, eager_only=True)[:, j].to_numpy())
    column = table[:, j]
    return np.asarray(column.cpu().numpy() if is_tensor(column) else column)


def _segments(infos: list[ColumnInfo], place: Place) -> dict[str, Any]:
    """Knots, scores and slopes of ranked columns, padded with the last knot."""
    width = max(len(info.knots) for info in infos if info.knots is not None)
    knots, scores = np.zeros((len(infos), width)), np.zeros((len(infos), width))
    for at, info in enumerate(infos):
        known = np.zeros(1) if info.knots is None else info.knots
        values = np.zeros(1) if info.scores is None else info.scores
        knots[at], scores[at] = known[-1], values[-1]
        knots[at, : known.size], scores[at, : values.size] = known, values
    gaps, rises = np.diff(knots, axis=1), np.diff(scores, axis=1)
    slopes = np.where(gaps > 0.0, rises / np.where(gaps > 0.0, gaps, 1.0), 0.0)
    slopes = np.concatenate([slopes, np.zeros((len(infos), 1))], axis=1)
    named = {"knots": knots, "scores": scores, "slopes": slopes}
    return {name: place.put(values) for name, values in named.items()}


def _interpolate(values: Any, infos: list[ColumnInfo], on: dict[str, Any], place: Place) -> Any:
    """Normal scores of ranks."""
    if place.device is None:
        return np.stack([info.scale_numbers(row) for info, row in zip(infos, values, strict=True)])
    xp, knots = place.xp, on["knots"]
    inside = xp.minimum(xp.maximum(values, knots[:, :1]), knots[:, -1:])
    at = xp.searchsorted(knots, inside.contiguous(), right=True) - 1
    at = at.clamp(0, knots.shape[1] - 1)
    start, score, slope = (on[name].gather(1, at) for name in ("knots", "scores", "slopes"))
    return score + (inside - start) * slope
