from __future__ import annotations

import numpy as np
import pytest

from s2mam.baselines.shared.spectra import threshold_singular_values
from s2mam.exceptions import InvalidInputError


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (6, 1)])
@pytest.mark.parametrize("t", [0.0, 1e-9, 0.3, 1.5, 1e3])
def test_agrees_with_the_full_decomposition(shape, t):
    matrix = np.random.default_rng(0).normal(size=shape)
    u, s, v = np.linalg.svd(matrix, full_matrices=False)
    expected = u @ np.diag(np.maximum(s - t, 0.0)) @ v
    np.testing.assert_allclose(threshold_singular_values(matrix, t), expected, atol=1e-10)


def test_small_thresholds_keep_their_digits_on_a_wide_spectrum():
    rng = np.random.default_rng(1)
    u, _ = np.linalg.qr(rng.normal(size=(8, 5)))
    v, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    s = np.array([1.0, 1e-2, 1e-4, 1e-6, 1e-8])
    for t in (3e-5, 1e-7):
        shrunk = threshold_singular_values((u * s) @ v.T, t)
        found = np.linalg.svd(shrunk, compute_uv=False)
        np.testing.assert_allclose(found, np.maximum(s - t, 0.0), atol=1e-10)


def test_it_is_the_proximal_map_of_the_nuclear_norm():
    rng = np.random.default_rng(2)
    matrix, t = rng.normal(size=(6, 4)), 0.7
    best = threshold_singular_values(matrix, t)

    def cost(candidate):
        return t * np.linalg.norm(candidate, "nuc") + 0.5 * ((candidate - matrix) ** 2).sum()

    for _ in range(20):
        assert cost(best) < cost(best + 0.01 * rng.normal(size=matrix.shape))


def test_negative_thresholds_are_refused():
    with pytest.raises(InvalidInputError, match="t=-1"):
        threshold_singular_values(np.eye(2), -1.0)
