"""Details of certificates and step rules that converged results do not show."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from solver_problems import make_problem

from s2mam.solvers import duality_gap, quadratic_iteration, solve
from s2mam.solvers.admm import _Admm
from s2mam.solvers.scale_newton import _solve_general


def test_gap_of_the_squared_loss_with_a_quadratic_term():
    """The bound of the module's head, written out at a point where it has to be scaled."""
    problem = make_problem("squared", intercept=False, quadratic=True)
    coef = solve(problem, tol=1e-2).coef + 0.02
    theta = -2.0 * problem.weights * (problem.target - problem.features @ coef)
    norms = problem.layout.norms(problem.features.T @ theta + 2.0 * problem.quadratic @ coef)
    scale = min(1.0, float(np.min(problem.penalties / np.maximum(norms, 1e-300))))
    assert scale < 0.9
    scaled = scale * theta
    conjugate = scaled @ problem.target + np.sum(scaled**2 / (4.0 * problem.weights))
    bound = -conjugate - scale**2 * coef @ problem.quadratic @ coef
    gap = duality_gap(problem, coef, 0.0)
    assert gap == pytest.approx(problem.objective(coef, 0.0) - bound, rel=1e-9)


@pytest.mark.parametrize(
    ("residuals", "factor"), [((1.0, 1.0), 1.0), ((1e6, 1.0), 2.0), ((1.0, 1e6), 0.5)]
)
def test_the_penalty_of_admm_moves_only_out_of_balance(residuals, factor):
    state = SimpleNamespace(residuals=residuals, changes=0, rho=3.0, dual=np.array([4.0]))
    _Admm.balance(None, state)
    assert state.rho == 3.0 * factor
    np.testing.assert_array_equal(state.dual, [4.0 / factor])
    assert state.changes == int(factor != 1.0)


@pytest.mark.filterwarnings("ignore::s2mam.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("quadratic", [False, True])
def test_labels_of_one_class_have_no_minimum_and_a_gap_that_says_how_near_it_is(quadratic):
    """The intercept could grow for ever. The estimators know the answer and never ask."""
    problem = make_problem("logistic", rows=8, quadratic=quadratic)
    problem = replace(problem, target=np.zeros(8))
    result = solve(problem)
    assert not result.coef.any()
    assert result.intercept < -30.0
    assert 0.0 < result.objective < 1e-12
    assert 0.0 <= result.gap <= result.objective


def test_corrections_of_a_quadratic_loss_are_conjugate(monkeypatch):
    """Without a factor, what is left over is orthogonal to all that was left over before."""
    problem = make_problem("squared", sizes=(2, 2, 2))
    solver = quadratic_iteration.QuadraticIteration(problem, None)
    solver.block.include(np.arange(3))
    left: list[np.ndarray] = []

    def no_factor(rest):
        left.append(rest.copy())
        return rest.copy()

    monkeypatch.setattr(quadratic_iteration, "_PROGRESS", 1e6)
    monkeypatch.setattr(quadratic_iteration, "_CORRECTIONS", 5)
    solver.factor = SimpleNamespace(solve=no_factor)
    solver._correct(np.full(3, 4.0), 0.0)
    units = np.array([rest / np.linalg.norm(rest) for rest in left])
    assert len(units) == 5
    np.testing.assert_allclose(units @ units.T, np.eye(5), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_tolerance_below_rounding_ends_where_nothing_moves_any_more(seed):
    problem = make_problem("squared", quadratic=True, fraction=0.01, seed=seed)
    result = _solve_general(problem, None, 0.0, 500)
    assert result.stop_reason in {"gap", "stalled"}
    assert result.n_iter < 100
    assert result.gap <= 1e-12 * result.objective
