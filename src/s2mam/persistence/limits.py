"""How much a file may hold; the writer obeys what the reader enforces."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CHUNK_BYTES",
    "MAX_ARRAYS",
    "MAX_DEPTH",
    "MAX_DIRECTORY_BYTES",
    "MAX_FILE_BYTES",
    "MAX_INT_BITS",
    "MAX_JSON_BYTES",
    "MAX_NDIM",
    "Refusal",
]

#: Members are stored, not compressed, so this also bounds what a reader allocates for arrays.
MAX_FILE_BYTES: Final = 16 * 2**30
#: A json text grows some twentyfold in memory, hence its own, lower limit.
MAX_JSON_BYTES: Final = 128 * 2**20
MAX_ARRAYS: Final = 100_000
#: Above what the directory of MAX_ARRAYS members needs.
MAX_DIRECTORY_BYTES: Final = 16 * 2**20
#: Levels of dicts and lists inside each other; far from Python's own recursion limit.
MAX_DEPTH: Final = 64
#: 617 digits: below the lowest limit that Python can be told to put on reading integers.
MAX_INT_BITS: Final = 2048
#: The most that the oldest supported numpy knows.
MAX_NDIM: Final = 32
CHUNK_BYTES: Final = 2**20


class Refusal(Exception):
    """Why a file is not read: part of a sentence, completed with the path by the caller."""
