"""Blocks cut into pieces whose working memory stays near the cache, or fills an accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from s2mam.scale.namespace import Place

__all__ = ["chunk_rows"]

# Numbers that are worked on at once: 8 MB beside a processor, 2 GB on an accelerator.
_HOST: Final = 2**20
_DEVICE: Final = 2**28
_FEWEST: Final = 64


def chunk_rows(n_rows: int, doubles_per_row: int, place: Place) -> Iterator[slice]:
    """Slices of rows.

    Examples
    --------
    >>> import numpy as np
    >>> list(chunk_rows(100, 2**14, Place(np, np.float64)))
    [slice(0, 64, None), slice(64, 100, None)]
    """
    on_host = place.device is None or place.device.type == "cpu"
    step = max(_FEWEST, (_HOST if on_host else _DEVICE) // max(doubles_per_row, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
