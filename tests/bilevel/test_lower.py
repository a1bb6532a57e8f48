"""The lower level against a convex solver, and what masks may and may not do."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.bilevel import GraphSettings, LowerLevel
from s2mam.exceptions import InvalidInputError
from s2mam.graphs import build_graph
from s2mam.losses import LogisticLoss, MultinomialLoss, SquaredLoss
from s2mam.masks import EvidenceCriterion, labeled_kernels

N, P = 30, 4
LABELED = np.arange(0, 30, 2)


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).normal(size=(N, P))


@pytest.fixture(scope="module")
def design(table):
    return build_design(table, ("numeric",) * P, length=1.0)


def _target(table):
    return np.sin(2 * table[LABELED, 0]) + 0.5 * table[LABELED, 2] + 3.0


def _level(table, design, loss=None, target=None, **options):
    settings = {"sparsity": 5e-3, "manifold": 0.5, "tol": 1e-9, "solver": "admm", **options}
    return LowerLevel(
        design,
        table,
        LABELED,
        _target(table) if target is None else target,
        np.full(LABELED.size, 1 / LABELED.size),
        loss or SquaredLoss(),
        **settings,
    )


@pytest.mark.parametrize("penalty", ["alpha", "rkhs"])
@pytest.mark.parametrize("mask", [[1, 1, 1, 1], [1, 0, 1, 0], [0.5, 0, 1, 0.2]])
def test_minimises_the_stated_objective(table, design, penalty, mask):
    mask = np.array(mask, dtype=float)
    tau = np.array([1.0, 2.0, 0.5, 1.0])
    level = _level(table, design, penalty=penalty, tau=tau)
    fit = level.solve(mask)
    graph = build_graph(table, mask).toarray()
    root = np.linalg.cholesky(graph + 1e-10 * np.eye(N)).T
    f, norms = 0, 0
    intercept = cp.Variable()
    for j in np.flatnonzero(mask):
        block = design.block(int(j))
        F = design.features[:, block] * np.sqrt(mask[j])
        if penalty == "alpha":
            F = F * np.sqrt(design.spectra[block])
        b = cp.Variable(F.shape[1])
        f = f + F @ b
        norms = norms + tau[j] * cp.norm(b)
    loss = cp.sum_squares(_target(table) - f[LABELED] - intercept) / LABELED.size
    smooth = cp.sum_squares(root @ f) * 0.5 / N**2
    problem = cp.Problem(cp.Minimize(loss + 5e-3 * norms + smooth))
    problem.solve(solver=cp.CLARABEL)
    assert fit.result.objective == pytest.approx(problem.value, rel=1e-5)
    np.testing.assert_allclose(fit.fitted, (f + intercept).value, atol=2e-3)


@pytest.mark.parametrize("penalty", ["alpha", "rkhs"])
def test_coefficients_live_on_the_design_features(table, design, penalty):
    level = _level(table, design, penalty=penalty)
    fit = level.solve([1, 0, 1, 0])
    np.testing.assert_allclose(level.predict(fit, table), fit.fitted, atol=1e-6)
    np.testing.assert_allclose(design.features @ fit.full_coef + fit.intercept, fit.fitted)
    assert not fit.full_coef[design.block(1)].any()


def test_masked_columns_cannot_change_a_prediction(table, design):
    fit = _level(table, design).solve([1, 0, 1, 0])
    Z = np.random.default_rng(1).normal(size=(9, P))
    other = Z.copy()
    other[:, [1, 3]] = [[1e9, np.nan]]
    level = _level(table, design)
    np.testing.assert_array_equal(level.predict(fit, Z), level.predict(fit, other))


def test_masked_training_columns_cannot_change_the_fit(table):
    other = table.copy()
    other[:, [1, 3]] = np.random.default_rng(2).normal(100, 100, size=(N, 2))
    fits = [
        _level(rows, build_design(rows, ("numeric",) * P, length=1.0)).solve([1, 0, 1, 0])
        for rows in (table, other)
    ]
    np.testing.assert_array_equal(fits[0].fitted, fits[1].fitted)


def test_empty_mask_is_the_best_constant(table, design):
    level = _level(table, design)
    fit = level.solve(np.zeros(P))
    np.testing.assert_allclose(fit.fitted, _target(table).mean())
    assert fit.labeled_loss() == pytest.approx(level.null_loss)
    assert fit.approximate_loo() == pytest.approx(level.null_loss * (15 / 14) ** 2)


@pytest.mark.parametrize("penalty", ["alpha", "rkhs"])
@pytest.mark.parametrize("solver", ["auto", "admm"])
def test_warm_start_leads_to_the_same_solution(table, design, penalty, solver):
    level = _level(table, design, penalty=penalty, solver=solver, tol=1e-8)
    cold = level.solve([1, 1, 1, 0])
    start = level.solve([1, 0, 1, 1])
    warm = level.solve([1, 1, 1, 0], start=start)
    np.testing.assert_allclose(warm.fitted, cold.fitted, atol=1e-3)
    np.testing.assert_array_equal(
        warm.fitted, level.solve([1, 1, 1, 0], start=start.start_point()).fitted
    )


@pytest.mark.parametrize("loss", [LogisticLoss(), MultinomialLoss(3)])
def test_classes(table, design, loss):
    y = _target(table)
    codes = np.digitize(y, [2.7, 3.3]) if loss.n_outputs == 3 else (y > 3).astype(float)
    level = _level(table, design, loss, codes, tol=1e-6)
    fit = level.solve([1, 0, 1, 0])
    assert fit.fitted.shape == ((N,) if loss.n_outputs == 1 else (N, 3))
    assert fit.labeled_loss() < level.null_loss
    assert fit.labeled_loss() < fit.approximate_loo()
    again = level.solve([1, 1, 1, 0], start=fit)
    assert again.labeled_loss() <= level.null_loss


def test_graph_follows_the_mask(table, design):
    level = _level(table, design, graph=GraphSettings(kind="dense", bandwidth=1.0))
    expected = build_graph(table[:, [0]], bandwidth=1.0, kind="dense").toarray()
    np.testing.assert_allclose(level.laplacian([1, 0, 0, 0]).toarray(), expected)


def test_subset_keeps_rows_together(table, design):
    rows = np.array([0, 1, 2, 5, 8, 9])
    batch = _level(table, design).subset(rows)
    np.testing.assert_array_equal(rows[batch.labeled], [0, 2, 8])
    np.testing.assert_array_equal(batch.target, _target(table)[[0, 1, 4]])
    assert batch.weights.sum() == pytest.approx(1.0)
    assert batch.solve([1, 0, 1, 0]).fitted.shape == (6,)
    with pytest.raises(InvalidInputError, match="no labelled row"):
        _level(table, design).subset(np.array([1, 3]))


def test_graph_as_a_prior_of_the_evidence(table, design):
    """A heavy graph makes rough functions expensive: the evidence changes, and stays finite."""
    level = _level(table, design)
    values = []
    for weight in (0.0, 1e3):
        kernels = labeled_kernels(
            design.features[LABELED],
            design.offsets,
            _target(table),
            graph=level.graph_term(weight),
        )
        values.append(EvidenceCriterion(kernels).value([1, 0, 1, 0]))
    plain = labeled_kernels(design.features[LABELED], design.offsets, _target(table), tolerance=0.0)
    assert values[0] == pytest.approx(EvidenceCriterion(plain).value([1, 0, 1, 0]))
    assert np.isfinite(values[1])
    assert values[1] != pytest.approx(values[0], abs=1e-3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"penalty": "l0"}, "penalty"), ({"sparsity": -1.0}, "sparsity"), ({"manifold": np.nan}, "m")],
)
def test_refuses_unusable_settings(table, design, changes, message):
    with pytest.raises(InvalidInputError, match=message):
        _level(table, design, **changes)


def test_refuses_unusable_masks(table, design):
    with pytest.raises(InvalidInputError, match="one entry per column"):
        _level(table, design).solve([1, 0])
    with pytest.raises(InvalidInputError, match="outside"):
        _level(table, design).solve([2, 0, 0, 0])
