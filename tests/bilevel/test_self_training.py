"""Lines that label rows for themselves."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bases.atoms import Atoms
from s2mam.bilevel.self_training import _Ridge, self_trained_lines


def _clusters(p: int, classes: int, n: int = 300, seed: int = 0) -> tuple[Atoms, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    centres = rng.normal(size=(classes, p))
    centres *= 4.0 / np.linalg.norm(centres, axis=1, keepdims=True)
    table = centres[codes] + rng.normal(size=(n, p))
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    return Atoms(table, np.zeros((p, n, 1)), np.empty(0), np.empty((0, 1))), codes


def _contrasts(codes: np.ndarray, classes: int) -> np.ndarray:
    return 2.0 * codes[:, None] - 1.0 if classes == 2 else np.eye(classes)[codes]


def _classes(decision: np.ndarray) -> np.ndarray:
    return decision[:, 0] > 0 if decision.shape[1] == 1 else decision.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("p", [40, 300])  # fewer and more columns than rows
def test_clusters_are_found_from_a_few_labels(classes: int, p: int) -> None:
    taught, plain = [], []
    for seed in range(5):
        atoms, codes = _clusters(p, classes, seed=seed)
        rows = np.arange(10 * classes)
        target = _contrasts(codes[rows], classes)
        fit = self_trained_lines(atoms, np.ones(p), rows, target, np.ones(rows.size))
        values = np.zeros((codes.size, target.shape[1]))
        counts = np.zeros(codes.size)
        values[rows], counts[rows] = target, 1.0
        coef, intercept = _Ridge(atoms.straight).fit(values, counts)
        decision = atoms.straight @ fit.straight + fit.intercept
        taught.append(np.mean(_classes(decision) == codes))
        plain.append(np.mean(_classes(atoms.straight @ coef + intercept) == codes))
    assert np.mean(taught) > 0.93
    assert np.mean(taught) > np.mean(plain) + 0.005


@pytest.mark.parametrize("p", [3, 30])
def test_ridge_is_that_of_the_normal_equations(p: int) -> None:
    rng = np.random.default_rng(1)
    table, target = rng.normal(size=(20, p)), rng.normal(size=(20, 2))
    counts = rng.integers(0, 3, size=20).astype(float)
    coef, intercept = _Ridge(table).fit(target, counts)
    copies = np.repeat(np.arange(20), counts.astype(int))
    rows, values = table[copies], target[copies]
    centred = rows - rows.mean(axis=0)
    amount = np.square(centred).sum() / copies.size
    expected = np.linalg.solve(
        centred.T @ centred + amount * np.eye(p), centred.T @ (values - values.mean(axis=0))
    )
    np.testing.assert_allclose(coef, expected, atol=1e-10)
    level = values.mean(axis=0) - rows.mean(axis=0) @ expected
    np.testing.assert_allclose(intercept, level, atol=1e-10)


@pytest.mark.parametrize("p", [3, 30])
def test_rows_that_are_all_alike_give_no_slope(p: int) -> None:
    table = np.ones((10, p))
    coef, intercept = _Ridge(table).fit(np.ones((10, 1)), np.ones(10))
    assert np.all(coef == 0.0)
    assert intercept == pytest.approx(1.0)


def test_no_curves_and_columns_without_prior_weight_are_out() -> None:
    atoms, codes = _clusters(6, 2)
    prior = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    rows = np.arange(4)
    fit = self_trained_lines(atoms, prior, rows, _contrasts(codes[rows], 2), np.ones(4))
    assert np.all(fit.curved == 0.0)
    assert np.all(fit.straight[3:] == 0.0)
    assert np.all(fit.straight[:3] != 0.0)
