"""Relevance weights against the evidence they are meant to raise."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.masks.labeled_atoms import labeled_atoms
from s2mam.masks.relevance import relevance_path


def _problem(seed, *, weighted=False, rows=25, p=4, rank=2, outputs=1):
    rng = np.random.default_rng(seed)
    straight = rng.normal(size=(rows, p))
    curved = rng.normal(size=(p, rows, rank))
    target = rng.normal(size=(rows, outputs))
    target[:, 0] += straight[:, 0] + 0.5 * straight[:, 1]
    weights = rng.integers(1, 4, size=rows).astype(float) if weighted else np.ones(rows)
    return straight, curved, target, weights


def _atoms(*problem):
    straight, curved, target, weights = problem
    return labeled_atoms(straight, curved, np.arange(target.shape[0]), target, weights)


def _evidence(atoms, weights, noise):
    """Log marginal likelihood with the scale integrated out; the noise is `noise` times it."""
    p = atoms.n_columns
    matrix = atoms.gram(weights[:p], weights[p:]) + noise * np.eye(atoms.target.shape[0])
    quadratic = np.sum(atoms.target * np.linalg.solve(matrix, atoms.target))
    k = atoms.target.shape[1]
    return -0.5 * k * (atoms.freedom * np.log(quadratic) + np.linalg.slogdet(matrix)[1])


def _traces(atoms):
    lines = np.square(atoms.straight).sum(axis=0)
    curves = np.square(atoms.curved).sum(axis=(1, 2))
    return np.concatenate([lines, curves]) / (atoms.freedom + 1.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("noise", [0.1, 0.3, 2.0])
@pytest.mark.parametrize("outputs", [1, 2])
def test_every_step_raises_the_evidence(weighted, noise, outputs):
    for seed in range(6):
        atoms = _atoms(*_problem(seed, weighted=weighted, outputs=outputs))
        steps = list(range(20))
        path = relevance_path(atoms, np.ones(4), noise=noise, keep=steps)
        values = np.array([_evidence(atoms, path[step][0], noise) for step in steps])
        # Atoms below a millionth of the variance are dropped on the way, hence the tolerance.
        assert np.diff(values).min() > -1e-4, (seed, np.diff(values).min())


@pytest.mark.parametrize("weighted", [False, True])
def test_many_steps_end_at_a_stationary_point_of_the_evidence(weighted):
    """No share can be moved between the atoms that remain: all derivatives are equal."""
    noise, step = 0.3, 1e-4
    for seed in range(3):
        atoms = _atoms(*_problem(seed, weighted=weighted))
        weights, _ = relevance_path(atoms, np.ones(4), noise=noise, keep=[1000])[1000]
        traces = _traces(atoms)

        def value(logs, atoms=atoms, traces=traces):
            moved = np.exp(logs)
            return _evidence(atoms, moved / (moved @ traces), noise)

        logs = np.log(np.maximum(weights, 1e-300))
        active = np.flatnonzero(weights * traces > 1e-2)
        slopes = []
        for atom in active:
            up, down = logs.copy(), logs.copy()
            up[atom] += step
            down[atom] -= step
            slopes.append((value(up) - value(down)) / (2 * step))
        np.testing.assert_allclose(slopes, 0.0, atol=0.02, err_msg=f"seed {seed}")


def test_weights_are_the_same_for_copies_and_for_weights():
    straight, curved, target, weights = _problem(3, weighted=True)
    copies = np.repeat(np.arange(25), weights.astype(int))
    weighted = _atoms(straight, curved, target, weights)
    copied = labeled_atoms(straight, curved, copies, target[copies], np.ones(copies.size))
    for steps in (0, 1, 4, 30):
        one, _ = relevance_path(weighted, np.ones(4), noise=0.3, keep=[steps])[steps]
        two, _ = relevance_path(copied, np.ones(4), noise=0.3, keep=[steps])[steps]
        np.testing.assert_allclose(one, two, rtol=1e-6, err_msg=f"after {steps} steps")


def test_weights_are_normalised_and_the_dual_belongs_to_them():
    atoms = _atoms(*_problem(1))
    for steps, (weights, dual) in relevance_path(
        atoms, np.array([1.0, 2.0, 0.5, 1.0]), noise=0.2, keep=[0, 1, 6]
    ).items():
        assert weights @ _traces(atoms) == pytest.approx(1.0)
        assert (weights >= 0.0).all()
        matrix = atoms.gram(weights[:4], weights[4:]) + 0.2 * np.eye(25)
        np.testing.assert_allclose(matrix @ dual, atoms.target, atol=1e-9, err_msg=str(steps))


def test_start_is_the_prior_weight_with_the_share_of_curves():
    atoms = _atoms(*_problem(2))
    start = np.array([1.0, 2.0, 3.0, 4.0])
    weights, _ = relevance_path(atoms, start, noise=0.2, keep=[0], curve_share=0.25)[0]
    np.testing.assert_allclose(weights / weights[0], np.concatenate([start, 0.25 * start]))


def test_path_does_not_depend_on_what_is_kept():
    atoms = _atoms(*_problem(2))
    alone = relevance_path(atoms, np.ones(4), noise=0.2, keep=[9])[9]
    among = relevance_path(atoms, np.ones(4), noise=0.2, keep=range(12))[9]
    np.testing.assert_array_equal(alone[0], among[0])


def test_targets_without_variance_leave_the_start():
    straight, curved, _, weights = _problem(0)
    atoms = _atoms(straight, curved, np.zeros((25, 1)), weights)
    path = relevance_path(atoms, np.ones(4), noise=0.2, keep=[0, 5])
    np.testing.assert_array_equal(path[0][0], path[5][0])
    assert np.isfinite(path[5][1]).all()


def test_columns_without_variance_get_finite_weights():
    rows = 6
    none = np.zeros((rows, 2)), np.zeros((2, rows, 1)), np.arange(rows)[:, None] * 1.0
    atoms = _atoms(*none, np.ones(rows))
    weights, dual = relevance_path(atoms, np.ones(2), noise=0.2, keep=[4])[4]
    assert np.isfinite(weights).all()
    assert np.isfinite(dual).all()


def test_atoms_that_were_dropped_do_not_come_back():
    """The dual coefficients belong to the weights also after very many steps."""
    rng = np.random.default_rng(9)
    straight, curved = rng.normal(size=(25, 6)), rng.normal(size=(6, 25, 2))
    target = straight[:, :1] + 0.5 * straight[:, 1:2] + 0.3 * rng.normal(size=(25, 1))
    atoms = _atoms(straight, curved, target, np.ones(25))
    weights, dual = relevance_path(atoms, np.ones(6), noise=0.1, keep=[1000])[1000]
    matrix = atoms.gram(weights[:6], weights[6:]) + 0.1 * np.eye(25)
    np.testing.assert_allclose(matrix @ dual, atoms.target, atol=1e-3)
