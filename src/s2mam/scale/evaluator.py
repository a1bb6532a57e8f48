"""Decisions and contributions of a fitted additive model, block by block, on any device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.design import Design
from s2mam.intake import TableReader
from s2mam.scale.chunks import chunk_rows
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.features import FeatureMap, feature_map
from s2mam.scale.namespace import place_of
from s2mam.scale.tables import count_rows, take

__all__ = ["AdditiveEvaluator", "EvaluatedPart", "evaluated_part"]


@dataclass(frozen=True)
class EvaluatedPart:
    """One scale of the table with the features and coefficients of the columns that count.

    Attributes
    ----------
    encoder, features : ColumnEncoder and FeatureMap
    coef : (k, R) array
        Coefficients on the padded features.
    owners : (R,) array of int
        Column of the table that each padded feature belongs to.
    """

    encoder: ColumnEncoder
    features: FeatureMap
    coef: FloatArray
    owners: IntArray
    _placed: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def decide(self, table: Any) -> Any:
        """What this part adds to the decision, (k, b)."""
        place = place_of(table)
        features = self.features.evaluate(self.encoder.encode(table))
        key = (str(place.device), str(place.dtype))
        if key not in self._placed:
            self._placed[key] = place.put(self.coef)
        return self._placed[key] @ features

    def contributions(self, table: Any, n_columns: int) -> Any:
        """What each column of this part adds, (k, p, b)."""
        place = place_of(table)
        features = self.features.evaluate(self.encoder.encode(table))
        total = place.zeros(self.coef.shape[0], n_columns, features.shape[1])
        for column in np.unique(self.owners).tolist():
            rows = np.flatnonzero(self.owners == column)
            chosen = slice(int(rows[0]), int(rows[-1]) + 1)  # a column's features are consecutive
            total[:, column] = place.put(self.coef[:, chosen]) @ features[chosen]
        return total


@dataclass(frozen=True)
class AdditiveEvaluator:
    """An additive model that takes raw rows of any kind.

    Attributes
    ----------
    parts : tuple of EvaluatedPart
    intercept : (k,) array
    n_columns : int
        Columns of the table.
    """

    parts: tuple[EvaluatedPart, ...]
    intercept: FloatArray
    n_columns: int

    def decide(self, table: Any) -> Any:
        """Decisions (k, b)."""
        return self._chunked(table, self._decide_chunk)

    def contributions(self, table: Any) -> Any:
        """Contributions (k, p, b)."""
        return self._chunked(table, self._contribution_chunk)

    def _decide_chunk(self, table: Any) -> Any:
        place = place_of(table)
        total = place.zeros(self.intercept.size, count_rows(table))
        for part in self.parts:
            total = total + part.decide(table)
        return total + place.put(self.intercept[:, None])

    def _contribution_chunk(self, table: Any) -> Any:
        place = place_of(table)
        total = place.zeros(self.intercept.size, self.n_columns, count_rows(table))
        for part in self.parts:
            total += part.contributions(table, self.n_columns)
        return total

    def _chunked(self, table: Any, function: Any) -> Any:
        place = place_of(table)
        width = max([part.features.doubles_per_row for part in self.parts], default=1)
        width += self.intercept.size * self.n_columns
        found = [
            function(take(table, rows)) for rows in chunk_rows(count_rows(table), width, place)
        ]
        if place.device is None:
            return np.concatenate(found, axis=-1) if found else function(table)
        return place.xp.cat(found, dim=-1)


def evaluated_part(
    reader: TableReader, design: Design, coef: FloatArray, columns: Sequence[int], *, clip: bool
) -> EvaluatedPart:
    """One part of a model, for the columns whose coefficients are not all zero.

    Parameters
    ----------
    reader, design : TableReader and Design
    coef : (P, k) array
        Coefficients on all features of the design.
    columns : sequence of int
        The columns that count.
    clip : bool
        Whether numbers are clipped first.

    Returns
    -------
    EvaluatedPart
    """
    chosen = np.array([j for j in columns if design.ranks[j] > 0], dtype=np.intp)
    encoder = ColumnEncoder(reader, chosen, clip=clip)
    features = feature_map(design, encoder)
    padded = np.zeros((coef.shape[1], features.n_rows))
    owners = np.full(features.n_rows, -1, dtype=np.intp)
    wanted = np.concatenate(
        [np.empty(0, np.intp), *(np.arange(*_ends(design, int(j))) for j in chosen)]
    ).astype(np.intp)
    padded[:, features.keep] = coef[wanted].T
    owners[features.keep] = np.repeat(chosen, design.ranks[chosen])
    # Padding belongs to the column before it, so that each column is one run of rows.
    for at in range(1, owners.size):
        if owners[at] < 0:
            owners[at] = owners[at - 1]
    return EvaluatedPart(encoder, features, padded, owners)


def _ends(design: Design, column: int) -> tuple[int, int]:
    block = design.block(column)
    return block.start, block.stop
