"""Some rows of an .npy file, read without mapping the whole of it.

A map of a file needs as much address space as the file is long, which a limited process
(``ulimit -v``, as batch systems set it) does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from os import PathLike
from typing import Any

import numpy as np
from numpy.lib import format as npy

from s2mam._typing import AnyArray
from s2mam.exceptions import InvalidInputError

__all__ = ["NpyLayout", "npy_layout"]


@dataclass(frozen=True)
class NpyLayout:
    """What the header of an .npy file says.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    by_columns : bool
        Whether columns lie one after the other (Fortran order).
    offset : int
        Bytes before the first number.
    """

    shape: tuple[int, ...]
    dtype: Any
    by_columns: bool
    offset: int

    def read(self, path: str | PathLike[str], start: int, stop: int) -> AnyArray:
        """Rows ``start`` to ``stop`` of the table as an array of its own."""
        if self.by_columns:
            # Rows are scattered over the file, so that a map is the best there is.
            return np.array(np.load(path, mmap_mode="r")[start:stop])
        width = prod(self.shape[1:])
        numbers = np.fromfile(
            path,
            dtype=self.dtype,
            count=(stop - start) * width,
            offset=self.offset + start * width * self.dtype.itemsize,
        )
        if numbers.size != (stop - start) * width:
            raise InvalidInputError(
                f"{str(path)!r} ends before row {stop}, though its header has {self.shape[0]} rows."
            )
        return numbers.reshape(stop - start, *self.shape[1:])


def npy_layout(path: str | PathLike[str]) -> NpyLayout:
    """Read the header of an .npy file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".npy") as file:
    ...     np.save(file.name, np.arange(6.0).reshape(3, 2))
    ...     layout = npy_layout(file.name)
    ...     layout.read(file.name, 1, 3)
    array([[2., 3.],
           [4., 5.]])
    """
    with open(path, "rb") as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, by_columns, dtype = read(file)
        except ValueError as error:
            raise InvalidInputError(f"{str(path)!r} is not an .npy file: {error}.") from None
        offset = file.tell()
    if dtype.hasobject:
        raise InvalidInputError(
            f"{str(path)!r} holds Python objects, which are not read; save numbers or text."
        )
    return NpyLayout(shape, dtype, by_columns, offset)
