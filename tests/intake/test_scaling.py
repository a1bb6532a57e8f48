"""Scaling: closed forms, invariance, weights as copies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, rankdata

from s2mam.exceptions import InvalidInputError
from s2mam.intake import TableReader, scaling
from s2mam.intake.scaling import column_statistics, rank_knots, resolve_scale

METHODS = ["robust", "standard", "rank"]
VALUES = st.lists(st.integers(-50, 50), min_size=2, max_size=40)


def scaled(x, method, **options):
    return TableReader(scale=method).fit_transform(np.reshape(x, (-1, 1)), **options)[:, 0]


def test_robust_matches_numpy_quantiles():
    x = np.random.default_rng(0).normal(3, 7, size=101)
    stats = column_statistics(x[:, None], "robust")
    lower, upper = np.quantile(x, [0.25, 0.75], method="averaged_inverted_cdf")
    assert stats.center[0] == np.median(x)
    assert stats.spread[0] == pytest.approx((upper - lower) / 1.3489795)
    assert (stats.low[0], stats.high[0]) == (x.min(), x.max())


def test_normal_data_get_unit_spread():
    x = np.random.default_rng(0).normal(100, 100, size=(20_000, 1))
    for method in METHODS:
        assert np.std(scaled(x, method)) == pytest.approx(1, abs=0.02)


def test_half_equal_values_fall_back_to_the_standard_deviation():
    more = np.array([0.0, 0, 0, 0, 0, 0, 1, 5])
    assert column_statistics(more[:, None], "robust").spread[0] == pytest.approx(more.std())
    half = np.array([0.0, 0, 0, 0, 1, 2, 3, 50])
    assert column_statistics(half[:, None], "robust").spread[0] == pytest.approx(2.5 / 1.3489795)


def test_rank_scores_are_normal_quantiles_of_midranks():
    x = np.array([3.0, 1, 1, 2, 10, 10, 10, -5])
    expected = norm.ppf((rankdata(x) - 0.5) / len(x))
    np.testing.assert_allclose(scaled(x, "rank"), expected, atol=1e-12)


def test_rank_interpolates_and_clips():
    reader = TableReader(scale="rank").fit([[0.0], [1.0], [2.0], [4.0]])
    scores = reader.transform([[0.0], [0.5], [1.0], [-9.0], [9.0], [4.0], [np.nan]])[:, 0]
    assert scores[1] == pytest.approx((scores[0] + scores[2]) / 2)
    assert scores[3] == scores[0]
    assert scores[4] == scores[5]
    assert np.isnan(scores[6])


def test_long_columns_keep_a_short_table():
    x = np.random.default_rng(0).exponential(size=50_000)
    x[:20_000] = 0.5  # one value with much weight must stay a knot
    knots, scores = rank_knots(x)
    assert len(knots) <= 2100
    assert 0.5 in knots
    exact = norm.ppf((rankdata(x) - 0.5) / len(x))
    assert np.abs(norm.cdf(np.interp(x, knots, scores)) - norm.cdf(exact)).max() < 1e-3


@settings(deadline=None, max_examples=50)
@given(
    VALUES,
    st.sampled_from(METHODS),
    st.sampled_from([1e-12, 1e-3, 0.3, 7.0, 1e12]),
    st.sampled_from([1.0, -1.0]),
    st.sampled_from([0.0, 1.0, -3.5]),
)
def test_affine_rescaling_changes_only_the_sign(values, method, size, sign, shift):
    x = np.array(values, dtype=float)
    moved = sign * size * (x + shift)
    np.testing.assert_allclose(scaled(moved, method), sign * scaled(x, method), atol=1e-9)


@settings(deadline=None, max_examples=50)
@given(VALUES, st.sampled_from(METHODS), st.data())
def test_weights_are_copies(values, method, data):
    x = np.array(values, dtype=float)
    copies = st.lists(st.integers(0, 3), min_size=len(x), max_size=len(x))
    weight = np.array(data.draw(copies.filter(any)))
    reader = TableReader(scale=method).fit(x[:, None], row_weight=0.7 * weight)
    repeated = TableReader(scale=method).fit(np.repeat(x, weight)[:, None])
    assert reader.kinds_ == repeated.kinds_
    np.testing.assert_allclose(
        reader.transform(x[:, None]), repeated.transform(x[:, None]), atol=1e-9
    )


@settings(deadline=None, max_examples=50)
@given(VALUES, st.sampled_from(METHODS))
def test_missing_rows_do_not_count_and_order_is_kept(values, method):
    x = np.array(values, dtype=float)
    with_gaps = np.insert(x, 1, [np.nan, np.nan])
    result = scaled(with_gaps, method)
    constant = len(set(values)) == 1
    assert np.isnan(result[1:3]).all() != constant  # constant columns enter as zeros throughout
    result = np.delete(result, [1, 2])
    np.testing.assert_allclose(result, scaled(x, method), atol=1e-12)
    if not constant:
        assert (np.diff(result[np.argsort(x)]) >= 0).all()
        assert np.isfinite(result).all()
        assert len(np.unique(result)) == len(set(values))


def test_large_offset_keeps_precision():
    x = np.arange(9.0)
    for method in ("robust", "standard"):
        np.testing.assert_allclose(scaled(x + 1e12, method), scaled(x, method), atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_constant_up_to_rounding(method):
    column = np.array([0.3, 0.1 + 0.2, 0.3])
    assert TableReader(scale=method).fit(column[:, None]).kinds_ == ("constant",)
    almost = np.array([1.0, 1.0, 1.0 + 1e-12])
    assert TableReader(scale=method).fit(almost[:, None]).kinds_ == ("numeric",)


def test_heavy_outlier_leaves_the_others_on_scale():
    x = np.append(np.linspace(-1, 1, 99), 1e15)
    result = scaled(x, "robust")
    assert np.isfinite(result).all()
    assert 0.5 < np.std(result[:-1]) < 2


def test_blocks_of_columns_agree_with_one_pass(monkeypatch):
    X = np.random.default_rng(0).normal(size=(20, 7))
    X[3, 2] = np.nan
    whole = column_statistics(X, "robust")
    monkeypatch.setattr(scaling, "_BLOCK_ENTRIES", 40)
    blocks = column_statistics(X, "robust")
    np.testing.assert_array_equal(whole.center, blocks.center)
    np.testing.assert_array_equal(whole.spread, blocks.spread)


@pytest.mark.parametrize("method", [*METHODS, None])
def test_empty_columns_have_finite_statistics(method):
    stats = column_statistics(np.array([[np.nan, 1.0], [np.nan, 3.0]]), method)
    assert stats.constant.tolist() == [True, False]
    assert (stats.center[0], stats.spread[0]) == (0.0, 1.0)
    alone = column_statistics(np.full((3, 1), np.nan), method)
    assert (alone.center[0], alone.spread[0]) == (0.0, 1.0)


def test_no_scaling_returns_the_numbers():
    x = np.array([1.0, 5.0, -2.0])
    for method in (None, False):
        np.testing.assert_array_equal(scaled(x, method), x)


def test_bad_method_is_refused():
    with pytest.raises(InvalidInputError, match="scale must be 'robust'"):
        resolve_scale("minmax")
    with pytest.raises(InvalidInputError, match="scale must be"):
        resolve_scale(np.ones(2))
