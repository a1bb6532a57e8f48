"""Searches over masks: swaps, greedy, descent, size."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.datasets import make_additive_regression
from s2mam.exceptions import InvalidInputError
from s2mam.masks import (
    EvidenceCriterion,
    GraphTerm,
    LooCriterion,
    choose_budget,
    descend,
    greedy_forward,
    labeled_kernels,
    log_size_prior,
    polish,
    relaxed_search,
    swap_values,
    top_mask,
)


@pytest.fixture(scope="module")
def criterion():
    """Three of eight columns matter."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(45, 8))
    y = np.sin(2 * Z[:, 1]) + Z[:, 4] ** 2 - Z[:, 6] + 0.2 * rng.normal(size=45)
    design = build_design(Z, ("numeric",) * 8, length=1.0)
    return EvidenceCriterion(labeled_kernels(design.features, design.offsets, y))


TRUTH = np.isin(np.arange(8), [1, 4, 6])


def _paper_regression(seed, n_labeled):
    data = make_additive_regression(200, 92, 10, random_state=seed)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    rows = np.random.default_rng(seed).permutation(200)[:n_labeled]
    design = build_design(X, ("numeric",) * 110, length=1.0, linear=0.3)
    return labeled_kernels(design.features[rows], design.offsets, data.y[rows])


def test_swap_values_equal_full_evaluations(criterion):
    mask = np.isin(np.arange(8), [0, 4])
    values = swap_values(criterion, mask, 0.4)
    fixed = EvidenceCriterion(criterion.kernels, noise=0.4)
    assert values.shape == (2, 8)
    for row, leaving in enumerate([0, 4]):
        for entering in range(8):
            swapped = mask.copy()
            swapped[leaving] = False
            allowed = not mask[entering]
            swapped[entering] = True
            expected = fixed.value(swapped) if allowed else np.inf
            assert values[row, entering] == pytest.approx(expected)


def test_polish_ends_where_no_swap_helps(criterion):
    result = polish(criterion, np.isin(np.arange(8), [0, 2, 3]), n_exact=50)
    np.testing.assert_array_equal(result.mask, TRUTH)
    assert result.n_swaps == 3
    assert result.value == criterion.value(result.mask)


def test_polish_never_raises_the_criterion_and_keeps_the_size(criterion):
    rng = np.random.default_rng(1)
    for _ in range(5):
        mask = rng.random(8) < 0.5
        result = polish(criterion, mask)
        assert result.value <= criterion.value(mask)
        assert result.mask.sum() == mask.sum()


def test_polish_asks_the_graph_before_it_swaps(criterion):
    """A graph on which nothing is smooth once column 6 is in keeps that column out."""
    kernels = criterion.kernels

    def quadratic(mask):
        return (1e6 if mask[6] else 0.0) * np.eye(kernels.ranks[mask > 0].sum())

    with_graph = labeled_kernels(
        kernels.back @ kernels.features,
        kernels.offsets,
        kernels.back @ kernels.target,
        graph=GraphTerm(quadratic, 1.0),
    )
    start = np.isin(np.arange(8), [1, 4])
    assert polish(criterion, start, n_exact=20).mask[6]
    assert not polish(EvidenceCriterion(with_graph), start, n_exact=20).mask[6]


def test_relaxed_search_finds_the_best_of_all_masks(criterion):
    best = min(combinations(range(8), 3), key=lambda c: criterion.value(np.isin(np.arange(8), c)))
    found = relaxed_search(criterion, 3)
    np.testing.assert_array_equal(np.flatnonzero(found.mask), best)
    np.testing.assert_array_equal(found.mask, TRUTH)
    assert found.probabilities.sum() <= 3 + 1e-12


@pytest.mark.parametrize("n_select", [0, 8])
def test_relaxed_search_at_the_ends(criterion, n_select):
    assert relaxed_search(criterion, n_select).mask.sum() == n_select


def test_relaxed_search_lets_criteria_compete(criterion):
    worse = EvidenceCriterion(criterion.kernels, noise=1e3)
    found = relaxed_search([worse, criterion], 3)
    assert found.index == 1
    assert found.value == relaxed_search(criterion, 3).value


