"""Weights: only labelled rows count, and bad ones are named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.intake import read_weights

LABELED = np.array([True, False, True, True])


@pytest.mark.parametrize("given", [None, 1, 2.5, [7, 0, 7, 7], pd.Series([7.0, np.nan, 7, 7])])
def test_equal_weights(given):
    np.testing.assert_allclose(read_weights(given, LABELED), np.full(3, 1 / 3))


def test_unlabelled_weights_are_not_read():
    weights = [1, -np.inf, 0, 3]
    np.testing.assert_allclose(read_weights(weights, LABELED), [0.25, 0, 0.75])


@pytest.mark.parametrize("size", [1e-300, 1e308])
def test_extreme_sizes(size):
    np.testing.assert_allclose(read_weights(size * np.ones(4), LABELED), np.full(3, 1 / 3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 1, -1, 1], "negative in 1 labelled rows \\(first: row 2\\)"),
        ([1, 1, 1, np.nan], "NaN or infinite in 1 labelled rows \\(first: row 3\\)"),
        ([0, 5, 0, 0], "zero on all labelled rows"),
        (0, "zero on all labelled rows"),
        (-1, "negative"),
        (np.ones(3), "shape \\(3,\\) but X has 4 rows"),
        (np.ones((4, 2)), "shape \\(4, 2\\)"),
        (["a"] * 4, "must be numeric"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(InvalidInputError, match=message):
        read_weights(given, LABELED)
