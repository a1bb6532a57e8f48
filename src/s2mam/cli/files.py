"""Files to write: checked before the work, whole or not there after it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from s2mam.exceptions import InvalidInputError

__all__ = ["check_output", "replacing"]


def check_output(path: Path, *inputs: Path, device: bool = False) -> None:
    """Refuse a file that cannot be written, before minutes are spent on its content.

    Parameters
    ----------
    path : Path
        The file to write.
    *inputs : Path
        Files that are read, and that must not be written over.
    device : bool, default=False
        Whether a pipe or a device such as /dev/null will do.

    Examples
    --------
    >>> check_output(Path("nowhere/model.s2mam"))
    Traceback (most recent call last):
    ...
    s2mam.exceptions.InvalidInputError: There is no folder 'nowhere' to write into.
    """
    if str(path) == "-":
        raise InvalidInputError("Only predictions go to standard output; name a file to write.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InvalidInputError(f"There is no folder {str(path.parent)!r} to write into.")
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder; give the name of a file to write.")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise InvalidInputError(f"{path} is read from; give another file to write.")
    if path.exists() and not path.is_file():
        # A temporary file that is renamed would take the place of the device itself.
        if not device:
            raise InvalidInputError(f"{path} is not a plain file; give another one to write.")
        return
    if not os.access(folder, os.W_OK):
        raise InvalidInputError(f"The folder {str(folder)!r} may not be written into.")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file that takes the place of `path` when the block ends well.

    For writers that want a path with the right ending.

    Parameters
    ----------
    path : Path
        The file to write.

    Yields
    ------
    Path
        In the same folder, with the same ending; a device is given as it is.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.stem[:40]}.{secrets.token_hex(8)}{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
