"""One curve for all columns."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam import S2MAMClassifier, S2MAMRegressor
from s2mam.bilevel.common_curve import common_curve_fits
from s2mam.bilevel.views import build_view
from s2mam.masks.labeled_atoms import labeled_atoms


def _labeled(Z, target, n_labeled, weights=None):
    view = build_view(Z, ["numeric"] * Z.shape[1])
    rows = np.arange(n_labeled)
    weights = np.ones(n_labeled) if weights is None else weights
    atoms = view.atoms
    few = labeled_atoms(atoms.straight, atoms.curved, rows, target[rows, None], weights)
    return atoms, few


def test_it_is_ridge_on_the_sums_over_the_columns():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 6)).clip(-4, 4)
    prior = rng.uniform(0.5, 2.0, size=6)
    y, weights = rng.normal(size=80), rng.integers(1, 4, size=30).astype(float)
    atoms, few = _labeled(Z, y, 30, weights)
    (fit,) = common_curve_fits(few, atoms.common, prior, [0.7])
    parts = np.concatenate([atoms.straight[:, :, None], atoms.curved.transpose(1, 0, 2)], axis=2)
    sums = np.einsum("njr,jrs,j->ns", parts, atoms.common, prior)
    copies = np.repeat(np.arange(30), weights.astype(int))
    level, spread = sums[copies].mean(axis=0), sums[copies].std(axis=0)
    features = (sums - level) / spread / np.sqrt(3.0)
    shown = features[copies]
    coef = np.linalg.solve(
        shown.T @ shown + 0.7 * np.eye(3), shown.T @ (y[copies] - y[copies].mean())
    )
    expected = y[copies].mean() + features @ coef
    np.testing.assert_allclose(fit.predict(atoms.straight, atoms.curved)[:, 0], expected, atol=1e-8)


def test_columns_without_weight_and_labels_without_spread():
    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=(40, 3)).clip(-4, 4), rng.normal(size=40)
    atoms, few = _labeled(Z, y, 20)
    (fit,) = common_curve_fits(few, atoms.common, np.array([1.0, 0.0, 1.0]), [0.3])
    assert not fit.straight[1].any()
    assert not fit.curved[1].any()
    assert fit.straight[0].any()
    (flat,) = common_curve_fits(few, np.zeros_like(atoms.common), np.ones(3), [0.3])
    assert not flat.straight.any()
    assert flat.intercept == pytest.approx(y[:20].mean())


@pytest.mark.parametrize("kind", ["how far out", "how high"])
def test_classes_that_many_columns_say_together(kind):
    """Twenty columns that each say next to nothing: curves of their own drown in ten labels."""
    scores = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, size=600)
        X = rng.normal(size=(600, 20))
        X = X * (1.0 + y[:, None]) if kind == "how far out" else X + 0.45 * (2 * y[:, None] - 1)
        shown = np.full(600, -1)
        for code in (0, 1):
            shown[np.flatnonzero(y == code)[:10]] = code
        model = S2MAMClassifier(random_state=0).fit(X, shown)
        scores.append(model.score(X[shown < 0], y[shown < 0]))
        assert model.chosen_["member_weights"]["common"] > 0.05
        parts = model.contributions(X).sum(axis=1) + model.intercept_
        np.testing.assert_allclose(parts, model.decision_function(X), atol=1e-10)
    assert np.mean(scores) > 0.95  # without it .835 and .970


def test_numbers_that_a_sum_says():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40))
    f = np.abs(X).sum(axis=1)
    y = np.where(np.arange(300) < 40, f + 0.3 * rng.normal(size=300), np.nan)
    model = S2MAMRegressor(random_state=0).fit(X, y)
    assert model.score(X[40:], f[40:]) > 0.9  # without it .12
    assert model.chosen_["member_weights"]["common"] > 0.5
