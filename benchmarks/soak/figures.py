"""What a process holds: memory of the system, of malloc, and blocks of Python."""

from __future__ import annotations

import ctypes
import functools
import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from s2mam.baselines.shared.remember import forget_all

__all__ = [
    "NAMES",
    "WITHOUT_TCACHE",
    "clear_names",
    "clear_remembered",
    "clear_results",
    "figures",
    "fill_the_cache_of_numpy",
]

NAMES = ("resident MB", "malloc MB", "Python blocks")
#: Environment in which glibc keeps no freed blocks at hand, which malloc counts as handed out.
WITHOUT_TCACHE = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
Figures = tuple[float, float, float]
_MEGABYTE = 2**20


class _Mallinfo(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def clear_names() -> None:
    """Clear the cache in which Python keeps the names of the last 4096 attributes it looked up."""
    (getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache)()


def clear_results() -> None:
    """Clear what functions keep up to a fixed number of results (``functools.lru_cache``).

    The largest is that of numpy's ``einsum``: a plan for each of the last 4096 pairs of shapes.
    """
    for function in gc.get_objects():
        # Not isinstance: it asks objects for their class, and some of torch's warn when asked.
        bounded = type(function) is functools._lru_cache_wrapper
        if bounded and function.cache_parameters()["maxsize"] is not None:
            function.cache_clear()


def clear_remembered() -> None:
    """Clear what baselines keep of the last tables (up to 21 results of 2 MB each)."""
    forget_all()


CLEARED = (clear_names, clear_results, clear_remembered)


def figures(clear: Sequence[Callable[[], None]] = CLEARED) -> Figures:
    """Resident megabytes, megabytes that malloc has handed out, and blocks that Python has.

    Clears before what is no leak: garbage, free pages, and caches of a fixed size.
    """
    for step in clear:
        step()
    gc.collect()
    blocks, handed_out = sys.getallocatedblocks(), 0
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.malloc_trim(0)
        libc.mallinfo2.restype = _Mallinfo
        told = libc.mallinfo2()
        handed_out = told.uordblks + told.hblkhd
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    resident = pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE
    return resident, handed_out / _MEGABYTE, float(blocks)


def fill_the_cache_of_numpy() -> None:
    """Have numpy keep all the memory that it will ever keep for small arrays.

    It holds up to seven blocks of every size below 1024 bytes; with random sizes that would look
    like slow growth for hours.
    """
    for size in range(1, 1024):
        held = [np.empty(size, dtype=np.uint8) for _ in range(7)]
        del held
