"""The members of the average: each one against what it is meant to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2mam.bilevel.mask_member import MaskSettings, StartMask, _translate, find_masks
from s2mam.bilevel.mask_screen import MAX_SAMPLED, screen_for_sampling, screen_for_search
from s2mam.bilevel.members import MemberSettings, fit_members, search_masks
from s2mam.bilevel.views import CLIP, build_view, clip_numeric
from s2mam.datasets import make_wide_regression
from s2mam.graphs import build_graph
from s2mam.masks.labeled_atoms import labeled_atoms
from s2mam.masks.mask_prior import MaskPrior, size_prior
from s2mam.masks.posterior_evidence import MaskPosterior
from s2mam.masks.posterior_start import find_modes, forward_states
from s2mam.masks.relevance import relevance_path


def _settings(view, p, *, graph=True, regression=True, budget=None):
    column_graph = None
    if graph:
        column_graph = build_graph(view.table, kind="neighbors", n_neighbors=8, warn=False)
    masks = MaskSettings(size_prior(p, budget), np.zeros(p), np.ones(p), budget)
    return MemberSettings(masks, column_graph, regression)


def _search_and_fit(views, rows, target, weights, settings, *, steps, thorough=False, seed=0):
    rng = np.random.default_rng(seed)
    pool = search_masks(views, rows, target, weights, settings, thorough=thorough, rng=rng)
    return fit_members(views, rows, target, weights, settings, pool=pool, steps=steps, rng=rng)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(90, 5))
    f = 1.5 * Z[:, 0] + np.sin(2 * Z[:, 1])
    views = [build_view(Z, ("numeric",) * 5), build_view(np.tanh(Z), ("numeric",) * 5)]
    return Z, (f - f.mean()) / f.std(), views


def _fit(data, *, seed=0, rows=40, graph=True, weights=None, steps=30):
    _, f, views = data
    chosen = np.arange(rows)
    return _search_and_fit(
        views,
        chosen,
        f[chosen, None],
        np.ones(rows) if weights is None else weights,
        _settings(views[0], 5, graph=graph),
        steps=steps,
        thorough=True,
        seed=seed,
    )


def test_every_kind_of_member_predicts(data):
    _, f, views = data
    members = _fit(data)
    names = [member.name for member in members]
    assert set(names) == {"masks", "sharp_masks", "relevance", "lines", "common", "graph"}
    assert {member.view for member in members} == {0, 1}
    for member in members:
        atoms = views[member.view].atoms
        values = member.fit.predict(atoms.straight, atoms.curved)[:, 0]
        assert np.isfinite(values).all()
        if member.name != "common":  # two columns matter here, and in different ways
            assert np.corrcoef(values[40:], f[40:])[0, 1] > 0.8, member.name


def test_masks_find_the_columns(data):
    for member in _fit(data, steps=60):
        if member.name == "masks":
            assert (member.probabilities[:2] > 0.95).all()
            assert (member.probabilities[2:] < 0.5).all()
            assert member.path.shape == (60, 2)
        else:
            assert member.probabilities is None


def test_no_graph_no_graph_members(data):
    assert "graph" not in {member.name for member in _fit(data, graph=False)}


def test_the_graph_reads_the_unlabelled_rows(data):
    """Two clusters and one label each: members without the graph see two rows only."""
    rng = np.random.default_rng(1)
    side = np.repeat([-1.0, 1.0], 40)
    Z = 0.3 * rng.normal(size=(80, 2)) + np.column_stack([side, 0 * side])
    view = build_view(Z, ("numeric",) * 2)
    members = _search_and_fit(
        [view],
        np.array([0, 40]),
        np.array([[-1.0], [1.0]]),
        np.ones(2),
        _settings(view, 2, regression=False),
        steps=10,
    )
    graph = [member for member in members if member.name == "graph"]
    for member in graph:
        values = member.fit.predict(view.atoms.straight, view.atoms.curved)[:, 0]
        assert (np.sign(values) == side).mean() > 0.97


def test_members_do_not_depend_on_the_order_of_the_labelled_rows(data):
    _, f, views = data
    order = np.random.default_rng(3).permutation(40)
    settings = _settings(views[0], 5)
    runs = [
        _search_and_fit(
            views,
            rows,
            f[rows, None],
            np.ones(40),
            settings,
            steps=20,
        )
        for rows in (np.arange(40), order)
    ]
    for one, two in zip(*runs, strict=True):
        np.testing.assert_allclose(one.fit.straight, two.fit.straight, atol=1e-6)


def test_scale_of_the_target_is_the_scale_of_the_members(data):
    _, f, views = data
    rows = np.arange(40)
    runs = [
        _search_and_fit(
            views,
            rows,
            factor * f[rows, None],
            np.ones(40),
            _settings(views[0], 5),
            steps=20,
        )
        for factor in (1.0, 1000.0)
    ]
    for one, two in zip(*runs, strict=True):
        np.testing.assert_allclose(1000 * one.fit.straight, two.fit.straight, rtol=1e-5, atol=1e-3)


def test_very_many_columns_are_screened():
    rng = np.random.default_rng(0)
    p = 430
    Z = rng.normal(size=(50, p))
    target = (2 * Z[:, 7] + 0.1 * rng.normal(size=50))[:, None]
    view = build_view(Z, ("numeric",) * p)
    masks, sharp = _search_and_fit(
        [view],
        np.arange(50),
        target,
        np.ones(50),
        _settings(view, p, graph=False),
        steps=3,
    )[:2]
    assert masks.probabilities.shape == (p,)
    assert np.argmax(masks.probabilities) == 7
    for member in (masks, sharp):
        size = np.square(member.fit.straight).sum(axis=1)
        size += np.square(member.fit.curved).sum(axis=(1, 2))
        assert np.argmax(size) == 7, member.name
        assert np.count_nonzero(size == 0.0) >= 30, member.name


def test_classes_have_no_sharp_masks(data):
    _, f, views = data
    codes = np.sign(f[:40, None])
    settings = _settings(views[0], 5, regression=False)
    members = _search_and_fit(views, np.arange(40), codes, np.ones(40), settings, steps=5)
    assert not {"sharp_masks", "rough_masks"} & {member.name for member in members}


def test_clipping_leaves_codes_and_missing_values_alone():
    Z = np.array([[9.0, 9.0], [-9.0, 0.0], [np.nan, np.nan], [0.5, 12.0]])
    clipped = clip_numeric(Z, ("numeric", "categorical"))
    np.testing.assert_array_equal(clipped[:, 0], [CLIP, -CLIP, np.nan, 0.5])
    np.testing.assert_array_equal(clipped[:, 1], Z[:, 1])
    assert Z[0, 0] == 9.0


def test_starts_are_translated_between_views_with_and_without_parts():
    rng = np.random.default_rng(0)
    lines, curves, rows = rng.normal(size=(6, 3)), rng.normal(size=(3, 6, 1)), np.arange(6)
    target, weights = rng.normal(size=(6, 1)), np.ones(6)
    bent = curves * np.array([1.0, 1.0, 0.0])[:, None, None]  # the last column is a plain line
    split = labeled_atoms(lines, bent, rows, target, weights)
    whole = labeled_atoms(np.zeros((6, 3)), curves, rows, target, weights)

    def atoms(start, view):
        mask, hyper = _translate(start, view.usable)
        assert hyper == (8, 2)
        return np.flatnonzero(mask).tolist()

    parts = StartMask(np.array([0, 4]), (8, 2))  # line of 0, curve of 1
    assert atoms(parts, split) == [0, 4]
    assert atoms(parts, whole) == [3, 4]
    blocks = StartMask(np.array([3, 5]), (8, 2), whole=True)  # columns 0 and 2 in one piece
    assert atoms(blocks, split) == [0, 2, 3]
    assert atoms(blocks, whole) == [3, 5]


def _wide_posterior(p=600, rows=40, seed=28):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, p))
    y = X[:, :4] @ np.array([1.0, 1.0, -1.0, -1.0]) + 0.5 * rng.normal(size=rows)
    lines = labeled_atoms(
        X, np.zeros((p, rows, 1)), np.arange(rows), y[:, None] / y.std(), np.ones(rows)
    )
    return MaskPosterior(lines, MaskPrior.of(size_prior(p), np.zeros(p)))


@pytest.mark.parametrize("thorough", [False, True])
def test_a_screen_keeps_the_first_of_every_ranking(thorough):
    posterior = _wide_posterior()
    kept = screen_for_search(posterior, np.ones(600), thorough=thorough)
    assert kept.size == MAX_SAMPLED
    assert (np.diff(kept) > 0).all()
    relevance, _ = relevance_path(posterior.atoms, np.ones(600), noise=0.1, keep=[30])[30]
    assert np.isin(np.flatnonzero(relevance[:600]), kept).all()
    if thorough:
        chosen = [np.flatnonzero(mask) for mask, _ in forward_states(posterior)]
        assert max(atoms.size for atoms in chosen) == 16
        assert np.isin(np.concatenate(chosen), kept).all()


@pytest.mark.parametrize("thorough", [False, True])
def test_a_screen_does_not_depend_on_the_order_of_the_columns(thorough):
    posterior = _wide_posterior()
    order = np.random.default_rng(1).permutation(600)
    atoms = replace(
        posterior.atoms,
        straight=posterior.atoms.straight[:, order],
        curved=posterior.atoms.curved[order],
    )
    other = MaskPosterior(atoms, posterior.prior)
    kept, moved = (
        screen_for_search(one, np.ones(600), thorough=thorough) for one in (posterior, other)
    )
    assert np.sort(order[moved]).tolist() == kept.tolist()


def test_a_screen_for_sampling_keeps_masks_whole_and_their_best_neighbours():
    posterior = _wide_posterior()
    rng = np.random.default_rng(0)
    states = []
    for _ in range(3):
        mask = np.zeros(1200, dtype=bool)
        mask[rng.choice(600, 30, replace=False)] = True
        states.append((mask, (8, 2)))
    kept = screen_for_sampling(posterior, np.ones(600), states)
    for mask, hyper in states:
        assert np.isin(np.flatnonzero(mask), kept).all()
        assert np.isin(np.argmax(posterior.flip_gains(mask, hyper)), kept)


def test_forward_selections_from_many_columns_find_what_one_misses():
    posterior = _wide_posterior(p=400)
    best = [find_modes(posterior, np.ones(400), n_forward=count)[0] for count in (1, 20)]
    assert not best[0].mask[:4].any()
    assert np.flatnonzero(best[1].mask).tolist() == [0, 1, 2, 3]
    assert best[1].value > best[0].value


@pytest.mark.parametrize("seed", [9, 10, 11])
def test_a_deep_search_among_very_many_columns_finds_what_another_misses(seed):
    p, rows = 450, 50
    data = make_wide_regression(rows, p - 4, random_state=seed)
    order = np.random.default_rng(0).permutation(p)  # the columns that matter come first
    view = build_view(data.X[:, order], ("numeric",) * p, length=1.5)
    target = (data.y - data.y.mean()) / data.y.std()
    atoms = labeled_atoms(
        view.atoms.straight, view.atoms.curved, np.arange(rows), target[:, None], np.ones(rows)
    )
    settings = MaskSettings(size_prior(p), np.zeros(p), np.ones(p))
    usual, deep = (
        find_masks(atoms, settings, thorough=True, deep=deep)[0] for deep in (False, True)
    )
    assert np.unique(usual.atoms % p).size == 0
    assert sorted(order[np.unique(deep.atoms % p)]) == [0, 1, 2, 3]
