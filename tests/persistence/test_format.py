"""Round trips: what goes in comes out, bit for bit, and equal states give equal files."""

from __future__ import annotations

import json
import os
import time
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from state_trees import TREES, assert_same, members_of

from s2mam import __version__
from s2mam.bases import build_design
from s2mam.bases.design import Design
from s2mam.bilevel.state import LoopState
from s2mam.exceptions import InvalidInputError
from s2mam.intake.table import TableReader
from s2mam.persistence import limits
from s2mam.persistence.format import read_state, write_state


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.s2mam"


@settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tree=TREES)
def test_round_trip_of_any_tree(path, tree):
    write_state(path, "Any", tree)
    first = path.read_bytes()
    kind, found = read_state(path)
    assert kind == "Any"
    assert_same(found, tree)
    write_state(path, "Any", found)
    assert path.read_bytes() == first


def test_bits_of_unusual_floats(path):
    payload = np.array([0x7FF8000000000123, 0xFFF8000000000001], dtype=np.uint64).view(np.float64)
    tree = {
        "list": [float("nan"), -float("nan"), float("inf"), -float("inf"), -0.0, 5e-324],
        "payload": payload,
        "leaf": float(payload[0]),
    }
    write_state(path, "Floats", tree)
    assert_same(read_state(path)[1], tree)


def test_tuples_become_lists_and_subclasses_become_plain(path):
    write_state(path, "Tuples", {"t": (1, (2.0, "x")), "o": OrderedDict(a=1), "s": np.str_("é")})
    assert_same(read_state(path)[1], {"t": [1, [2.0, "x"]], "o": {"a": 1}, "s": "é"})


def test_equal_states_give_equal_bytes_at_any_time(path, tmp_path, monkeypatch):
    state = {"a": np.arange(5), "b": [1, {"c": None}]}
    write_state(path, "Same", state)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    other = tmp_path / "other"
    write_state(other, "Same", {"a": np.arange(5), "b": (1, {"c": None})})
    assert path.read_bytes() == other.read_bytes()


def test_memory_order_is_kept_so_products_keep_their_bits(path):
    rng = np.random.default_rng(0)
    matrix = np.asfortranarray(rng.standard_normal((37, 23)))
    write_state(path, "Order", {"m": matrix, "view": matrix[:, ::2], "scalar": np.array(3.5)})
    found = read_state(path)[1]
    assert found["m"].flags.f_contiguous
    assert found["view"].flags.c_contiguous
    assert found["scalar"].shape == ()
    assert (found["m"].T @ found["m"]).tobytes() == (matrix.T @ matrix).tobytes()


def test_members_are_what_the_header_says_and_other_tools_read_them(path, tmp_path):
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    write_state(path, "Model", {"array": array, "text": np.array(["a", "bcd"])})
    members = members_of(path)
    assert list(members) == ["header.json", "state.json", "arrays/0.npy", "arrays/1.npy"]
    header = json.loads(members["header.json"])
    assert header["package_version"] == __version__
    assert header["kind"] == "Model"
    assert header["members"][1]["shape"] == [2, 3]
    for name, expected in [("arrays/0.npy", array), ("arrays/1.npy", np.array(["a", "bcd"]))]:
        (tmp_path / "one.npy").write_bytes(members[name])
        assert_same(np.load(tmp_path / "one.npy", allow_pickle=False), expected)


def test_large_arrays_pass_in_chunks(path, monkeypatch):
    monkeypatch.setattr("s2mam.persistence.archive.CHUNK_BYTES", 256)
    tree = {"a": np.arange(1000.0), "b": np.array(["x" * 50] * 20), "long": "y" * 1000}
    write_state(path, "Chunks", tree)
    assert_same(read_state(path)[1], tree)


