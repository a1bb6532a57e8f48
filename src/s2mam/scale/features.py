"""Features of blocks: a fitted reader and design as a few padded arrays, on any device.

``Design.evaluate`` does the same for tables in memory. Here only the chosen columns of a block are
ever scaled, the numeric ones are one batched product, and rows may be tensors on an accelerator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.categorical import level_table
from s2mam.bases.design import Design
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.namespace import Place, place_of
from s2mam.scale.scratch import Scratch

__all__ = ["FeatureMap", "feature_map"]

# As far as matters to any kernel; keeps squares finite in single precision too.
_FAR = 1e3
# What a distance in kernel lengths is multiplied by before the kernel sees it.
_UNITS = {"gaussian": 0.5**0.5, "laplacian": 1.0, "matern32": 3.0**0.5, "matern52": 5.0**0.5}
_UNITS["waves"] = 1.0


@dataclass(frozen=True)
class FeatureMap:
    """From scaled values of some columns to their features.

    Numeric column i of c, with at most q pivots and r features each, has the rows ``i * r`` to
    ``(i + 1) * r`` of the result; categorical columns follow. Rows that are padding are zero.

    Attributes
    ----------
    kernel : str
        "waves" for random Fourier features, whose pivots are frequencies.
    numeric, coded : arrays of int
        Positions of the numeric and the categorical columns among the values.
    pivots, inverses : (c, q, 1) and (c, 1) arrays
        Distances are ``|values * inverse - pivot|``, in units of the kernel's length.
    bounded : bool
        Whether values are clipped: then squared distances may be taken apart into one product,
        which saves two of four passes over the largest array.
    transforms : (c, r, q) array
    slopes, shifts : (c, r, 1) arrays
    levels : tuple of (r, L + 1) arrays
        Features of every code of a categorical column; the last is for unknown ones.
    keep : (P,) array of int
        Where the features of the design are, in its order.
    """

    kernel: str
    numeric: IntArray
    coded: IntArray
    pivots: FloatArray
    inverses: FloatArray
    bounded: bool
    transforms: FloatArray
    slopes: FloatArray
    shifts: FloatArray
    levels: tuple[FloatArray, ...]
    keep: IntArray
    _placed: dict[Any, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n_features(self) -> int:
        """Number P of features."""
        return int(self.keep.size)

    @property
    def n_rows(self) -> int:
        """Number of rows of the result, padding included."""
        c, r, _ = self.transforms.shape
        return int(c * r + sum(table.shape[0] for table in self.levels))

    @property
    def doubles_per_row(self) -> int:
        """Working memory of one row."""
        return 2 * self.pivots.size + 2 * self.n_rows + 1

    def evaluate(self, values: Any, scratch: Scratch | None = None) -> Any:
        """Features (rows, b) of scaled values (columns, b), NaN where missing or unknown.

        With working memory from outside the result lies in it, and holds until it is used again.
        """
        place, scratch = place_of(values), scratch or Scratch()
        on = self._on(place)
        parts = []
        if self.numeric.size:
            numbers = values if not self.coded.size else values[on["numeric"]]
            parts.append(self._numeric(numbers, scratch))
        for column, table in zip(self.coded.tolist(), on["levels"], strict=True):
            parts.append(_look_up(values[column], table, place))
        if len(parts) == 1:
            return parts[0]
        return place.concatenate(parts) if parts else place.zeros(0, values.shape[1])

    def _numeric(self, values: Any, scratch: Scratch) -> Any:
        place = place_of(values)
        (c, r, q), b = self.transforms.shape, values.shape[1]
        xp, on = place.xp, self._on(place)
        missing = xp.isnan(values)
        # On an accelerator the question would stop the stream of work; there it is not asked.
        gaps = place.device is not None or bool(missing.any())
        if gaps:
            values = xp.where(missing, xp.zeros_like(values), values)
        scaled = values * on["inverses"]
        kernel = scratch.room(place, "kernel", c, q, b)
        if self.kernel == "gaussian" and self.bounded:
            # -(v - p)^2 as the product of (2p, -1, -p^2) and (v, v^2, 1).
            powers = scratch.room(place, "powers", c, 3, b)
            powers[:, 0], powers[:, 2] = scaled, 1.0
            xp.multiply(scaled, scaled, out=powers[:, 1])
            kernel = xp.matmul(on["expanded"], powers, out=kernel)
            xp.exp(kernel, out=kernel)
        else:
            kernel = _correlation(self.kernel, scaled[:, None, :], on["pivots"], xp, kernel)
        room = scratch.room(place, "features", c, r, b)
        features = xp.matmul(on["transforms"], kernel, out=room)
        if self.slopes.any():
            room = scratch.room(place, "lines", c, r, b)
            features += xp.multiply(on["slopes"], values[:, None, :], out=room)
        features -= on["shifts"]
        if gaps:
            features *= ~missing[:, None, :]
        return features.reshape(-1, values.shape[1])

    def _on(self, place: Place) -> dict[str, Any]:
        """The arrays where the block lives; they travel there once."""
        key = (str(place.device), str(place.dtype))
        if key not in self._placed:
            names = ("numeric", "pivots", "inverses", "transforms", "slopes", "shifts")
            placed = {name: place.put(getattr(self, name)) for name in names}
            parts = [2.0 * self.pivots, np.full_like(self.pivots, -1.0), -np.square(self.pivots)]
            placed["expanded"] = place.put(np.concatenate(parts, axis=2))
            placed["levels"] = [place.put(table) for table in self.levels]
            self._placed[key] = placed
        return self._placed[key]


def feature_map(design: Design, encoder: ColumnEncoder) -> FeatureMap:
    """The features of an encoder's columns, as ``design.evaluate`` has them.

    Examples
    --------
    >>> from s2mam.bases import build_design
    >>> from s2mam.intake import TableReader
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> reader = TableReader().fit(X)
    >>> design = build_design(reader.transform(X), reader.kinds_)
    >>> encoder = ColumnEncoder(reader, np.array([0, 2]), clip=False)
    >>> features = feature_map(design, encoder)
    >>> found = features.evaluate(encoder.encode(X))[features.keep].T
    >>> bool(np.allclose(found, design.evaluate(reader.transform(X), [0, 2])))
    True
    """
    columns = encoder.columns.tolist()
    kernel = "waves" if design.basis == "fourier" else design.kernel
    coded = [i for i, j in enumerate(columns) if design.kinds[j] == "categorical"]
    numeric = [i for i, j in enumerate(columns) if design.kinds[j] == "numeric"]
    blocks = [_recipe(design, columns[i]) for i in numeric]
    q = max((block[0].size for block in blocks), default=1)
    r = max((block[2].size for block in blocks), default=1)
    pivots, transforms = np.zeros((len(blocks), q, 1)), np.zeros((len(blocks), r, q))
    slopes, shifts = np.zeros((len(blocks), r, 1)), np.zeros((len(blocks), r, 1))
    places: dict[int, IntArray] = {}
    for at, (position, (pivot, transform, slope, shift)) in enumerate(
        zip(numeric, blocks, strict=True)
    ):
        rank = slope.size
        pivots[at, : pivot.size, 0] = pivot
        transforms[at, :rank, : pivot.size] = transform.T
        slopes[at, :rank, 0], shifts[at, :rank, 0] = slope, shift
        places[position] = at * r + np.arange(rank)
    levels = []
    end = len(blocks) * r
    for position in coded:
        pivot, transform, _, shift = _recipe(design, columns[position])
        levels.append(_code_table(pivot, transform, shift))
        places[position] = end + np.arange(shift.size)
        end += shift.size
    lengths = design.lengths[np.asarray(columns, dtype=np.intp)[numeric]][:, None]
    inverses = _UNITS[kernel] / lengths
    return FeatureMap(
        kernel=kernel,
        numeric=np.array(numeric, dtype=np.intp),
        coded=np.array(coded, dtype=np.intp),
        # Frequencies turn with the scaled values as they are.
        pivots=pivots if kernel == "waves" else pivots * inverses[:, :, None],
        inverses=inverses,
        bounded=encoder.clip,
        transforms=transforms,
        slopes=slopes,
        shifts=shifts,
        levels=tuple(levels),
        keep=np.concatenate([np.empty(0, np.intp), *(places[i] for i in sorted(places))]).astype(
            np.intp
        ),
    )


def _recipe(design: Design, column: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Pivots, transform (q, r), slope and shift of a block."""
    block = design.block(column)
    pivots = design.pivots[design.pivot_offsets[column] : design.pivot_offsets[column + 1]]
    start, stop = design.transform_offsets[column : column + 2]
    transform = design.transforms[start:stop].reshape(pivots.size, block.stop - block.start)
    return pivots, transform, design.slopes[block], design.shifts[block]


