"""Selection over subsamples of the labelled rows."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam import ManifoldAdditiveRegressor
from s2mam.exceptions import InvalidInputError
from s2mam.inspection import SelectionDisplay, SelectionStability, selection_stability
from s2mam.inspection.resampling import subsample_weights


def test_subsamples_keep_unlabelled_rows_and_every_class():
    labeled = np.array([True] * 10 + [False] * 5)
    groups = np.array(["a"] * 8 + ["b"] * 2)
    draws = subsample_weights(labeled, np.ones(15), groups, 0.5, 50, np.random.RandomState(0))
    for weights in draws:
        assert (weights[10:] == 1.0).all()
        assert weights[:8].sum() == 4.0
        assert weights[8:10].sum() == 1.0
    assert len({weights.tobytes() for weights in draws}) > 20
    tiny = subsample_weights(labeled, np.ones(15), groups, 0.01, 1, np.random.RandomState(0))[0]
    assert (tiny[:8].sum(), tiny[8:10].sum()) == (1.0, 1.0)


def test_frequencies_are_those_of_refits_without_the_rows_left_out(numbers):
    X, y = numbers.X, numbers.y
    model = ManifoldAdditiveRegressor(sparsity=0.05, manifold=0.0).fit(X, y)
    found = selection_stability(model, X, y, n_subsamples=3, fraction=0.4, random_state=5)
    labeled = ~np.isnan(y)
    draws = subsample_weights(labeled, np.ones(len(y)), None, 0.4, 3, np.random.RandomState(5))
    supports = []
    for weights in draws:
        kept = weights > 0
        assert np.count_nonzero(kept & labeled) == 18
        supports.append(
            ManifoldAdditiveRegressor(sparsity=0.05, manifold=0.0).fit(X[kept], y[kept]).support_
        )
    np.testing.assert_array_equal(found.frequency, np.mean(supports, axis=0))
    np.testing.assert_array_equal(found.probabilities, model.mask_probabilities_)


def test_signal_is_selected_more_often_than_junk(numbers):
    found = selection_stability(numbers.model, numbers.X, numbers.y, n_subsamples=6, random_state=0)
    assert found.frequency[3] == 1.0
    assert found.frequency[:5].mean() > found.frequency[5:].mean() + 0.3
    assert found.mean_probability[3] > found.mean_probability[5]
    frame = found.to_frame()
    assert frame["column"].tolist() == [f"x{j}" for j in range(7)]
    assert frame.loc[3, "frequency"] == 1.0


def test_several_classes_and_their_markers(patients):
    found = selection_stability(
        patients.model, patients.X, patients.y, n_subsamples=2, random_state=0
    )
    assert found.frequency[2] == 1.0


def test_bars_are_frequencies_and_diamonds_probabilities():
    stability = SelectionStability(
        names=["a", "b", "c"],
        frequency=np.array([0.2, 1.0, 0.2]),
        mean_probability=np.zeros(3),
        probabilities=np.array([0.1, 0.9, 0.4]),
        support=np.array([False, True, False]),
        n_subsamples=5,
        fraction=0.7,
    )
    display = SelectionDisplay(stability).plot(max_columns=2)
    assert [patch.get_width() for patch in display.ax_.patches] == [1.0, 0.2]
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names == ["b", "c"]  # ties by probability
    marks = next(line for line in display.ax_.get_lines() if line.get_marker() == "D")
    assert marks.get_xdata().tolist() == [0.9, 0.4]
    assert "5 subsamples of 70 %" in display.ax_.get_xlabel()
    assert display.to_frame().shape == (3, 5)


def test_display_from_estimator(numbers):
    display = SelectionDisplay.from_estimator(
        numbers.model, numbers.X, numbers.y, n_subsamples=1, random_state=0
    )
    assert display.stability.n_subsamples == 1
    assert len(display.ax_.patches) == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_subsamples": 0}, "n_subsamples=0 must be at least 1"),
        ({"fraction": 1.0}, "fraction=1.0 must lie between 0 and 1"),
    ],
)
def test_bad_arguments_are_named(numbers, options, message):
    with pytest.raises(InvalidInputError, match=message):
        selection_stability(numbers.model, numbers.X, numbers.y, **options)


def test_one_label_cannot_be_subsampled():
    X = np.arange(8.0)[:, None]
    y = np.full(8, np.nan)
    y[0] = 1.0
    model = ManifoldAdditiveRegressor().fit(X, y)
    with pytest.raises(InvalidInputError, match="at least 2 labelled rows"):
        selection_stability(model, X, y)
