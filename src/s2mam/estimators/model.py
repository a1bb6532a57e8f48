"""Fitted additive models: what predicts, explains and goes into a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.design import Design
from s2mam.bases.kernels import kernel_matrix
from s2mam.bilevel.views import clip_numeric
from s2mam.estimators.extremes import require_moderate
from s2mam.estimators.literal_waves import wave_model_from_state
from s2mam.estimators.neural_model import neural_model_from_state
from s2mam.intake import TableReader
from s2mam.intake.sparse_tables import is_sparse

__all__ = ["AdditiveModel", "AdditivePart", "FittedModel", "LiteralModel", "model_from_state"]

# Features that are held at once when rows are predicted: 256 MB.
_FEATURES = 2**25
# Numbers of a sparse table that are dense at once when rows are predicted.
_DENSE = 2**24


class FittedModel(Protocol):
    """What estimators need of a fitted model."""

    @property
    def intercept(self) -> FloatArray:
        """Constant (k,)."""

    def contributions(self, X: Any, estimator: Any = None) -> FloatArray:
        """Contributions (n, p, k) of the columns."""

    def decision(self, X: Any, estimator: Any = None) -> FloatArray:
        """Decision values (n, k)."""

    def to_state(self) -> dict[str, Any]:
        """Arrays and plain values."""


@dataclass(frozen=True)
class AdditivePart:
    """One scale of the table with its design and coefficients (P, k)."""

    reader: TableReader
    design: Design
    coef: FloatArray

    @property
    def columns(self) -> IntArray:
        """Columns that contribute; the others are never read."""
        owner = np.repeat(np.arange(self.design.n_columns), self.design.ranks)
        used = np.bincount(owner, np.abs(self.coef).sum(axis=1), self.design.n_columns)
        return np.flatnonzero(used > 0.0)

    def column_runs(self, rows: int) -> list[IntArray]:
        """The contributing columns in runs whose features fit in memory; usually a single one."""
        columns = self.columns
        ends = np.cumsum(self.design.ranks[columns]) * rows
        number = np.maximum(ends - 1, 0) // _FEATURES
        return np.split(columns, np.flatnonzero(np.diff(number)) + 1)


@dataclass(frozen=True)
class AdditiveModel:
    """Sum of additive parts.

    Attributes
    ----------
    parts : tuple of AdditivePart
    intercept : (k,) array
    clip : bool
        Values far outside are clipped before the bases see them.
    """

    parts: tuple[AdditivePart, ...]
    intercept: FloatArray
    clip: bool

    def contributions(self, X: Any, estimator: Any = None) -> FloatArray:
        """Contributions (n, p, k); with the intercept they add up to the decision."""
        total: FloatArray | None = None
        for part, table in zip(self.parts, self._tables(X, estimator), strict=True):
            if total is None:
                total = np.zeros((table.shape[0], part.design.n_columns, self.intercept.size))
            for columns in part.column_runs(table.shape[0]):
                features = part.design.evaluate(table, columns)
                at = 0
                for j in columns:
                    block = part.design.block(int(j))
                    width = block.stop - block.start
                    total[:, j] += features[:, at : at + width] @ part.coef[block]
                    at += width
        assert total is not None  # a model has at least one part
        return total

    def decision(self, X: Any, estimator: Any = None) -> FloatArray:
        """Decision values (n, k)."""
        runs = _sparse_runs(X)
        if len(runs) > 1:
            return np.concatenate([self.decision(run, estimator) for run in runs])
        decision: FloatArray | None = None
        for part, table in zip(self.parts, self._tables(X, estimator), strict=True):
            owner = np.repeat(np.arange(part.design.n_columns), part.design.ranks)
            columns = part.columns
            values = part.design.combine(table, part.coef[np.isin(owner, columns)], columns)
            decision = values if decision is None else decision + values
        assert decision is not None
        return decision + self.intercept

    def scaled(self, factor: float, shift: FloatArray | float = 0.0) -> AdditiveModel:
        """The same model times a factor, plus a constant."""
        parts = tuple(AdditivePart(p.reader, p.design, factor * p.coef) for p in self.parts)
        return AdditiveModel(parts, factor * self.intercept + shift, self.clip)

    def to_state(self) -> dict[str, Any]:
        """Arrays and plain values."""
        return {
            "type": "additive",
            "clip": self.clip,
            "intercept": self.intercept,
            "parts": [
                {
                    "reader": part.reader.to_state(),
                    "design": part.design.to_state(),
                    "coef": part.coef,
                }
                for part in self.parts
            ],
        }

    def _tables(self, X: Any, estimator: Any) -> list[FloatArray]:
        tables: list[FloatArray] = []
        for number, part in enumerate(self.parts):
            if number and part.reader is self.parts[number - 1].reader:
                tables.append(tables[-1])  # two views of one scale
                continue
            table = part.reader.transform(X, estimator=estimator)
            if self.clip:
                table = clip_numeric(table, part.reader.kinds_)
            else:
                require_moderate(table, part.reader, part.columns)
            tables.append(table)
        return tables


@dataclass(frozen=True)
class LiteralModel:
    """The paper's predictor under the expected mask.

    ``f(x) = sum_j sum_i alpha_i^(j) K_j(s_j x_i, s_j x)``. A column with s_j = 0 is a constant; the
    constants make up the intercept.

    Attributes
    ----------
    reader : TableReader
    rows : (n, p) array
        Training rows.
    alpha : (n, p, k) array
    expected : (p,) array
        The expected mask s.
    lengths : (p,) array
    kernel : str
    """

    reader: TableReader
    rows: FloatArray
    alpha: FloatArray
    expected: FloatArray
    lengths: FloatArray
    kernel: str

    @property
    def intercept(self) -> FloatArray:
        """Sum of the contributions of masked columns (K(0, 0) = 1)."""
        constant: FloatArray = self.alpha[:, self.expected == 0.0].sum(axis=(0, 1))
        return constant

    def contributions(self, X: Any, estimator: Any = None) -> FloatArray:
        """Contributions (n, p, k); with the intercept they add up to the decision."""
        table = _filled(self.reader.transform(X, estimator=estimator))
        total = np.zeros((table.shape[0], table.shape[1], self.alpha.shape[2]))
        for j in np.flatnonzero(self.expected > 0.0):
            s = self.expected[j]
            kernel = kernel_matrix(
                s * table[:, j],
                s * self.rows[:, j],
                kernel=self.kernel,
                length=float(self.lengths[j]),
            )
            total[:, j] = kernel @ self.alpha[:, j]
        return total

    def decision(self, X: Any, estimator: Any = None) -> FloatArray:
        """Decision values (n, k)."""
        decision: FloatArray = self.contributions(X, estimator).sum(axis=1) + self.intercept
        return decision

    def to_state(self) -> dict[str, Any]:
        """Arrays and plain values."""
        return {
            "type": "literal",
            "reader": self.reader.to_state(),
            "rows": self.rows,
            "alpha": self.alpha,
            "expected": self.expected,
            "lengths": self.lengths,
            "kernel": self.kernel,
        }


def model_from_state(state: dict[str, Any]) -> FittedModel:
    """Rebuild a model from its state."""
    if state["type"] == "waves":
        return wave_model_from_state(state)
    if state["type"] == "neural":
        return neural_model_from_state(state)
    if state["type"] == "literal":
        return LiteralModel(
            reader=TableReader.from_state(state["reader"]),
            rows=np.asarray(state["rows"]),
            alpha=np.asarray(state["alpha"]),
            expected=np.asarray(state["expected"]),
            lengths=np.asarray(state["lengths"]),
            kernel=str(state["kernel"]),
        )
    parts = tuple(
        AdditivePart(reader, Design.from_state(part["design"]), np.asarray(part["coef"]))
        for part, reader in zip(state["parts"], _readers(state["parts"]), strict=True)
    )
    return AdditiveModel(parts, np.asarray(state["intercept"]), bool(state["clip"]))


def _readers(parts: list[dict[str, Any]]) -> list[TableReader]:
    """Readers of the parts; one that reads like the one before it is that one."""
    readers: list[TableReader] = []
    before: dict[str, Any] = {}
    for state in (part["reader"] for part in parts):
        same = state.keys() == before.keys() and all(
            np.array_equal(state[key], before[key]) for key in state
        )
        readers.append(readers[-1] if same else TableReader.from_state(state))
        before = state
    return readers


def _sparse_runs(X: Any) -> list[Any]:
    """Rows of a sparse table in runs that may be dense; any other table as it is."""
    if not is_sparse(X) or X.ndim != 2 or X.shape[0] * X.shape[1] <= _DENSE:
        return [X]
    step = max(1, _DENSE // X.shape[1])
    rows = X.tocsr()
    return [rows[start : start + step] for start in range(0, X.shape[0], step)]


def _filled(table: FloatArray) -> FloatArray:
    """The literal model has no rule for missing values: they take the centre of the column."""
    return np.where(np.isnan(table), 0.0, table)
