"""LapSVM against support vector machines, a convex solver and its optimality conditions."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from expected_checks import expected_failures
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from s2mam.baselines.lap_svm import LapSVMClassifier, spread_matrix
from s2mam.baselines.shared.affinity import gaussian_kernel, laplacian, neighbor_weights
from s2mam.baselines.shared.box_qp import solve_box_qp
from s2mam.exceptions import InvalidInputError


def _program(seed, size, rank, spread, bound):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(size, rank)) * np.logspace(0, -spread, rank)
    signs = np.where(rng.uniform(size=size) < 0.5, 1.0, -1.0)
    signs[:2] = [1.0, -1.0]
    return factor @ factor.T, signs, bound


def _value(quadratic, point):
    return point @ quadratic @ point / 2 - point.sum()


@given(
    seed=st.integers(0, 10_000),
    size=st.integers(2, 25),
    rank=st.integers(1, 30),
    spread=st.floats(0, 5),
    bound=st.sampled_from([1e-3, 0.1, 1.0, 1e3]),
)
@settings(deadline=None, max_examples=50)
def test_program_meets_the_optimality_conditions(seed, size, rank, spread, bound):
    quadratic, signs, bound = _program(seed, size, rank, spread, bound)
    found = solve_box_qp(quadratic, signs, bound)
    point = found.point
    assert abs(signs @ point) < 1e-8 * bound
    assert point.min() >= 0.0
    assert point.max() <= bound
    slope = quadratic @ point - 1.0 + found.multiplier * signs
    slope /= 1.0 + (np.abs(quadratic) @ point).max()  # rounding grows with the terms of the sum
    # Optimal exactly when no feasible move along the slope is left.
    left = np.minimum(point / bound, np.maximum(slope, 0)) + np.minimum(
        1 - point / bound, np.maximum(-slope, 0)
    )
    assert left.max() < 1e-5


@pytest.mark.parametrize("bound", [0.01, 0.5, 50.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_program_matches_a_convex_solver(seed, bound):
    quadratic, signs, _ = _program(seed, 15, 20, 1.0, bound)
    beta = cp.Variable(15)
    form = cp.quad_form(beta, cp.psd_wrap(quadratic)) / 2 - cp.sum(beta)
    best = cp.Problem(cp.Minimize(form), [signs @ beta == 0, beta >= 0, beta <= bound])
    best.solve(solver=cp.CLARABEL)
    found = solve_box_qp(quadratic, signs, bound)
    assert _value(quadratic, found.point) == pytest.approx(best.value, rel=1e-6, abs=1e-8)
    np.testing.assert_allclose(found.point, beta.value, atol=1e-3 * bound)


def test_gaps_of_the_program_fall():
    found = solve_box_qp(*_program(3, 20, 20, 2.0, 1.0))
    assert found.gaps[-1] < 1e-9 * found.gaps[0]
    assert (np.diff(found.gaps) < 0).all()


def test_multiplier_is_in_the_middle_when_all_rows_are_at_the_bound():
    quadratic, signs = 1e-6 * np.eye(4), np.array([1.0, 1.0, -1.0, -1.0])
    found = solve_box_qp(quadratic, signs, bound=0.25)
    np.testing.assert_array_equal(found.point, 0.25)
    assert found.multiplier == pytest.approx(0.0, abs=1e-9)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    marked = np.where(rng.permutation(60) < 20, y, -1)
    return X, y, marked


@pytest.mark.parametrize("ambient", [1e-3, 1e-2, 0.1, 1.0])
def test_without_the_graph_it_is_a_support_vector_machine(data, ambient):
    X, _, marked = data
    seen = marked >= 0
    model = LapSVMClassifier(ambient=ambient, intrinsic=0.0, width=1.5, scale=None).fit(X, marked)
    machine = SVC(C=1 / (2 * ambient * seen.sum()), gamma=1 / 1.5**2, tol=1e-10)
    machine.fit(X[seen], marked[seen])
    bounded = np.isclose(model.dual_coef_, 0) | np.isclose(model.dual_coef_, 1 / seen.sum())
    ours, theirs = model.decision_function(X), machine.decision_function(X)
    if bounded.all():  # the intercept is not unique then
        ours, theirs = ours - ours.mean(), theirs - theirs.mean()
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_solution_minimises_the_primal_objective(data):
    X, _, marked = data
    seen = np.flatnonzero(marked >= 0)
    signs = 2.0 * marked[seen] - 1
    kernel = gaussian_kernel(X, X, 1.5)
    graph = laplacian(neighbor_weights(X, 10))
    model = LapSVMClassifier(ambient=0.01, intrinsic=50.0, width=1.5, scale=None).fit(X, marked)

    def objective(a, b):
        f = kernel @ a
        hinge = np.maximum(0, 1 - signs * (f[seen] + b)).mean()
        return hinge + 0.01 * a @ kernel @ a + 50.0 / 3600 * f @ graph @ f

    a, b = model.coef_[0], model.intercept_[0]
    # Strong duality: the primal value of the solution is the dual value.
    spread = spread_matrix(kernel, graph, seen, ambient=0.01, intrinsic=50.0)
    quadratic = np.outer(signs, signs) * (kernel[seen] @ spread)
    assert objective(a, b) == pytest.approx(-_value(quadratic, model.dual_coef_[0]), abs=1e-8)


def test_the_quadratic_form_is_symmetric_and_positive():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 2))
    kernel, graph = gaussian_kernel(table, table, 1.0), laplacian(neighbor_weights(table, 5))
    form = kernel[:8] @ spread_matrix(kernel, graph, np.arange(8), ambient=0.1, intrinsic=1e4)
    np.testing.assert_allclose(form, form.T, atol=1e-10)
    assert np.linalg.eigvalsh(form).min() > -1e-10


def test_two_moons_with_one_label_each_follow_the_graph():
    X, y = make_moons(200, noise=0.05, random_state=0)
    marked = np.full(200, -1)
    for code in (0, 1):
        marked[np.flatnonzero(y == code)[0]] = code
    options = {"ambient": 0.03125, "width": 10**-0.5, "n_neighbors": 5, "scale": None}
    with_graph = LapSVMClassifier(intrinsic=1e4, **options).fit(X, marked)
    without = LapSVMClassifier(intrinsic=0.0, **options).fit(X, marked)
    assert (with_graph.predict(X) == y).mean() > 0.98
    assert (without.predict(X) == y).mean() < 0.9


def test_more_classes_are_one_against_the_rest():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) * 0.3 + np.array([[0, 0], [3, 0], [0, 3]])[y]
    marked = np.where(np.arange(60) % 20 < 2, y, -1)
    model = LapSVMClassifier().fit(X, marked)
    assert model.dual_coef_.shape == (3, 6)
    assert model.coef_.shape == (3, 60)
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize(
    ("name", "value"),
    [("ambient", 0.0), ("intrinsic", -1.0), ("width", 0), ("graph", None), ("n_neighbors", 1.5)],
)
def test_bad_parameters_are_named(data, name, value):
    X, _, marked = data
    with pytest.raises(InvalidInputError, match=f"{name}="):
        LapSVMClassifier(**{name: value}).fit(X, marked)


@parametrize_with_checks(
    [LapSVMClassifier(), LapSVMClassifier(unlabeled=None)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_lapsvm(estimator, check):
    check(estimator)
