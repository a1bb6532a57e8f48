"""ADMM reaches the minimum of the default solver, with exact zeros."""

from __future__ import annotations

import numpy as np
import pytest
from solver_problems import LOSSES, make_problem, oracle

from s2mam.exceptions import ConvergenceWarning
from s2mam.solvers import solve
from s2mam.solvers.admm import _Spectral

NAMES = sorted(LOSSES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("unpenalised", [(), (1,)])
def test_same_minimum_as_the_default_solver(name, quadratic, unpenalised):
    problem = make_problem(name, quadratic=quadratic, unpenalised=unpenalised, seed=4)
    reference = solve(problem, tol=1e-9)
    result = solve(problem, method="admm", tol=1e-7)
    assert result.stop_reason == "gap"
    assert result.objective == pytest.approx(reference.objective, rel=2e-7)
    assert 0.0 <= result.objective - reference.objective + 1e-12 <= result.gap + 1e-9


def test_same_minimum_as_the_cone_solver_with_few_rows():
    problem = make_problem("squared", rows=12, sizes=(6,) * 8, fraction=0.1, intercept=False)
    assert solve(problem, method="admm", tol=1e-8).objective == pytest.approx(
        oracle(problem), rel=1e-6
    )


@pytest.mark.parametrize("name", NAMES)
def test_zeros_are_exact(name):
    problem = make_problem(name, fraction=0.5, seed=3)
    reference = solve(problem, tol=1e-10)
    result = solve(problem, method="admm", tol=1e-8)
    out = problem.layout.norms(reference.coef) == 0.0
    assert out.sum() > 1  # the empty group and at least one that was dropped
    np.testing.assert_array_equal(problem.layout.norms(result.coef) == 0.0, out)


@pytest.mark.parametrize("name", NAMES)
def test_warm_start_saves_sweeps_and_trace_never_rises(name):
    problem = make_problem(name)
    cold = solve(problem, method="admm")
    warm = solve(problem, method="admm", start=cold)
    assert warm.n_iter < cold.n_iter
    assert warm.objective <= cold.objective * (1.0 + 1e-14)  # rounding
    assert np.all(np.diff(cold.trace) <= 0.0)


def test_stops_at_max_iter_with_a_warning():
    problem = make_problem("logistic", fraction=0.01)
    with pytest.warns(ConvergenceWarning, match="'admm'"):
        result = solve(problem, method="admm", max_iter=7)
    assert (result.n_iter, result.stop_reason) == (7, "max_iter")


@pytest.mark.parametrize("shape", [(5, 9), (9, 5)])
@pytest.mark.parametrize("with_quadratic", [False, True])
def test_one_factorisation_serves_every_rho(shape, with_quadratic):
    rng = np.random.default_rng(0)
    scaled = rng.normal(size=shape)
    root = rng.normal(size=(2, shape[1]))
    quadratic = root.T @ root if with_quadratic else None
    matrix = scaled.T @ scaled + (2.0 * quadratic if with_quadratic else 0.0)
    spectral = _Spectral(scaled, quadratic)
    right = rng.normal(size=(shape[1], 3))
    for rho in (0.1, 10.0):
        exact = np.linalg.solve(matrix + rho * np.eye(shape[1]), right)
        np.testing.assert_allclose(spectral.solve(right, rho), exact, atol=1e-10)
        np.testing.assert_allclose(spectral.solve(right[:, 0], rho), exact[:, 0], atol=1e-10)
