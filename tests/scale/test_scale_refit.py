"""The correction from moments against ridge regression on the rows themselves."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.intake import TableReader
from s2mam.scale import ArraySource, scale_options
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.evaluator import AdditiveEvaluator, evaluated_part
from s2mam.scale.executors import sum_blocks
from s2mam.scale.features import feature_map
from s2mam.scale.moments import LabelCoder, MomentPass
from s2mam.scale.refit import _RIDGES, fit_correction


def problem(seed=0, n=600, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=n)
    y[rng.random(n) < 0.4] = np.nan
    reader = TableReader().fit(X)
    design = build_design(reader.transform(X), reader.kinds_, tolerance=1e-3)
    coef = np.zeros((int(design.offsets[-1]), 1))
    coef[design.block(1)] = rng.normal(size=(design.ranks[1], 1))
    known = AdditiveEvaluator(
        (evaluated_part(reader, design, coef, [1], clip=False),), np.array([0.3]), 3
    )
    encoder = ColumnEncoder(reader, np.array([0, 2]), clip=False)
    plan = MomentPass(
        encoder=encoder,
        features=feature_map(design, encoder),
        known=known,
        coder=LabelCoder(None),
        unlabeled="auto",
        learned_from=np.arange(50),
        n_folds=5,
        seed=1,
    )
    return X, y, plan


def moments_of(X, y, plan, weights=None, block_rows=64):
    with scale_options(block_rows=block_rows):
        return sum_blocks(ArraySource(X, y, weights), plan)


def rows_of(X, y, plan):
    labeled = np.flatnonzero(~np.isnan(y))
    labeled = labeled[labeled >= 50]
    entries = plan.entries(X[labeled], y[labeled])
    keep = np.concatenate([[0, 1], 2 + plan.features.keep])
    return entries[keep].T, y[labeled], plan.folds(labeled)


def ridge(A, y, weights, penalty, variances):
    matrix = (A * weights[:, None]).T @ A
    matrix[np.arange(2, A.shape[1]), np.arange(2, A.shape[1])] += penalty / variances
    return np.linalg.solve(matrix, (A * weights[:, None]).T @ y)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_correction_is_the_best_ridge_by_cross_validation(weighted):
    X, y, plan = problem()
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.5, 2.0, len(y)) if weighted else None
    found = fit_correction(
        moments_of(X, y, plan, weights), plan.features, np.ones(plan.features.n_features)
    )
    A, target, folds = rows_of(X, y, plan)
    rows = np.flatnonzero(~np.isnan(y))
    w = np.ones(target.size) if weights is None else weights[rows[rows >= 50]]
    variances = np.ones(plan.features.n_features)

    def error(penalty):
        total = 0.0
        for fold in range(5):
            out = folds == fold
            beta = ridge(A[~out], target[~out], w[~out], penalty, variances)
            total += float(w[out] @ (target[out] - A[out] @ beta) ** 2)
        return total / w.sum()

    errors = {penalty: error(penalty) for penalty in _RIDGES}
    best = min(errors, key=errors.get)
    assert found.ridge == best
    assert found.held_out == pytest.approx(errors[best], rel=1e-6)
    beta = ridge(A, target, w, best, variances)
    np.testing.assert_allclose(found.intercept, beta[:1], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.mixing, [[beta[1]]], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.coef[:, 0], beta[2:], rtol=1e-4, atol=1e-6)
    assert found.held_out < 0.6 * found.before


def test_held_out_decisions_do_not_see_their_fold():
    X, y, plan = problem()
    found = fit_correction(moments_of(X, y, plan), plan.features, np.ones(plan.features.n_features))
    A, target, folds = rows_of(X, y, plan)
    out = folds == 2
    variances = np.ones(plan.features.n_features)
    beta = ridge(A[~out], target[~out], np.ones(np.count_nonzero(~out)), found.ridge, variances)
    labeled = np.flatnonzero(~np.isnan(y))
    labeled = labeled[labeled >= 50][out]
    decided = found.decide_held_out(plan.entries(X[labeled], y[labeled]), folds[out])
    np.testing.assert_allclose(decided[:, 0], A[out] @ beta, atol=1e-6)


def test_a_known_model_that_is_right_is_left_alone():
    X, y, plan = problem()
    labeled = ~np.isnan(y)
    y[labeled] = 2.0 * np.asarray(plan.known.decide(X[labeled]))[0] - 1.0
    y[labeled] += np.random.default_rng(0).normal(size=np.count_nonzero(labeled))
    found = fit_correction(
        moments_of(X, y, plan), plan.features, np.full(plan.features.n_features, 1e-3)
    )
    assert found.held_out <= found.before
    assert np.abs(found.mixing - 2.0) < 0.2
    assert np.isinf(found.ridge) or np.abs(found.coef).max() < 0.2


def test_rows_that_were_learned_from_do_not_count():
    X, y, plan = problem()
    first = moments_of(X, y, plan)
    changed = y.copy()
    changed[:50] = np.where(np.isnan(y[:50]), np.nan, 1e3)
    second = moments_of(X, changed, plan)
    np.testing.assert_array_equal(first.matrices[:-1], second.matrices[:-1])
    assert first.counts[-1] == np.count_nonzero(~np.isnan(y[:50]))
    assert first.counts.sum() == np.count_nonzero(~np.isnan(y))


def test_blocks_do_not_matter():
    X, y, plan = problem()
    np.testing.assert_allclose(
        moments_of(X, y, plan, block_rows=17).matrices,
        moments_of(X, y, plan, block_rows=600).matrices,
        rtol=1e-9,
        atol=1e-9,
    )


def test_labels_are_coded_as_the_learner_codes_them():
    three = LabelCoder(np.array(["a", "b", "c"]))
    np.testing.assert_array_equal(
        three.code(np.array(["b", "c", "b"], dtype=object)).T,
        [[0, 1, 0], [0, 0, 1], [0, 1, 0]],
    )
    assert three.n_outputs == 3
    two = LabelCoder(np.array([2, 5]))
    np.testing.assert_array_equal(two.code(np.array([5.0, 2.0])), [[1.0, -1.0]])
    np.testing.assert_array_equal(LabelCoder(None).code(np.array([5, 2])), [[5.0, 2.0]])
