"""Working memory of a loop over chunks of rows.

An array of some hundred kilobytes that is made and dropped for every chunk may be given back to the
system each time; Dask starts its workers so that it always is. Its pages are then zeroed and mapped
again for the next chunk, which takes longer than the sums themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.scale.namespace import Place

__all__ = ["Scratch"]


class Scratch:
    """Arrays that are used again for the next chunk; their contents are then gone.

    Examples
    --------
    >>> scratch, place = Scratch(), Place(np, np.float64)
    >>> first = scratch.room(place, "kernel", 4, 10)
    >>> last = scratch.room(place, "kernel", 4, 3)
    >>> last.shape, np.shares_memory(first, last)
    ((4, 3), True)
    """

    def __init__(self) -> None:
        self._held: dict[str, FloatArray] = {}

    def room(self, place: Place, name: str, *shape: int) -> Any:
        """An array of this shape with any contents; torch has a cache of its own."""
        if place.device is not None:
            return place.xp.empty(shape, dtype=place.dtype, device=place.device)
        size = int(np.prod(shape))
        held = self._held.get(name)
        if held is None or held.size < size:
            held = self._held[name] = np.empty(size)
        return held[:size].reshape(shape)
