"""Sparse matrices: the same numbers as the dense table, column by column."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from s2mam.exceptions import InvalidInputError
from s2mam.intake import TableReader

FORMATS = [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix]


@pytest.fixture
def dense():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(50, 12)) * (rng.random((50, 12)) < 0.3)
    table[:, 4] = 0.0
    table[:, 5] = rng.integers(0, 3, size=50)
    table[3, 6] = np.nan
    return table


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("scale", ["robust", "standard", "rank", None])
@pytest.mark.parametrize("categorical", ["auto", [5]])
def test_same_numbers_as_the_dense_table(make, scale, categorical, dense, monkeypatch):
    monkeypatch.setattr("s2mam.intake.sparse_tables._BLOCK", 200)  # four columns at a time
    plain = TableReader(scale=scale, categorical=categorical)
    stored = TableReader(scale=scale, categorical=categorical)
    weight = np.arange(50.0)
    for more in ({}, {"row_weight": weight}):
        expected = plain.fit_transform(dense, **more)
        found = stored.fit_transform(make(dense), **more)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    assert stored.kinds_ == plain.kinds_
    assert [c.n_missing for c in stored.columns_] == [c.n_missing for c in plain.columns_]
    np.testing.assert_array_equal(stored.transform(make(dense)), stored.transform(dense))


def test_duplicates_add_up_and_whole_numbers_are_numbers():
    twice = sparse.coo_array(([1, 2, 5], ([0, 0, 1], [0, 0, 1])), shape=(3, 2))
    table = TableReader(scale=None).fit_transform(twice)
    np.testing.assert_array_equal(table, [[3.0, 0.0], [0.0, 5.0], [0.0, 0.0]])


def test_infinite_values_are_named(dense):
    dense[7, 8] = dense[2, 8] = np.inf
    dense[1, 9] = -np.inf
    with pytest.raises(InvalidInputError, match=r"column 'x8' \(2 rows, first: row 2\)"):
        TableReader().fit(sparse.csr_array(dense))


def test_owners_that_do_not_allow_it_refuse(dense):
    class Plain(BaseEstimator):
        pass

    with pytest.raises(TypeError, match=r"[Ss]parse"):
        TableReader().fit(sparse.csr_array(dense), estimator=Plain())


def test_shapes_are_checked(dense):
    reader = TableReader().fit(sparse.csr_array(dense))
    with pytest.raises(ValueError, match="X has 3 features, but TableReader is expecting 12"):
        reader.transform(sparse.csr_array(dense[:, :3]))
