"""The paper's generators: layouts, formulas, distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from s2mam.datasets import (
    make_additive_classification,
    make_additive_regression,
    make_friedman,
    make_moons,
)
from s2mam.exceptions import InvalidInputError

GENERATORS = [make_friedman, make_additive_regression, make_additive_classification, make_moons]


@pytest.mark.parametrize(
    ("make", "informative", "total"),
    [
        (make_friedman, 5, 110),
        (make_additive_regression, 8, 110),
        (make_additive_classification, 2, 110),
        (make_moons, 2, 20),
    ],
)
def test_layout_of_the_paper(make, informative, total):
    data = make(random_state=0)
    assert data.X.shape == (200, total)
    assert data.y.shape == (200,)
    np.testing.assert_array_equal(np.flatnonzero(data.informative), np.arange(informative))
    assert len(set(data.feature_names)) == total
    assert data.feature_names[informative - 1 : informative + 1] == [f"x{informative}", "u1"]
    assert data.feature_names[-1] == "n10"


@pytest.mark.parametrize("make", GENERATORS)
def test_seeds(make):
    first, again, other = (make(random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize(("reading", "sd"), [("sd", 100), ("variance", 10)])
def test_both_readings_of_the_noisy_columns(make, reading, sd):
    data = make(5000, 3, 4, noisy_reading=reading, random_state=0)
    noisy = data.X[:, -4:]
    np.testing.assert_allclose(noisy.mean(axis=0), 100, atol=4 * sd / np.sqrt(5000))
    np.testing.assert_allclose(noisy.std(axis=0), sd, rtol=0.05)


def test_friedman_formula_and_noise():
    data = make_friedman(20_000, 1, 0, noise=2.0, random_state=0)
    x1, x2, x3, x4, x5 = data.X[:, :5].T
    clean = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    np.testing.assert_allclose(data.y_clean, clean)
    assert np.std(data.y - clean) == pytest.approx(2.0, rel=0.03)
    assert np.var(make_friedman(20_000, random_state=1).y) == pytest.approx(25.2, rel=0.05)
    assert data.X[:, :5].min() >= 0
    assert data.X[:, :5].max() <= 1


def test_additive_regression_formula_and_variance():
    data = make_additive_regression(20_000, 0, 0, random_state=0)
    u = data.X.T
    clean = -2 * np.sin(2 * u[0]) + 8 * u[1] ** 2 + 7 * np.sin(u[2]) / (2 - np.sin(u[2]))
    clean += 6 * np.exp(-u[3]) + u[4] ** 3 + 1.5 * (u[4] - 1) ** 2 + 5 * u[5]
    clean += 10 * np.sin(np.exp(-u[6] / 2)) - 10 * norm.cdf((u[7] - 0.5) / 0.8)
    np.testing.assert_allclose(data.y_clean, clean)
    assert np.var(data.y_clean) == pytest.approx(45.2, rel=0.05)
    assert np.abs(data.X).max() <= 1


def test_additive_classification_share_and_rule():
    data = make_additive_classification(20_000, 3, 0, random_state=0)
    radius = ((data.X[:, :2] - 0.5) ** 2).sum(axis=1)
    np.testing.assert_array_equal(data.y, radius > 0.08)
    assert data.y.mean() == pytest.approx(0.41, abs=0.02)
    assert np.corrcoef(data.X[:, 0], data.X[:, 1])[0, 1] == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(("variant", "correlation"), [("paper", 0.5), ("code", 0.0)])
def test_variants_of_the_extra_columns(variant, correlation):
    data = make_additive_classification(5000, 4, 1, variant=variant, random_state=0)
    found = np.corrcoef(data.X, rowvar=False)[0, 2:6]
    np.testing.assert_allclose(found, correlation, atol=0.05)
    assert data.feature_names == ["x1", "x2", "u1", "u2", "u3", "u4", "n1"]


def test_label_flips():
    data = make_additive_classification(20_000, 0, 0, noise=0.2, random_state=0)
    assert np.mean(data.y != data.y_clean) == pytest.approx(0.2, abs=0.01)


def test_moons_are_separable_by_a_curve():
    data = make_moons(400, 0, 0, noise=0.0, random_state=0)
    upper = data.X[data.y == 0]
    np.testing.assert_allclose((upper**2).sum(axis=1), 1, atol=1e-12)
    assert set(np.unique(data.y)) == {0, 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 0}, "n_samples must be at least"),
        ({"n_samples": 2.5}, r"n_samples=2\.5 must be a whole number"),
        ({"n_samples": "9"}, "n_samples='9' must be a whole number"),
        ({"n_noisy": -1}, "n_noisy=-1"),
        ({"n_uninformative": -1}, "n_uninformative=-1"),
        ({"n_uninformative": 2.5}, r"n_uninformative=2\.5 must be a whole number"),
        ({"noisy_reading": "both"}, "noisy_reading"),
    ],
)
@pytest.mark.parametrize("make", GENERATORS)
def test_refusals(make, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        make(**arguments)


def test_refused_variant_and_noise():
    with pytest.raises(InvalidInputError, match="variant must be"):
        make_additive_classification(variant="text")
    with pytest.raises(InvalidInputError, match="flip probability"):
        make_additive_classification(noise=1.5)
