"""One model file: a zip with ``header.json``, ``state.json`` and ``arrays/<n>.npy``.

No pickle is written or read and no code runs on load. A state comes back bit for bit, with
dtypes, shapes, byte order, memory order (C or Fortran) and the order of dict keys. Two things
change: tuples come back as lists (also inside other containers) and ``numpy.str_`` as str.
Equal states with their keys in the same order give equal bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import chain
from typing import Any

from s2mam._typing import AnyArray
from s2mam.exceptions import InvalidInputError, ModelFileError
from s2mam.persistence.archive import ArchiveReader, write_archive
from s2mam.persistence.atomic import atomic_writer
from s2mam.persistence.header import (
    HEADER_MEMBER,
    STATE_MEMBER,
    Header,
    Member,
    array_member,
    is_kind,
)
from s2mam.persistence.limits import MAX_FILE_BYTES, MAX_JSON_BYTES, Refusal
from s2mam.persistence.npy import ArraySpec, raw_bytes, read_array
from s2mam.persistence.strict_json import dump_json, load_json
from s2mam.persistence.tree import decode_tree, encode_tree

__all__ = ["read_state", "write_state"]


def write_state(path: str | os.PathLike[str], kind: str, state: Any) -> None:
    """Write a state tree to one file, all or nothing.

    Parameters
    ----------
    path : str or path-like
        An existing file is replaced only after the new one is complete on disk.
    kind : str
        What the state belongs to, usually a class name.
    state : nested dict, list and tuple
        Keys are str. Leaves are str, int, float (nan and inf included), bool, None, numpy
        scalars, or numpy arrays: numeric, bool, fixed-width unicode, or object arrays of
        plain values.

    Raises
    ------
    InvalidInputError
        For a leaf that cannot be stored; the message says where it is.
    OSError
        When the file cannot be written; an existing one is left as it was.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/model.s2mam"
    ...     write_state(path, "Example", {"coef": np.array([1.0, np.nan]), "tol": 1e-6})
    ...     read_state(path)
    ('Example', {'coef': array([ 1., nan]), 'tol': 1e-06})
    """
    if not is_kind(kind):
        raise InvalidInputError(f"kind has to be a plain class name, got {kind!r}.")
    node, arrays = encode_tree(state)
    text = dump_json(node)
    members = [Member(STATE_MEMBER, len(text), hashlib.sha256(text).hexdigest())]
    members += [_describe(number, array) for number, array in enumerate(arrays)]
    header = Header(kind, tuple(members)).to_bytes()
    _check_sizes(header, text, members)
    with atomic_writer(path) as stream:
        fixed = [(HEADER_MEMBER, len(header), [header]), (STATE_MEMBER, len(text), [text])]
        large = (
            (member.name, member.n_bytes, _array_chunks(member, array))
            for member, array in zip(members[1:], arrays, strict=True)
        )
        write_archive(stream, chain(fixed, large))


def read_state(path: str | os.PathLike[str]) -> tuple[str, Any]:
    """Read a file of `write_state`; everything is checked and nothing is executed.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    kind : str
    state : nested dict and list
        Arrays are writable and own nothing of the file.

    Raises
    ------
    ModelFileError
        When the file is damaged, cut short, not ours, or of a newer format version.
    OSError
        When there is no such file or it may not be read.
    """
    try:
        with ArchiveReader(path) as archive:
            return _read(archive)
    except Refusal as refusal:
        raise ModelFileError(f"Cannot load {os.fspath(path)!r}: {refusal}.") from refusal


def _describe(number: int, array: AnyArray) -> Member:
    spec = ArraySpec.of(array)
    digest = hashlib.sha256(spec.prefix)
    digest.update(raw_bytes(array, spec))
    return Member(array_member(number), spec.n_bytes, digest.hexdigest(), spec)


def _array_chunks(member: Member, array: AnyArray) -> Iterator[bytes | memoryview]:
    assert member.array is not None
    yield member.array.prefix
    yield raw_bytes(array, member.array)


def _check_sizes(header: bytes, text: bytes, members: list[Member]) -> None:
    if max(len(header), len(text)) > MAX_JSON_BYTES:
        raise InvalidInputError(
            f"The state has more than {MAX_JSON_BYTES} bytes of json; use arrays for long lists."
        )
    # Names, checksums and directory entries need far less than 256 bytes per member.
    total = len(header) + sum(member.n_bytes + 256 for member in members)
    if total > MAX_FILE_BYTES:
        raise InvalidInputError(
            f"The state has {total} bytes; a file may have {MAX_FILE_BYTES} at most."
        )


def _read(archive: ArchiveReader) -> tuple[str, Any]:
    if archive.size(HEADER_MEMBER) > MAX_JSON_BYTES:
        raise Refusal("its header is too large")
    header = Header.from_bytes(b"".join(archive.chunks(HEADER_MEMBER)))
    expected = [HEADER_MEMBER, *(member.name for member in header.members)]
    if archive.names != expected:
        raise Refusal("its members are not those that its header lists")
    for member in header.members:
        if archive.size(member.name) != member.n_bytes:
            raise Refusal(f"{member.name} has another size than its header says")
    state, *arrays = header.members
    node = load_json(b"".join(_verified(archive, state)), STATE_MEMBER)
    return header.kind, decode_tree(node, [_read_array(archive, member) for member in arrays])


def _read_array(archive: ArchiveReader, member: Member) -> AnyArray:
    assert member.array is not None
    chunks = _verified(archive, member)
    prefix = member.array.prefix
    first = next(chunks)
    if not first.startswith(prefix):
        raise Refusal(f"{member.name} does not start as an array of its dtype and shape")
    return read_array(member.array, chain([first[len(prefix) :]], chunks))


def _verified(archive: ArchiveReader, member: Member) -> Iterator[bytes]:
    """Pass the chunks on and compare the checksum after the last one."""
    digest = hashlib.sha256()
    for chunk in archive.chunks(member.name):
        digest.update(chunk)
        yield chunk
    if digest.hexdigest() != member.sha256:
        raise Refusal(f"the checksum of {member.name} is wrong")
