"""The name of the target, and scores that are asked for rows without a label."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import s2mam
from s2mam import ManifoldAdditiveClassifier, ManifoldAdditiveRegressor, S2MAMRegressor
from s2mam.exceptions import InvalidInputError

X = np.random.default_rng(0).normal(size=(24, 2))
Y = np.where(np.arange(24) < 16, X[:, 0], np.nan)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (pd.Series(Y, name="price"), "price"),
        (pl.Series("price", Y), "price"),
        (pd.Series(Y), None),
        (pd.Series(Y, name=3), None),
        (Y, None),
        (Y.tolist(), None),
    ],
)
def test_a_named_target_is_remembered(target, name, tmp_path):
    model = S2MAMRegressor(max_iter=2, random_state=0).fit(X, target)
    assert getattr(model, "target_name_", None) == name
    model.save(tmp_path / "m.s2mam")
    assert getattr(s2mam.load(tmp_path / "m.s2mam"), "target_name_", None) == name
    assert getattr(model.refit_selected(), "target_name_", None) == name


def test_a_fit_without_a_name_forgets_the_last():
    model = ManifoldAdditiveRegressor().fit(X, pd.Series(Y, name="price"))
    assert model.target_name_ == "price"
    assert not hasattr(model.fit(X, Y), "target_name_")


def test_unlabelled_rows_are_not_scored_in_silence():
    model = ManifoldAdditiveRegressor().fit(X, Y)
    with pytest.raises(InvalidInputError, match="8 unlabelled rows, which cannot be scored"):
        model.score(X, Y)
    assert model.score(X[:16], Y[:16]) <= 1.0
    marked = np.where(np.arange(24) < 16, X[:, 0] > 0, -1)
    classes = ManifoldAdditiveClassifier().fit(X, marked)
    with pytest.raises(InvalidInputError, match="labeled_scorer"):
        classes.score(X, marked)
    assert classes.score(X[:16], marked[:16]) > 0.8
    # Where -1 is a class like others, it is scored.
    signs = np.where(X[:, 0] > 0, 1, -1)
    assert ManifoldAdditiveClassifier(unlabeled=None).fit(X, signs).score(X, signs) > 0.8
