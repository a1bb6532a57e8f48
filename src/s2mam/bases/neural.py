"""Small networks, one per column, frozen: evaluated with numpy, stored as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from s2mam._typing import FloatArray, IntArray

__all__ = ["LINE_REACH", "NeuralColumns"]

#: The straight part of a network is ``LINE_REACH * tanh(z / LINE_REACH)``: a line where the rows
#: are, bounded where they are not.
LINE_REACH: Final = 3.0
# Hidden values that are held at once when rows are evaluated: 32 MB.
_HIDDEN: Final = 2**22
_ARRAYS: Final = (
    "first_weights",
    "first_biases",
    "second_weights",
    "second_biases",
    "outputs",
    "levels",
    "shifts",
)


@dataclass(frozen=True)
class NeuralColumns:
    """Networks of q columns with k outputs each; every column has e networks, which are averaged.

    The last hidden values of a number z are its bounded straight part and ``tanh(W2 tanh(w1 z + b1)
    + b2)``; those of a category are one at its level and zero elsewhere. The outputs are linear in
    them.

    Attributes
    ----------
    columns : (q,) array of int
        Columns of the table that have networks; the others are never read.
    first_weights, first_biases : (e, q, h1) arrays
    second_weights : (e, q, h2, h1) array
    second_biases : (e, q, h2) array
    outputs : (e, q, k, h2 + 1) array
    levels : (q, h2 + 1) array
        Codes of the levels of categorical columns, NaN where there are none.
    shifts : (q, k) array
        What centring takes off.

    Examples
    --------
    >>> nets = NeuralColumns(
    ...     columns=np.array([1]), first_weights=np.ones((1, 1, 2)),
    ...     first_biases=np.zeros((1, 1, 2)), second_weights=np.ones((1, 1, 1, 2)),
    ...     second_biases=np.zeros((1, 1, 1)), outputs=np.array([[[[1.0, 0.0]]]]),
    ...     levels=np.full((1, 2), np.nan), shifts=np.zeros((1, 1)))
    >>> nets.evaluate(np.array([[9.0, 0.0], [9.0, np.nan], [9.0, 0.3]]))[:, 0, 0].round(3)
    array([0.   , 0.   , 0.299])
    """

    columns: IntArray
    first_weights: FloatArray
    first_biases: FloatArray
    second_weights: FloatArray
    second_biases: FloatArray
    outputs: FloatArray
    levels: FloatArray
    shifts: FloatArray

    @property
    def n_outputs(self) -> int:
        """Number k of outputs."""
        return int(self.outputs.shape[2])

    def evaluate(self, table: FloatArray) -> FloatArray:
        """Contributions of the columns that have networks.

        Parameters
        ----------
        table : (m, p) array
            All columns, scaled as for the fit.

        Returns
        -------
        (m, q, k) array
            Zero where a value is missing.
        """
        values = np.empty((table.shape[0], self.columns.size, self.n_outputs))
        step = max(1, _HIDDEN // int(np.prod(self.first_weights.shape[::2])))
        for start in range(0, table.shape[0], step):
            rows = slice(start, start + step)
            for i, column in enumerate(self.columns):
                values[rows, i] = self._column(i, table[rows, column])
        return values

    def to_state(self) -> dict[str, Any]:
        """Arrays from which `from_state` rebuilds the networks."""
        return {"columns": self.columns, **{name: getattr(self, name) for name in _ARRAYS}}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> NeuralColumns:
        """Rebuild networks; `evaluate` returns the same bits as the original's."""
        arrays = {name: np.asarray(state[name], dtype=np.float64) for name in _ARRAYS}
        return cls(columns=np.asarray(state["columns"], dtype=np.intp), **arrays)

    def hidden(self, i: int, z: FloatArray) -> FloatArray:
        """Last hidden values (e, h2 + 1, m) of values z of the i-th column that has networks.

        Parameters
        ----------
        i : int
        z : (m,) array
            NaN counts as zero.
        """
        clean = np.where(np.isnan(z), 0.0, z)
        levels = self.levels[i]
        if np.isnan(levels).all():
            return self._hidden(i, clean)
        # The same in all networks, so there is one of it.
        one_hot: FloatArray = (clean == levels[:, None]).astype(np.float64)[None]
        return one_hot

    def _column(self, i: int, z: FloatArray) -> FloatArray:
        """(m, k) contributions of one column."""
        hidden = self.hidden(i, z)
        # One matrix product over all networks: their average is a sum over e and h together.
        weights = self.outputs[:, i].sum(axis=0)[None] if len(hidden) == 1 else self.outputs[:, i]
        mean = np.einsum("ekh,ehm->mk", weights, hidden, optimize=True) / len(self.outputs)
        present = ~np.isnan(z)
        result: FloatArray = np.where(present[:, None], mean - self.shifts[i], 0.0)
        return result

    def _hidden(self, i: int, z: FloatArray) -> FloatArray:
        """(e, h2 + 1, m) last hidden values of numbers."""
        first = np.tanh(self.first_weights[:, i, :, None] * z + self.first_biases[:, i, :, None])
        second = np.tanh(self.second_weights[:, i] @ first + self.second_biases[:, i, :, None])
        line = np.broadcast_to(LINE_REACH * np.tanh(z / LINE_REACH), (len(second), 1, z.size))
        return np.concatenate([line, second], axis=1)
