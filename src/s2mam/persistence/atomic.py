"""Files that are either the old one or the complete new one, whatever happens in between."""

from __future__ import annotations

import errno
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final

__all__ = ["atomic_writer", "remove_leftovers"]

#: A writer touches its temporary file all the time, so one this old has lost its writer.
_LEFTOVER_SECONDS: Final = 3600.0

_CREATE: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
)
#: Some file systems and platforms cannot open or sync a folder; the rename is done by then.
_NO_FOLDER_SYNC: Final = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM}


@contextmanager
def atomic_writer(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a binary stream whose content takes the place of `path` when the block ends well.

    The stream is a temporary file in the same folder. It is synced to disk, renamed over
    `path`, and the folder is synced. When the block or any of these steps raises, the
    temporary file goes and the old file stays. A symbolic link is followed, not replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_writer(f"{folder}/a") as stream:
    ...         _ = stream.write(b"all or nothing")
    ...     os.listdir(folder)
    ['a']
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f"{_prefix(name)}{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, _CREATE, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(descriptor)
        os.replace(temporary, target)
        _sync_folder(folder)
    finally:
        # After a good rename it is gone already.
        with suppress(OSError):
            os.unlink(temporary)


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Delete temporary files for `path` whose writer was killed more than an hour ago."""
    folder, name = os.path.split(os.path.realpath(path))
    pattern = re.compile(re.escape(_prefix(name)) + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            if not pattern.fullmatch(entry.name):
                continue
            with suppress(OSError):
                if time.time() - entry.stat().st_mtime > _LEFTOVER_SECONDS:
                    os.unlink(entry.path)


def _prefix(name: str) -> str:
    # Cut, so that a long but valid name does not make an invalid temporary one.
    return f".{name[:40]}."


def _sync_folder(folder: str) -> None:
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
