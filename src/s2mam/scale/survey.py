"""The first pass: how many rows and labels there are, ranges of the columns, samples of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake import TableReader, find_unlabeled
from s2mam.intake.frames import infinite_error
from s2mam.intake.notices import warn_user
from s2mam.scale.blocks import Block
from s2mam.scale.sampling import RowSample, row_keys, sample_block
from s2mam.scale.tables import is_frame, is_tensor

__all__ = ["ColumnRanges", "Survey", "SurveyPlan", "correct_ranges"]

# Labelled rows of every class that the sample has at least, where there are so many.
_PER_CLASS = 20
# More classes than this are refused by the samples: they would be most of the rows.
_MAX_CLASSES = 1000


@dataclass(frozen=True)
class ColumnRanges:
    """Smallest and largest value and number of missing values of each numeric column.

    NaN, NaN and -1 for columns that are not numbers.
    """

    low: FloatArray
    high: FloatArray
    missing: FloatArray

    def merge(self, later: ColumnRanges) -> ColumnRanges:
        """Ranges of both parts."""
        return ColumnRanges(
            np.fmin(self.low, later.low),
            np.fmax(self.high, later.high),
            self.missing + later.missing,
        )


@dataclass(frozen=True)
class Survey:
    """What one pass over the rows found.

    Attributes
    ----------
    n_rows, n_labeled : int
        Rows, and rows with a label.
    ranges : ColumnRanges
    labeled : RowSample
        Labelled rows, all of them up to the limit.
    unlabeled : RowSample
    by_class : dict
        A few labelled rows of every class, so that rare ones are not missed; empty for numbers.
    """

    n_rows: int
    n_labeled: int
    ranges: ColumnRanges
    labeled: RowSample
    unlabeled: RowSample
    by_class: dict[Any, RowSample]

    def merge(self, later: Survey) -> Survey:
        """The survey of both parts."""
        classes = dict(self.by_class)
        for name, sample in later.by_class.items():
            classes[name] = classes[name].merge(sample) if name in classes else sample
        return Survey(
            self.n_rows + later.n_rows,
            self.n_labeled + later.n_labeled,
            self.ranges.merge(later.ranges),
            self.labeled.merge(later.labeled),
            self.unlabeled.merge(later.unlabeled),
            classes,
        )

    def labeled_sample(self) -> RowSample:
        """Labelled rows, those of rare classes included, in the order of the rows."""
        sample = self.labeled
        if self.n_labeled > sample.size:
            for rare in self.by_class.values():
                sample = sample.with_rows(
                    rare.taken(np.flatnonzero(~np.isin(rare.rows, sample.rows)))
                )
        return sample.in_order()


@dataclass(frozen=True)
class SurveyPlan:
    """Surveys a block; a pure function that travels.

    Attributes
    ----------
    seed : int
        Of the samples.
    unlabeled
        The user's marker.
    classes : bool
        Whether labels are classes.
    n_sample, n_labeled : int
        Most unlabelled and labelled rows to keep.
    n_rows : int or None
        Number of all rows, where known: then blocks need not offer rows that cannot be kept.
    """

    seed: int
    unlabeled: Any
    classes: bool
    n_sample: int
    n_labeled: int
    n_rows: int | None = None

    def __call__(self, block: Block) -> Survey:
        """Survey of one block."""
        if block.target is None:
            raise InvalidInputError(
                "The rows come without labels; pass y as an array, or as the name of a column."
            )
        labeled = ~find_unlabeled(block.target, unlabeled=self.unlabeled, classes=self.classes)
        keys = row_keys(self.seed, block.start, block.n_rows)
        offered = ~labeled if self.n_rows is None else ~labeled & (keys < self._cut())
        return Survey(
            n_rows=block.n_rows,
            n_labeled=int(np.count_nonzero(labeled)),
            ranges=column_ranges(block.table),
            labeled=sample_block(block, labeled, keys, self.n_labeled),
            unlabeled=sample_block(block, offered, keys, self.n_sample),
            by_class=self._by_class(block, labeled, keys) if self.classes else {},
        )

    def _cut(self) -> np.uint64:
        """A key that the kept rows stay below, but for a chance of one in 10^15."""
        assert self.n_rows is not None
        wanted = self.n_sample + 8.0 * np.sqrt(self.n_sample) + 64.0
        # Labelled rows are not in it; where nearly all rows are, the sample is smaller.
        share = min(1.0, 2.0 * wanted / max(self.n_rows, 1))
        return np.uint64(min(share * 2.0**64, 2.0**64 - 2049))

    def _by_class(self, block: Block, labeled: BoolArray, keys: Any) -> dict[Any, RowSample]:
        assert block.target is not None
        rows = np.flatnonzero(labeled)
        if not rows.size:
            return {}
        values, codes = np.unique(_sortable(block.target[rows]), return_inverse=True)
        if values.size > _MAX_CLASSES:
            raise InvalidInputError(
                f"y has more than {_MAX_CLASSES} classes; is it a number? Then use a regressor."
            )
        samples = {}
        for code, value in enumerate(values):
            eligible = np.zeros(block.n_rows, dtype=bool)
            eligible[rows[codes == code]] = True
            samples[value] = sample_block(block, eligible, keys, _PER_CLASS)
        return samples


def column_ranges(table: Any) -> ColumnRanges:
    """Ranges of the numeric columns of a table.

    Examples
    --------
    >>> column_ranges(np.array([[1.0, np.nan], [3.0, 5.0]]))
    ColumnRanges(low=array([1., 5.]), high=array([3., 5.]), missing=array([0., 1.]))
    """
    if is_tensor(table):
        return _tensor_ranges(table)
    if is_frame(table):
        return _frame_ranges(table)
    if table.dtype.kind not in "biuf":
        unknown = np.full(table.shape[1], np.nan)
        return ColumnRanges(unknown, unknown, np.full(table.shape[1], -1.0))
    numbers = table.astype(np.float64, copy=False)
    return ColumnRanges(
        np.fmin.reduce(numbers, axis=0),
        np.fmax.reduce(numbers, axis=0),
        np.isnan(numbers).sum(axis=0).astype(np.float64),
    )


def correct_ranges(reader: TableReader, ranges: ColumnRanges) -> None:
    """Let a reader that was fitted on a sample know the ranges over all rows.

    Columns that vary, but not within the sample, stay constants, with a warning.
    """
    hidden = []
    for j, column in enumerate(reader.columns_):
        low, high, missing = ranges.low[j], ranges.high[j], ranges.missing[j]
        if np.isinf(low) or np.isinf(high):
            raise infinite_error(column.name, 1, 0)
        if column.categories is not None or np.isnan(low) or missing < 0:
            continue
        if column.kind == "constant" and high > low:
            hidden.append(column.name)
        reader.columns_[j] = replace(
            column, low=float(low), high=float(high), n_missing=int(missing)
        )
    if hidden:
        warn_user(
            f"{len(hidden)} columns vary so rarely that the sampled rows do not show it, and are "
            f"ignored: {', '.join(map(repr, hidden[:5]))}; raise sample_rows with "
            "s2mam.scale.scale_options to use them."
        )


def _tensor_ranges(table: Any) -> ColumnRanges:
    import torch

    missing = table.isnan()
    endless = float("inf")
    found = (
        table.masked_fill(missing, endless).amin(0).double(),
        table.masked_fill(missing, -endless).amax(0).double(),
        missing.sum(0).double(),
    )
    lows, highs, gaps = torch.stack(found).cpu().numpy()  # one transfer a block
    empty = gaps == table.shape[0]
    lows[empty] = highs[empty] = np.nan
    return ColumnRanges(lows, highs, gaps)


def _frame_ranges(table: Any) -> ColumnRanges:
    frame = nw.from_native(table, eager_only=True)
    p = frame.shape[1]
    low, high, missing = np.full(p, np.nan), np.full(p, np.nan), np.full(p, -1.0)
    for j, (name, dtype) in enumerate(frame.schema.items()):
        if dtype.is_numeric():
            part = column_ranges(_floats(frame.get_column(name).to_numpy())[:, None])
            low[j], high[j], missing[j] = part.low[0], part.high[0], part.missing[0]
    return ColumnRanges(low, high, missing)


def _floats(values: Any) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _sortable(values: AnyArray) -> AnyArray:
    """Values that np.unique can sort, equal for the same class in every block."""
    if values.dtype.kind != "O":
        return values
    text = [isinstance(value, str) for value in values]
    if all(text):
        return values.astype(str)
    if any(text):
        raise InvalidInputError("y mixes text with numbers; use one type for all classes.")
    return np.asarray(values.tolist())
