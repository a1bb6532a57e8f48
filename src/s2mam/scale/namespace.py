"""The array library of a block: NumPy, or torch where the rows are tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray
from s2mam.scale.tables import is_tensor

__all__ = ["Place", "place_of"]


@dataclass(frozen=True)
class Place:
    """Where arrays live and how precise they are.

    Attributes
    ----------
    xp : module
        ``numpy`` or ``torch``; only functions of the same name and meaning in both are used.
    dtype
        Floats of the block: double, or single where the rows are tensors of single precision.
    device : torch device or None
    """

    xp: Any
    dtype: Any
    device: Any = None

    def put(self, values: AnyArray) -> Any:
        """A host array where the block lives; floats get its precision."""
        if self.device is None:
            return np.asarray(values)
        floats = np.asarray(values).dtype.kind == "f"
        return self.xp.as_tensor(values, dtype=self.dtype if floats else None, device=self.device)

    def cast(self, table: Any) -> Any:
        """Rows of a block as floats of its precision."""
        if self.device is None:
            return np.asarray(table, dtype=np.float64)
        return table.to(self.dtype)

    def concatenate(self, parts: list[Any]) -> Any:
        """Arrays below each other."""
        return np.concatenate(parts) if self.device is None else self.xp.cat(parts)

    def stack(self, parts: list[Any]) -> Any:
        """Arrays (c, b) as one of (c, parts, b)."""
        return self.xp.stack(parts, 1)

    def zeros(self, *shape: int) -> Any:
        """An array of zeros."""
        if self.device is None:
            return np.zeros(shape)
        return self.xp.zeros(shape, dtype=self.dtype, device=self.device)

    def floats(self, values: Any) -> Any:
        """Numbers or truth values as floats of the block's precision."""
        return values.astype(np.float64) if self.device is None else values.to(self.dtype)

    def integers(self, values: Any) -> Any:
        """Whole numbers that index."""
        return values.astype(np.intp) if self.device is None else values.long()

    def double(self, values: Any) -> Any:
        """Sums in double precision, where they are."""
        return values if self.device is None else values.double()


def place_of(table: Any) -> Place:
    """Where a block lives.

    Examples
    --------
    >>> place_of(np.zeros((2, 2))).xp.__name__
    'numpy'
    """
    if not is_tensor(table):
        return Place(np, np.float64)
    import torch

    single = table.dtype in (torch.float32, torch.float16, torch.bfloat16)
    return Place(torch, torch.float32 if single else torch.float64, table.device)
