"""Delimited text and ARFF, as found in the wild."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from s2mam.datasets.tables import read_arff, read_delimited
from s2mam.exceptions import InvalidInputError


def test_numbers_words_and_gaps():
    table = read_delimited(b'"a","b c",d\r\n1,x,?\r\n2.5,y,7\r\n\r\n')
    assert table.names == ["a", "b c", "d"]
    np.testing.assert_array_equal(table.numbers("a"), [1, 2.5])
    np.testing.assert_array_equal(table.numbers("b c"), [0, 1])
    np.testing.assert_array_equal(table.numbers("d"), [np.nan, 7])
    assert table.missing("d").tolist() == [True, False]
    assert table.texts("b c").tolist() == ["x", "y"]


def test_blanks_without_header():
    table = read_delimited(b" 70.0  1.0\t2\n 67.0 0.0 1 \n", delimiter=" ", header=False)
    assert table.names == ["1", "2", "3"]
    np.testing.assert_array_equal(table.numbers("1"), [70, 67])
    assert table.texts("3").tolist() == ["2", "1"]


def test_blanks_with_gaps():
    table = read_delimited(b"1   ?\n2 3\n", delimiter=" ", header=False)
    np.testing.assert_array_equal(table.numbers("2"), [np.nan, 3])


def test_latin_text():
    assert read_delimited("caf\xe9,b\n1,2\n".encode("latin-1")).names[0] == "caf\xe9"
    assert read_delimited("\ufeffa,b\n1,2\n".encode()).names[0] == "a"


@settings(deadline=None, max_examples=25)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 4)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_numbers_survive(matrix):
    text = "\n".join(",".join(map(repr, row)) for row in matrix.tolist())
    table = read_delimited(text.encode(), header=False)
    np.testing.assert_array_equal(np.column_stack(table.columns), matrix)


def test_arff():
    content = b"""% a comment
@RELATION r
@ATTRIBUTE 'first one' REAL
@attribute V2 {-1,1}
@attribute kind {'not sure', sure}
@attribute Class{b,g}
@DATA
1.5, -1, 'not sure', g
% another
?, 1, sure, b
"""
    table = read_arff(content)
    assert table.names == ["first one", "V2", "kind", "Class"]
    np.testing.assert_array_equal(table.numbers("first one"), [1.5, np.nan])
    np.testing.assert_array_equal(table.numbers("V2"), [-1, 1])
    np.testing.assert_array_equal(table.numbers("kind"), [0, 1])
    assert table.levels["Class"] == ["b", "g"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2,3\n", "names 2 columns but its rows have 3"),
        (b"a,b\n1,x\n1\n", "between 1 and 2"),
    ],
)
def test_broken_tables(content, message):
    with pytest.raises(InvalidInputError, match=message):
        read_delimited(content)


def test_broken_arff():
    with pytest.raises(InvalidInputError, match="no line '@data'"):
        read_arff(b"@relation r\n@attribute a real\n")
    with pytest.raises(InvalidInputError, match="sparse form"):
        read_arff(b"@relation r\n@attribute a real\n@data\n{0 1}\n")


def test_unknown_column():
    with pytest.raises(InvalidInputError, match="no column 'c'; there are: a, b"):
        read_delimited(b"a,b\n1,2\n").column("c")
