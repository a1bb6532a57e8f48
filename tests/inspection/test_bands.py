"""Bands against refits made by hand, and what they say of junk."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.stats import norm

from s2mam import ManifoldAdditiveRegressor, S2MAMRegressor
from s2mam.exceptions import InvalidInputError
from s2mam.inspection import ComponentDisplay, component_bands, component_curves
from s2mam.inspection.resampling import bootstrap_weights


def test_bands_reach_as_far_as_refits_made_by_hand(numbers):
    X, y, model = numbers.X, numbers.y, numbers.model
    bands = component_bands(
        model, X, y, columns=[3, 6], grid=9, n_resamples=3, level=0.5, random_state=7
    )
    rng = np.random.RandomState(7)
    labeled = ~np.isnan(y)
    weights = bootstrap_weights(labeled, np.ones(len(y)), 3, rng)
    seeds = rng.randint(np.iinfo(np.int32).max, size=3)
    draws, supports = [], []
    for seed, weight in zip(seeds, weights, strict=True):
        refitted = S2MAMRegressor(max_iter=5, random_state=int(seed)).fit(
            X, y, sample_weight=weight
        )
        table = np.repeat(X[:1], 9, axis=0)
        table[:, 3] = np.linspace(X[:, 3].min(), X[:, 3].max(), 9)
        draws.append(refitted.contributions(table)[:, 3])
        supports.append(refitted.support_)
    np.testing.assert_array_equal(bands.selection, np.mean(supports, axis=0))
    curve = component_curves(model, X, columns=[3], grid=9)[0]
    np.testing.assert_array_equal(bands.curves[0].values, curve.values)
    squared = np.mean((np.array(draws) - curve.values) ** 2, axis=0)
    reach = norm.ppf(0.75) * np.sqrt(squared + squared.mean())
    np.testing.assert_allclose(bands.low[0], curve.values - reach, atol=1e-9)
    np.testing.assert_allclose(bands.high[0], curve.values + reach, atol=1e-9)
    assert (bands.level, bands.n_resamples) == (0.5, 3)


def test_zero_is_inside_the_bands_of_junk_more_often_than_of_signal():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (80, 8))
    y = 2.0 * X[:, 0] + 3.0 * X[:, 1] ** 2 + rng.normal(size=80)
    y[40:] = np.nan
    model = S2MAMRegressor(max_iter=10, random_state=0).fit(X, y)
    bands = component_bands(model, X, y, columns=range(8), n_resamples=6, random_state=0)
    assert bands.low[0][-1] > 0 > bands.high[0][0]
    # Junk that looks like signal on the labelled rows does so in every refit. Over seven tables of
    # this kind zero lay inside at 81 % of the values, with a deviation of 12 between tables.
    zero = [(low <= 0) & (high >= 0) for low, high in zip(bands.low, bands.high, strict=True)]
    assert np.mean(zero[2:]) > 0.5
    assert np.mean(zero[2:]) > np.mean(zero[:2]) + 0.2
    assert bands.selection[:2].min() > bands.selection[2:].mean()


def test_bands_cover_a_known_line():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (60, 2))
    y = 3.0 * X[:, 0] + rng.normal(scale=0.5, size=60)
    model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.0).fit(X, y)
    bands = component_bands(model, X, y, columns=[0], n_resamples=15, random_state=0)
    truth = 3.0 * (bands.curves[0].grid - X[:, 0].mean())
    slack = 0.15  # the penalty shrinks the ends
    inside = (bands.low[0] - slack <= truth) & (truth <= bands.high[0] + slack)
    assert inside.mean() > 0.8
    assert (bands.high[0] - bands.low[0]).max() < 1.5


def test_constants_that_move_between_components_do_not_widen_the_bands():
    """The literal model of the paper has no centred components."""
    from s2mam import PAPER

    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3))
    settings = PAPER | {"max_iter": 3}
    model = S2MAMRegressor(**settings, random_state=0).fit(X, X[:, 0])
    bands = component_bands(model, X, X[:, 0], columns=[0], n_resamples=4, random_state=0)
    center = model.contributions(X)[:, 0].mean()
    near = np.abs(bands.curves[0].grid - np.median(X[:, 0])).argmin()
    assert bands.low[0][near] - 3.0 < center < bands.high[0][near] + 3.0


def test_classes_categories_and_missing_values(patients):
    bands = component_bands(
        patients.model,
        patients.X,
        patients.y,
        columns=["site", "age", "dose <mg>"],
        grid=7,
        n_resamples=3,
        random_state=0,
    )
    assert [low.shape for low in bands.low] == [(3, 3), (7, 3), (7, 3)]
    for low, high in zip(bands.low, bands.high, strict=True):
        assert (low <= high).all()
    frame = bands.to_frame()
    assert list(frame.columns) == ["column", "value", "class", "contribution", "low", "high"]
    north = frame[(frame["value"] == "north") & (frame["class"] == "mid")]
    assert north["low"].item() == bands.low[0][1, 2]
    display = ComponentDisplay.from_estimator(patients.model, patients.X, ["age"], bands=bands)
    areas = display.axes_[0].collections
    assert sum(type(area).__name__.startswith("Fill") for area in areas) == 3
    assert "selected in 100 % of refits" in display.axes_[0].get_title(loc="right")


def test_whiskers_stand_on_the_bars_of_categories(patients):
    bands = component_bands(
        patients.model, patients.X, patients.y, columns=["site"], n_resamples=2, random_state=0
    )
    axis = ComponentDisplay.from_bands(bands).axes_[0]
    segments = np.concatenate([lines.get_segments() for lines in axis.collections])
    np.testing.assert_allclose(segments[:, 0, 1], bands.low[0].T.ravel())
    np.testing.assert_allclose(segments[:, 1, 1], bands.high[0].T.ravel())
    ticks = [tick.get_text() for tick in axis.get_xticklabels()]
    assert ticks[-1] == "missing\n9 rows"


def test_result_does_not_depend_on_jobs_and_the_estimator_stays_as_it_is(numbers, tmp_path):
    calls = []
    model = S2MAMRegressor(
        max_iter=3, random_state=0, callbacks=[calls.append], checkpoint=tmp_path / "fit.ckpt"
    ).fit(numbers.X, numbers.y)
    seen, files = len(calls), sorted(tmp_path.iterdir())
    before = model.predict(numbers.X)
    options = {"columns": [0], "grid": 5, "n_resamples": 2, "random_state": 3}
    one = component_bands(model, numbers.X, numbers.y, **options)
    assert (len(calls), sorted(tmp_path.iterdir())) == (seen, files)
    model.set_params(callbacks=None)
    with parallel_config(backend="threading"):
        two = component_bands(model, numbers.X, numbers.y, n_jobs=2, **options)
    np.testing.assert_array_equal(one.low[0], two.low[0])
    np.testing.assert_array_equal(before, model.predict(numbers.X))


def test_weights_of_the_fit_multiply_the_random_ones():
    labeled = np.array([True, True, True, False])
    base = np.array([0.0, 2.0, 4.0, 9.0])
    draws = np.array(bootstrap_weights(labeled, base, 400, np.random.RandomState(0)))
    np.testing.assert_allclose(draws[:, :3].sum(axis=1), 6.0)
    assert (draws[:, 0] == 0.0).all()
    assert (draws[:, 3] == 1.0).all()
    assert (draws[:, 1:3] > 0.0).all()
    np.testing.assert_allclose(draws[:, 2].mean(), 4.0, atol=0.3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 1}, "n_resamples=1 must be at least 2"),
        ({"level": 1.0}, "level=1.0 must lie between 0 and 1"),
        ({"sample_weight": [1.0]}, r"sample_weight has shape \(1,\)"),
    ],
)
def test_bad_arguments_are_named(numbers, options, message):
    with pytest.raises(InvalidInputError, match=message):
        component_bands(numbers.model, numbers.X, numbers.y, **options)


def test_a_column_without_band_is_named(patients):
    bands = component_bands(
        patients.model, patients.X, patients.y, columns=["site"], n_resamples=2, random_state=0
    )
    with pytest.raises(InvalidInputError, match="There is no band for 'age'"):
        ComponentDisplay.from_bands(bands, ["age"])


def test_one_score_needs_no_class_column(numbers):
    bands = component_bands(
        numbers.model, numbers.X, numbers.y, columns=[0], grid=4, n_resamples=2, random_state=0
    )
    frame = bands.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["column", "value", "contribution", "low", "high"]
    assert len(frame) == 4
