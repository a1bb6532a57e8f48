"""Group thresholds are proximal maps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from s2mam.baselines.shared.groups import group_threshold, shrink_rows

VECTORS = arrays(np.float64, st.integers(1, 5), elements=st.floats(-10, 10))


@settings(deadline=None, max_examples=50)
@given(VECTORS, st.floats(0, 20))
def test_subgradient_condition_of_the_proximal_map(v, t):
    x = group_threshold(v, t)
    norm = np.linalg.norm(x)
    if norm > 0:
        np.testing.assert_allclose(v - x, t * x / norm, atol=1e-9)
    else:
        assert np.linalg.norm(v) <= t * (1 + 1e-12) + 1e-300


@settings(deadline=None, max_examples=30)
@given(
    arrays(np.float64, (4, 3), elements=st.floats(-5, 5)),
    arrays(np.float64, 4, elements=st.floats(0, 6)),
)
def test_rows_are_groups(M, t):
    expected = np.array([group_threshold(row, step) for row, step in zip(M, t, strict=True)])
    np.testing.assert_allclose(shrink_rows(M, t), expected, rtol=1e-12, atol=1e-300)


def test_matrix_group_uses_the_frobenius_norm():
    M = np.array([[3.0, 0.0], [0.0, 4.0]])
    np.testing.assert_allclose(group_threshold(M, 2.5), 0.5 * M)


@pytest.mark.parametrize("t", [0.0, 5.0])
def test_ends(t):
    v = np.array([3.0, 4.0])
    np.testing.assert_array_equal(group_threshold(v, t), v if t == 0.0 else 0 * v)
    np.testing.assert_array_equal(shrink_rows(np.zeros((2, 3)), t), np.zeros((2, 3)))
