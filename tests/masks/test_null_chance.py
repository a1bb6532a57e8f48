"""The chance that a p-value is one of a true null, from all p-values together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2mam.masks.null_chance import null_probability


@pytest.mark.parametrize("seed", range(5))
def test_uniform_values_alone_are_nulls(seed):
    p = np.random.default_rng(seed).uniform(size=200)
    assert null_probability(np.log(p)).mean() > 0.9


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("power", [0.02, 0.2])
def test_probabilities_are_honest(share, power):
    """They add up to the number of nulls, as far as grid and density can tell nulls apart."""
    rng = np.random.default_rng(0)
    null = rng.uniform(size=2000) < share
    p = np.where(null, rng.uniform(size=2000), rng.uniform(size=2000) ** (1.0 / power))
    found = null_probability(np.log(np.maximum(p, 1e-300)))
    assert abs(found.mean() - share) < 0.08
    likely = found > np.median(found)
    assert abs(null[likely].mean() - found[likely].mean()) < 0.05


@given(st.lists(st.floats(-800.0, 0.0), min_size=1, max_size=30))
def test_smaller_values_are_less_likely_nulls(log_p):
    log_p = np.sort(np.array(log_p))
    found = null_probability(log_p)
    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert (np.diff(found) >= -1e-12).all()


@given(st.permutations(range(6)))
def test_the_order_does_not_matter(order):
    log_p = np.log([1e-9, 1e-4, 0.03, 0.2, 0.5, 0.9])
    found = null_probability(log_p)
    np.testing.assert_allclose(null_probability(log_p[list(order)]), found[list(order)], atol=1e-12)


def test_nothing_and_zero():
    assert null_probability(np.array([])).size == 0
    assert null_probability(np.array([-np.inf, -np.inf, np.log(0.5)]))[0] < 1e-6
