"""The path of a mask learner as recorded."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam import ManifoldAdditiveRegressor, S2MAMRegressor
from s2mam.exceptions import InvalidInputError
from s2mam.inspection import MaskPathDisplay, MaskRecorder


@pytest.fixture(scope="module")
def loop(numbers):
    recorder = MaskRecorder()
    model = S2MAMRegressor(
        mask_learner="rloo", max_iter=6, callbacks=[recorder], random_state=0
    ).fit(numbers.X, numbers.y)
    return model, recorder


def test_lines_are_the_history_and_the_recorded_probabilities(loop):
    model, _ = loop
    display = MaskPathDisplay.from_estimator(model, max_columns=2)
    assert len(display.axes_) == 3
    criterion, budget, probabilities = display.axes_
    np.testing.assert_array_equal(criterion.get_lines()[0].get_ydata(), model.history_["criterion"])
    np.testing.assert_array_equal(budget.get_lines()[0].get_ydata(), model.history_["budget"])
    assert len(probabilities.get_lines()) == 7
    np.testing.assert_array_equal(display.probabilities[-1], model.mask_probabilities_)
    np.testing.assert_allclose(display.probabilities.sum(axis=1), display.budget)
    best = np.argsort(-model.mask_probabilities_, kind="stable")[:2]
    names = [text.get_text() for text in probabilities.get_legend().get_texts()]
    assert names == [f"x{j}" for j in best]
    assert list(display.to_frame().columns[:4]) == ["iteration", "criterion", "budget", "x0"]


def test_recorder_starts_again_with_every_fit(loop, numbers):
    model, recorder = loop
    model.fit(numbers.X, numbers.y)
    assert len(recorder.probabilities) == 6


def test_runs_of_the_default_learner_are_drawn_apart(numbers):
    display = MaskPathDisplay.from_estimator(numbers.model)
    assert (display.learner, display.n_runs) == ("posterior", 2)
    lines = [line for line in display.axes_[0].get_lines() if len(line.get_xdata()) == 5]
    assert len(lines) == 2
    assert lines[0].get_linestyle() != lines[1].get_linestyle()
    assert lines[1].get_xdata()[0] == 6
    assert "2 runs" in display.axes_[-1].get_xlabel()
    assert display.probabilities is None


def test_models_without_a_path_say_so(numbers):
    plain = ManifoldAdditiveRegressor().fit(numbers.X, numbers.y)
    with pytest.raises(InvalidInputError, match="ManifoldAdditiveRegressor learns no masks"):
        MaskPathDisplay.from_estimator(plain)
    relaxed = S2MAMRegressor(mask_learner="relaxed", n_features_to_select=5, random_state=0).fit(
        numbers.X, numbers.y
    )
    with pytest.raises(InvalidInputError, match="'relaxed' holds 1 iterations"):
        MaskPathDisplay.from_estimator(relaxed)


def test_panels_are_counted(loop):
    from matplotlib.figure import Figure

    with pytest.raises(InvalidInputError, match="ax has 1 panels for 3 quantities"):
        MaskPathDisplay.from_estimator(loop[0], ax=Figure().subplots())
