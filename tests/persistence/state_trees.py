"""Random state trees, and a comparison that sees every bit."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

TEXT = st.text(st.characters(codec=None), max_size=5)  # lone surrogates included
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(2**2000), 2**2000), st.floats(), TEXT
)
DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="="),
    hnp.unsigned_integer_dtypes(endianness=">"),
    hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
    hnp.complex_number_dtypes(sizes=(64, 128)),
    hnp.unicode_string_dtypes(endianness="?", max_len=4),
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    array = draw(hnp.arrays(draw(DTYPES), draw(SHAPES)))
    layout = draw(st.sampled_from(["C", "F", "strided"]))
    if layout == "strided" and array.ndim:
        return np.repeat(array, 2, axis=0)[::2]
    return np.array(array, order="F" if layout == "F" else "C")


@st.composite
def object_arrays(draw: st.DrawFn) -> np.ndarray:
    shape = draw(SHAPES)
    array = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        array[index] = draw(PLAIN)
    return array


NUMPY_SCALARS = st.one_of(
    st.floats(width=32).map(np.float32),
    st.floats().map(np.float64),
    st.integers(-100, 100).map(np.int16),
    st.booleans().map(np.bool_),
)
LEAVES = st.one_of(PLAIN, NUMPY_SCALARS, arrays(), object_arrays())
KEYS = st.one_of(TEXT, st.sampled_from(["$array", "$dict", "$", "$float", "$x", "a", "b"]))
TREES = st.recursive(
    LEAVES,
    lambda children: st.one_of(
        st.lists(children, max_size=4), st.dictionaries(KEYS, children, max_size=4)
    ),
    max_leaves=12,
)


def assert_same(found: Any, expected: Any) -> None:
    """Types, key order, dtypes, shapes, memory order and bits; lists stand for tuples."""
    if isinstance(expected, tuple):
        expected = list(expected)
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, np.ndarray):
        _assert_same_array(found, expected)
    elif isinstance(expected, np.generic):
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()
    elif isinstance(expected, float):
        assert struct.pack("<d", found) == struct.pack("<d", expected)
    else:
        assert found == expected


def _assert_same_array(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape
    assert found.dtype.str == expected.dtype.str
    if expected.dtype == object:
        assert_same(found.ravel().tolist(), expected.ravel().tolist())
        return
    assert found.flags.writeable
    assert found.tobytes() == expected.tobytes()
    if expected.flags.f_contiguous and not expected.flags.c_contiguous:
        assert found.flags.f_contiguous


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Change the members of a file and zip them again, so that all CRCs are right."""
    members = members_of(path)
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
