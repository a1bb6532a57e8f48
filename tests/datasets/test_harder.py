"""Our own generators: each has the trait it promises."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam import datasets
from s2mam.exceptions import InvalidInputError

NAMES = [
    "make_correlated_regression",
    "make_duplicated_regression",
    "make_heavy_tailed_regression",
    "make_imbalanced_classification",
    "make_interaction_regression",
    "make_multiclass_additive",
    "make_noisy_label_classification",
    "make_wide_regression",
]


@pytest.mark.parametrize("name", NAMES)
def test_common_contract(name):
    make = getattr(datasets, name)
    data, again = make(60, 5, 2, random_state=3), make(60, 5, 2, random_state=3)
    n, p = data.X.shape
    assert n == 60
    assert len(data.feature_names) == len(set(data.feature_names)) == len(data.informative) == p
    k = int(data.informative.sum())
    assert data.informative[:k].all()
    assert data.feature_names[-2:] == ["n1", "n2"]
    assert data.y.shape == data.y_clean.shape == (60,)
    assert data.X[:, -2:].std() > 50
    np.testing.assert_array_equal(data.X, again.X)
    np.testing.assert_array_equal(data.y, again.y)


@pytest.mark.parametrize("name", [name for name in NAMES if "regression" in name])
def test_clean_target_depends_on_the_informative_columns_alone(name):
    make = getattr(datasets, name)
    data = make(200, 5, 1, noise=0.0, random_state=0)
    np.testing.assert_allclose(data.y, data.y_clean)


def test_ar1_correlation():
    data = datasets.make_correlated_regression(20_000, 6, n_informative=2, random_state=0)
    order = np.argsort(data.position)
    found = np.corrcoef(data.X[:, order], rowvar=False)
    gap = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    np.testing.assert_allclose(found, 0.7**gap, atol=0.03)
    assert data.position[:2].tolist() == [0, 4]


def test_block_correlation():
    data = datasets.make_correlated_regression(
        20_000, 4, n_informative=2, structure="block", block_size=3, random_state=0
    )
    order = np.argsort(data.position)
    found = np.corrcoef(data.X[:, order], rowvar=False)
    same = np.equal.outer(np.arange(6) // 3, np.arange(6) // 3)
    np.testing.assert_allclose(found, np.where(same, 0.7, 0) + 0.3 * np.eye(6), atol=0.03)


def test_copies_are_close_to_their_source():
    data = datasets.make_duplicated_regression(500, 3, n_copies=2, random_state=0)
    assert data.X.shape[1] == 4 + 8 + 3
    for j in np.flatnonzero((data.source >= 0) & ~data.informative):
        assert np.std(data.X[:, j] - data.X[:, data.source[j]]) == pytest.approx(0.05, rel=0.15)
    np.testing.assert_array_equal(data.source[:4], np.arange(4))
    assert (data.source[-3:] == -1).all()


def test_interaction_has_no_main_effect():
    data = datasets.make_interaction_regression(50_000, 0, strength=2, noise=0.0, random_state=0)
    left = (data.y_clean - data.y_additive) / 2
    np.testing.assert_allclose(left, data.X[:, 3] * data.X[:, 4])
    for j in (3, 4):
        bins = np.digitize(data.X[:, j], [-1, 0, 1])
        assert max(abs(left[bins == b].mean()) for b in range(4)) < 0.05


def test_heavy_tails():
    heavy = datasets.make_heavy_tailed_regression(20_000, 0, random_state=0)
    residual = heavy.y - heavy.y_clean
    # Of Student's t with 2 degrees of freedom, 1 % lies beyond 9.92; of the normal, nothing.
    assert np.mean(np.abs(residual) > 9.925) == pytest.approx(0.01, abs=0.003)


def test_imbalance_is_exact_and_follows_the_score():
    data = datasets.make_imbalanced_classification(300, minority=0.05, random_state=0)
    assert data.y.sum() == 15
    assert data.score[data.y == 1].min() >= data.score[data.y == 0].max()


def test_label_noise_rate():
    data = datasets.make_noisy_label_classification(20_000, 0, noise=0.3, random_state=0)
    assert np.mean(data.y != data.y_clean) == pytest.approx(0.3, abs=0.01)
    assert data.y_clean.mean() == 0.5


@pytest.mark.parametrize("n_classes", [2, 3, 5, 8])
def test_every_class_has_its_share(n_classes):
    data = datasets.make_multiclass_additive(4000, 0, n_classes=n_classes, random_state=0)
    assert np.bincount(data.y, minlength=n_classes).min() > 0.25 * 4000 / n_classes


def test_multiclass_flips_reach_other_classes():
    data = datasets.make_multiclass_additive(5000, 0, noise=0.5, random_state=0)
    wrong = data.y != data.y_clean
    assert wrong.mean() == pytest.approx(0.5, abs=0.03)
    assert set((data.y - data.y_clean)[wrong] % 3) == {1, 2}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("make_correlated_regression", {"correlation": 1.0}, "correlation must lie"),
        ("make_correlated_regression", {"structure": "star"}, "structure must be"),
        ("make_imbalanced_classification", {"minority": 0.9}, "minority must lie"),
        ("make_multiclass_additive", {"n_classes": 1}, "n_classes=1"),
        ("make_multiclass_additive", {"n_classes": 2.5}, r"n_classes=2\.5 must be a whole"),
        ("make_correlated_regression", {"block_size": 0}, "block_size=0"),
        ("make_duplicated_regression", {"n_copies": 2.5}, r"n_copies=2\.5 must be a whole"),
        ("make_imbalanced_classification", {"n_informative": -1}, "n_informative=-1"),
        ("make_wide_regression", {"n_samples": 0}, "n_samples"),
    ],
)
def test_refusals(name, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        getattr(datasets, name)(**arguments)
