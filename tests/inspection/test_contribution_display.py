"""Waterfalls and strips add up to the decision."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.inspection import ContributionDisplay


@pytest.mark.parametrize("top", [1, 3, 6, 10])
def test_bars_of_a_waterfall_go_from_intercept_to_decision(numbers, top):
    display = ContributionDisplay.from_estimator(numbers.model, numbers.X, row=4, top=top)
    bars = sorted(display.axes_[0].patches, key=lambda bar: bar.get_y())
    at = numbers.model.intercept_
    for bar in bars:
        np.testing.assert_allclose(bar.get_x(), at, atol=1e-10)
        at += bar.get_width()
    np.testing.assert_allclose(at, numbers.model.predict(numbers.X[4:5])[0], atol=1e-10)
    labels, steps = display.steps(4, top=top)
    assert len(labels) == len(steps) == len(bars)
    own = steps if top >= 6 else steps[:-1]
    assert (np.diff(np.abs(own)) <= 0).all()
    assert (labels[-1] == f"{7 - top} others") == (top < 6)


def test_values_stand_beside_the_names_and_missing_ones_say_so(patients):
    display = ContributionDisplay.from_estimator(patients.model, patients.X, row=1)
    ticks = [tick.get_text() for tick in display.axes_[0].get_yticklabels()]
    assert {"site = east", f"age = {patients.X['age'][1]:.4g}"} <= set(ticks)
    first = ContributionDisplay.from_estimator(patients.model, patients.X, row=0)
    assert first.values == ["71", "missing", "missing"]


def test_signs_differ_without_colour():
    display = ContributionDisplay(["a", "b"], np.array([[2.0, -1.0]]), np.array([0.0])).plot(row=0)
    hatches = {bar.get_width(): bar.get_hatch() for bar in display.axes_[0].patches}
    assert hatches[2.0] != hatches[-1.0]
    numbers = [text.get_text() for text in display.axes_[0].texts]
    assert numbers == ["+2.00", "−1.00"]


def test_the_predicted_class_is_explained_unless_another_is_named(patients):
    decision = patients.model.decision_function(patients.X)
    display = ContributionDisplay.from_estimator(patients.model, patients.X, row=2)
    np.testing.assert_allclose(display.decision, decision, atol=1e-10)
    best = patients.model.classes_[decision[2].argmax()]
    assert display.axes_[0].get_xlabel() == f"score of {best}"
    for k, label in enumerate(patients.model.classes_):
        _, steps = display.steps(2, target=label, top=2)
        total = patients.model.intercept_[k] + steps.sum()
        np.testing.assert_allclose(total, decision[2, k], atol=1e-10)
    frame = display.to_frame(target="low")
    np.testing.assert_allclose(
        frame.drop(columns="decision").sum(axis=1), frame["decision"], atol=1e-10
    )
    np.testing.assert_allclose(frame["decision"], decision[:, 1], atol=1e-10)


def test_strips_hold_every_row_sorted_by_decision(patients):
    display = ContributionDisplay.from_estimator(patients.model, patients.X, top=1)
    assert len(display.axes_) == 3
    decision = patients.model.decision_function(patients.X)
    for k, axis in enumerate(display.axes_):
        shown = np.asarray(axis.images[0].get_array())
        assert shown.shape == (2, len(patients.X))
        total = shown.sum(axis=0) + patients.model.intercept_[k]
        np.testing.assert_allclose(total, np.sort(decision[:, k]), atol=1e-10)
    one = ContributionDisplay.from_estimator(patients.model, patients.X, target="mid")
    assert len(one.axes_) == 1


def test_columns_that_add_nothing_take_no_line(moons):
    display = ContributionDisplay(
        names=["a", "b", "c"],
        contributions=np.array([[1.0, 0.0, 0.0]]),
        intercept=np.array([2.0]),
    )
    labels, steps = display.steps(0)
    assert labels == ["a", "2 others"]
    assert steps.tolist() == [1.0, 0.0]
    two = ContributionDisplay.from_estimator(moons.model, moons.X, row=-1)
    assert two.axes_[0].get_title(loc="left") == f"row {len(moons.X) - 1}"
    assert two.axes_[0].get_xlabel() == "log-odds of 1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"row": 999}, "There is no row 999; X has 90 rows"),
        ({"row": 0, "target": "none"}, "There is no class 'none'; known: high, low, mid"),
        ({"top": 0}, "top=0 must be at least 1"),
    ],
)
def test_bad_arguments_are_named(patients, options, message):
    with pytest.raises(InvalidInputError, match=message):
        ContributionDisplay.from_estimator(patients.model, patients.X, **options)


def test_target_needs_several_scores(numbers):
    with pytest.raises(InvalidInputError, match="three or more classes"):
        ContributionDisplay.from_estimator(numbers.model, numbers.X, row=0, target=1)
