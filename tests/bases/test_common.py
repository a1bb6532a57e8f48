"""Shapes that all columns have in common, in terms of their parts."""

from __future__ import annotations

import numpy as np

from s2mam.bases import build_design
from s2mam.bases.atoms import split_atoms
from s2mam.bases.common import SHAPES
from s2mam.bilevel import wide_views
from s2mam.bilevel.views import build_view

KINDS = ("numeric", "categorical", "constant", "numeric")
OPTIONS = {"linear": 0.3, "tolerance": 1e-4, "max_rank": 24}


def _table(n: int = 200) -> np.ndarray:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 4)).clip(-4, 4)
    Z[:, 1] = rng.integers(0, 3, size=n)
    Z[:, 2] = 0.0
    Z[: n // 10, 3] = np.nan
    return Z


def test_parts_say_the_shapes_of_numbers_and_nothing_else():
    Z = _table()
    atoms = split_atoms(build_design(Z, KINDS, **OPTIONS), Z)
    for j in (0, 3):
        present = ~np.isnan(Z[:, j])
        parts = np.column_stack([atoms.straight[:, j], atoms.curved[j]])
        said = parts @ atoms.common[j]
        np.testing.assert_array_equal(said[~present], 0.0)
        for k, shape in enumerate(SHAPES):
            correlation = np.corrcoef(said[present, k], shape(Z[present, j]))[0, 1]
            assert correlation > 0.97, (j, k)
    assert not atoms.common[[1, 2]].any()


def test_the_line_is_said_by_the_straight_part():
    Z = _table()
    atoms = split_atoms(build_design(Z, KINDS, **OPTIONS), Z)
    said = atoms.straight[:, 0] * atoms.common[0, 0, 0]
    np.testing.assert_allclose(said, Z[:, 0] - Z[:, 0].mean(), atol=1e-2)


def test_whole_columns_have_no_common_shapes():
    Z = _table()
    assert split_atoms(build_design(Z, KINDS, **OPTIONS), Z, whole=True).common is None


def test_very_many_columns_have_the_same_maps(monkeypatch):
    Z = np.random.default_rng(1).normal(size=(60, 30)).clip(-4, 4)
    held = build_view(Z, ["numeric"] * 30).atoms.common
    monkeypatch.setattr(wide_views, "_HELD", 10)
    monkeypatch.setattr("s2mam.bases.curves._CHUNK", 60 * 24 * 7)
    wide = build_view(Z, ["numeric"] * 30, n_labeled=10).atoms.common
    np.testing.assert_allclose(wide, held, atol=1e-8)
