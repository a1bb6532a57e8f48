"""Checks of what a design is built from; each message names the column or parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.kernels import require_kernel
from s2mam.exceptions import InvalidInputError

__all__ = ["read_kinds", "read_lengths", "read_table", "require_design_options"]

_KINDS: Final = ("numeric", "categorical", "constant")
# The linear kernel squares values and sums the squares over rows; this leaves room for both.
_LARGEST: Final = 1e140


def read_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the column kinds as a tuple, or raise when one is unknown.

    Examples
    --------
    >>> read_kinds(["numeric", "constant"])
    ('numeric', 'constant')
    """
    if not len(kinds):
        raise InvalidInputError("kinds is empty; a design needs at least one column.")
    for column, kind in enumerate(kinds):
        if kind not in _KINDS:
            raise InvalidInputError(f"kinds[{column}]={kind!r} is unknown; use one of {_KINDS}.")
    return tuple(str(kind) for kind in kinds)


def read_table(Z: ArrayLike, *, n_columns: int, columns: IntArray | None = None) -> FloatArray:
    """Return the table (or only the given columns of it) as floats without infinite values.

    Examples
    --------
    >>> read_table([[1, 2], [3, 4]], n_columns=2)
    array([[1., 2.],
           [3., 4.]])
    """
    table = np.asarray(Z, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != n_columns:
        raise InvalidInputError(
            f"Z has shape {table.shape}, but {n_columns} columns are needed; pass one row per "
            "sample and the same columns as at the start."
        )
    if columns is not None:
        table = table[:, columns]
    extreme = np.isinf(table) | (np.abs(table) > _LARGEST)
    if extreme.any():
        at = int(np.flatnonzero(extreme.any(axis=0))[0])
        name = at if columns is None else int(columns[at])
        raise InvalidInputError(
            f"Column {name} of Z holds infinite values or values beyond {_LARGEST:g}; rescale it "
            "or mark them as missing with NaN."
        )
    return table


def read_lengths(length: float | str | ArrayLike, auto: FloatArray, n_columns: int) -> FloatArray:
    """Return one positive kernel length per column; ``auto`` answers the word "auto".

    Examples
    --------
    >>> read_lengths(2.0, np.empty(0), 3)
    array([2., 2., 2.])
    """
    if isinstance(length, str):
        if length != "auto":
            raise InvalidInputError(f'length={length!r} is unknown; use a number or "auto".')
        return auto
    given = np.asarray(length, dtype=np.float64)
    if given.shape not in ((), (n_columns,)):
        raise InvalidInputError(
            f"length has shape {given.shape}; pass one number or one per column ({n_columns})."
        )
    lengths = np.broadcast_to(given, (n_columns,)).copy()
    if not (np.isfinite(lengths) & (lengths > 0.0)).all():
        raise InvalidInputError('length must be positive and finite; use "auto" to take it from Z.')
    return lengths


def require_design_options(
    *, kernel: str, linear: float, tolerance: float, max_rank: int | None
) -> None:
    """Raise unless the scalar options of a design make sense.

    Examples
    --------
    >>> require_design_options(kernel="gaussian", linear=0.0, tolerance=1e-8, max_rank=None)
    """
    require_kernel(kernel)
    if not (np.isfinite(linear) and linear >= 0.0):
        raise InvalidInputError(f"linear={linear} must be a finite number that is not negative.")
    if not 0.0 < tolerance < 1.0:
        raise InvalidInputError(f"tolerance={tolerance} must lie strictly between 0 and 1.")
    if max_rank is not None and max_rank < 1:
        raise InvalidInputError(f"max_rank={max_rank} must be at least 1, or None for no limit.")
