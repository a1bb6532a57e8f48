"""Files inside zip, tar and gzip files, as bytes."""

from __future__ import annotations

import fnmatch
import gzip
import io
import tarfile
import zipfile
import zlib

from s2mam.exceptions import InvalidInputError

_MAX_MEMBER = 2**31
_INSIDE = "!"


def unpack(content: bytes, member: str) -> bytes:
    """One file of an archive.

    Parameters
    ----------
    content : bytes
        A zip, tar or gzip file, or a plain one.
    member : str
        Name or pattern of the file in it; ``inner.tar.gz!folder/name`` looks into an archive inside
        the archive; empty for the content itself, without its gzip layer.

    Returns
    -------
    bytes

    Examples
    --------
    >>> unpack(gzip.compress(b"1,2"), "")
    b'1,2'
    """
    first, _, rest = member.partition(_INSIDE)
    try:
        inner = _read_member(content, first)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise InvalidInputError(f"The archive with {member!r} cannot be read: {error}.") from error
    return unpack(inner, rest) if rest else inner


def _read_member(content: bytes, pattern: str) -> bytes:
    if not pattern:
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    stream = io.BytesIO(content)
    if zipfile.is_zipfile(stream):
        with zipfile.ZipFile(stream) as archive:
            name = _only([entry.filename for entry in archive.infolist()], pattern)
            _check_size(name, archive.getinfo(name).file_size)
            return archive.read(name)
    stream.seek(0)
    with tarfile.open(fileobj=stream) as tar:
        name = _only(tar.getnames(), pattern)
        entry = tar.getmember(name)
        _check_size(name, entry.size)
        file = tar.extractfile(entry)
        return b"" if file is None else file.read()


def _only(names: list[str], pattern: str) -> str:
    found = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
    # Archives made elsewhere may hold the same files below a folder.
    found = found or [name for name in names if fnmatch.fnmatchcase(name, "*/" + pattern)]
    if len(found) != 1:
        raise InvalidInputError(
            f"The archive holds {len(found)} files {pattern!r} and not one; it has: "
            f"{', '.join(names[:10])}."
        )
    return found[0]


def _check_size(name: str, size: int) -> None:
    if size > _MAX_MEMBER:
        raise InvalidInputError(f"{name!r} in the archive would unpack to {size} bytes.")
