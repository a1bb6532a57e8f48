"""Labelled rows with the intercept projected out, against plain weighted ridge regression."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.masks.labeled_atoms import AtomFit, labeled_atoms


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    straight, curved = rng.normal(size=(20, 3)), rng.normal(size=(3, 20, 2))
    rows = np.array([0, 3, 4, 7, 8, 11, 12, 15, 19])
    target = rng.normal(size=(9, 2))
    weights = rng.uniform(0.5, 3.0, size=9)
    return straight, curved, rows, target, weights


def test_rows_are_centred_and_weighted(problem):
    straight, _curved, rows, _target, weights = problem
    atoms = labeled_atoms(*problem)
    root = np.sqrt(weights)
    np.testing.assert_allclose(root @ atoms.straight, 0.0, atol=1e-12)
    np.testing.assert_allclose(root @ atoms.target, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.einsum("i,jir->jr", root, atoms.curved), 0.0, atol=1e-12)
    np.testing.assert_allclose(atoms.straight / root[:, None] + atoms.straight_mean, straight[rows])
    np.testing.assert_array_equal(atoms.flat, np.hstack(list(atoms.curved)))
    assert atoms.freedom == pytest.approx(weights.sum() - 1.0)


def test_fit_solves_the_weighted_ridge_problem(problem):
    """Penalty noise * coef^2 / kernel weight, free intercept: normal equations in the primal."""
    straight, curved, rows, target, weights = problem
    lines, curves, noise = np.array([0.7, 0.0, 2.0]), np.array([0.1, 0.4, 0.0]), 0.3
    fit = labeled_atoms(*problem).fit(lines, curves, noise)
    features = np.hstack([straight[rows], *(curved[j][rows] for j in range(3))])
    scale = np.sqrt(np.concatenate([lines, np.repeat(curves, 2)]))
    design = np.column_stack([features * scale, np.ones(rows.size)])
    penalty = noise * np.diag([1.0] * scale.size + [0.0])
    gram = (design.T * weights) @ design + penalty
    solution = np.linalg.solve(gram, (design.T * weights) @ target)
    coef = solution[:-1] * scale[:, None]
    np.testing.assert_allclose(fit.straight, coef[:3], atol=1e-9)
    np.testing.assert_allclose(fit.curved.reshape(6, 2), coef[3:], atol=1e-9)
    np.testing.assert_allclose(fit.intercept, solution[-1], atol=1e-9)


def test_gram_is_the_sum_of_the_kernels(problem):
    atoms = labeled_atoms(*problem)
    lines, curves = np.array([1.0, 0.0, 0.5]), np.array([0.0, 2.0, 0.0])
    expected = (atoms.straight * lines) @ atoms.straight.T + 2.0 * atoms.curved[1] @ (
        atoms.curved[1].T
    )
    np.testing.assert_allclose(atoms.gram(lines, curves), expected, atol=1e-12)
    np.testing.assert_array_equal(atoms.gram(np.zeros(3), np.zeros(3)), np.zeros((9, 9)))


def test_usable_atoms_vary_over_the_labelled_rows(problem):
    straight, curved, rows, target, weights = problem
    straight[rows, 1] = 5.0
    curved[2][rows] = -1.0
    usable = labeled_atoms(straight, curved, rows, target, weights).usable
    np.testing.assert_array_equal(usable, [True, False, True, True, True, False])


def test_models_add_and_scale(problem):
    straight, curved, *_ = problem
    rng = np.random.default_rng(1)
    one, two = (
        AtomFit(rng.normal(size=(3, 2)), rng.normal(size=(3, 2, 2)), rng.normal(size=2))
        for _ in range(2)
    )
    both = one.scaled(0.25).plus(two).predict(straight, curved)
    apart = 0.25 * one.predict(straight, curved) + two.predict(straight, curved)
    np.testing.assert_allclose(both, apart, atol=1e-12)
    by_hand = straight @ one.straight + np.einsum("jnr,jrk->nk", curved, one.curved) + one.intercept
    np.testing.assert_allclose(one.predict(straight, curved), by_hand, atol=1e-12)
