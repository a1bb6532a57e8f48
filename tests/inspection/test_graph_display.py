"""Neighbour graphs before and after masking."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.graphs import build_graph
from s2mam.inspection import GraphDisplay
from s2mam.intake import TableReader


def test_graphs_are_those_of_build_graph(moons):
    display = GraphDisplay.from_estimator(
        moons.model, moons.X, moons.y, columns=[0, 1], mask="support", n_neighbors=4
    )
    table = TableReader(scale="robust").fit_transform(moons.X)
    for weights, mask in (
        (display.before, np.ones(3)),
        (display.after, moons.model.support_.astype(float)),
    ):
        graph = build_graph(table, mask, kind="neighbors", n_neighbors=4)
        np.testing.assert_allclose(weights.toarray(), graph.weights.toarray())
    assert display.n_components[0] >= 1


def test_agreement_is_the_share_of_edges_within_a_class(moons):
    display = GraphDisplay.from_estimator(moons.model, moons.X, columns=[0, 1])
    predicted = moons.model.predict(moons.X)
    same = predicted[:, None] == predicted[None, :]
    for weights, share in zip((display.before, display.after), display.agreement, strict=True):
        dense = weights.toarray()
        np.testing.assert_allclose(share, dense[same].sum() / dense.sum())
        assert f"{100 * share:.0f} % of edges" in " ".join(
            axis.get_title() for axis in display.axes_
        )


def test_agreement_of_numbers_is_a_correlation(numbers):
    display = GraphDisplay.from_estimator(numbers.model, numbers.X, numbers.y, columns=[0, 3])
    predicted = numbers.model.predict(numbers.X)
    edges = display.before.tocoo()
    expected = np.cov(predicted[edges.row], predicted[edges.col], aweights=edges.data)
    np.testing.assert_allclose(display.agreement[0], expected[0, 1] / expected[0, 0], rtol=1e-9)


def test_every_edge_is_drawn_once_between_its_rows(patients):
    display = GraphDisplay.from_estimator(
        patients.model, patients.X, patients.y, columns=["age", "site"]
    )
    lines = next(part for part in display.axes_[0].collections if hasattr(part, "get_segments"))
    assert len(lines.get_segments()) == display.before.nnz // 2
    frame = display.to_frame()
    assert len(frame) == (display.before.nnz + display.after.nnz) // 2
    assert (frame["row"] < frame["neighbor"]).all()
    assert [axis.get_xlabel() for axis in display.axes_] == ["age", "age"]


def test_default_columns_have_the_largest_effects(numbers):
    display = GraphDisplay.from_estimator(numbers.model, numbers.X)
    spread = numbers.model.contributions(numbers.X).std(axis=0)
    assert display.names == tuple(f"x{j}" for j in np.argsort(-spread)[:2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask": "ones"}, "mask='ones' is unknown"),
        ({"columns": [0]}, "must name two different columns"),
    ],
)
def test_bad_arguments_are_named(moons, options, message):
    with pytest.raises(InvalidInputError, match=message):
        GraphDisplay.from_estimator(moons.model, moons.X, **options)


def test_two_panels_are_needed(moons):
    from matplotlib.figure import Figure

    with pytest.raises(InvalidInputError, match="pass two"):
        GraphDisplay.from_estimator(moons.model, moons.X, ax=Figure().subplots())
