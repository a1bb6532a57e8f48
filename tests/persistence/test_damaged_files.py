"""Damaged and hostile files: one typed error each, never a partial state, never code."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import re
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from state_trees import assert_same, members_of, rewrite

from s2mam.exceptions import ModelFileError
from s2mam.persistence.format import read_state, write_state

STATE = {"a": np.array([1.5, np.nan]), "b": [True, "é", float("inf")], "c": np.array(["xy"])}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    result = tmp_path / "model.s2mam"
    write_state(result, "Model", STATE)
    return result


def refused(path: Path, reason: str | None = None) -> None:
    with pytest.raises(ModelFileError, match=reason) as caught:
        read_state(path)
    message = str(caught.value)
    assert str(path) in message
    assert message.endswith(".")
    assert "\n" not in message


def change_json(member: str, change: Callable[[Any], Any]) -> Callable[[dict[str, bytes]], None]:
    """Change a json member; the checksum in the header follows, as a forger would do."""

    def apply(members: dict[str, bytes]) -> None:
        tree = json.loads(members[member])
        changed = change(tree)
        raw = changed if isinstance(changed, bytes) else json.dumps(changed or tree).encode()
        members[member] = raw
        if member == "state.json":
            forge_checksum(members, member)

    return apply


def forge_checksum(members: dict[str, bytes], member: str) -> None:
    header = json.loads(members["header.json"])
    for entry in header["members"]:
        if entry["name"] == member:
            entry["bytes"] = len(members[member])
            entry["sha256"] = hashlib.sha256(members[member]).hexdigest()
    members["header.json"] = json.dumps(header).encode()


def test_rewriting_alone_changes_nothing(path):
    rewrite(path, lambda members: None)
    assert_same(read_state(path)[1], STATE)


def test_truncation_at_every_byte(path):
    for length in reversed(range(path.stat().st_size)):
        os.truncate(path, length)
        with pytest.raises(ModelFileError):
            read_state(path)


@pytest.mark.parametrize("bits", [*(1 << bit for bit in range(8)), 0xFF])
def test_every_damaged_byte_is_refused_or_harmless(path, bits):
    whole = path.read_bytes()
    n_refused = 0
    with path.open("r+b", buffering=0) as stream:
        for position, byte in enumerate(whole):
            stream.seek(position)
            stream.write(bytes([byte ^ bits]))
            n_refused += _is_refused_or_same(path)
            stream.seek(position)
            stream.write(bytes([byte]))
    # Only fields that no reader needs (dates, attributes, local copies) may be harmless.
    assert 0.8 * len(whole) < n_refused < len(whole)
    assert path.read_bytes() == whole


def _is_refused_or_same(path: Path) -> bool:
    try:
        kind, state = read_state(path)
    except ModelFileError:
        return True
    assert kind == "Model"
    assert_same(state, STATE)
    return False


def test_random_bytes_written_over_the_file(path):
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(whole)
        start, length = rng.integers(len(whole)), rng.integers(1, 60)
        damaged[start : start + length] = rng.bytes(length)
        path.write_bytes(damaged)
        _is_refused_or_same(path)


@pytest.mark.parametrize("raw", [b"", b"PK", b"not a zip at all" * 100, pickle.dumps([1, 2])])
def test_files_that_are_something_else(path, raw):
    path.write_bytes(raw)
    refused(path, "damaged or cut short")


def test_foreign_zip_and_npz(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    refused(path, "lacks header.json")
    with path.open("wb") as stream:
        np.savez(stream, a=np.zeros(3))
    refused(path, "lacks header.json")


def test_newer_format_says_so_even_when_its_layout_is_unknown(path):
    def newer(members: dict[str, bytes]) -> None:
        header = {"format": "s2mam-state", "format_version": 2, "package_version": "9.1"}
        members.clear()
        members["header.json"] = json.dumps(header).encode()
        members["something/new"] = b"x"

    rewrite(path, newer)
    refused(path, r"newer release \(s2mam 9\.1, format 2\).*upgrade s2mam")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "other"),
        ("format_version", "1"),
        ("format_version", True),
        ("format_version", 0),
        ("package_version", "1.0\nX"),
        ("kind", "os.system"),
        ("kind", None),
        ("members", {}),
        ("members", []),
        ("extra", 1),
    ],
)
def test_header_fields(path, key, value):
    rewrite(path, change_json("header.json", lambda tree: {**tree, key: value}))
    refused(path)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("name", "../../evil.npy", "malformed list"),
        ("name", "arrays/1.npy", "malformed list"),
        ("bytes", 10**15, "impossible size"),
        ("bytes", -1, "impossible size"),
        ("sha256", "0" * 64, "checksum of arrays/0.npy"),
        ("sha256", "0", "no valid size"),
        ("dtype", "|O", "dtype"),
        ("dtype", "<f4", "impossible size"),
        ("dtype", "<i8", "does not start as"),
        ("dtype", [["a", "<f8"]], "malformed array"),
        ("dtype", "<U9999999", "impossible size"),
        ("shape", [1, 2], "does not start as"),
        ("shape", [3], "impossible size"),
        ("shape", [-2], "impossible shape"),
        ("shape", [0, 2**62], "impossible shape"),
        ("shape", [2] + [1] * 40, "impossible shape"),
        ("shape", [2**62, 4], "impossible shape"),
        ("shape", [True, 2], "malformed array"),
        ("shape", 2, "malformed array"),
        ("order", "F", "does not start as"),
        ("order", "K", "memory order"),
    ],
)
def test_array_fields_of_the_header(path, key, value, reason):
    def change(tree: Any) -> None:
        tree["members"][1][key] = value

    rewrite(path, change_json("header.json", change))
    refused(path, reason)


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/evil", "arrays/../../evil", "arrays\\0.npy", "arrays/2.npy", "HEADER.json"],
)
def test_additional_members(path, name):
    rewrite(path, lambda members: members.update({name: b"x"}))
    refused(path, "not those that its header lists")
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_missing_or_reordered_members(path):
    whole = path.read_bytes()
    for name in members_of(path):
        path.write_bytes(whole)
        rewrite(path, lambda members, name=name: members.pop(name))
        refused(path, "lacks header.json|not those")
    path.write_bytes(whole)
    rewrite(path, lambda members: members.update({"state.json": members.pop("state.json")}))
    refused(path, "not those")


def test_name_with_a_hidden_end(path):
    """zipfile cuts names at a NUL; the full name has to count."""

    def rename(members: dict[str, bytes]) -> None:
        members["arrays/1.npy#.py"] = members.pop("arrays/1.npy")

    rewrite(path, rename)
    path.write_bytes(path.read_bytes().replace(b"npy#.py", b"npy\0.py"))
    assert list(members_of(path))[-1] == "arrays/1.npy"
    refused(path, "not those")


def test_duplicate_members(path):
    members = members_of(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("state.json", b"{}")
    refused(path, "same name")


def test_compressed_bomb_is_refused_before_it_unfolds(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b"\0" * (80 * 2**20))
    assert path.stat().st_size < 2**20
    assert _peak_of_refusal(path, "larger than the file") < 4 * 2**20


def test_any_compression_is_refused(path):
    members = members_of(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in members.items():
            method = zipfile.ZIP_DEFLATED if name == "arrays/0.npy" else zipfile.ZIP_STORED
            archive.writestr(name, raw, compress_type=method)
    refused(path, "compressed or encrypted")


def test_overlapping_members_cannot_multiply(path):
    """All entries of the directory point at the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("header.json", b"x" * 2**20)
        first = archive.infolist()[0]
        for number in range(1000):
            info = zipfile.ZipInfo(f"arrays/{number}.npy")
            info.header_offset, info.CRC = first.header_offset, first.CRC
            info.file_size = info.compress_size = first.file_size
            archive.filelist.append(info)
        archive._didModify = True
    path.write_bytes(stream.getvalue())
    assert _peak_of_refusal(path, "larger than the file") < 8 * 2**20


