"""What makes a map the projection onto a convex set."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from s2mam.masks.projection import project_budget, project_budgets

P = 7
points = arrays(np.float64, P, elements=st.floats(-4, 4, allow_subnormal=False))
budgets = st.floats(0.0, P + 1.0, allow_subnormal=False)
fast = settings(deadline=None, max_examples=50)


@fast
@given(points, budgets)
def test_feasible(z, budget):
    s = project_budget(z, budget)
    assert (s >= 0).all()
    assert (s <= 1).all()
    assert s.sum() <= budget + 1e-12


@fast
@given(points, budgets)
def test_idempotent(z, budget):
    s = project_budget(z, budget)
    np.testing.assert_allclose(project_budget(s, budget), s, atol=1e-12)


@fast
@given(points, budgets, arrays(np.float64, P, elements=st.floats(0, 1)))
def test_variational_inequality(z, budget, inside):
    y = inside * min(1.0, budget / max(inside.sum(), 1e-300))
    s = project_budget(z, budget)
    assert (z - s) @ (y - s) <= 1e-10


@fast
@given(points, points, budgets)
def test_non_expansive(z, other, budget):
    apart = np.linalg.norm(project_budget(z, budget) - project_budget(other, budget))
    assert apart <= np.linalg.norm(z - other) + 1e-12


@fast
@given(points, budgets, st.permutations(range(P)))
def test_blind_to_the_order_of_columns(z, budget, order):
    order = np.array(order)
    np.testing.assert_allclose(
        project_budget(z, budget)[order], project_budget(z[order], budget), atol=1e-12
    )


@fast
@given(
    arrays(np.float64, (3, P), elements=st.floats(-4, 4, allow_subnormal=False)),
    st.lists(budgets, min_size=3, max_size=3),
)
def test_rows_at_once_are_single_rows(z, each):
    expected = [project_budget(row, budget) for row, budget in zip(z, each, strict=True)]
    np.testing.assert_allclose(project_budgets(z, np.array(each)), expected, atol=1e-12)
