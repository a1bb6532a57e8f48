"""The header of a file: what it is, who wrote it, and what every member must look like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from s2mam._version import __version__
from s2mam.persistence.limits import MAX_ARRAYS, MAX_JSON_BYTES, Refusal
from s2mam.persistence.npy import ArraySpec
from s2mam.persistence.strict_json import dump_json, load_json

__all__ = [
    "FORMAT_NAME",
    "FORMAT_VERSION",
    "HEADER_MEMBER",
    "STATE_MEMBER",
    "Header",
    "Member",
    "array_member",
    "is_kind",
]

FORMAT_NAME: Final = "s2mam-state"
#: Raise it whenever an older reader could not understand a newer file.
FORMAT_VERSION: Final = 1
#: Every format version keeps this member, first and uncompressed, with the keys that
#: `_check_format` reads: older versions have to be able to say that a file is too new.
HEADER_MEMBER: Final = "header.json"
STATE_MEMBER: Final = "state.json"

_KIND: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_VERSION: Final = re.compile(r"[0-9A-Za-z.+!-]{1,40}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_KEYS: Final = {"format", "format_version", "package_version", "kind", "members"}


@dataclass(frozen=True)
class Member:
    """One member besides the header; `array` is None for the json state."""

    name: str
    n_bytes: int
    sha256: str
    array: ArraySpec | None = None


@dataclass(frozen=True)
class Header:
    """Kind of the state and its members: the json state first, then the arrays in order."""

    kind: str
    members: tuple[Member, ...]

    def to_bytes(self) -> bytes:
        """Encode; the format and package versions are ours."""
        tree = {
            "format": FORMAT_NAME,
            "format_version": FORMAT_VERSION,
            "package_version": __version__,
            "kind": self.kind,
            "members": [_member_to_json(member) for member in self.members],
        }
        return dump_json(tree)

    @classmethod
    def from_bytes(cls, raw: bytes) -> Header:
        """Decode and check every field; what is wrong becomes a `Refusal`."""
        tree = load_json(raw, HEADER_MEMBER)
        _check_format(tree)
        if set(tree) != _KEYS or not isinstance(tree["members"], list):
            raise Refusal("its header has missing or unknown entries")
        if not is_kind(tree["kind"]):
            raise Refusal("its header names no valid kind")
        if not 1 <= len(tree["members"]) <= MAX_ARRAYS + 1:
            raise Refusal("its header lists no members or too many")
        members = [_member_from_json(entry, i) for i, entry in enumerate(tree["members"])]
        return cls(tree["kind"], tuple(members))


def is_kind(kind: Any) -> bool:
    """Whether `kind` is a plain ASCII class name."""
    return isinstance(kind, str) and _KIND.fullmatch(kind) is not None


def array_member(number: int) -> str:
    """Name of the member that holds an array."""
    return f"arrays/{number}.npy"


def _check_format(tree: Any) -> None:
    if not isinstance(tree, dict) or tree.get("format") != FORMAT_NAME:
        raise Refusal("it is not an s2mam file")
    version, package = tree.get("format_version"), tree.get("package_version")
    if type(version) is not int or version < 1:
        raise Refusal("its header has no valid format version")
    if not (isinstance(package, str) and _VERSION.fullmatch(package)):
        raise Refusal("its header has no valid package version")
    if version > FORMAT_VERSION:
        raise Refusal(
            f"it was written by a newer release (s2mam {package}, format {version}) and this "
            f"one (s2mam {__version__}) reads up to format {FORMAT_VERSION}, so upgrade s2mam"
        )


def _member_to_json(member: Member) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": member.name,
        "bytes": member.n_bytes,
        "sha256": member.sha256,
    }
    if member.array is not None:
        entry["dtype"] = member.array.dtype
        entry["shape"] = list(member.array.shape)
        entry["order"] = member.array.order
    return entry


def _member_from_json(entry: Any, index: int) -> Member:
    name = STATE_MEMBER if index == 0 else array_member(index - 1)
    keys = {"name", "bytes", "sha256"} | ({"dtype", "shape", "order"} if index else set())
    if not isinstance(entry, dict) or set(entry) != keys or entry["name"] != name:
        raise Refusal("its header has a malformed list of members")
    size, digest = entry["bytes"], entry["sha256"]
    if type(size) is not int or not (isinstance(digest, str) and _SHA256.fullmatch(digest)):
        raise Refusal(f"its header gives no valid size and checksum for {name}")
    array = _spec_from_json(entry) if index else None
    allowed = size == array.n_bytes if array is not None else 0 < size <= MAX_JSON_BYTES
    if not allowed:
        raise Refusal(f"its header gives an impossible size for {name}")
    return Member(name, size, digest, array)


def _spec_from_json(entry: dict[str, Any]) -> ArraySpec:
    dtype, shape, order = entry["dtype"], entry["shape"], entry["order"]
    shape_ok = isinstance(shape, list) and all(type(size) is int for size in shape)
    if not (isinstance(dtype, str) and isinstance(order, str) and shape_ok):
        raise Refusal("its header has a malformed array entry")
    spec = ArraySpec(dtype, tuple(shape), cast(Literal["C", "F"], order))
    spec.check()
    return spec
