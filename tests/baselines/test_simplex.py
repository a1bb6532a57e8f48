from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from s2mam.baselines.shared.simplex import project_simplex
from s2mam.exceptions import InvalidInputError

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


@settings(deadline=None, max_examples=50)
@given(
    v=arrays(np.float64, array_shapes(min_dims=1, max_dims=2, max_side=12), elements=NUMBERS),
    seed=st.integers(0, 100),
)
def test_the_answer_is_feasible_and_no_feasible_point_lies_on_its_far_side(v, seed):
    s = project_simplex(v)
    assert s.shape == v.shape
    assert (s >= 0).all()
    np.testing.assert_allclose(s.sum(axis=-1), 1.0, atol=1e-12)
    other = np.random.default_rng(seed).dirichlet(np.ones(v.shape[-1]), size=v.shape[:-1])
    slack = ((v - s) * (other - s)).sum(axis=-1)
    assert (slack <= 1e-9 * np.maximum(1.0, np.abs(v).max())).all()
    np.testing.assert_allclose(project_simplex(s), s, atol=1e-12)


def test_agrees_with_a_quadratic_program():
    v = np.random.default_rng(0).normal(size=8)
    s = cp.Variable(8)
    cp.Problem(cp.Minimize(cp.sum_squares(s - v)), [s >= 0, cp.sum(s) == 1]).solve()
    np.testing.assert_allclose(project_simplex(v), s.value, atol=1e-6)


def test_excluded_entries_stay_zero_and_do_not_change_the_others():
    v = np.random.default_rng(1).normal(size=(5, 6))
    with_hole = np.insert(v, 2, -np.inf, axis=1)
    s = project_simplex(with_hole)
    assert (s[:, 2] == 0).all()
    np.testing.assert_allclose(np.delete(s, 2, axis=1), project_simplex(v), atol=1e-15)


@pytest.mark.parametrize("v", [[-np.inf, -np.inf], [np.nan, 1.0], [np.inf, 0.0], [], 1.0])
def test_rows_without_an_answer_are_refused(v):
    with pytest.raises(InvalidInputError, match="v has"):
        project_simplex(v)
