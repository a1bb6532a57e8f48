"""Evidence: dense formula, gradients, additions, invariances."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.masks import EvidenceCriterion, GraphTerm, class_contrasts, labeled_kernels

S = np.array([0.9, 0.3, 0.5, 0.1, 0.2, 0.7])


def _dense(F, ranks, y, s, noise):
    """Restricted likelihood written with the dense covariance and the intercept's direction."""
    y = y[:, None] if y.ndim == 1 else y
    n, k = y.shape
    C = (F * np.repeat(s, ranks)) @ F.T + noise * np.eye(n)
    Ci, one = np.linalg.inv(C), np.ones((n, 1))
    P = Ci - Ci @ one @ one.T @ Ci / (one.T @ Ci @ one)
    # ln|H C H'| = ln|C| + ln(1'C^-1 1) - ln(1'1) for an orthonormal complement H of 1.
    volume = np.linalg.slogdet(C)[1] + np.log((one.T @ Ci @ one).item() / n)
    return 0.5 * (np.log(np.trace(y.T @ P @ y) / ((n - 1) * k)) + volume / (n - 1))


def _numeric(function, s, h=1e-5):
    steps = np.eye(s.size) * h
    return np.array([(function(s + e) - function(s - e)) / (2 * h) for e in steps])


@pytest.fixture
def criterion(small):
    _, design, y = small
    return EvidenceCriterion(labeled_kernels(design.features, design.offsets, y, tolerance=0.0))


def test_value_is_the_restricted_likelihood(small):
    _, design, y = small
    kernels = labeled_kernels(design.features, design.offsets, y, tolerance=0.0)
    for noise in (0.05, 1.0):
        expected = _dense(design.features, design.ranks, y, S, noise)
        assert EvidenceCriterion(kernels, noise=noise).value(S) == pytest.approx(expected)


def test_several_outputs_share_the_covariance(small):
    Z, design, _ = small
    Y = class_contrasts((Z[:, 0] > 0).astype(int) + (Z[:, 1] > 1), 3)
    kernels = labeled_kernels(design.features, design.offsets, Y, tolerance=0.0)
    expected = _dense(design.features, design.ranks, Y, S, 0.3)
    assert EvidenceCriterion(kernels, noise=0.3).value(S) == pytest.approx(expected)


def test_gradient_by_finite_differences_at_fixed_noise(criterion):
    value, gradient, by_noise = criterion.value_and_gradient(S, 0.2)
    fixed = EvidenceCriterion(criterion.kernels, noise=0.2)
    assert value == pytest.approx(fixed.value(S))
    np.testing.assert_allclose(gradient, _numeric(fixed.value, S), rtol=1e-5, atol=1e-8)
    numeric = [
        EvidenceCriterion(criterion.kernels, noise=0.2 * np.exp(h)).value(S) for h in (1e-5, -1e-5)
    ]
    assert by_noise == pytest.approx((numeric[0] - numeric[1]) / 2e-5, rel=1e-5)


def test_gradient_by_finite_differences_with_the_noise_at_its_optimum(criterion):
    numeric = _numeric(criterion.value, S, h=1e-4)
    np.testing.assert_allclose(criterion.gradient(S), numeric, rtol=1e-3, atol=1e-5)


def test_gradient_formula_of_the_covariance(small, criterion):
    """tr(M^-1 K_j) / N - a'K_j a / (q N), halved."""
    _, design, y = small
    n = len(y) - 1
    H = np.linalg.svd(np.ones((1, n + 1)))[2][1:]
    M = (H @ design.features * np.repeat(S, design.ranks)) @ design.features.T @ H.T
    M += 0.4 * np.eye(n)
    a = np.linalg.solve(M, H @ y)
    q = (H @ y) @ a / n
    gradient = criterion.value_and_gradient(S, 0.4)[1]
    for j in range(6):
        F = H @ design.features[:, design.block(j)]
        expected = np.trace(np.linalg.solve(M, F @ F.T)) / n - a @ F @ F.T @ a / (q * n)
        assert gradient[j] == pytest.approx(0.5 * expected)


