"""Arrays as `.npy` bytes: our own prefix, compared and never parsed.

The header of the file says dtype, shape and order of every array. The reader builds the
prefix that belongs to them and requires these very bytes, so nothing in an array member is
ever interpreted. Any tool that reads npy version 1.0 can still open the members.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from s2mam._typing import AnyArray
from s2mam.persistence.limits import MAX_FILE_BYTES, MAX_NDIM, Refusal

__all__ = [
    "SCALAR_DTYPE",
    "STORABLE_DTYPE",
    "ArraySpec",
    "raw_bytes",
    "read_array",
    "shape_is_possible",
]

_NUMBERS: Final = r"\|b1|\|[iu]1|[<>](?:[iu][248]|f[248]|c(?:8|16))"
#: Numpy scalars: numbers and booleans. Long doubles differ between platforms and stay out.
SCALAR_DTYPE: Final = re.compile(_NUMBERS)
#: Arrays: these and fixed-width unicode.
STORABLE_DTYPE: Final = re.compile(_NUMBERS + r"|[<>]U[1-9][0-9]{0,6}")

_LAST_CODE_POINT: Final = 0x10FFFF


@dataclass(frozen=True)
class ArraySpec:
    """What is known of an array before its bytes are read.

    Attributes
    ----------
    dtype : str
        As in ``numpy.dtype.str``.
    shape : tuple of int
    order : "C" or "F"
        Memory order; kept because matrix products may differ in the last bit without it.
    """

    dtype: str
    shape: tuple[int, ...]
    order: Literal["C", "F"]

    @classmethod
    def of(cls, array: AnyArray) -> ArraySpec:
        """Return the specification under which `array` is stored."""
        fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        return cls(array.dtype.str, array.shape, "F" if fortran else "C")

    def check(self) -> None:
        """Refuse what `write_state` would never have written."""
        if not STORABLE_DTYPE.fullmatch(self.dtype):
            raise Refusal("an array has a dtype that is not allowed")
        if not shape_is_possible(self.shape, self.itemsize):
            raise Refusal("an array has an impossible shape")
        if self.order not in ("C", "F"):
            raise Refusal("an array has an unknown memory order")

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return np.dtype(self.dtype).itemsize

    @property
    def prefix(self) -> bytes:
        """The npy magic and header (version 1.0), padded to a multiple of 64 bytes."""
        text = (
            f"{{'descr': {self.dtype!r}, 'fortran_order': {self.order == 'F'}, "
            f"'shape': {self.shape!r}, }}"
        )
        padding = -(10 + len(text) + 1) % 64
        header = text.encode("ascii") + b" " * padding + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header

    @property
    def n_bytes(self) -> int:
        """Size of the whole member."""
        return len(self.prefix) + math.prod(self.shape) * self.itemsize


def shape_is_possible(shape: Sequence[int], itemsize: int) -> bool:
    """Whether numpy can make such an array and a file can hold it.

    Axes of length zero count as one: numpy itself refuses huge axes next to an empty one.
    """
    if len(shape) > MAX_NDIM or min(shape, default=0) < 0:
        return False
    return math.prod(max(size, 1) for size in shape) * itemsize <= MAX_FILE_BYTES


def raw_bytes(array: AnyArray, spec: ArraySpec) -> memoryview:
    """Return the bytes that follow the prefix; strided arrays are copied, others are not."""
    contiguous = np.asarray(array, order=spec.order)
    return contiguous.reshape(-1, order="A").view(np.uint8).data


def read_array(spec: ArraySpec, chunks: Iterable[bytes]) -> AnyArray:
    """Rebuild an array from the chunks that follow its prefix.

    Parameters
    ----------
    spec : ArraySpec
        Already checked.
    chunks : iterable of bytes
        Exactly as many bytes as the array holds.

    Returns
    -------
    ndarray
    """
    array: AnyArray = np.empty(spec.shape, dtype=np.dtype(spec.dtype), order=spec.order)
    memory = array.reshape(-1, order="A").view(np.uint8)
    filled = 0
    for chunk in chunks:
        if filled + len(chunk) > memory.size:
            raise Refusal("an array is longer than its shape says")
        memory[filled : filled + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
        filled += len(chunk)
    if filled != memory.size:
        raise Refusal("an array is shorter than its shape says")
    _check_values(array)
    return array


def _check_values(array: AnyArray) -> None:
    """Refuse bit patterns that numpy never makes and handles badly."""
    memory = array.reshape(-1, order="A")
    if array.dtype.kind == "b" and np.any(memory.view(np.uint8) > 1):
        raise Refusal("a boolean array holds bytes that are neither true nor false")
    if array.dtype.kind == "U":
        codes = memory.view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if np.any(codes > _LAST_CODE_POINT):
            raise Refusal("a text array holds characters that do not exist")
