"""Details of the mask searches that their results alone do not show."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from s2mam.masks.dependence import _ranks, _waves
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
