"""Masks of pixels as pictures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from s2mam.exceptions import InvalidInputError
from s2mam.inspection import MaskImageDisplay

pytest.importorskip("matplotlib").use("Agg")


class Fitted(BaseEstimator):
    """As much of a fitted model as the picture reads."""

    def fit(self, X, y=None):
        return self


def estimator(p=12):
    model = Fitted()
    model.mask_probabilities_ = np.linspace(0, 1, p)
    model.support_ = model.mask_probabilities_ > 0.85
    return model


def test_the_picture_shows_probabilities_and_selected_pixels():
    import matplotlib.pyplot as plt

    image = np.arange(12.0)
    display = MaskImageDisplay.from_estimator(estimator(), shape=(3, 4), image=image)
    below, over = display.ax_.images
    np.testing.assert_array_equal(np.asarray(below.get_array()), image.reshape(3, 4))
    np.testing.assert_allclose(np.asarray(over.get_array())[..., 3].ravel(), np.linspace(0, 1, 12))
    framed = display.ax_.collections[0].get_offsets()
    assert np.asarray(framed).tolist() == [[2.0, 2.0], [3.0, 2.0]]
    assert display.figure_ is display.ax_.figure
    _, ax = plt.subplots()
    assert display.plot(ax=ax).ax_ is ax
    plt.close("all")


def test_channels_are_joined_and_columns_chosen():
    import matplotlib.pyplot as plt

    display = MaskImageDisplay.from_estimator(
        estimator(14), shape=(2, 2, 3), columns=np.arange(1, 13)
    )
    np.testing.assert_allclose(display.probabilities.ravel(), np.array([3, 6, 9, 12]) / 13)
    assert display.support.tolist() == [[False, False], [False, True]]
    assert len(display.ax_.images) == 1
    plt.close("all")


@pytest.mark.parametrize("shape", [(3, 5), (12,), (2, 2, 2)])
def test_shapes_that_do_not_fit_are_refused(shape):
    with pytest.raises(InvalidInputError, match="12 columns"):
        MaskImageDisplay.from_estimator(estimator(), shape=shape)
    with pytest.raises(InvalidInputError, match="values of image"):
        MaskImageDisplay.from_estimator(estimator(), shape=(3, 4), image=np.zeros(5))


def test_the_numbers_come_as_a_table():
    display = MaskImageDisplay.from_estimator(estimator(), shape=(3, 4))
    table = display.to_frame()
    assert table.columns.tolist() == ["row", "column", "probability", "selected"]
    assert table[table["selected"]][["row", "column"]].to_numpy().tolist() == [[2, 2], [2, 3]]
    np.testing.assert_allclose(table["probability"], np.linspace(0, 1, 12))