@pytest.mark.parametrize(
    ("leaf", "what"),
    [
        (object(), "a object"),
        (b"bytes", "a bytes"),
        ({1, 2}, "a set"),
        (1j, "a complex"),
        (len, "a builtin_function_or_method"),
        (np.longdouble(1), "a longdouble"),
        (np.array([object()]), "a object"),
        (np.array([[1], [1, 2]], dtype=object), "a list"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "datetime64"),
        (np.array([b"x"]), "dtype |S1"),
        (np.zeros(2, dtype=[("a", "f8")]), "dtype"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "a MaskedArray"),
        (np.zeros(2, dtype=np.longdouble), "dtype"),
        (np.broadcast_to(0.0, (2**20, 2**20)), "shape"),
        (1 << 5000, "an integer of more than"),
    ],
)
def test_what_cannot_be_stored_is_named_with_its_place(path, leaf, what):
    with pytest.raises(InvalidInputError) as caught:
        write_state(path, "Bad", {"outer": [0, leaf]})
    assert str(caught.value).startswith("state['outer'][1] holds")
    assert what in str(caught.value)
    assert not path.exists()


def test_keys_kinds_and_depth_are_checked_before_writing(path, monkeypatch):
    with pytest.raises(InvalidInputError, match=r"state\['a'\] has the key 1"):
        write_state(path, "Bad", {"a": {1: 2}})
    with pytest.raises(InvalidInputError, match="plain class name"):
        write_state(path, "../x", {})
    loop: list = []
    loop.append(loop)
    with pytest.raises(InvalidInputError, match="nested more than 64"):
        write_state(path, "Bad", loop)
    monkeypatch.setattr("s2mam.persistence.tree.MAX_ARRAYS", 2)
    with pytest.raises(InvalidInputError, match="more than 2 arrays"):
        write_state(path, "Bad", [np.zeros(1)] * 3)
    monkeypatch.setattr("s2mam.persistence.format.MAX_JSON_BYTES", 1000)
    with pytest.raises(InvalidInputError, match="bytes of json"):
        write_state(path, "Bad", "x" * 1000)
    monkeypatch.setattr("s2mam.persistence.format.MAX_FILE_BYTES", 1000)
    with pytest.raises(InvalidInputError, match="1000 at most"):
        write_state(path, "Bad", np.zeros(100))
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("wrap", [lambda tree: [tree], lambda tree: {"$k": tree}])
def test_the_deepest_tree_that_is_written_is_read(path, wrap):
    tree: object = np.zeros(1)
    for _ in range(limits.MAX_DEPTH):
        tree = wrap(tree)
    write_state(path, "Deep", tree)
    assert_same(read_state(path)[1], tree)


def test_missing_file_and_folder_are_ordinary_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_state(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read_state(tmp_path)
    with pytest.raises(FileNotFoundError):
        write_state(tmp_path / "no" / "folder", "Any", {})


def test_states_of_the_package_survive(path):
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((40, 3))
    Z[:, 2] = rng.integers(0, 3, 40)
    table = np.empty((40, 2), dtype=object)
    table[:, 0] = Z[:, 0]
    table[:, 1] = np.array(["red", "green", "blue"])[Z[:, 2].astype(int)]
    design = build_design(Z, ("numeric", "numeric", "categorical"))
    reader = TableReader().fit(table)
    loop = LoopState(Z[:, 0], Z > 0, 3, np.random.default_rng(5))
    arrays, values = loop.to_arrays()
    write_state(
        path,
        "All",
        {
            "design": design.to_state(),
            "reader": reader.to_state(),
            "loop": {"arrays": arrays, "values": values},
        },
    )
    state = read_state(path)[1]
    again = Design.from_state(state["design"])
    assert again.evaluate(Z[:7]).tobytes() == design.evaluate(Z[:7]).tobytes()
    table_again = TableReader.from_state(state["reader"])
    np.testing.assert_array_equal(table_again.transform(table), reader.transform(table))
    loop_again = LoopState.from_arrays(state["loop"]["arrays"], state["loop"]["values"])
    assert loop_again.rng.bit_generator.state == loop.rng.bit_generator.state
    assert loop_again.s.tobytes() == loop.s.tobytes()
