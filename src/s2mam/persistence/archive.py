"""A zip of stored members, read without trusting a single byte of it.

Members are never compressed. Floating-point arrays hardly shrink, and without compression
a reader never has to allocate more than the file itself is long: there are no zip bombs.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import IO, Final

from s2mam.persistence.limits import (
    CHUNK_BYTES,
    MAX_ARRAYS,
    MAX_DIRECTORY_BYTES,
    MAX_FILE_BYTES,
    Refusal,
)

__all__ = ["ArchiveReader", "write_archive"]

_UNIX: Final = 3
_PLAIN_FILE: Final = 0o100644 << 16


def write_archive(
    stream: IO[bytes], members: Iterable[tuple[str, int, Iterable[bytes | memoryview]]]
) -> None:
    """Write (name, size, chunks) triples; equal members give equal bytes."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, size, chunks in members:
            # Without a date the entry says 1980: no clock enters the file.
            info = zipfile.ZipInfo(name)
            info.create_system = _UNIX
            info.external_attr = _PLAIN_FILE
            info.file_size = size  # tells zipfile whether the entry needs 64-bit sizes
            with archive.open(info, "w") as member:
                for chunk in chunks:
                    member.write(chunk)


class ArchiveReader:
    """Read members by name after the directory passed all checks.

    Parameters
    ----------
    path : str or path-like
        Operating-system errors on opening it (not there, no permission) are passed on.

    Raises
    ------
    Refusal
        From the constructor and all methods, for whatever is not a sound archive.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._stream = _CappedReader(io.FileIO(path))
        try:
            self._size = self._stream.seek(0, os.SEEK_END)
            if self._size > MAX_FILE_BYTES:
                raise Refusal(f"it is larger than {MAX_FILE_BYTES} bytes")
            with _archive_errors():
                self._zip = zipfile.ZipFile(self._stream)
            self._infos = _members_by_name(self._zip.infolist(), self._size)
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> ArchiveReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()
        self._stream.close()

    @property
    def names(self) -> list[str]:
        """Member names in the order of the directory."""
        return list(self._infos)

    def size(self, name: str) -> int:
        """Declared size, which is never above the size of the file."""
        return self._info(name).file_size

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a member in pieces; its CRC is checked at the end."""
        info = self._info(name)
        _check_stored(info)
        with _archive_errors(), self._zip.open(info) as member:
            left = info.file_size
            while left:
                piece = member.read(min(left, CHUNK_BYTES))
                if not piece:
                    raise Refusal(f"{name} is cut short")
                left -= len(piece)
                yield piece

    def _info(self, name: str) -> zipfile.ZipInfo:
        if name not in self._infos:
            raise Refusal(f"it lacks {name}")
        return self._infos[name]


class _CappedReader(io.BufferedReader):
    """Never reads more at once than a sound file needs, whatever its fields claim."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:  # zipfile reads the tail of the file in this way
            size = os.fstat(self.fileno()).st_size - self.tell()
        if size > MAX_DIRECTORY_BYTES:
            raise zipfile.BadZipFile("the directory is too large")
        return super().read(size)


@contextmanager
def _archive_errors() -> Iterator[None]:
    """Translate everything that zipfile is known to raise on damaged archives."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        EOFError,
        OSError,
        OverflowError,
        RuntimeError,  # with NotImplementedError: encryption and later zip versions
        ValueError,
        struct.error,
    ) as error:
        raise Refusal("the archive is damaged or cut short") from error


def _members_by_name(infos: list[zipfile.ZipInfo], size: int) -> dict[str, zipfile.ZipInfo]:
    if len(infos) > MAX_ARRAYS + 2:
        raise Refusal("it has too many members")
    # orig_filename: the other one is cut at a NUL and rewritten on some platforms.
    members = {info.orig_filename: info for info in infos}
    if len(members) != len(infos):
        raise Refusal("two of its members have the same name")
    # Members that share bytes would be a way to declare more than the file holds.
    if sum(info.file_size for info in infos) > size:
        raise Refusal("its members claim to be larger than the file")
    return members


def _check_stored(info: zipfile.ZipInfo) -> None:
    stored = info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size
    if not stored or info.flag_bits:
        raise Refusal("a member is compressed or encrypted, which s2mam never writes")
