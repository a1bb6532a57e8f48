"""A few far-out values do not squeeze the others into a corner of the pictures."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from s2mam import ManifoldAdditiveRegressor, S2MAMRegressor
from s2mam.inspection import (
    ComponentDisplay,
    DecisionSurfaceDisplay,
    GraphDisplay,
    component_curves,
    component_html,
)
from s2mam.inspection.grids import column_grid, usual_range
from s2mam.inspection.report import report
from s2mam.intake.columns import ColumnInfo

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"time": rng.uniform(10.0, 20.0, 80), "size": rng.normal(size=80)})
    X.loc[[3, 4], "time"] = [5000.0, -3000.0]
    y = np.sin(X["time"].clip(10.0, 20.0)) + X["size"]
    return X, y.to_numpy(), ManifoldAdditiveRegressor(sparsity=0.001, manifold=0.0).fit(X, y)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=2000),
        np.random.default_rng(0).uniform(size=50),
        np.random.default_rng(0).exponential(size=500),
        np.array([0.0] * 99 + [7.0]),  # nearly all the same: the rest is all there is to see
        np.array([2.0]),
    ],
    ids=["normal", "uniform", "exponential", "mostly zero", "one"],
)
def test_usual_columns_are_shown_whole(values):
    assert usual_range(values) == (values.min(), values.max())


def test_the_grid_is_dense_where_the_rows_are():
    info = ColumnInfo("time", "numeric", low=-3000.0, high=5000.0)
    grid = column_grid(info, 100, usual=(10.0, 20.0))
    assert (grid[0], grid[-1], len(grid)) == (-3000.0, 5000.0, 100)
    assert np.all(np.diff(grid) > 0.0)
    assert np.sum((grid >= 10.0) & (grid <= 20.0)) == 80
    assert grid[(grid >= 10.0) & (grid <= 20.0)][[0, -1]].tolist() == [10.0, 20.0]
    np.testing.assert_array_equal(column_grid(info, 9, usual=(10.0, 20.0)), column_grid(info, 9))


def test_curves_reach_the_ends_and_know_what_to_show(fitted):
    X, _, model = fitted
    curve, other = component_curves(model, X, ["time", "size"])
    assert curve.grid[[0, -1]].tolist() == [-3000.0, 5000.0]
    assert curve.n_beyond == 2
    assert curve.in_view.sum() >= 80
    assert other.n_beyond == 0
    assert other.in_view.all()
    low, high = curve.usual_range
    assert -20.0 < low < 10.0
    assert 20.0 < high < 40.0


def test_the_panel_shows_the_rows_and_says_what_lies_beyond(fitted):
    X, _, model = fitted
    display = ComponentDisplay.from_estimator(model, X, columns=["time", "size"])
    low, high = display.axes_[0].get_xlim()
    assert high - low < 60.0
    texts = [text.get_text() for text in display.axes_[0].texts]
    assert texts == ["← 1 row, from −3000", "1 row, to 5000 →"]
    assert not display.axes_[1].texts
    assert "5000" not in component_html(model, X)


def test_a_model_without_rows_knows_where_they_were(fitted):
    X, y, _ = fitted
    model = S2MAMRegressor(max_iter=5, random_state=0).fit(X, y)
    assert "time" in component_html(model)
    assert "5000" not in component_html(model)


def test_planes_and_graphs_show_where_the_rows_are(fitted):
    X, y, model = fitted
    plane = DecisionSurfaceDisplay.from_estimator(model, X, y, columns=["time", "size"])
    assert np.ptp(plane.ax_.get_xlim()) < 60.0
    assert np.ptp(plane.surface.curves[0].grid) < 60.0
    assert plane.surface.rows.positions[3, 0] == 5000.0  # still among the numbers
    graph = GraphDisplay.from_estimator(model, X, y, columns=["time", "size"])
    assert all(np.ptp(axis.get_xlim()) < 60.0 for axis in graph.axes_)


def test_categories_of_a_graph_have_their_names(fitted):
    X, y, _ = fitted
    X = X.assign(site=np.where(np.arange(80) % 2, "north", "south"))
    model = ManifoldAdditiveRegressor(sparsity=0.001, manifold=0.0).fit(X, y)
    graph = GraphDisplay.from_estimator(model, X, y, columns=["size", "site"])
    assert [tick.get_text() for tick in graph.axes_[0].get_yticklabels()] == ["north", "south"]


def test_the_report_offers_the_whole_range(fitted, tmp_path):
    X, y, model = fitted
    path = tmp_path / "page.html"
    report(model, X, y, path, n_resamples=0, folds=0)
    page = path.read_text(encoding="utf-8")
    assert "2 rows lie outside the picture (all values: −3000 to 5000)." in page
    assert 'id="whole"' in page
    report(model, X.assign(time=X["time"].clip(10, 20)), y, path, n_resamples=0, folds=0)
    assert 'id="whole"' not in path.read_text(encoding="utf-8")
