"""Kernel features with fast falling spectra, small penalties, fewer rows than columns."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from solver_problems import LOSSES

from s2mam.exceptions import ConvergenceWarning
from s2mam.solvers import GroupProblem, dispatch, duality_gap, lambda_max, solve
from s2mam.solvers.admm import solve_admm
from s2mam.solvers.scale_newton import solve_scale_newton

ROWS = 60


def kernel_problem(
    name: str = "squared",
    *,
    form: str = "rkhs",
    fraction: float = 1e-3,
    graph: float = 0.0,
    labeled: int = 20,
    columns: int = 5,
    seed: int = 0,
) -> GroupProblem:
    """Blocks of one-column Gaussian kernels; the columns of "alpha" spread over eight decades."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(ROWS, columns))
    blocks = []
    for column in table.T:
        kernel = np.exp(-0.5 * (column[:, None] - column) ** 2)
        kernel = kernel - kernel.mean(axis=0)
        kernel = kernel - kernel.mean(axis=1)[:, None]
        values, vectors = np.linalg.eigh(kernel)
        kept = values > 1e-7 * values[-1]
        power = 1.0 if form == "alpha" else 0.5
        blocks.append((vectors[:, kept] * values[kept] ** power)[:, ::-1])
    features = np.hstack(blocks)
    quadratic = None
    if graph:
        affinity = np.exp(-((table[:, None] - table) ** 2).sum(axis=2) / columns)
        laplacian = np.diag(affinity.sum(axis=1)) - affinity
        quadratic = graph / ROWS**2 * features.T @ laplacian @ features
    signal = np.sin(2.0 * table[:, 0]) + 0.5 * table[:, 1] + 0.3 * rng.normal(size=ROWS)
    target = {
        "squared": signal + 3.0,
        "logistic": (signal > 0).astype(float),
        "multinomial": np.digitize(signal, [-0.5, 0.5]),
    }[name]
    problem = GroupProblem(
        loss=LOSSES[name],
        features=features[:labeled],
        target=target[:labeled],
        weights=np.full(labeled, 1.0 / labeled),
        offsets=np.concatenate([[0], np.cumsum([block.shape[1] for block in blocks])]),
        penalties=np.ones(columns),
        quadratic=quadratic,
    )
    return problem.with_penalties(fraction * lambda_max(problem) * problem.penalties)


def assert_certified(problem, result, tol):
    assert result.stop_reason == "gap"
    assert result.gap <= tol * result.objective
    assert result.objective == pytest.approx(
        problem.objective(result.coef, result.intercept), rel=1e-12
    )


@pytest.mark.parametrize("form", ["rkhs", "alpha"])
@pytest.mark.parametrize("graph", [0.0, 1e-2, 1.0])
@pytest.mark.parametrize("fraction", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_newton_needs_no_rescue(name, fraction, graph, form):
    for seed in range(3):
        problem = kernel_problem(name, form=form, fraction=fraction, graph=graph, seed=seed)
        result = solve_scale_newton(problem, tol=1e-6)
        assert_certified(problem, result, 1e-6)
        assert result.n_iter <= 60


@pytest.mark.parametrize("form", ["rkhs", "alpha"])
@pytest.mark.parametrize("graph", [0.0, 1.0])
@pytest.mark.parametrize("columns", [30, 60])
def test_many_groups_and_few_rows(columns, graph, form):
    problem = kernel_problem(form=form, fraction=1e-4, graph=graph, columns=columns)
    assert_certified(problem, solve_scale_newton(problem), 1e-6)


@pytest.mark.parametrize("form", ["rkhs", "alpha"])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_same_minimum_as_admm(name, form):
    problem = kernel_problem(name, form=form, fraction=2e-2, graph=0.5)
    newton, admm = solve(problem, tol=1e-8), solve(problem, tol=1e-6, method="admm")
    assert_certified(problem, newton, 1e-8)
    assert_certified(problem, admm, 1e-6)
    assert newton.objective == pytest.approx(admm.objective, rel=2e-6)


@pytest.mark.parametrize("form", ["rkhs", "alpha"])
@pytest.mark.parametrize("graph", [0.0, 0.5])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_any_start_leads_to_the_certified_minimum(name, graph, form):
    problem = kernel_problem(name, form=form, fraction=1e-3, graph=graph)
    cold = solve_scale_newton(problem, tol=1e-8)
    rng = np.random.default_rng(1)
    noise = rng.normal(size=cold.coef.shape)
    starts = [
        solve_scale_newton(problem.with_penalties(30.0 * problem.penalties)),
        solve_scale_newton(problem.with_penalties(0.1 * problem.penalties)),
        replace(cold, coef=cold.coef + 0.1 * np.abs(cold.coef).max() * noise),
        replace(cold, coef=np.where(np.arange(len(cold.coef)) < 20, cold.coef.T, 0.0).T),
    ]
    for start in starts:
        warm = solve_scale_newton(problem, start=start, tol=1e-8)
        assert_certified(problem, warm, 1e-8)
        assert warm.objective == pytest.approx(cold.objective, rel=3e-8)


@pytest.mark.parametrize("form", ["rkhs", "alpha"])
def test_a_certificate_never_lies(form):
    """Rough results stay within their own gap of the minimum, and so does an independent gap."""
    problem = kernel_problem(form=form, fraction=1e-3, graph=1e-2)
    exact = solve(problem, tol=1e-9)
    for tol in (1e-1, 1e-3, 1e-5):
        rough = solve(problem, tol=tol)
        assert rough.objective - exact.objective <= rough.gap + 1e-9 * exact.objective
        independent = duality_gap(problem, rough.coef, rough.intercept)
        assert rough.objective - exact.objective <= independent + 1e-9 * exact.objective


def test_beyond_rounding_the_reason_is_not_gap():
    problem = kernel_problem(form="alpha", fraction=1e-5)
    result = solve_scale_newton(problem, tol=1e-15)
    assert result.stop_reason != "gap" or result.gap <= 1e-15 * result.objective


def test_perfect_fit_without_penalty_is_certified():
    problem = kernel_problem(columns=8)
    result = solve(problem.with_penalties(np.zeros(8)))
    assert result.stop_reason == "gap"
    assert result.objective <= 1e-20


def _stalling(problem, **options):
    result = solve_scale_newton(problem, **{**options, "max_iter": 3})
    return replace(result, stop_reason="stalled")


def test_admm_takes_over_where_newton_stalls(monkeypatch):
    problem = kernel_problem(fraction=5e-2, graph=0.1)
    exact = solve(problem, tol=1e-9)
    monkeypatch.setattr(dispatch, "solve_scale_newton", _stalling)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = solve(problem)
    assert_certified(problem, result, 1e-6)
    assert result.objective == pytest.approx(exact.objective, rel=2e-6)
    assert np.all(np.diff(result.trace) <= 0.0)


def test_without_any_certificate_the_better_point_and_an_honest_gap_come_back(monkeypatch):
    problem = kernel_problem(form="alpha", fraction=1e-4)
    exact = solve(problem, tol=1e-7)
    monkeypatch.setattr(dispatch, "solve_scale_newton", _stalling)
    monkeypatch.setattr(dispatch, "_RESCUE_SWEEPS", 10)
    with pytest.warns(ConvergenceWarning, match="stalled"):
        result = solve(problem)
    stalled = _stalling(problem)
    rescued = solve_admm(problem, start=stalled, max_iter=10)
    assert result.objective == min(stalled.objective, rescued.objective)
    assert result.objective - exact.objective <= result.gap <= stalled.gap