def test_directory_that_claims_to_be_huge(path):
    """A directory above the limit is refused before it is read."""
    entries = 40 * 2**20
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, entries, 0, 0)
    with path.open("wb") as stream:
        stream.truncate(entries)
        stream.seek(entries)
        stream.write(end)
    assert _peak_of_refusal(path, "damaged") < 4 * 2**20


def test_file_above_the_size_limit(path, monkeypatch):
    monkeypatch.setattr("s2mam.persistence.archive.MAX_FILE_BYTES", 100)
    refused(path, "larger than 100 bytes")


def test_too_many_members(path, monkeypatch):
    monkeypatch.setattr("s2mam.persistence.archive.MAX_ARRAYS", 1)
    refused(path, "too many members")


def _peak_of_refusal(path: Path, reason: str) -> int:
    tracemalloc.start()
    try:
        started = time.perf_counter()
        refused(path, reason)
        assert time.perf_counter() - started < 5.0
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class _Trap:
    """Leaves a trace when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return Path.touch, (self.target,)


@pytest.mark.parametrize("forge_header", [False, True])
def test_pickled_array_is_refused_and_not_run(path, tmp_path, forge_header):
    trace = tmp_path / "trace"
    stream = io.BytesIO()
    np.save(stream, np.array([_Trap(trace)], dtype=object), allow_pickle=True)

    def change(members: dict[str, bytes]) -> None:
        members["arrays/0.npy"] = stream.getvalue()
        if forge_header:
            forge_checksum(members, "arrays/0.npy")
            header = json.loads(members["header.json"])
            header["members"][1].update(dtype="|O", shape=[1])
            members["header.json"] = json.dumps(header).encode()

    rewrite(path, change)
    refused(path, "dtype" if forge_header else "another size")
    assert not trace.exists()


def test_impossible_values_inside_arrays(path):
    write_state(path, "Model", {"flags": np.array([True, False]), "text": np.array(["ab"])})
    whole = path.read_bytes()
    for name, tail, reason in [
        ("arrays/0.npy", b"\x02\x01", "boolean array"),
        ("arrays/1.npy", b"\xff\xff\xff\xff\0\0\0\0", "characters that do not exist"),
    ]:

        def change(members: dict[str, bytes], name: str = name, tail: bytes = tail) -> None:
            members[name] = members[name][: -len(tail)] + tail
            forge_checksum(members, name)

        path.write_bytes(whole)
        rewrite(path, change)
        refused(path, reason)


GOOD = {"x": {"$array": 0}, "y": {"$array": 1}}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "nested too deeply"),
        (b"[" * 70 + b"]" * 70, "nested too deeply"),
        (b"{", "not valid json"),
        (b"", "impossible size"),
        (b"NaN", "not valid json"),
        (b"[Infinity]", "not valid json"),
        (b'{"a":1,"a":2}', "not valid json"),
        (b"9" * 5000, "not valid json"),
        ('"é"'.encode(), "not valid json"),
        (b"1e999", "too large"),
    ],
)
def test_json_texts(path, raw, reason):
    rewrite(path, change_json("state.json", lambda tree: raw or b""))
    refused(path, reason)


@pytest.mark.parametrize(
    "entry",
    [
        {"$array": 2},
        {"$array": -1},
        {"$array": True},
        {"$array": 0},  # a second time
        {"$array": "0"},
        {"$array": 1, "more": 1},
        {"$pickle": "gASVIA=="},
        {"$pickle": ["a", "b"]},
        {"$float": "7ff8"},
        {"$float": "zz" * 8},
        {"$float": 1},
        {"$scalar": ["<f8", "00"]},
        {"$scalar": ["|O", "00"]},
        {"$scalar": ["|b1", "02"]},
        {"$scalar": ["<U1", "61000000"]},
        {"$scalar": "x"},
        {"$objects": [[2], [1]]},
        {"$objects": [[-1, -1], [1]]},
        {"$objects": [[1.0], [1]]},
        {"$objects": [[0, 2**62], []]},
        {"$objects": [[1], {"a": 1}]},
        {"$objects": [[1], [[1]]]},
        {"$objects": [[1], [{"a": 1}]]},
        {"$objects": [[1], [{"$objects": [[1], [1]]}]]},
        {"$objects": [[1], [{"$array": 0}]]},
        {"$objects": [[1] * 70, [1]]},
        {"$dict": 3},
        {"$dict": [["a"]]},
        {"$dict": [[1, 2]]},
        {"$dict": [["a", 1], ["a", 2]]},
    ],
)
def test_malformed_entries(path, entry):
    rewrite(path, change_json("state.json", lambda tree: {**GOOD, "z": entry}))
    refused(path, "its state|an object array")


def test_unused_array(path):
    rewrite(path, change_json("state.json", lambda tree: {"x": {"$array": 0}}))
    refused(path, "belongs to no entry")
    rewrite(path, change_json("state.json", lambda tree: GOOD))
    assert_same(read_state(path)[1], {"x": STATE["a"], "y": STATE["c"]})


def test_the_package_never_imports_pickle():
    folder = Path(__import__("s2mam.persistence").persistence.__file__).parent
    for module in folder.glob("*.py"):
        text = module.read_text(encoding="utf-8")
        imports = re.findall(r"^\s*(?:import|from)\s+([\w.]+)", text, re.M)
        assert not {"pickle", "marshal", "shelve", "joblib"} & set(imports), module.name
        assert not re.search(r"\b(eval|exec|literal_eval|np\.load)\(", text), module.name
