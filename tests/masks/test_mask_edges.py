"""Details of the mask searches that their results alone do not show."""

from __future__ import annotations

from decimal import Decimal, localcontext
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import f, kstest

from s2mam.masks.dependence import _log_any, _log_tail, _ranks, _waves
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


def test_the_tail_of_one_feature_is_that_of_the_test_of_a_correlation():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(50, 3))
    table[:, 1] = table[:, 0] + rng.normal(size=50)
    ranks = _ranks(table)
    waves = _waves(ranks, 1)[:, :, 0]
    squares = (waves @ waves.T) ** 2
    np.fill_diagonal(squares, 0.0)
    expected = f.logsf(48 * squares / (1 - squares), 1, 48).min(axis=1)
    np.testing.assert_allclose(_log_tail(ranks, 1, np.arange(3)), expected, atol=1e-9)


def test_tails_of_independent_columns_are_uniform():
    """Of several features, too, and with few rows: that is what weak links are measured against."""
    tails = []
    for seed in range(60):
        table = np.random.default_rng(seed).normal(size=(40, 30))
        log_tail = _log_tail(_ranks(table), 4, np.arange(1))[1:]  # links with one partner
        tails.extend(np.exp(log_tail))
    assert kstest(tails, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("count", [1, 7, 400])
def test_the_chance_of_any_tail_keeps_its_digits(count):
    tail = np.array([0.9, 0.3, 1e-5, 1e-9, 1e-30, 1e-200])
    with localcontext(prec=450):
        expected = [float((1 - (1 - Decimal(t)) ** count).ln()) for t in tail.tolist()]
    np.testing.assert_allclose(_log_any(np.log(tail), count), expected, rtol=1e-6, atol=1e-15)
