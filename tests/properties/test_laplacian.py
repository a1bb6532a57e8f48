"""Laws that every Laplacian obeys, whatever the rows, the mask and the bandwidth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from s2mam.graphs import build_graph, mask_rows, squared_distances

# Few distinct values make duplicated rows and ties common; the wide range makes extremes common.
NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -2.0, np.nan]),
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.sampled_from([1e100, -1e100, 1e-100]),
)
SHAPES = st.tuples(st.integers(1, 12), st.integers(1, 4))
KINDS = st.sampled_from(["numeric", "categorical", "constant"])


@st.composite
def graphs(draw):
    Z = draw(arrays(np.float64, SHAPES, elements=NUMBERS))
    p = Z.shape[1]
    bandwidth = draw(st.one_of(st.just("auto"), st.floats(1e-4, 1e4)))
    return Z, {
        "mask": draw(arrays(np.float64, p, elements=st.floats(0, 1))),
        "kinds": draw(st.lists(KINDS, min_size=p, max_size=p)),
        "kind": draw(st.sampled_from(["dense", "neighbors"])),
        "bandwidth": bandwidth,
        "n_neighbors": draw(st.integers(1, 15)),
        "warn": False,
    }


@settings(deadline=None, max_examples=50)
@given(graphs())
def test_symmetric_semidefinite_with_zero_row_sums(case):
    Z, options = case
    graph = build_graph(Z, **options)
    L = graph.toarray()
    size = max(1.0, graph.degrees.max())
    np.testing.assert_array_equal(L, L.T)
    assert np.linalg.eigvalsh(L).min() >= -1e-13 * size * graph.n
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-13 * size * graph.n)
    off_diagonal = L[~np.eye(graph.n, dtype=bool)]
    assert ((off_diagonal <= 0.0) & (off_diagonal >= -1.0)).all()


@settings(deadline=None, max_examples=50)
@given(graphs())
def test_normalized_spectrum_lies_between_zero_and_two(case):
    Z, options = case
    graph = build_graph(Z, normalized=True, **options)
    spectrum = np.linalg.eigvalsh(graph.toarray())
    assert spectrum.min() >= -1e-12
    assert spectrum.max() <= 2.0 + 1e-12


@settings(deadline=None, max_examples=50)
@given(graphs(), st.integers(0, 2**32 - 1))
def test_quadratic_form_is_the_weighted_sum_of_squared_differences(case, seed):
    Z, options = case
    graph = build_graph(Z, **options)
    f = np.random.default_rng(seed).normal(size=graph.n)
    W = -graph.toarray()
    np.fill_diagonal(W, 0.0)
    exact = 0.5 * (W * (f[:, None] - f) ** 2).sum()
    assert graph.quadratic(f[:, None])[0, 0] == pytest.approx(exact, rel=1e-9, abs=1e-11)


@settings(deadline=None, max_examples=50)
@given(graphs())
def test_components_carry_the_null_space(case):
    Z, options = case
    graph = build_graph(Z, **options)
    labels = graph.diagnostics.component_labels
    assert np.array_equal(np.unique(labels), np.arange(graph.diagnostics.n_components))
    indicators = (labels[:, None] == np.unique(labels)).astype(float)
    np.testing.assert_allclose(graph.apply(indicators), 0.0, atol=1e-10)


@settings(deadline=None, max_examples=50)
@given(
    arrays(np.float64, SHAPES, elements=st.floats(-100, 100)),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
)
def test_masked_distances_are_distances_of_masked_rows(Z, weights):
    mask = np.array(weights[: Z.shape[1]])
    found = squared_distances(mask_rows(Z, mask, ("numeric",) * Z.shape[1]))
    masked = Z * mask
    exact = ((masked[:, None] - masked) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, exact, atol=1e-10 * max(1.0, exact.max()))
