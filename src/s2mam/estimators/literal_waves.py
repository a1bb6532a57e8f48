"""The paper's predictor with random Fourier features (S2MAM-F), under the expected mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bases.fourier import draw_frequencies, wave_rows
from s2mam.bilevel.literal import LiteralLevel
from s2mam.intake import TableReader

__all__ = ["WaveModel", "wave_model", "wave_model_from_state"]


@dataclass(frozen=True)
class WaveModel:
    """``f(x) = sum_j phi_j(s_j x)' w_j`` with ``w_j = sum_i alpha_i^(j) phi_j(s_j x_i)``.

    That is the paper's predictor ``sum_j sum_i alpha_i^(j) K_j(s_j x_i, s_j x)`` with the kernel of
    the random features; it needs their weights, not the training rows. A column with s_j = 0 is a
    constant; the constants make up the intercept.

    Attributes
    ----------
    reader : TableReader
    weights : (p, D, k) array
        Weights of the waves.
    frequencies : (p, D) array
        A negative frequency stands for a sine.
    expected : (p,) array
        The expected mask s.
    lengths : (p,) array
    """

    reader: TableReader
    weights: FloatArray
    frequencies: FloatArray
    expected: FloatArray
    lengths: FloatArray

    @property
    def intercept(self) -> FloatArray:
        """Sum of the contributions of masked columns."""
        constant = np.zeros(self.weights.shape[2])
        for j in np.flatnonzero(self.expected == 0.0):
            constant = constant + (self._waves(np.zeros(1), int(j)).T @ self.weights[j])[0]
        return constant

    def contributions(self, X: Any, estimator: Any = None) -> FloatArray:
        """Contributions (n, p, k); with the intercept they add up to the decision."""
        table = self.reader.transform(X, estimator=estimator)
        # The literal model has no rule for missing values: they take the centre of the column.
        table = np.where(np.isnan(table), 0.0, table)
        total = np.zeros((*table.shape, self.weights.shape[2]))
        for j in np.flatnonzero(self.expected > 0.0):
            waves = self._waves(self.expected[j] * table[:, j], int(j))
            total[:, j] = waves.T @ self.weights[j]
        return total

    def decision(self, X: Any, estimator: Any = None) -> FloatArray:
        """Decision values (n, k)."""
        decision: FloatArray = self.contributions(X, estimator).sum(axis=1) + self.intercept
        return decision

    def to_state(self) -> dict[str, Any]:
        """Arrays and plain values."""
        return {
            "type": "waves",
            "reader": self.reader.to_state(),
            "weights": self.weights,
            "frequencies": self.frequencies,
            "expected": self.expected,
            "lengths": self.lengths,
        }

    def _waves(self, x: FloatArray, column: int) -> FloatArray:
        drawn = self.frequencies[column]
        rows = wave_rows(x, drawn[:, None], self.lengths[column : column + 1])
        return np.asarray(rows * np.sqrt(2.0 / drawn.size), dtype=np.float64)


def wave_model(
    reader: TableReader, level: LiteralLevel, alpha: FloatArray, expected: FloatArray
) -> WaveModel:
    """Fold the coefficients (n, p, k) of the training rows into weights of the waves."""
    frequencies = draw_frequencies(np.arange(level.n_columns), level.seed)
    weights = np.stack(
        [
            level.waves(expected[j] * level.table[:, j], j) @ alpha[:, j]
            for j in range(level.n_columns)
        ]
    )
    return WaveModel(reader, weights, frequencies, expected, level.design.lengths)


def wave_model_from_state(state: dict[str, Any]) -> WaveModel:
    """Rebuild a model from its state."""
    names = ("weights", "frequencies", "expected", "lengths")
    arrays = {name: np.asarray(state[name], dtype=np.float64) for name in names}
    return WaveModel(TableReader.from_state(state["reader"]), **arrays)