def test_additions_equal_full_evaluations(criterion):
    mask = np.array([False, True, False, False, True, False])
    fixed = EvidenceCriterion(criterion.kernels, noise=0.3)
    additions = criterion.addition_values(mask, 0.3)
    for j in range(6):
        grown = mask.copy()
        grown[j] = True
        expected = np.inf if mask[j] else fixed.value(grown)
        assert additions[j] == pytest.approx(expected)


def test_scale_of_the_target_only_shifts_the_value(small):
    _, design, y = small
    one, other = (
        EvidenceCriterion(labeled_kernels(design.features, design.offsets, target))
        for target in (y, 50.0 * y - 700.0)
    )
    masks = np.random.default_rng(0).random((5, 6)) < 0.5
    shifts = [other.value(mask) - one.value(mask) for mask in masks]
    np.testing.assert_allclose(shifts, np.log(50.0), atol=1e-8)


def test_rows_of_weight_zero_do_not_count(small):
    _, design, y = small
    weights = np.ones(40)
    weights[:5] = 0.0
    kept = labeled_kernels(design.features[5:], design.offsets, y[5:])
    weighted = labeled_kernels(design.features, design.offsets, y, weights)
    mask = np.array([1, 0, 1, 0, 0, 0])
    assert EvidenceCriterion(weighted).value(mask) == pytest.approx(
        EvidenceCriterion(kept).value(mask)
    )


def test_compression_keeps_the_value(small):
    _, design, y = small
    full = labeled_kernels(design.features, design.offsets, y, tolerance=0.0)
    small_one = labeled_kernels(design.features, design.offsets, y, tolerance=1e-4)
    if full.loose.count == 0:
        assert small_one.features.shape[1] < full.features.shape[1]
    assert EvidenceCriterion(small_one).value(S) == pytest.approx(
        EvidenceCriterion(full).value(S), abs=1e-3
    )


def test_the_true_columns_win(criterion):
    truth = criterion.value([1, 0, 1, 0, 0, 0])
    assert truth < criterion.value(np.ones(6))
    assert truth < criterion.value([1, 0, 0, 0, 0, 0])
    assert truth < criterion.value(np.zeros(6))


def _frozen_graph(design):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(design.features.shape[1],) * 2)
    Q = A @ A.T / 50

    def quadratic(mask):
        on = np.repeat(mask > 0, design.ranks)
        return Q[np.ix_(on, on)]

    return Q, GraphTerm(quadratic, 0.7)


def test_graph_warps_the_prior(small):
    _, design, y = small
    Q, graph = _frozen_graph(design)
    kernels = labeled_kernels(design.features, design.offsets, y, graph=graph)
    precision = np.diag(1 / np.repeat(S, design.ranks)) + 0.7 * Q
    root = np.linalg.cholesky(np.linalg.inv(precision))
    expected = _dense(design.features @ root, [root.shape[0]], y, np.ones(1), 0.3)
    assert EvidenceCriterion(kernels, noise=0.3).value(S) == pytest.approx(expected)


def test_gradient_with_a_frozen_graph(small):
    _, design, y = small
    kernels = labeled_kernels(design.features, design.offsets, y, graph=_frozen_graph(design)[1])
    fixed = EvidenceCriterion(kernels, noise=0.3)
    gradient = fixed.value_and_gradient(S, 0.3)[1]
    np.testing.assert_allclose(gradient, _numeric(fixed.value, S), rtol=1e-5, atol=1e-7)


def test_equal_targets_stay_finite(small):
    _, design, _ = small
    criterion = EvidenceCriterion(labeled_kernels(design.features, design.offsets, np.ones(40)))
    assert np.isfinite(criterion.value(np.ones(6)))


def test_one_label_is_not_enough(small):
    _, design, y = small
    with pytest.raises(InvalidInputError, match="at least 2"):
        labeled_kernels(design.features[:1], design.offsets, y[:1])
    with pytest.raises(InvalidInputError, match="one entry per column"):
        EvidenceCriterion(labeled_kernels(design.features, design.offsets, y)).value([1, 0])
