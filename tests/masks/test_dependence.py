"""Dependence between columns: silent without it, found where it is."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons

from s2mam.masks.dependence import column_dependence


def _normal(rng, shape):
    return rng.normal(size=shape)


def _cauchy(rng, shape):
    return rng.standard_cauchy(size=shape)


def _rounded(rng, shape):
    return np.round(rng.exponential(size=shape))


def _coins(rng, shape):
    return (rng.random(shape) < 0.3).astype(float)


def _missing(rng, shape):
    values = rng.normal(size=shape)
    values[rng.random(shape) < 0.3] = np.nan
    return values


def _missing_together(rng, shape):
    values = rng.normal(size=shape)
    values[rng.random(shape[0]) < 0.5] = np.nan
    return values


def _rare(rng, shape):
    return (rng.random(shape) < 0.02).astype(float)


def _false_alarms(draw, n, level):
    """Share of 40 tables in which any of 8 independent columns scores above a level.

    Two further columns depend on each other, else all scores would be one.
    """
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        linked = rng.normal(size=(n, 1)) + 0.1 * rng.normal(size=(n, 2))
        scores = column_dependence(np.column_stack([linked, draw(rng, (n, 8))]), rng)
        assert (scores[:2] > 0.9).all()
        alarms += bool((scores[2:] > level).any())
    return alarms / 40


@pytest.mark.parametrize("draw", [_normal, _cauchy, _rounded, _coins, _missing])
def test_independent_columns_are_not_taken_for_dependent(draw):
    assert _false_alarms(draw, 200, 0.5) <= 0.05
    assert _false_alarms(draw, 120, 0.8) <= 0.05


def test_independent_columns_that_are_missing_in_the_same_rows():
    """Rows that lack a whole block of columns say nothing about links between them."""
    assert _false_alarms(_missing_together, 200, 0.5) <= 0.05


def test_independent_columns_with_rare_values():
    """Two ones in the same row of 200 are not certain dependence."""
    assert _false_alarms(_rare, 200, 0.5) <= 0.05


def _with_junk(first, second, rng):
    junk = rng.normal(size=(first.size, 4))
    return np.column_stack([first, second, junk])


@pytest.mark.parametrize("shape", ["linear", "quadratic", "moons"])
def test_dependence_is_found(shape):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        if shape == "moons":
            x = make_moons(300, noise=0.1, random_state=seed)[0]
            table = _with_junk(x[:, 0], x[:, 1], rng)
        else:
            first = rng.normal(size=300)
            second = first if shape == "linear" else first**2
            table = _with_junk(first, second + 0.5 * rng.normal(size=300), rng)
        scores = column_dependence(table, rng)
        assert (scores[:2] > 0.99).all(), seed
        assert (scores[2:] < 0.5).all(), seed


def _weakly_linked(rng, n, p):
    """Columns that share many causes a little, and a pair that is surely linked."""
    causes = rng.normal(size=(n, 10))
    columns = causes @ rng.normal(size=(10, p)) / 3.0 + rng.normal(size=(n, p))
    columns[:, 1] = columns[:, 0] + 0.1 * rng.normal(size=n)
    return columns


def test_weak_links_are_seen_from_all_columns_together():
    """No link of most columns is proof, but there are too many of them for a table with junk."""
    rng = np.random.default_rng(0)
    table = _weakly_linked(rng, 40, 150)
    assert (column_dependence(table, rng) > 0.8).mean() > 0.95
    shuffled = np.apply_along_axis(rng.permutation, 0, table)  # the same columns without links
    shuffled[:, :2] = table[:, :2]
    scores = column_dependence(shuffled, rng)
    assert (scores[:2] > 0.99).all()
    assert scores[2:].mean() < 0.1


def test_junk_beside_columns_that_are_surely_linked():
    rng = np.random.default_rng(0)
    linked = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 60)) + 0.3 * rng.normal(size=(200, 60))
    scores = column_dependence(np.hstack([linked, rng.normal(size=(200, 10))]), rng)
    assert (scores[:60] > 0.99).all()
    assert (scores[60:] < 0.3).all()


def test_only_the_order_of_the_values_counts():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(150, 5))
    table[:, 1] += table[:, 0]
    one = column_dependence(table, np.random.default_rng(1))
    two = column_dependence(np.exp(3 * table), np.random.default_rng(1))
    np.testing.assert_array_equal(one, two)
    flipped = column_dependence(-table, np.random.default_rng(1))
    np.testing.assert_allclose(one, flipped, atol=1e-8)


def test_columns_can_be_permuted():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(150, 6))
    table[:, 4] += 0.25 * table[:, 2]
    order = rng.permutation(6)
    one = column_dependence(table, rng)
    np.testing.assert_allclose(column_dependence(table[:, order], rng), one[order], atol=1e-8)


def test_all_ones_when_dependence_tells_nothing():
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(column_dependence(rng.normal(size=(100, 4)), rng), np.ones(4))
    few = rng.normal(size=(10, 1)) + np.zeros((10, 3))
    np.testing.assert_array_equal(column_dependence(few, rng), np.ones(3))
    pair = rng.normal(size=(100, 1)) + np.zeros((100, 2))
    np.testing.assert_array_equal(column_dependence(pair, rng), np.ones(2))


def test_many_rows_and_partners_are_sampled():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(1100, 230))
    table[:, :100] += 2 * rng.normal(size=(1100, 1))
    scores = column_dependence(table, np.random.default_rng(1))
    assert (scores[:100] > 0.99).all()
    assert (scores[100:] < 0.5).mean() > 0.98
    np.testing.assert_array_equal(scores, column_dependence(table, np.random.default_rng(1)))


def test_constant_and_empty_columns_are_independent():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(100, 1)) + 0.1 * rng.normal(size=(100, 4))
    table[:, 2], table[:, 3] = 7.0, np.nan
    scores = column_dependence(table, rng)
    np.testing.assert_allclose(scores, [1.0, 1.0, 0.0, 0.0], atol=0.01)
