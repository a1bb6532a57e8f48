"""Checks of parameters: what passes, what does not, and that the message names it."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.baselines.shared.parameters import choice, nonnegative, positive, whole
from s2mam.exceptions import InvalidInputError


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int64(3)])
def test_positive_numbers_pass(value):
    assert positive("x", value) == float(value)
    assert nonnegative("x", value) == float(value)


@pytest.mark.parametrize("value", [-1, np.nan, np.inf, "1", None, True, [1.0]])
def test_other_things_are_not_numbers(value):
    for check in (positive, nonnegative):
        with pytest.raises(InvalidInputError, match="x="):
            check("x", value)


def test_zero_is_not_positive():
    assert nonnegative("x", 0) == 0.0
    with pytest.raises(InvalidInputError, match="x=0 must be a positive number"):
        positive("x", 0)


def test_whole_numbers_have_a_least():
    assert whole("k", np.int64(4)) == 4
    assert whole("k", 0, least=0) == 0
    for bad in (0, 1.0, True, "2", None):
        with pytest.raises(InvalidInputError, match="k="):
            whole("k", bad)


def test_choices_are_listed():
    assert choice("graph", "knn", ("knn", "rbf")) == "knn"
    with pytest.raises(InvalidInputError, match="'knn', 'rbf'"):
        choice("graph", None, ("knn", "rbf"))
