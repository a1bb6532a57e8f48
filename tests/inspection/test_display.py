"""Displays: what is drawn equals the numbers."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pandas as pd
import pytest

import s2mam.inspection
from s2mam import ManifoldAdditiveRegressor, S2MAMClassifier
from s2mam.exceptions import InvalidInputError, MissingDependencyError
from s2mam.inspection import ComponentDisplay, MaskDisplay


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["height", "weight", "junk"])
    y = np.digitize(X["height"] + X["weight"], [-0.7, 0.7])
    return X, S2MAMClassifier(max_iter=5, random_state=0).fit(X, y)


def test_lines_carry_the_numbers_and_differ_without_colour(classes):
    X, model = classes
    display = ComponentDisplay.from_estimator(model, X, columns=["height", "junk"])
    assert len(display.axes_) == 2
    assert display.axes_[0].get_xlabel() == "height"
    lines = [line for line in display.axes_[0].get_lines() if len(line.get_xdata()) == 100]
    assert len(lines) == 3
    for k, line in enumerate(lines):
        np.testing.assert_array_equal(line.get_xdata(), display.curves[0].grid)
        np.testing.assert_array_equal(line.get_ydata(), display.curves[0].values[:, k])
    assert len({line.get_linestyle() for line in lines}) == 3
    labels = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert labels == ["0", "1", "2"]


def test_rug_shows_the_rows(classes):
    X, model = classes
    display = ComponentDisplay.from_estimator(model, X, columns=["weight"])
    rugs = [line for line in display.axes_[0].get_lines() if line.get_marker() == "|"]
    np.testing.assert_array_equal(rugs[0].get_xdata(), np.sort(X["weight"]))


def test_categories_are_bars_with_names_and_missing_levels_a_line():
    rng = np.random.default_rng(1)
    site = np.array(["north", "south"] * 30)
    dose = rng.normal(size=60)
    y = np.where(site == "north", 1.0, -1.0) + dose
    dose[::10] = np.nan
    X = pd.DataFrame({"site": site, "dose": dose})
    model = ManifoldAdditiveRegressor(sparsity=0.001, manifold=0.0).fit(X, y)
    display = ComponentDisplay.from_estimator(model, X, columns=["site", "dose"])
    bars = [patch.get_height() for patch in display.axes_[0].patches]
    np.testing.assert_allclose(bars, display.curves[0].values)
    ticks = [tick.get_text() for tick in display.axes_[0].get_xticklabels()]
    assert ticks == ["north\n30 rows", "south\n30 rows"]
    marks = [line for line in display.axes_[1].get_lines() if line.get_marker() == "o"]
    assert [line.get_ydata()[0] for line in marks] == [display.curves[1].missing]
    axis = display.axes_[1]
    (told,) = [text for text in axis.texts if text.get_text() == "missing: 6 rows"]
    display.figure_.canvas.draw()
    ticks = [tick.get_window_extent() for tick in axis.get_xticklabels() if tick.get_text()]
    assert not any(told.get_window_extent().overlaps(tick) for tick in ticks)


def test_strip_counts_the_rows_and_leaves_the_scale_alone(classes):
    X, model = classes
    display = ComponentDisplay.from_estimator(model, X, columns=["weight"])
    axis = display.axes_[0]
    strip = axis.collections[0]
    assert np.asarray(strip.get_array()).sum() == len(X)
    low, high = axis.get_ylim()
    values = display.curves[0].values
    assert high - low < 1.5 * np.ptp(values)


def test_crowded_categories_are_turned():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"job": [f"occupation {k}" for k in rng.integers(0, 8, 80)]})
    y = X["job"].str[-1].astype(float).to_numpy()
    model = ManifoldAdditiveRegressor(sparsity=0.001, manifold=0.0).fit(X, y)
    axis = ComponentDisplay.from_estimator(model, X, columns=[0]).axes_[0]
    ticks = axis.get_xticklabels()
    assert ticks[0].get_rotation() == 45
    assert ticks[0].get_text() == f"occupation 0 ({(X['job'] == 'occupation 0').sum()})"


def test_frames_hold_what_is_drawn(classes):
    X, model = classes
    display = ComponentDisplay.from_estimator(model, X, columns=["height"])
    frame = display.to_frame()
    assert list(frame.columns) == ["column", "value", "0", "1", "2"]
    np.testing.assert_array_equal(frame["2"], display.curves[0].values[:, 2])
    masks = MaskDisplay.from_estimator(model).to_frame()
    np.testing.assert_array_equal(masks["probability"], model.mask_probabilities_)


def test_without_pandas_the_extra_is_named(classes, monkeypatch):
    _, model = classes
    display = MaskDisplay.from_estimator(model)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 's2mam\[table\]'"):
        display.to_frame()


def test_given_axes_are_used_and_counted(classes):
    from matplotlib.figure import Figure

    X, model = classes
    panels = Figure().subplots(1, 2)
    display = ComponentDisplay.from_estimator(model, X, columns=[0, 1], ax=panels)
    assert display.axes_[1] is panels[1]
    with pytest.raises(InvalidInputError, match="ax has 2 panels for 3 columns"):
        ComponentDisplay.from_estimator(model, X, columns=[0, 1, 2], ax=panels)
    with pytest.raises(InvalidInputError, match="no column to draw"):
        ComponentDisplay([]).plot()


def test_mask_bars_are_sorted_and_filled_where_selected(classes):
    _, model = classes
    display = MaskDisplay.from_estimator(model, max_columns=2)
    order = np.argsort(-model.mask_probabilities_, kind="stable")[:2]
    widths = [patch.get_width() for patch in display.ax_.patches]
    np.testing.assert_allclose(widths, model.mask_probabilities_[order])
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names == [["height", "weight", "junk"][j] for j in order]
    white = [patch.get_facecolor()[:3] == (1.0, 1.0, 1.0) for patch in display.ax_.patches]
    assert white == [not model.support_[j] for j in order]


def test_without_matplotlib_the_extra_is_named(classes, monkeypatch):
    X, model = classes
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 's2mam\[plot\]'"):
        ComponentDisplay.from_estimator(model, X, columns=[0])
    with pytest.raises(MissingDependencyError, match=r"pip install 's2mam\[plot\]'"):
        MaskDisplay.from_estimator(model)


@pytest.mark.parametrize("name", [n for n in s2mam.inspection.__all__ if n.endswith("Display")])
def test_displays_follow_one_pattern(name):
    kind = getattr(s2mam.inspection, name)
    assert {"from_estimator", "plot", "to_frame"} <= set(dir(kind))
    assert "ax" in inspect.signature(kind.plot).parameters
    assert kind.__repr__ is object.__repr__  # a notebook shows the picture, not its numbers