def _code_table(codes: FloatArray, transform: FloatArray, shift: FloatArray) -> FloatArray:
    """Features (r, L + 1) of the codes 0 to L - 1, and zeros for any other."""
    known = level_table(transform, shift)
    size = int(codes.max()) + 1 if codes.size else 0
    rows = np.full(size + 1, codes.size)
    rows[codes.astype(np.intp)] = np.arange(codes.size)
    return np.ascontiguousarray(known[rows].T)


def _look_up(codes: Any, table: Any, place: Place) -> Any:
    unknown = table.shape[1] - 1
    xp = place.xp
    bad = xp.isnan(codes) | (codes < 0) | (codes > unknown)
    at = xp.where(bad, xp.full_like(codes, unknown), codes)
    return table[:, place.integers(at)]


def _correlation(kernel: str, values: Any, pivots: Any, xp: Any, room: Any) -> Any:
    """Kernel values of scaled values; the largest array is worked on in place."""
    if kernel == "waves":
        # A negative frequency stands for a sine.
        t = xp.multiply(values, xp.abs(pivots), out=room)
        t -= (0.5 * np.pi) * (pivots < 0.0)
        return xp.cos(t, out=t)
    t = xp.subtract(values, pivots, out=room)
    if kernel == "gaussian":
        t *= t
        xp.negative(t, out=t)
        return xp.exp(t, out=t)
    t = xp.clip(xp.abs(t), 0.0, _FAR)
    if kernel == "laplacian":
        return xp.exp(-t)
    decay = xp.exp(-t)
    return (1.0 + t) * decay if kernel == "matern32" else (1.0 + t + t * t / 3.0) * decay
