"""Views whose curved parts are made when needed, against those that hold them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from s2mam import S2MAMClassifier, S2MAMRegressor
from s2mam.bases.curves import LazyCurves
from s2mam.bilevel.refitting import refit_to_all
from s2mam.bilevel.views import build_view
from s2mam.bilevel.wide_views import is_wide
from s2mam.datasets import hide_labels, make_friedman, make_moons


@pytest.fixture
def lazily(monkeypatch):
    """All tables count as wide; columns are worked on a few at a time."""
    monkeypatch.setattr("s2mam.bilevel.views.is_wide", lambda n, p, rank: True)
    monkeypatch.setattr("s2mam.bases.curves._CHUNK", 2000)


def _table(n=60, p=9):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n, p))
    table[:, 3] = rng.integers(0, 3, size=n)
    table[rng.random(n) < 0.1, 5] = np.nan
    return table, ("numeric",) * 3 + ("categorical", "numeric", "numeric", "constant") + (
        "numeric",
    ) * (p - 7)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("all_rows", [False, True])
@pytest.mark.parametrize("longer", [(), (3.0,)])
def test_lazy_parts_are_those_that_are_held(lazily, monkeypatch, whole, all_rows, longer):
    table, kinds = _table()
    options = {"whole": whole, "longer": longer}
    lazy = build_view(table, kinds, n_labeled=20, all_rows=all_rows, **options)
    monkeypatch.setattr("s2mam.bilevel.views.is_wide", is_wide)
    held = build_view(table, kinds, **options)
    assert isinstance(lazy.atoms.curved, LazyCurves)
    assert lazy.design.features.shape[0] == 0
    assert lazy.atoms.curved.shape == held.atoms.curved.shape
    np.testing.assert_allclose(lazy.atoms.straight, held.atoms.straight, atol=1e-12)
    np.testing.assert_allclose(lazy.atoms.straight_map, held.atoms.straight_map, atol=1e-12)
    few, many = np.array([3, 0, 19]), np.array([50, 2])
    np.testing.assert_array_equal(lazy.atoms.curved[:, few], held.atoms.curved[:, few])
    np.testing.assert_allclose(lazy.atoms.curved[:, many], held.atoms.curved[:, many], atol=1e-6)
    np.testing.assert_allclose(lazy.atoms.curved[4], held.atoms.curved[4], atol=1e-6)
    parts = list(lazy.atoms.curved.chunks())
    assert len(parts) > 1
    np.testing.assert_allclose(
        np.concatenate([values for _, values in parts]), held.atoms.curved, atol=1e-6
    )
    assert (lazy.atoms.curved.rounded is None) != all_rows
    again = pickle.loads(pickle.dumps(lazy))
    np.testing.assert_array_equal(again.atoms.curved[:, many], lazy.atoms.curved[:, many])


def test_the_refit_without_held_features_is_the_same(lazily, monkeypatch):
    table, kinds = _table()
    lazy = build_view(table, kinds, n_labeled=20)
    monkeypatch.setattr("s2mam.bilevel.views.is_wide", is_wide)
    held = build_view(table, kinds)
    rng = np.random.default_rng(3)
    relevance = rng.random(18)
    counts = rng.integers(0, 3, size=60).astype(np.float64)
    targets = [(rng.normal(size=(60, 2)), counts), (rng.normal(size=(60, 1)), np.ones(60))]
    expected = refit_to_all(held.atoms, relevance, targets, ridge=0.02)
    found = refit_to_all(lazy.atoms, relevance, targets, ridge=0.02)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.straight, other.straight, atol=1e-5)
        np.testing.assert_allclose(one.curved, other.curved, atol=1e-5)
        np.testing.assert_allclose(one.intercept, other.intercept, atol=1e-5)


def test_whole_fits_agree(lazily, monkeypatch):
    """Regression and classes; prediction in runs of columns as well."""
    friedman = make_friedman(120, n_uninformative=6, random_state=0)
    moons = make_moons(100, n_uninformative=3, n_noisy=0, random_state=0)
    cases = [
        (S2MAMRegressor, friedman.X, hide_labels(friedman.y, n_labeled=40, random_state=0)),
        (S2MAMClassifier, moons.X, hide_labels(moons.y, per_class=6, random_state=0)),
    ]
    lazy = [kind(random_state=0, max_iter=30).fit(X, y) for kind, X, y in cases]
    monkeypatch.setattr("s2mam.bilevel.views.is_wide", is_wide)
    for model, (kind, X, y) in zip(lazy, cases, strict=True):
        held = kind(random_state=0, max_iter=30).fit(X, y)
        np.testing.assert_allclose(model.mask_probabilities_, held.mask_probabilities_, atol=1e-4)
        np.testing.assert_allclose(model.contributions(X), held.contributions(X), atol=1e-3)
        whole = model.predict(X)
        monkeypatch.setattr("s2mam.estimators.model._FEATURES", 2000)
        np.testing.assert_allclose(model.contributions(X), held.contributions(X), atol=1e-3)
        if kind is S2MAMRegressor:
            np.testing.assert_allclose(model.predict(X), whole, atol=1e-9)
        monkeypatch.undo()


def test_only_tables_with_very_many_columns_count_as_wide():
    assert is_wide(500, 20_000, 5)
    assert not is_wide(1440, 1024, 5)
    assert not is_wide(10**6, 30, 5)
