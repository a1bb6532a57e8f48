"""The fitted model of the learner with networks: plain arrays, no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bases.neural import NeuralColumns
from s2mam.estimators.extremes import require_moderate
from s2mam.intake import TableReader

__all__ = ["NeuralModel", "neural_model_from_state"]


@dataclass(frozen=True)
class NeuralModel:
    """Frozen networks and a constant; needs no torch.

    Attributes
    ----------
    reader : TableReader
    nets : NeuralColumns
    constant : (k,) array
    """

    reader: TableReader
    nets: NeuralColumns
    constant: FloatArray

    @property
    def intercept(self) -> FloatArray:
        """Mean decision over the training rows."""
        return self.constant

    def contributions(self, X: Any, estimator: Any = None) -> FloatArray:
        """Contributions (n, p, k); with the intercept they add up to the decision."""
        values = self._evaluate(X, estimator)
        total = np.zeros((values.shape[0], len(self.reader.kinds_), self.constant.size))
        total[:, self.nets.columns] = values
        return total

    def decision(self, X: Any, estimator: Any = None) -> FloatArray:
        """Decision values (n, k)."""
        decision: FloatArray = self._evaluate(X, estimator).sum(axis=1) + self.constant
        return decision

    def to_state(self) -> dict[str, Any]:
        """Arrays and plain values."""
        return {
            "type": "neural",
            "reader": self.reader.to_state(),
            "nets": self.nets.to_state(),
            "constant": self.constant,
        }

    def _evaluate(self, X: Any, estimator: Any) -> FloatArray:
        table = self.reader.transform(X, estimator=estimator)
        require_moderate(table, self.reader, self.nets.columns)
        return self.nets.evaluate(table)


def neural_model_from_state(state: dict[str, Any]) -> NeuralModel:
    """Rebuild a model from its state."""
    return NeuralModel(
        TableReader.from_state(state["reader"]),
        NeuralColumns.from_state(state["nets"]),
        np.asarray(state["constant"]),
    )
