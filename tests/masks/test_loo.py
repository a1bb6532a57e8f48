"""Closed-form leave-one-out against refits without each row."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.masks import LooCriterion, labeled_kernels

S = np.array([0.9, 0.3, 0.5, 0.1, 0.2, 0.7])


def _ridge_predict(F, y, w, noise, row):
    """Kernel ridge with an unpenalised intercept, weighted rows, evaluated at one row."""
    n, p = F.shape
    A = np.zeros((p + 1, p + 1))
    X = np.column_stack([F, np.ones(n)])
    A += X.T @ (w[:, None] * X)
    A[:p, :p] += noise * np.eye(p)
    return np.append(row, 1.0) @ np.linalg.solve(A, X.T @ (w * y))


def _brute(F, y, w, noise):
    """w has mean one over all rows; refits keep every other row's weight."""
    errors = []
    for i in range(len(y)):
        keep = np.arange(len(y)) != i
        errors.append(y[i] - _ridge_predict(F[keep], y[keep], w[keep], noise, F[i]))
    return (w * np.array(errors) ** 2).mean()


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_refits_without_each_row(small, weighted):
    _, design, y = small
    w = np.random.default_rng(0).uniform(0.5, 2.0, 40) if weighted else np.ones(40)
    w /= w.mean()
    kernels = labeled_kernels(design.features, design.offsets, y, w, tolerance=0.0)
    F = design.features * np.sqrt(np.repeat(S, design.ranks))
    expected = _brute(F, y, w, 0.5)
    criterion = LooCriterion(kernels, noise=0.5)
    assert criterion.value(S) == pytest.approx(expected, rel=1e-6)
    assert criterion.row_losses(S).mean() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("outputs", [1, 2])
def test_gradient_by_finite_differences(small, outputs):
    _, design, y = small
    target = y if outputs == 1 else np.column_stack([y, y**2])
    kernels = labeled_kernels(design.features, design.offsets, target)
    fixed = LooCriterion(kernels, noise=0.2)
    value, gradient, by_noise = fixed.value_and_gradient(S, 0.2)
    assert value == pytest.approx(fixed.value(S))
    h = 1e-5
    numeric = [(fixed.value(S + h * e) - fixed.value(S - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-8)
    up, down = (LooCriterion(kernels, noise=0.2 * np.exp(t)).value(S) for t in (h, -h))
    assert by_noise == pytest.approx((up - down) / (2 * h), rel=1e-5)


def test_gradient_with_the_ridge_at_its_optimum(small):
    _, design, y = small
    criterion = LooCriterion(labeled_kernels(design.features, design.offsets, y))
    h = 1e-4
    numeric = [
        (criterion.value(S + h * e) - criterion.value(S - h * e)) / (2 * h) for e in np.eye(6)
    ]
    np.testing.assert_allclose(criterion.gradient(S), numeric, rtol=1e-3, atol=1e-5)


def test_additions_equal_full_evaluations(small):
    _, design, y = small
    kernels = labeled_kernels(design.features, design.offsets, y)
    fixed = LooCriterion(kernels, noise=0.3)
    mask = np.array([False, True, False, False, True, False])
    additions = fixed.addition_values(mask, 0.3)
    for j in range(6):
        grown = mask.copy()
        grown[j] = True
        expected = np.inf if mask[j] else fixed.value(grown)
        assert additions[j] == pytest.approx(expected)


def test_empty_mask_predicts_by_the_mean_of_the_others(small):
    _, design, y = small
    criterion = LooCriterion(labeled_kernels(design.features, design.offsets, y))
    expected = y.var() * (40 / 39) ** 2
    assert criterion.value(np.zeros(6)) == pytest.approx(expected)
