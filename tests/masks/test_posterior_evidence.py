"""The mask posterior against textbook formulas and against itself recomputed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import multivariate_t

from s2mam.masks.labeled_atoms import labeled_atoms
from s2mam.masks.mask_prior import MaskPrior, column_codes, size_prior
from s2mam.masks.posterior_evidence import MaskPosterior
from s2mam.masks.posterior_start import best_modes, climb, find_modes, hyper_moves

SHAPES = {0: 1.0, 1: 0.45, 2: 0.1, 3: 0.45}


def _parts(rows, p, rank, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, p)), rng.normal(size=(p, rows, rank)) / np.sqrt(rank)


def _posterior(rows=14, p=4, rank=3, outputs=1, seed=0, weights=None):
    straight, curved = _parts(rows, p, rank, seed)
    rng = np.random.default_rng(seed + 100)
    target = rng.normal(size=(rows, outputs))
    target[:, 0] += straight[:, 0]
    weights = np.ones(rows) if weights is None else weights
    atoms = labeled_atoms(straight, curved, np.arange(rows), target, weights)
    odds = rng.normal(size=p)
    return MaskPosterior(atoms, MaskPrior.of(size_prior(p), odds)), straight, curved, target


def _textbook_prior(odds, codes):
    """Columns alike with one tenth, by their odds among all masks of the size with nine."""
    p, inside = len(codes), codes > 0
    size = int(inside.sum())
    all_masks = [np.array(bits, dtype=bool) for bits in itertools.product([0, 1], repeat=p)]
    rivals = [mask for mask in all_masks if mask.sum() == size]
    told = np.exp(odds[inside].sum()) / sum(np.exp(odds[mask].sum()) for mask in rivals)
    columns = np.log(0.1 / len(rivals) + 0.9 * told) - np.log(size + 1.0)
    return columns + sum(np.log(SHAPES[int(code)]) for code in codes)


def _kernel(straight, curved, mask, amplitude, share):
    p = straight.shape[1]
    kernel = np.zeros((straight.shape[0],) * 2)
    for j in range(p):
        kernel += mask[j] * np.outer(straight[:, j], straight[:, j])
        kernel += mask[p + j] * share * curved[j] @ curved[j].T
    return amplitude * kernel


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_flip_gains_are_differences_of_value(outputs, weighted):
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 5, size=14).astype(float) if weighted else None
    posterior, *_ = _posterior(outputs=outputs, weights=weights)
    for _ in range(25):
        mask = rng.random(8) < rng.random()
        hyper = (int(rng.integers(16)), int(rng.integers(4)))
        here = posterior.value(mask, hyper)
        gains = posterior.flip_gains(mask, hyper)
        for atom in range(8):
            other = mask.copy()
            other[atom] = not other[atom]
            # A fresh object, so that nothing cached takes part.
            fresh = MaskPosterior(posterior.atoms, posterior.prior)
            assert gains[atom] == pytest.approx(fresh.value(other, hyper) - here, abs=1e-6)


def test_value_after_hyper_moves_does_not_depend_on_what_was_asked_before():
    posterior, *_ = _posterior()
    rng = np.random.default_rng(2)
    for _ in range(20):
        mask = rng.random(8) < 0.5
        hyper = (int(rng.integers(16)), int(rng.integers(4)))
        posterior.value(mask, hyper)
        for move in hyper_moves(posterior, hyper):
            fresh = MaskPosterior(posterior.atoms, posterior.prior)
            assert posterior.value(mask, move) == fresh.value(mask, move)


@pytest.mark.parametrize("hyper", [(0, 0), (7, 2), (15, 3)])
def test_value_is_the_textbook_marginal_likelihood(hyper):
    """Differences between masks against a dense Student t density of contrasts of the targets.

    With a flat intercept, only contrasts H y (H orthonormal, H 1 = 0) count; with the scale
    integrated out under 1/scale their direction has the density |C|^-1/2 (z'C^-1 z)^-(l-1)/2.
    """
    posterior, straight, curved, target = _posterior(rows=12)
    rows = 12
    contrasts = np.linalg.svd(np.eye(rows) - 1.0 / rows)[0][:, : rows - 1].T
    z = contrasts @ target[:, 0]
    amplitude = posterior.amplitudes[hyper[0]]
    share = posterior.curve_shares[hyper[1]]
    rng = np.random.default_rng(5)
    masks = [np.zeros(8, dtype=bool), np.ones(8, dtype=bool), *(rng.random((10, 8)) < 0.4)]

    def textbook(mask):
        kernel = _kernel(straight, curved, mask, amplitude, share)
        covariance = contrasts @ (np.eye(rows) + kernel) @ contrasts.T
        sign, log_det = np.linalg.slogdet(covariance)
        assert sign > 0
        quadratic = z @ np.linalg.solve(covariance, z)
        codes = mask[:4] + 2 * mask[4:]
        prior = _textbook_prior(posterior.prior.odds, codes)
        return -0.5 * log_det - 0.5 * (rows - 1) * np.log(quadratic) + prior

    ours = np.array([posterior.value(mask, hyper) for mask in masks])
    dense = np.array([textbook(mask) for mask in masks])
    np.testing.assert_allclose(ours - ours[0], dense - dense[0], atol=1e-9)


def test_the_scale_free_evidence_is_the_limit_of_student_t():
    """An inverse-gamma prior on the scale with vanishing parameters gives the same ratios."""
    posterior, straight, curved, target = _posterior(rows=10)
    flat = MaskPosterior(posterior.atoms, MaskPrior.of(np.zeros(5), np.zeros(4)))
    rows, tiny = 10, 1e-7
    contrasts = np.linalg.svd(np.eye(rows) - 1.0 / rows)[0][:, : rows - 1].T
    z = contrasts @ target[:, 0]
    values, densities = [], []
    for mask in np.random.default_rng(0).random((6, 8)) < 0.5:
        codes = column_codes(mask)
        shapes = sum(np.log(SHAPES[int(code)]) for code in codes)
        values.append(flat.value(mask, (9, 2)) - shapes)
        kernel = _kernel(straight, curved, mask, flat.amplitudes[9], flat.curve_shares[2])
        covariance = contrasts @ (np.eye(rows) + kernel) @ contrasts.T
        densities.append(multivariate_t.logpdf(z, shape=covariance, df=tiny) * 1.0)
    # df -> 0: (1 + q/df)^-(df + l - 1)/2 -> (q/df)^-(l-1)/2
    np.testing.assert_allclose(np.diff(values), np.diff(densities), atol=1e-4)


def test_fit_is_the_posterior_mean_of_the_gaussian_model():
    posterior, straight, curved, target = _posterior(rows=12)
    mask = np.array([1, 0, 1, 0, 0, 1, 1, 0], dtype=bool)
    fit = posterior.fit(mask, (10, 1))
    kernel = _kernel(straight, curved, mask, posterior.amplitudes[10], posterior.curve_shares[1])
    ones = np.ones(12)
    covariance = kernel + np.eye(12)
    solved = np.linalg.solve(covariance, np.column_stack([target[:, 0], ones]))
    intercept = (ones @ solved[:, 0]) / (ones @ solved[:, 1])
    mean = intercept + kernel @ (solved[:, 0] - intercept * solved[:, 1])
    np.testing.assert_allclose(fit.predict(straight, curved)[:, 0], mean, atol=1e-10)
    assert not fit.straight[~mask[:4]].any()
    assert not fit.curved[~mask[4:]].any()


def test_an_atom_that_does_not_vary_is_never_taken():
    straight, curved = _parts(10, 3, 2, 0)
    straight[:, 1] = 0.0
    curved[2] = 0.0
    target = straight[:, :1] + 0.1
    atoms = labeled_atoms(straight, curved, np.arange(10), target, np.ones(10))
    posterior = MaskPosterior(atoms, MaskPrior.of(size_prior(3), np.zeros(3)))
    gains = posterior.flip_gains(np.zeros(6, dtype=bool), (8, 2))
    assert np.isneginf(gains[[1, 5]]).all()
    assert np.isfinite(gains[[0, 2, 3, 4]]).all()


def test_weight_two_is_a_row_seen_twice():
    straight, curved = _parts(9, 3, 2, 4)
    target = straight[:, :1] ** 2
    weights = np.array([1, 2, 1, 3, 1, 1, 2, 1, 1], dtype=float)
    copies = np.repeat(np.arange(9), weights.astype(int))
    prior = MaskPrior.of(size_prior(3), np.zeros(3))
    weighted = MaskPosterior(labeled_atoms(straight, curved, np.arange(9), target, weights), prior)
    copied = MaskPosterior(
        labeled_atoms(straight, curved, copies, target[copies], np.ones(copies.size)), prior
    )
    mask = np.array([1, 0, 1, 1, 0, 0], dtype=bool)
    np.testing.assert_allclose(
        weighted.flip_gains(mask, (9, 2)), copied.flip_gains(mask, (9, 2)), atol=1e-8
    )
    np.testing.assert_allclose(
        weighted.fit(mask, (9, 2)).straight, copied.fit(mask, (9, 2)).straight, atol=1e-10
    )


def test_prior_gains_are_differences_of_the_prior():
    rng = np.random.default_rng(0)
    prior = MaskPrior.of(size_prior(5, 2), rng.normal(size=5))
    for _ in range(30):
        mask = rng.random(10) < 0.4
        gains = prior.flip_gains(column_codes(mask))
        for atom in range(10):
            other = mask.copy()
            other[atom] = not other[atom]
            change = prior.value(column_codes(other)) - prior.value(column_codes(mask))
            assert gains[atom] == pytest.approx(change, abs=1e-12)


def test_climb_ends_where_no_flip_and_no_swap_helps():
    posterior, *_ = _posterior(rows=20, p=5, rank=2)
    mask, hyper, value = climb(posterior, np.zeros(10, dtype=bool), (5, 2))
    assert value == pytest.approx(posterior.value(mask, hyper), abs=1e-7)
    assert posterior.flip_gains(mask, hyper).max() < 1e-7
    for out in np.flatnonzero(mask):
        for into in np.flatnonzero(~mask):
            swapped = mask.copy()
            swapped[[out, into]] = False, True
            assert posterior.value(swapped, hyper) < value + 1e-7
    assert all(posterior.value(mask, move) < value + 1e-7 for move in hyper_moves(posterior, hyper))


def test_more_starts_are_never_worse():
    posterior, *_ = _posterior(rows=25, p=6, rank=2, seed=3)
    values = []
    for thorough in (False, True):
        modes = find_modes(posterior, np.ones(6), thorough=thorough)
        values.append(modes[0].value)
        for mode in modes:
            assert mode.value == pytest.approx(posterior.value(mode.mask, mode.hyper), abs=1e-7)
            assert posterior.flip_gains(mode.mask, mode.hyper).max() < 1e-7
    assert (np.diff(values) >= -1e-12).all()


def test_the_best_candidates_are_climbed():
    """No swap improves a mode, and a candidate that is a mode already is returned as it is."""
    posterior, *_ = _posterior(rows=25, p=6, rank=2, seed=3)
    candidates = [(np.arange(12) == j, (5, 2)) for j in range(12)]
    modes = best_modes(posterior, candidates, n_modes=4)
    assert 1 <= len(modes) <= 4
    assert len({mode.mask.tobytes() for mode in modes}) == len(modes)
    assert [mode.value for mode in modes] == sorted((mode.value for mode in modes), reverse=True)
    again = best_modes(posterior, [(modes[0].mask, modes[0].hyper)], n_modes=3)
    np.testing.assert_array_equal(again[0].mask, modes[0].mask)
