"""Straight and curved parts: identities of the split."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.bases.atoms import split_atoms

KINDS = ("numeric", "numeric", "categorical", "constant", "numeric")


@pytest.fixture(scope="module", params=[(), (3.0,), (2.0, 5.0)], ids=["one", "two", "three"])
def parts(request):
    """Columns of every kind, split for one kernel length or for several."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 5))
    Z[:, 1] = np.exp(Z[:, 1]).clip(0, 4)
    Z[:, 2] = rng.integers(0, 4, size=80)
    Z[:, 3] = 0.0
    Z[rng.random(80) < 0.2, 4] = np.nan
    options = {"linear": 0.3, "tolerance": 1e-4, "max_rank": 24}
    design = build_design(Z, KINDS, **options)
    longer = [build_design(Z, KINDS, length=length, **options) for length in request.param]
    return Z, design, split_atoms(design, Z, longer=longer)


def test_straight_parts_are_standardised_lines(parts):
    Z, _, atoms = parts
    for j in (0, 1, 4):
        present = ~np.isnan(Z[:, j])
        line = atoms.straight[present, j]
        correlation = np.corrcoef(line, Z[present, j])[0, 1]
        assert correlation > 0.999
        assert atoms.straight[:, j] @ atoms.straight[:, j] == pytest.approx(80.0, rel=1e-6)
        np.testing.assert_array_equal(atoms.straight[~present, j], 0.0)


def test_categories_and_constants_have_no_line(parts):
    _, _, atoms = parts
    assert not atoms.straight[:, [2, 3]].any()
    assert not atoms.curved[3].any()
    assert atoms.curved[2].any()


def test_curved_parts_are_orthogonal_to_the_line_and_of_unit_size(parts):
    Z, _, atoms = parts
    for j in (0, 1, 2, 4):
        np.testing.assert_allclose(atoms.straight[:, j] @ atoms.curved[j], 0.0, atol=1e-8)
        np.testing.assert_allclose(atoms.curved[j].sum(axis=0), 0.0, atol=1e-6)
        gram = atoms.curved[j].T @ atoms.curved[j]
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-6)
        assert np.trace(gram) == pytest.approx(80.0, rel=1e-6)
        assert not atoms.curved[j][np.isnan(Z[:, j])].any()


def test_parts_are_rotations_of_the_blocks(parts):
    _, design, atoms = parts
    for j in range(5):
        block = design.block(j)
        np.testing.assert_allclose(
            design.features[:, block] @ atoms.straight_map[block], atoms.straight[:, j], atol=1e-10
        )
        np.testing.assert_allclose(
            design.features[:, block] @ atoms.curved_map[block], atoms.curved[j], atol=1e-10
        )


def test_curves_of_several_lengths_have_the_mean_of_their_kernels():
    """With all directions kept, and each kernel of unit size."""
    Z = np.random.default_rng(3).normal(size=(40, 1))
    designs = [
        build_design(Z, ("numeric",), linear=0.3, tolerance=1e-10, length=length)
        for length in (1.0, 2.0, 4.0)
    ]
    alone = [split_atoms(design, Z, rank=12).curved[0] for design in designs]
    joined = split_atoms(designs[0], Z, rank=12, longer=designs[1:]).curved[0]
    expected = sum(curves @ curves.T for curves in alone) / 3.0
    error = np.abs(joined @ joined.T - expected).max()
    assert error < 0.03 * np.abs(expected).max()


def test_curves_of_longer_kernels_are_mostly_a_bend():
    Z = np.random.default_rng(4).uniform(-1.7, 1.7, size=(200, 1))
    short = build_design(Z, ("numeric",), linear=0.3, tolerance=1e-4, length=1.0)
    long = build_design(Z, ("numeric",), linear=0.3, tolerance=1e-4, length=4.5)
    bend = Z[:, 0] ** 2
    bend -= np.polynomial.Polynomial.fit(Z[:, 0], bend, 1)(Z[:, 0])
    bend /= np.linalg.norm(bend)
    share = [
        np.square(bend @ split_atoms(short, Z, longer=longer).curved[0]).sum() / 200.0
        for longer in ([], [long])
    ]
    assert share[1] > share[0] + 0.1


def test_line_and_curves_span_what_the_block_can_say(parts):
    """With all directions kept, block kernel = line part + curved part exactly."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(30, 1))
    design = build_design(Z, ("numeric",), linear=0.3, tolerance=1e-2)
    atoms = split_atoms(design, Z, rank=int(design.ranks[0]))
    joined = np.column_stack([atoms.straight, atoms.curved[0]])
    kept = np.linalg.matrix_rank(joined, tol=1e-6)
    assert kept == np.count_nonzero(np.abs(joined).sum(axis=0) > 0)
    projector = joined @ np.linalg.pinv(joined)
    features = design.features
    assert np.linalg.norm(features - projector @ features) < 0.15 * np.linalg.norm(features)


def test_coefficients_give_the_same_function_on_new_rows(parts):
    Z, design, atoms = parts
    rng = np.random.default_rng(2)
    straight, curved = rng.normal(size=(5, 2)), rng.normal(size=(5, 5, 2))
    coef = atoms.coefficients(design, straight, curved)
    values = atoms.straight @ straight + np.einsum("jnr,jrk->nk", atoms.curved, curved)
    np.testing.assert_allclose(design.features @ coef, values, atol=1e-9)
    np.testing.assert_allclose(design.evaluate(Z) @ coef, values, atol=1e-6)


def test_two_values_leave_a_line_and_no_curve():
    Z = (np.arange(20) % 2).astype(float)[:, None]
    atoms = split_atoms(build_design(Z, ("numeric",), linear=0.3), Z)
    np.testing.assert_allclose(np.abs(atoms.straight), 1.0, atol=1e-6)
    assert np.abs(atoms.curved).max() < 1e-6


def test_one_labelled_design_without_features():
    Z = np.zeros((4, 2))
    atoms = split_atoms(build_design(Z, ("constant", "constant"), linear=0.3), Z)
    assert not atoms.straight.any()
    assert atoms.curved.shape == (2, 4, 5)


def test_whole_blocks_keep_the_line_in_the_one_part_they_have():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 2))
    design = build_design(Z, ("numeric", "numeric"), linear=0.3)
    atoms = split_atoms(design, Z, rank=6, whole=True)
    assert not atoms.straight.any()
    features = atoms.curved[0] - atoms.curved[0].mean(axis=0)
    line = Z[:, 0] - Z[:, 0].mean()
    left = line - features @ np.linalg.lstsq(features, line, rcond=None)[0]
    assert np.square(left).sum() < 0.01 * np.square(line).sum()
    np.testing.assert_allclose(np.square(atoms.curved[0]).sum(axis=1).mean(), 1.0)
