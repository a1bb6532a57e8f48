"""Weighted sums of features without the features."""

import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.bases import design as design_module

KINDS = ("numeric", "categorical", "numeric", "constant", "numeric")


def _table(n, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 5))
    Z[:, 1] = rng.integers(0, 3, size=n)
    Z[:, 3] = 0.0
    return Z


@pytest.mark.parametrize("basis", ["kernel", "nystrom", "fourier"])
@pytest.mark.parametrize("linear", [0.0, 0.3])
@pytest.mark.parametrize("columns", [None, [4, 1, 0], [1], [3]])
def test_is_the_product_of_features_and_coefficients(basis, linear, columns):
    design = build_design(_table(80, 0), KINDS, linear=linear, basis=basis)
    new = _table(50, 1)
    new[3, 0] = new[4, 1] = new[5, 4] = np.nan  # missing
    new[6, 1] = 9.0  # an unknown category
    features = design.evaluate(new, columns)
    coef = np.random.default_rng(2).normal(size=(features.shape[1], 3))
    got = design.combine(new, coef, columns)
    np.testing.assert_allclose(
        got, features @ coef, atol=1e-9 * max(1.0, np.abs(coef).max(initial=0.0))
    )


def test_rows_in_several_goes(monkeypatch):
    design = build_design(_table(60, 0), KINDS, linear=0.3)
    new = _table(47, 1)
    new[::5, 2] = np.nan
    coef = np.random.default_rng(2).normal(size=(int(design.offsets[-1]), 1))
    whole = design.combine(new, coef)
    monkeypatch.setattr(design_module, "_ROWS", 10)
    monkeypatch.setattr(design_module, "_CHUNK", 100)
    np.testing.assert_allclose(design.combine(new, coef), whole, atol=1e-9)


def test_columns_that_are_not_chosen_are_not_read():
    design = build_design(_table(60, 0), KINDS, linear=0.3)
    new, other = _table(20, 1), _table(20, 1)
    other[:, [0, 1, 3, 4]] = np.inf
    coef = np.ones((int(design.ranks[2]), 1))
    np.testing.assert_array_equal(design.combine(new, coef, [2]), design.combine(other, coef, [2]))
