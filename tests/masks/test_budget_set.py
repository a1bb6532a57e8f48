"""Projection onto the budget set against known answers and a quadratic programme."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.masks.projection import budget_shift, project_budget


@pytest.mark.parametrize(
    ("z", "budget", "expected", "shift"),
    [
        ((1.5, 0.8, 0.3, -0.2), 1.5, (1.0, 0.5, 0.0, 0.0), 0.3),
        ((0.9, 0.9, 0.9), 1.0, (1 / 3, 1 / 3, 1 / 3), 0.9 - 1 / 3),
        ((2.0, 2.0, 0.1), 1.0, (0.5, 0.5, 0.0), 1.5),
        ((0.2, 0.3, -1.0), 1.0, (0.2, 0.3, 0.0), 0.0),
        ((2.0, 1.0, 0.0), 1.5, (1.0, 0.5, 0.0), 0.5),  # clipping first would give (.75, .75, 0)
        ((0.4, 0.6), 0.0, (0.0, 0.0), 0.6),
        ((5.0, 5.0), 2.0, (1.0, 1.0), 0.0),
        ((3.0, 3.0, 3.0), 2.0, (2 / 3, 2 / 3, 2 / 3), 7 / 3),
    ],
)
def test_known_answers(z, budget, expected, shift):
    np.testing.assert_allclose(project_budget(z, budget), expected, atol=1e-14)
    assert budget_shift(z, budget) == pytest.approx(shift, abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_solves_the_quadratic_programme(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(scale=1.5, size=12)
    budget = float(rng.uniform(0.5, 6.0))
    s = cp.Variable(12)
    cp.Problem(cp.Minimize(cp.sum_squares(s - z)), [s >= 0, s <= 1, cp.sum(s) <= budget]).solve(
        solver=cp.CLARABEL
    )
    np.testing.assert_allclose(project_budget(z, budget), s.value, atol=1e-5)


def test_agrees_with_bisection_on_a_long_vector():
    z = np.random.default_rng(0).normal(size=20_000)
    low, high = 0.0, float(z.max())
    for _ in range(80):
        middle = 0.5 * (low + high)
        spent = np.clip(z - middle, 0.0, 1.0).sum()
        low, high = (middle, high) if spent > 137.0 else (low, middle)
    assert budget_shift(z, 137.0) == pytest.approx(high, abs=1e-12)


@pytest.mark.parametrize(("z", "budget"), [([[0.1]], 1.0), ([np.nan], 1.0), ([0.1], -1.0)])
def test_refuses_what_has_no_projection(z, budget):
    with pytest.raises(InvalidInputError):
        project_budget(z, budget)
