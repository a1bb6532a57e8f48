"""Bad problems are refused with a sentence that says what is wrong."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solver_problems import make_problem

from s2mam.exceptions import InvalidInputError
from s2mam.solvers import solve
from s2mam.solvers.layout import GroupLayout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": np.zeros(3)}, r"target has shape \(3,\)"),
        ({"weights": np.zeros(3)}, r"weights has shape \(3,\)"),
        ({"weights": np.ones(40)}, "sum to one"),
        ({"penalties": np.ones(2)}, r"penalties has shape \(2,\)"),
        ({"penalties": np.full(6, -1.0)}, "non-negative"),
        ({"penalties": np.full(6, np.nan)}, "finite"),
        ({"offsets": np.array([0, 3, 2, 2, 8, 10, 13])}, "offsets must rise"),
        ({"offsets": np.arange(7)}, r"number of feature columns \(13\)"),
        ({"quadratic": np.eye(2)}, r"quadratic has shape \(2, 2\)"),
    ],
)
def test_inconsistent_parts_are_named(change, message):
    with pytest.raises(InvalidInputError, match=message):
        replace(make_problem(), **change)


def test_no_rows():
    with pytest.raises(InvalidInputError, match="no rows"):
        replace(make_problem(), features=np.empty((0, 13)), target=np.empty(0), weights=np.empty(0))


def test_unknown_method_and_foreign_start():
    problem = make_problem()
    with pytest.raises(InvalidInputError, match="method must be one of"):
        solve(problem, method="magic")
    other = solve(make_problem(sizes=(2, 2)))
    with pytest.raises(InvalidInputError, match=r"start has coefficients of shape \(4,\)"):
        solve(problem, start=other)


@settings(deadline=None, max_examples=40)
@given(sizes=st.lists(st.integers(0, 4), min_size=1, max_size=8), seed=st.integers(0, 100))
def test_layout_against_loops(sizes, seed):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    layout = GroupLayout(offsets)
    groups = [slice(a, b) for a, b in pairwise(offsets)]
    for values in (rng.normal(size=offsets[-1]), rng.normal(size=(offsets[-1], 3))):
        expected = [np.linalg.norm(values[g]) for g in groups]
        np.testing.assert_allclose(layout.norms(values), expected)
    chosen = rng.permutation(np.flatnonzero(sizes))[:3]
    columns = layout.columns(chosen)
    np.testing.assert_array_equal(
        columns,
        np.concatenate(
            [np.arange(g.start, g.stop) for g in map(groups.__getitem__, chosen)] or [[]]
        ),
    )
    if chosen.size:
        matrix = rng.normal(size=(2, columns.size))
        parts = np.split(matrix, np.cumsum(np.take(sizes, chosen))[:-1], axis=1)
        np.testing.assert_allclose(
            layout.sum_columns(matrix, chosen), np.column_stack([p.sum(axis=1) for p in parts])
        )
