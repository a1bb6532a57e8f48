"""One pass over the labelled rows: the moments from which least-squares fits follow exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.intake import find_unlabeled
from s2mam.scale.blocks import Block
from s2mam.scale.chunks import chunk_rows
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.evaluator import AdditiveEvaluator
from s2mam.scale.features import FeatureMap
from s2mam.scale.namespace import place_of
from s2mam.scale.sampling import keys_of
from s2mam.scale.tables import take

__all__ = ["LabelCoder", "LabeledMoments", "MomentPass"]


@dataclass(frozen=True)
class LabelCoder:
    """Labels to targets of least squares: numbers, -1 and 1, or one indicator per class.

    Attributes
    ----------
    classes : array or None
        Sorted; None for numbers.

    Examples
    --------
    >>> LabelCoder(np.array(["no", "yes"])).code(np.array(["yes", "no"]))
    array([[ 1., -1.]])
    """

    classes: AnyArray | None

    @property
    def n_outputs(self) -> int:
        """Targets per row."""
        return 1 if self.classes is None or self.classes.size <= 2 else int(self.classes.size)

    def codes(self, labels: AnyArray) -> IntArray:
        """Numbers of the classes of labels."""
        assert self.classes is not None
        if labels.dtype.kind == "O" or self.classes.dtype.kind == "O":
            numbers = {value: code for code, value in enumerate(self.classes.tolist())}
            return np.array([numbers[value] for value in labels.tolist()], dtype=np.intp)
        return np.searchsorted(self.classes, labels).astype(np.intp)

    def code(self, labels: AnyArray) -> FloatArray:
        """Targets (k, b)."""
        if self.classes is None:
            return np.asarray(labels, dtype=np.float64)[None, :]
        one_hot: FloatArray = np.eye(self.classes.size)[self.codes(labels)].T
        return 2.0 * one_hot[1:] - 1.0 if self.classes.size == 2 else one_hot


@dataclass(frozen=True)
class LabeledMoments:
    """Weighted second moments of (1, known decisions, features, targets), one matrix per fold.

    Attributes
    ----------
    matrices : (folds + 1, D, D) array
        The last one is of rows that the known decisions were learned from.
    counts : (folds + 1,) array of int
        Labelled rows.
    """

    matrices: Any
    counts: IntArray

    def merge(self, later: LabeledMoments) -> LabeledMoments:
        """Moments of both parts."""
        return LabeledMoments(self.matrices + later.matrices, self.counts + later.counts)


@dataclass(frozen=True)
class MomentPass:
    """Moments of the labelled rows of a block; a pure function that travels.

    Attributes
    ----------
    encoder, features : ColumnEncoder and FeatureMap
        Features of the rows.
    known : AdditiveEvaluator or None
        A model whose decisions are entries of the moments.
    coder : LabelCoder
    unlabeled
        The user's marker.
    learned_from : array of int
        Numbers of the rows that the known model was learned from, sorted.
    n_folds, seed : int
        A row's fold is a hash of its number.
    """

    encoder: ColumnEncoder
    features: FeatureMap
    known: AdditiveEvaluator | None
    coder: LabelCoder
    unlabeled: Any
    learned_from: IntArray
    n_folds: int
    seed: int

    def __call__(self, block: Block) -> LabeledMoments:
        """Moments of one block."""
        assert block.target is not None
        place = place_of(block.table)
        hidden = find_unlabeled(
            block.target, unlabeled=self.unlabeled, classes=self.coder.classes is not None
        )
        rows = np.flatnonzero(~hidden)
        folds = self.folds(block.start + rows)
        total = self._empty(place)
        for chunk in chunk_rows(rows.size, self.features.doubles_per_row, place):
            entries = self.entries(take(block.table, rows[chunk]), block.target[rows[chunk]])
            weight = np.ones(entries.shape[1])
            if block.weights is not None:
                weight = np.asarray(block.weights[rows[chunk]], dtype=np.float64)
            for fold in np.unique(folds[chunk]).tolist():
                inside = folds[chunk] == fold
                part = entries[:, place.put(np.flatnonzero(inside))]
                total[fold] += place.double((part * place.put(weight[inside])) @ part.T)
        counts = np.bincount(folds, minlength=self.n_folds + 1)
        return LabeledMoments(total, counts)

    def folds(self, rows: IntArray) -> IntArray:
        """Fold of each row; the last number is for rows that were learned from."""
        if not rows.size:
            return np.empty(0, dtype=np.intp)
        folds = (keys_of(self.seed + 1, rows) % np.uint64(self.n_folds)).astype(np.intp)
        return np.where(np.isin(rows, self.learned_from), self.n_folds, folds)

    def entries(self, table: Any, labels: AnyArray) -> Any:
        """Entries (D, b) of labelled rows: one, known decisions, features, targets."""
        place = place_of(table)
        features = self.features.evaluate(self.encoder.encode(table))
        parts = [place.zeros(1, labels.shape[0]) + 1.0]
        if self.known is not None:
            parts.append(self.known.decide(table))
        parts += [features, place.put(self.coder.code(labels))]
        return place.concatenate(parts)

    def _empty(self, place: Any) -> Any:
        known = 0 if self.known is None else self.known.intercept.size
        size = 1 + known + self.features.n_rows + self.coder.n_outputs
        return place.double(place.zeros(self.n_folds + 1, size, size))