def test_random_starts_are_reproducible(criterion):
    one, other = (relaxed_search(criterion, 3, n_starts=4, random_state=5) for _ in range(2))
    assert one.value == other.value
    np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_descent_lowers_the_criterion(criterion):
    for kind in (EvidenceCriterion, LooCriterion):
        path = descend(kind(criterion.kernels), 3)
        assert path.values[-1] < path.values[0]
        assert path.probabilities.sum() <= 3 + 1e-12


def test_loo_descent_does_not_depend_on_the_unit(criterion):
    kernels = criterion.kernels
    other = labeled_kernels(
        kernels.back @ kernels.features, kernels.offsets, 1e3 * (kernels.back @ kernels.target)
    )
    one = descend(LooCriterion(kernels), 3).probabilities
    np.testing.assert_allclose(one, descend(LooCriterion(other), 3).probabilities, atol=1e-6)


def test_greedy_takes_the_best_column_each_time(criterion):
    path = greedy_forward(criterion, 3, n_exact=8)
    singles = [criterion.value(row) for row in np.eye(8)]
    assert path.order[0] == np.argmin(singles)
    assert set(path.order.tolist()) == set(np.flatnonzero(path.mask))
    assert path.values[-1] == criterion.value(path.mask)
    assert path.values == sorted(path.values, reverse=True)


def test_greedy_can_take_all_columns(criterion):
    assert greedy_forward(criterion, 8).mask.all()


def test_searches_refuse_impossible_sizes(criterion):
    for search in (relaxed_search, greedy_forward):
        with pytest.raises(InvalidInputError, match="between 0 and 8"):
            search(criterion, 9)
    with pytest.raises(InvalidInputError, match="max_size"):
        choose_budget(criterion, max_size=9)


def test_top_mask_prefers_the_earlier_column():
    np.testing.assert_array_equal(top_mask(np.array([0.5, 0.7, 0.5]), 2), [True, True, False])


def test_size_prior_is_a_distribution():
    total = sum(comb(9, k) * np.exp(log_size_prior(k, 9)) for k in range(10))
    assert total == pytest.approx(1.0)


def test_budget_finds_the_size(criterion):
    path = choose_budget(criterion)
    np.testing.assert_array_equal(path.mask, TRUTH)
    assert path.size == 3
    assert path.sizes[0] == 0
    assert path.sizes[-1] == 8
    assert path.scores[path.chosen] == min(path.scores)
    for mask, value in zip(path.masks, path.values, strict=True):
        assert value == criterion.value(mask)


def test_budget_mostly_says_none_when_nothing_matters():
    sizes = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        design = build_design(rng.normal(size=(60, 5)), ("numeric",) * 5)
        kernels = labeled_kernels(design.features, design.offsets, rng.normal(size=60))
        sizes.append(choose_budget(EvidenceCriterion(kernels)).size)
    assert sizes.count(0) >= 8, sizes


def test_budget_by_leave_one_out_stays_within_one_standard_error(criterion):
    loo = LooCriterion(criterion.kernels)
    path = choose_budget(loo)
    best = int(np.argmin(path.values))
    losses = loo.row_losses(path.masks[best])
    error = losses.std(ddof=1) / np.sqrt(losses.size)
    assert path.values[path.chosen] <= path.values[best] + error
    assert all(value > path.values[best] + error for value in path.values[: path.chosen])


def test_recall_on_the_paper_regression():
    """Eight of 110 columns, 50 labels: nearly always all eight, where greedy misses some."""
    relaxed, greedy = [], []
    for seed in range(6):
        evidence = EvidenceCriterion(_paper_regression(seed, 50))
        relaxed.append(relaxed_search(evidence, 8).mask[:8].mean())
        greedy.append(greedy_forward(evidence, 8).mask[:8].mean())
    assert np.mean(relaxed) >= 0.97
    assert np.mean(relaxed) > np.mean(greedy)


def test_size_of_the_paper_regression_with_100_labels():
    path = choose_budget(EvidenceCriterion(_paper_regression(0, 100)))
    np.testing.assert_array_equal(np.flatnonzero(path.mask), np.arange(8))
