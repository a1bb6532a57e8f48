"""How many bytes a graph needs, and how many there are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from s2mam.exceptions import MemoryLimitError

__all__ = ["available_bytes", "estimate_bytes", "require_memory"]

#: Share of the available memory that one graph may take when no limit is given.
_SHARE: Final = 0.6
_DOUBLE: Final = 8
# Numbers per row of the approximate graphs at their largest: shares and indices, or features.
_SHARES: Final = {"anchors": 20, "nystrom": 1000, "fourier": 256}


def estimate_bytes(n: int, kind: str, *, n_columns: int = 0, n_neighbors: int = 10) -> int:
    """Return the peak bytes of building a graph of ``n`` rows, before anything is allocated.

    Examples
    --------
    >>> estimate_bytes(1000, "dense", n_columns=10)
    14432000
    >>> estimate_bytes(1_000_000, "neighbors", n_columns=10) < estimate_bytes(50_000, "dense")
    True
    """
    # Factors as measured by benchmarks/faults/memory.py; rows are there several times: masked
    # points, factors of products, temporaries.
    rows = n * (n_columns + 2) * _DOUBLE
    if kind == "dense":
        bandwidth = min(n * n, 160_000) * 3 * _DOUBLE
        blocks = 3 * min(n, 256) * n * _DOUBLE
        return n * n * _DOUBLE + max(bandwidth, blocks) + 3 * rows
    if kind in ("anchors", "nystrom", "fourier"):
        # Features or shares of every row with temporaries, and a block of distances.
        return 8 * rows + (4 * n * _SHARES[kind] + 3 * 2**21) * _DOUBLE
    entries = n * (n_neighbors + 1)
    # Both directions, values and indices, and their union.
    return 9 * (entries * _DOUBLE + rows) // 2


def available_bytes() -> int | None:
    """Return the memory that can be used now, or None where the system does not say.

    Examples
    --------
    >>> found = available_bytes()
    >>> found is None or found > 0
    True
    """
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def memory_allowance(memory_limit: int | None) -> int | None:
    """Return the bytes a graph may take: the given limit, or 60 % of what is available."""
    if memory_limit is not None:
        return memory_limit
    available = available_bytes()
    return None if available is None else int(_SHARE * available)


def require_memory(needed: int, allowance: int | None, *, n: int, kind: str) -> None:
    """Raise when a graph would need more than its allowance.

    Examples
    --------
    >>> require_memory(10, 20, n=1, kind="dense")
    """
    if allowance is None or needed <= allowance:
        return
    way_out = 'use graph="neighbors" or fewer rows' if kind == "dense" else "use fewer rows"
    raise MemoryLimitError(
        f"A {kind} graph of {n} rows needs about {_readable(needed)}, but {_readable(allowance)} "
        f"are allowed; {way_out}, or raise memory_limit."
    )


def _readable(size: int) -> str:
    value, units = float(size), ["bytes", "kB", "MB", "GB", "TB"]
    while value >= 1000.0 and len(units) > 1:
        value /= 1000.0
        units.pop(0)
    return f"{value:.3g} {units[0]}"
