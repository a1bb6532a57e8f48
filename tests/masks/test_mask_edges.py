"""Details of the mask searches that their results alone do not show."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from scipy.stats import chi2

from s2mam.masks.dependence import _log_chance, _ranks, _waves
from s2mam.masks.kernels import labeled_kernels
from s2mam.masks.posterior_start import hyper_moves


def test_moves_on_the_grids_are_all_neighbours():
    posterior = SimpleNamespace(amplitudes=np.zeros(5), curve_shares=np.zeros(4))
    assert set(hyper_moves(posterior, (2, 1))) == {(1, 1), (3, 1), (2, 0), (2, 2)}
    assert set(hyper_moves(posterior, (0, 0))) == {(1, 0), (0, 1)}
    assert set(hyper_moves(posterior, (4, 3))) == {(3, 3), (4, 2)}


def test_waves_are_as_many_as_asked_for_and_orthonormal():
    table = np.random.default_rng(0).normal(size=(60, 2))
    for count in (1, 3):
        waves = _waves(_ranks(table), count)
        assert waves.shape == (2, 60, count)
        for one in waves:
            np.testing.assert_allclose(one.T @ one, np.eye(count), atol=1e-10)
            np.testing.assert_allclose(one.sum(axis=0), 0.0, atol=1e-10)


def test_weights_of_labelled_rows_are_relative():
    rng = np.random.default_rng(0)
    features, target = rng.normal(size=(12, 4)), rng.normal(size=12)
    weights = rng.uniform(0.5, 3.0, size=12)
    one = labeled_kernels(features, [0, 2, 4], target, weights)
    ten = labeled_kernels(features, [0, 2, 4], target, 10.0 * weights)
    np.testing.assert_allclose(one.gram([1, 1]), ten.gram([1, 1]), atol=1e-12)
    np.testing.assert_allclose(one.target, ten.target, atol=1e-12)
    plain = labeled_kernels(features, [0, 2, 4], target)
    equal = labeled_kernels(features, [0, 2, 4], target, np.full(12, 0.1))
    np.testing.assert_allclose(plain.gram([1, 0]), equal.gram([1, 0]), atol=1e-12)


def test_the_bound_over_all_pairs_is_bonferronis():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(50, 3))
    table[:, 1] = table[:, 0] + rng.normal(size=50)
    ranks = _ranks(table)
    waves = _waves(ranks, 1)[:, :, 0]
    links = 50 * (waves @ waves.T) ** 2
    np.fill_diagonal(links, 0.0)
    expected = chi2.logsf(links, 1).min(axis=1) + np.log(3 * 3 / 2)
    np.testing.assert_allclose(_log_chance(ranks, 1, np.arange(3)), expected, atol=1e-9)
