"""Landmarks and random waves as features of single columns."""

from __future__ import annotations

import json

import numpy as np
import pytest

from s2mam.bases import build_design, kernel_matrix, resolve_basis
from s2mam.bases.atoms import split_atoms
from s2mam.bases.build import build_recipes
from s2mam.bases.design import Design
from s2mam.bases.fourier import draw_frequencies, fourier_factors
from s2mam.bases.nystrom import column_landmarks, nystrom_factors
from s2mam.exceptions import InvalidInputError

KINDS = ("numeric", "categorical", "constant", "numeric")


def _table(n=80, missing=0.1):
    rng = np.random.default_rng(0)
    table = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 3, size=n), np.zeros(n), rng.exponential(size=n)]
    )
    table[rng.random(n) < missing, 0] = np.nan
    return table


@pytest.mark.parametrize("basis", ["nystrom", "fourier"])
@pytest.mark.parametrize("linear", [0.0, 0.3])
@pytest.mark.parametrize("center", [True, False])
def test_evaluation_state_and_spectra(basis, linear, center):
    table = _table()
    design = build_design(table, KINDS, basis=basis, linear=linear, center=center, tolerance=1e-10)
    np.testing.assert_allclose(design.evaluate(table), design.features, atol=1e-5)
    gram = design.features[:, design.block(0)].T @ design.features[:, design.block(0)]
    np.testing.assert_allclose(gram, np.diag(design.spectra[design.block(0)]), atol=1e-6)
    missing = np.isnan(table[:, 0])
    assert missing.any()
    assert not design.features[missing][:, design.block(0)].any()
    state = design.to_state()
    plain = {k: v for k, v in state.items() if not isinstance(v, np.ndarray)}
    assert json.loads(json.dumps(plain))["basis"] == basis
    again = Design.from_state(state)
    np.testing.assert_array_equal(again.evaluate(table), design.evaluate(table))
    part = design.evaluate(table, [3, 0])
    np.testing.assert_allclose(
        part, np.hstack([design.evaluate(table)[:, design.block(j)] for j in (3, 0)]), atol=1e-12
    )


def test_a_state_without_a_basis_is_one_of_kernels():
    design = build_design(_table(), KINDS)
    state = design.to_state()
    del state["basis"]
    assert Design.from_state(state).basis == "kernel"


def test_landmarks_of_few_values_are_exact_and_cover_the_range():
    x = np.repeat([-2.0, 0.0, 0.5, 3.0], 20)
    design = build_design(x[:, None], ["numeric"], basis="nystrom", center=False)
    features = design.features
    np.testing.assert_allclose(features @ features.T, kernel_matrix(x, x), atol=1e-6)
    values = np.sort(np.random.default_rng(0).standard_cauchy(500))
    landmarks = column_landmarks(values, 16)
    assert landmarks[0] == values[0]
    assert landmarks[-1] == values[-1]
    assert landmarks.size <= 16


def test_landmarks_beat_waves_on_one_column():
    """32 landmarks against 100 waves: five digits against one."""
    x = np.sort(np.random.default_rng(0).normal(size=400))
    exact = kernel_matrix(x, x)
    count, one = np.array([400]), np.ones(1)
    [fixed] = nystrom_factors(x[None], count, one, kernel="gaussian")
    errors = []
    for seed in range(5):
        [drawn] = fourier_factors(x[None], count, one, seed=seed, columns=np.array([0]))
        errors.append(np.sqrt(np.mean((drawn.rows.T @ drawn.rows - exact) ** 2)))
    assert np.abs(fixed.rows.T @ fixed.rows - exact).max() < 1e-5
    assert 0.02 < np.mean(errors) < 0.2


def test_waves_have_the_kernel_as_their_mean_and_unit_norm():
    x = np.linspace(-2, 2, 9)
    count, one = np.array([9]), np.array([1.7])
    total = np.zeros((9, 9))
    for seed in range(400):
        [factor] = fourier_factors(x[None], count, one, seed=seed, columns=np.array([5]))
        np.testing.assert_allclose(np.square(factor.rows).sum(axis=0), 1.0)
        total += factor.rows.T @ factor.rows / 400
    assert np.abs(total - kernel_matrix(x, x, length=1.7)).max() < 0.03


def test_draws_depend_on_column_and_seed_alone():
    both = draw_frequencies(np.array([2, 7]), 1)
    np.testing.assert_array_equal(both[1], draw_frequencies(np.array([7]), 1)[0])
    assert not np.array_equal(both[0], both[1])
    assert not np.array_equal(both[0], draw_frequencies(np.array([2]), 2)[0])


@pytest.mark.parametrize("basis", ["nystrom", "fourier"])
def test_the_straight_line_is_in_every_block(basis):
    table = _table(missing=0.0)[:, [0]]
    design = build_design(table, ["numeric"], linear=0.3, tolerance=1e-4, max_rank=24, basis=basis)
    atoms = split_atoms(design, table)
    line = (table[:, 0] - table.mean()) / table.std()
    assert abs(np.corrcoef(atoms.straight[:, 0], line)[0, 1]) > 0.999


def test_words_that_are_refused():
    with pytest.raises(InvalidInputError, match='"nystrom"'):
        resolve_basis("splines", 10)
    with pytest.raises(InvalidInputError, match="Gaussian kernel"):
        build_design(_table(), KINDS, basis="fourier", kernel="matern32")
    design = build_design(_table(), KINDS, basis="fourier")
    with pytest.raises(InvalidInputError, match="no pivots"):
        design.pivots_of(0)
    assert design.pivots_of(1).size == 3


@pytest.mark.parametrize("basis", ["kernel", "nystrom", "fourier"])
def test_recipes_made_in_runs_evaluate_alike(basis, monkeypatch):
    monkeypatch.setattr("s2mam.bases.curves._CHUNK", 3000)  # one column at a time
    table = _table()
    recipes = build_recipes(table, KINDS, basis=basis, linear=0.3)
    assert recipes.features.shape[0] == 0
    assert recipes.kinds == KINDS
    if basis != "fourier":  # whose draws depend on where a run starts
        whole = build_design(table, KINDS, basis=basis, linear=0.3)
        np.testing.assert_array_equal(recipes.evaluate(table), whole.evaluate(table))
    np.testing.assert_array_equal(
        recipes.evaluate(table), Design.from_state(recipes.to_state()).evaluate(table)
    )
