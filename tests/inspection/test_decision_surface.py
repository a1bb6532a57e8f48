"""Decision surfaces against decisions of rows."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.inspection import DecisionSurfaceDisplay
from s2mam.inspection.isosurface import level_surface


def test_surface_is_the_decision_with_other_columns_at_their_medians(moons):
    display = DecisionSurfaceDisplay.from_estimator(
        moons.model, moons.X, moons.y, columns=[1, 0], grid=7
    )
    first, second = (curve.grid for curve in display.surface.curves)
    for i in (0, 3, 6):
        for j in (0, 5):
            row = np.median(moons.X, axis=0)
            row[[1, 0]] = first[i], second[j]
            expected = moons.model.decision_function(row[None, :])[0]
            np.testing.assert_allclose(display.surface.values[i, j], expected, atol=1e-9)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x1", "x0")


def test_reference_row_and_categories_and_classes(patients):
    X = patients.X
    display = DecisionSurfaceDisplay.from_estimator(
        patients.model, X, patients.y, columns=["age", "site"], reference=3, grid=5
    )
    assert display.surface.values.shape == (5, 3, 3)
    row = X.iloc[[3]].copy()
    row["age"] = display.surface.curves[0].grid[2]
    row["site"] = "north"
    expected = patients.model.decision_function(row)[0]
    np.testing.assert_allclose(display.surface.values[2, 1], expected, atol=1e-9)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["east", "north", "south"]
    usual = DecisionSurfaceDisplay.from_estimator(
        patients.model, X, columns=["age", "dose <mg>"], grid=5
    )
    row = X.iloc[[0]].copy()
    row["site"] = X["site"].mode()[0]
    row["age"], row["dose <mg>"] = X["age"].min(), X["dose <mg>"].max()
    expected = patients.model.decision_function(row)[0]
    np.testing.assert_allclose(usual.surface.values[0, -1], expected, atol=1e-9)


def test_frames_hold_the_nodes(moons, patients):
    display = DecisionSurfaceDisplay.from_estimator(moons.model, moons.X, columns=[1, 0], grid=7)
    frame = display.to_frame()
    assert list(frame.columns) == ["x1", "x0", "decision"]
    row = np.median(moons.X, axis=0)
    row[[1, 0]] = frame.loc[9, "x1"], frame.loc[9, "x0"]
    expected = moons.model.decision_function(row[None, :])[0]
    np.testing.assert_allclose(frame.loc[9, "decision"], expected, atol=1e-9)
    display = DecisionSurfaceDisplay.from_estimator(
        patients.model, patients.X, columns=["age", "site"], grid=5
    )
    frame = display.to_frame()
    assert list(frame.columns) == ["age", "site", "decision high", "decision low", "decision mid"]
    node = (frame["site"] == "north") & (frame["age"] == display.surface.curves[0].grid[2])
    assert frame.loc[node, "decision mid"].item() == display.surface.values[2, 1, 2]


def test_labelled_rows_are_marked_by_class(moons):
    display = DecisionSurfaceDisplay.from_estimator(
        moons.model, moons.X, moons.y, columns=[0, 1], grid=5
    )
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["unlabelled", "0", "1"]
    points = {part.get_label(): part.get_offsets() for part in display.ax_.collections}
    np.testing.assert_array_equal(points["1"], moons.X[moons.y == 1][:, :2])
    np.testing.assert_array_equal(points["unlabelled"], moons.X[moons.y == -1][:, :2])
    paths = {
        part.get_label(): part.get_paths()[0].vertices.shape for part in display.ax_.collections
    }
    assert paths["0"] != paths["1"]  # another marker


@pytest.mark.parametrize("name", ["moons", "numbers"])
def test_three_columns_give_a_surface_in_space(name, request):
    case = request.getfixturevalue(name)
    display = DecisionSurfaceDisplay.from_estimator(
        case.model, case.X, case.y, columns=[0, 1, 2], grid=8
    )
    assert display.ax_.name == "3d"
    assert display.surface.values.shape == (8, 8, 8)
    surfaces = [part for part in display.ax_.collections if "Poly3D" in type(part).__name__]
    assert len(surfaces) == 1


def test_each_class_has_its_surface_in_space():
    from s2mam import S2MAMClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = S2MAMClassifier(max_iter=3, random_state=0).fit(X, y)
    display = DecisionSurfaceDisplay.from_estimator(model, X, y, columns=[0, 1, 2], grid=6)
    surfaces = [part for part in display.ax_.collections if "Poly3D" in type(part).__name__]
    assert len(surfaces) == 3


def test_triangles_lie_on_a_plane_and_cover_it():
    grid = np.linspace(0.0, 1.0, 5)
    x, y, z = np.meshgrid(grid, grid, grid, indexing="ij")
    triangles = level_surface((grid, grid, grid), x + 2.0 * y - z, 0.6)
    np.testing.assert_allclose(triangles @ [1.0, 2.0, -1.0], 0.6, atol=1e-12)
    sides = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    area = np.linalg.norm(sides, axis=1).sum() / 2.0
    # Seen along y the plane y = (0.6 - x + z) / 2 fills the square where 0 <= y <= 1.
    shadow = 1.0 - 0.4**2 / 2.0
    np.testing.assert_allclose(area, shadow * np.sqrt(6.0) / 2.0, rtol=1e-9)
    assert level_surface((grid, grid, grid), x, 7.0).shape == (0, 3, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["age"]}, "must name two or three different columns"),
        ({"columns": ["age", "age"]}, "must name two or three different columns"),
        ({"columns": [0, 1], "reference": "mean"}, "reference='mean' is unknown"),
        ({"columns": [0, 1], "reference": 900}, "There is no row 900"),
        ({"columns": [0, 1, 2]}, "needs numeric ones"),
    ],
)
def test_bad_arguments_are_named(patients, options, message):
    with pytest.raises(InvalidInputError, match=message):
        DecisionSurfaceDisplay.from_estimator(patients.model, patients.X, **options)
