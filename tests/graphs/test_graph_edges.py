"""Details of the graphs that results on ordinary tables do not show."""

from __future__ import annotations

import numpy as np

from s2mam.graphs import estimate_bytes
from s2mam.graphs.distances import mask_rows
from s2mam.graphs.fourier import positive_features


def test_estimate_of_a_small_dense_graph_holds_the_search_for_a_bandwidth():
    # 300 x 300 weights, three tables of all pairs for the bandwidth, rows three times.
    assert estimate_bytes(300, "dense") == 8 * (300**2 + 3 * 300**2 + 3 * 300 * 2)


def test_fourier_features_know_the_unit_of_missing_values_too():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, 3))
    Z[::4, 1] = np.nan
    kinds = ("numeric",) * 3
    one = positive_features(mask_rows(Z, np.ones(3), kinds), 2.5, 64, 0)
    two = positive_features(mask_rows(Z / 2.5, np.ones(3), kinds), 1.0, 64, 0)
    np.testing.assert_allclose(one, two, rtol=1e-10)
