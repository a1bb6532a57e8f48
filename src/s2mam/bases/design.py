"""The design: all columns' feature blocks side by side, evaluable on new rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.categorical import level_table, lookup
from s2mam.bases.fourier import wave_rows
from s2mam.bases.kernels import correlate, require_kernel
from s2mam.bases.validation import read_table
from s2mam.exceptions import InvalidInputError

__all__ = ["Design", "join_designs"]

# Kernel values held at once by evaluate (2 MB), and the most rows it takes in one go.
_CHUNK: Final = 2**18
_ROWS: Final = 2**14
_ARRAYS: Final = (
    "offsets",
    "spectra",
    "lengths",
    "residuals",
    "pivots",
    "pivot_offsets",
    "transforms",
    "transform_offsets",
    "slopes",
    "shifts",
)


@dataclass(frozen=True)
class Design:
    """Feature blocks of all columns; made by :func:`s2mam.bases.build_design`.

    Attributes
    ----------
    features : (n, P) array, column-major
        Features of the training rows. Block j satisfies ``F_j @ F_j.T`` = kernel matrix of column j
        (centred when ``center``) and ``F_j.T @ F_j = diag(spectra of j)``. It has no rows in a
        design that was read back from a state.
    offsets : (p + 1,) array of int
        Block j occupies the columns ``offsets[j]:offsets[j + 1]``.
    spectra : (P,) array
        Eigenvalues of the (centred) kernel matrices.
    kinds, kernel, lengths, linear, center
        What the design was built with; ``lengths`` are the resolved ones.
    residuals : (p,) array
        Upper bound on the share of each kernel's trace that its block leaves out; above the
        tolerance only where ``max_rank`` cut the block.
    pivots, pivot_offsets, transforms, transform_offsets, slopes, shifts
        The recipe of each block (see :class:`s2mam.bases.block.Block`), concatenated.
    basis : {"kernel", "nystrom", "fourier"}
        What the pivots of numeric columns are: values that the kernel is compared with, or
        frequencies of waves.
    """

    features: FloatArray
    offsets: IntArray
    spectra: FloatArray
    kinds: tuple[str, ...]
    kernel: str
    lengths: FloatArray
    linear: float
    center: bool
    residuals: FloatArray
    pivots: FloatArray
    pivot_offsets: IntArray
    transforms: FloatArray
    transform_offsets: IntArray
    slopes: FloatArray
    shifts: FloatArray
    basis: str = "kernel"

    @property
    def n_columns(self) -> int:
        """Number p of input columns."""
        return len(self.kinds)

    @property
    def ranks(self) -> IntArray:
        """Number of features per input column."""
        return np.diff(self.offsets)

    def block(self, column: int) -> slice:
        """Return the slice of features that belongs to an input column."""
        return slice(int(self.offsets[column]), int(self.offsets[column + 1]))

    def pivots_of(self, column: int) -> FloatArray:
        """Return the values that a column's kernel is compared with."""
        if self.basis == "fourier" and self.kinds[column] == "numeric":
            raise InvalidInputError(
                f"Column {column} has random Fourier features, which have frequencies and no "
                'pivots; use basis="kernel" or basis="nystrom" where pivots are needed.'
            )
        return self._recipe_of(column)

    def without_rows(self) -> Design:
        """Return the same design without the features of the training rows."""
        return replace(self, features=np.empty((0, int(self.offsets[-1])), order="F"))

    def of_rows(self, rows: IntArray) -> Design:
        """Return the same design with the features of some training rows."""
        return replace(self, features=self.features[rows])

    def evaluate(self, Z: ArrayLike, columns: ArrayLike | None = None) -> FloatArray:
        """Return the features of new rows.

        Parameters
        ----------
        Z : (m, p) array
            All p columns, prepared as those the design was built from.
        columns : sequence of int, optional
            Only these columns' blocks, in this order. The others are not read.

        Returns
        -------
        (m, P) array, column-major
            Zeros in the block of a column whose value is missing or an unknown category.
        """
        chosen = np.arange(self.n_columns) if columns is None else self._read_columns(columns)
        table = read_table(Z, n_columns=self.n_columns, columns=chosen)
        ends = np.concatenate([[0], np.cumsum(self.ranks[chosen])])
        out = np.empty((table.shape[0], int(ends[-1])), order="F")
        for start in range(0, table.shape[0], _ROWS):
            rows = slice(start, start + _ROWS)
            self._evaluate_rows(np.ascontiguousarray(table[rows].T), chosen, ends, out[rows].T)
        return out

    def combine(
        self, Z: ArrayLike, coef: FloatArray, columns: ArrayLike | None = None
    ) -> FloatArray:
        """Return ``evaluate(Z, columns) @ coef`` without the features in between.

        The coefficients of a block are brought to its pivots first, so that each kernel value is
        used once; the result differs from the product in the last digits.

        Parameters
        ----------
        Z, columns
            As for :meth:`evaluate`.
        coef : (P, k) array
            One row per feature of the columns.

        Returns
        -------
        (m, k) array
        """
        chosen = np.arange(self.n_columns) if columns is None else self._read_columns(columns)
        table = read_table(Z, n_columns=self.n_columns, columns=chosen)
        ends = np.concatenate([[0], np.cumsum(self.ranks[chosen])])
        pieces = [coef[ends[i] : ends[i + 1]] for i in range(chosen.size)]
        out = np.zeros((table.shape[0], coef.shape[1]))
        for start in range(0, table.shape[0], _ROWS):
            rows = slice(start, start + _ROWS)
            self._add_rows(np.ascontiguousarray(table[rows].T), chosen, pieces, out[rows])
        return out

    def to_state(self) -> dict[str, Any]:
        """Return arrays and json-able scalars from which :meth:`from_state` rebuilds the design.

        The training rows' features are left out; everything that ``evaluate`` needs is exact.
        """
        state: dict[str, Any] = {name: getattr(self, name) for name in _ARRAYS}
        state.update(kinds=list(self.kinds), kernel=self.kernel)
        state.update(linear=self.linear, center=self.center, basis=self.basis)
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Design:
        """Rebuild a design; its ``evaluate`` returns the same bits as the original's."""
        integer = ("offsets", "pivot_offsets", "transform_offsets")
        arrays: dict[str, Any] = {
            name: np.asarray(state[name], dtype=np.intp if name in integer else np.float64)
            for name in _ARRAYS
        }
        return cls(
            features=np.empty((0, int(arrays["offsets"][-1])), order="F"),
            kinds=tuple(str(kind) for kind in state["kinds"]),
            kernel=require_kernel(str(state["kernel"])),
            linear=float(state["linear"]),
            center=bool(state["center"]),
            basis=str(state.get("basis", "kernel")),  # files from before there were others
            **arrays,
        )

    def _recipe_of(self, column: int) -> FloatArray:
        """Pivots of a column, or frequencies."""
        return self.pivots[self.pivot_offsets[column] : self.pivot_offsets[column + 1]]

    def _read_columns(self, columns: ArrayLike) -> IntArray:
        chosen = np.asarray(columns)
        if chosen.dtype != np.bool_:
            chosen = chosen.astype(np.intp)
        result: IntArray = np.arange(self.n_columns)[chosen]
        return result

    def _evaluate_rows(
        self, values: FloatArray, chosen: IntArray, ends: IntArray, out: FloatArray
    ) -> None:
        """Fill ``out`` (features, rows) from ``values`` (chosen columns, rows)."""
        numeric = [i for i, column in enumerate(chosen) if self.kinds[column] == "numeric"]
        for part in self._chunks(numeric, chosen, values.shape[1]):
            kernel_rows = self._kernel_rows(values, chosen, part)
            at = 0
            for i in part:
                column, target = int(chosen[i]), out[ends[i] : ends[i + 1]]
                transform, block = self._transform(column), self.block(column)
                np.matmul(transform.T, kernel_rows[at : at + transform.shape[0]], out=target)
                at += transform.shape[0]
                if self.linear > 0.0:
                    target += self.slopes[block, None] * values[i]
                target -= self.shifts[block, None]
                missing = np.isnan(values[i])
                if missing.any():
                    target[:, missing] = 0.0
        for i, column in enumerate(chosen):
            if self.kinds[column] == "categorical":
                table = level_table(self._transform(column), self.shifts[self.block(column)])
                out[ends[i] : ends[i + 1]] = lookup(values[i], self._recipe_of(column), table).T

    def _add_rows(
        self, values: FloatArray, chosen: IntArray, pieces: list[FloatArray], out: FloatArray
    ) -> None:
        """Add to ``out`` (rows, k) what the chosen columns (columns, rows) contribute."""
        numeric = [i for i, column in enumerate(chosen) if self.kinds[column] == "numeric"]
        missing = np.isnan(values)
        present = np.where(missing, 0.0, values)
        for part in self._chunks(numeric, chosen, values.shape[1]):
            kernel_rows = self._kernel_rows(present, chosen, part)
            repeats = np.diff(self.pivot_offsets)[chosen[part]]
            if missing[part].any():
                kernel_rows[np.repeat(missing[part], repeats, axis=0)] = 0.0
            out += kernel_rows.T @ np.vstack(
                [self._transform(int(chosen[i])) @ pieces[i] for i in part]
            )
        if numeric:
            blocks = [(self.block(int(chosen[i])), pieces[i]) for i in numeric]
            if self.linear > 0.0:
                slopes = np.stack([self.slopes[block] @ piece for block, piece in blocks])
                out += present[numeric].T @ slopes
            shifts = np.stack([self.shifts[block] @ piece for block, piece in blocks])
            out -= (~missing[numeric]).T.astype(np.float64) @ shifts
        for i, column in enumerate(chosen):
            if self.kinds[column] == "categorical":
                table = level_table(self._transform(column), self.shifts[self.block(column)])
                out += lookup(values[i], self._recipe_of(column), table @ pieces[i])

    def _kernel_rows(self, values: FloatArray, chosen: IntArray, part: list[int]) -> FloatArray:
        columns = chosen[part]
        repeats = np.diff(self.pivot_offsets)[columns]
        centres = np.concatenate([self._recipe_of(column) for column in columns])
        lengths = np.repeat(self.lengths[columns], repeats)
        chosen_values = values[np.repeat(part, repeats)]
        if self.basis == "fourier":
            return wave_rows(chosen_values, centres[:, None], lengths[:, None])
        return correlate(self.kernel, chosen_values, centres[:, None], lengths[:, None])

    def _chunks(self, order: list[int], chosen: IntArray, rows: int) -> Iterator[list[int]]:
        """Group positions so that the kernel values of a group stay near the cache."""
        part: list[int] = []
        held = 0
        for i in order:
            size = int(np.diff(self.pivot_offsets[chosen[i] : chosen[i] + 2])[0]) * rows
            if part and held + size > _CHUNK:
                yield part
                part, held = [], 0
            part.append(i)
            held += size
        if part:
            yield part

    def _transform(self, column: int) -> FloatArray:
        start, end = self.transform_offsets[column : column + 2]
        rank = int(self.offsets[column + 1] - self.offsets[column])
        pivots = int(self.pivot_offsets[column + 1] - self.pivot_offsets[column])
        return self.transforms[start:end].reshape(pivots, rank)


def join_designs(designs: Sequence[Design]) -> Design:
    """The design of all columns from designs of runs of them, without features of training rows.

    Examples
    --------
    >>> from s2mam.bases import build_design
    >>> Z = np.random.default_rng(0).normal(size=(20, 3))
    >>> whole = build_design(Z, ("numeric",) * 3)
    >>> parts = [build_design(Z[:, :2], ("numeric",) * 2), build_design(Z[:, 2:], ("numeric",))]
    >>> bool(np.array_equal(join_designs(parts).evaluate(Z), whole.evaluate(Z)))
    True
    """
    joined: dict[str, Any] = {}
    for name in _ARRAYS:
        parts = [getattr(design, name) for design in designs]
        if name.endswith("offsets"):
            ends = np.cumsum([0] + [int(part[-1]) for part in parts])
            moved = [part[1:] + end for part, end in zip(parts, ends, strict=False)]
            parts = [np.zeros(1, dtype=np.intp), *moved]
        joined[name] = np.concatenate(parts)
    kinds = tuple(kind for design in designs for kind in design.kinds)
    features = np.empty((0, int(joined["offsets"][-1])), order="F")
    return replace(designs[0], features=features, kinds=kinds, **joined)
