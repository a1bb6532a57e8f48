"""The certificate is an upper bound, and a tight one at the solution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solver_problems import LOSSES, make_problem

from s2mam.solvers import duality_gap, solve

NAMES = sorted(LOSSES)


@settings(deadline=None, max_examples=50)
@given(
    name=st.sampled_from(NAMES),
    seed=st.integers(0, 1000),
    noise=st.floats(0.0, 1.0),
    quadratic=st.booleans(),
    unpenalised=st.sampled_from([(), (1,), (0, 4)]),
)
def test_gap_bounds_the_suboptimality_anywhere(name, seed, noise, quadratic, unpenalised):
    problem = make_problem(name, seed=seed, quadratic=quadratic, unpenalised=unpenalised)
    exact = solve(problem, tol=1e-11)
    rng = np.random.default_rng(seed)
    coef = exact.coef + noise * rng.normal(size=exact.coef.shape)
    intercept = exact.intercept + noise * rng.normal(size=np.shape(exact.intercept))
    excess = problem.objective(coef, intercept) - exact.objective
    assert duality_gap(problem, coef, intercept) >= excess - 1e-9


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("unpenalised", [(), (1, 4)])
def test_gap_closes_at_the_solution(name, quadratic, unpenalised):
    problem = make_problem(name, quadratic=quadratic, unpenalised=unpenalised)
    exact = solve(problem, tol=1e-10)
    assert 0.0 <= duality_gap(problem, exact.coef, exact.intercept) <= 1e-8 * exact.objective
    shifted = exact.intercept + 0.5
    if name != "multinomial":  # a common shift of all classes changes nothing
        assert duality_gap(problem, exact.coef, shifted) > 1e-4


def test_squared_loss_formula():
    """Against the closed form of the gap of the group lasso."""
    problem = make_problem("squared", intercept=False)
    coef = solve(problem, tol=1e-2).coef + 0.01
    residual = problem.target - problem.features @ coef
    pull = problem.features.T @ (2.0 * problem.weights * residual)
    norms = problem.layout.norms(pull)
    scale = min(1.0, float(np.min(problem.penalties / np.maximum(norms, 1e-300))))
    loss = problem.weights @ residual**2
    closed = (
        (1.0 - scale) ** 2 * loss
        + problem.penalties @ problem.layout.norms(coef)
        - scale * (pull @ coef)
    )
    assert duality_gap(problem, coef, 0.0) == pytest.approx(closed, rel=1e-9)
