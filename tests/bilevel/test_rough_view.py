"""The view whose curves have kinks: what it is for, and that no mask is searched in it."""

import numpy as np
import pytest

from s2mam.bilevel.mask_member import MaskSettings
from s2mam.bilevel.members import MemberSettings, fit_members, search_masks
from s2mam.bilevel.views import build_rough_view, build_view
from s2mam.bilevel.weighing import LabeledRows, weigh
from s2mam.masks.labeled_atoms import labeled_atoms
from s2mam.masks.mask_prior import size_prior
from s2mam.masks.relevance import relevance_path


def _error(view, rows, target, truth):
    """Mean squared error of all columns alike, fitted to some rows."""
    straight, curved = view.atoms.straight, view.atoms.curved
    atoms = labeled_atoms(straight, curved, rows, target[rows, None], np.ones(rows.size))
    weights, dual = relevance_path(atoms, np.ones(1), noise=0.05, keep=[0])[0]
    fit = atoms.expand(weights[:1], weights[1:], dual)
    return float(np.mean((fit.predict(straight, curved)[:, 0] - truth) ** 2))


def test_takes_a_jump_better_than_smooth_curves_and_a_wave_worse():
    Z = np.linspace(-2.0, 2.0, 200)[:, None]
    rows = np.arange(3, 200, 5)
    rough, smooth = build_rough_view(Z, ["numeric"]), build_view(Z, ["numeric"], whole=True)
    jump = np.where(Z[:, 0] > 0.3, 1.0, -1.0)
    assert _error(rough, rows, jump, jump) < 0.8 * _error(smooth, rows, jump, jump)
    wave = np.sin(2.0 * Z[:, 0])
    noisy = wave + np.random.default_rng(0).normal(scale=0.3, size=200)
    assert _error(smooth, rows, noisy, wave) < _error(rough, rows, noisy, wave)


@pytest.mark.parametrize("basis", ["kernel", "fourier", "auto"])
def test_has_blocks_with_any_basis_and_follows_categories(basis):
    rng = np.random.default_rng(1)
    Z = np.column_stack([rng.normal(size=60), rng.integers(0, 3, size=60), np.zeros(60)])
    view = build_rough_view(Z, ["numeric", "categorical", "constant"], basis=basis)
    assert view.design.ranks.tolist()[1:] == [2, 0]
    assert 2 < view.design.ranks[0] <= 10
    assert not view.atoms.straight.any()


def _problem(regression):
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(50, 5))
    kinds = ["numeric"] * 5
    views = [build_view(Z, kinds), build_view(np.tanh(Z), kinds, whole=True)]
    settings = MemberSettings(
        MaskSettings(size_prior(5), np.zeros(5), np.ones(5)), None, regression
    )
    target = np.sign(Z[:30, :1])
    return views, build_rough_view(Z, kinds), settings, (np.arange(30), target, np.ones(30))


@pytest.mark.parametrize("regression", [True, False])
def test_adds_members_without_masks_and_leaves_the_others_as_they_are(regression):
    views, rough, settings, rows = _problem(regression)

    def members(used):
        rng = np.random.default_rng(3)
        pool = search_masks(used, *rows, settings, thorough=True, rng=rng)
        return pool, fit_members(used, *rows, settings, pool=pool, steps=5, rng=rng)

    pool, before = members(views)
    pool_after, after = members([*views, rough])
    assert [mask.atoms.tolist() for mask in pool] == [mask.atoms.tolist() for mask in pool_after]
    added = [member for member in after if member.view == 2]
    assert {member.name for member in added} == {"rough", *(["rough_masks"] if regression else [])}
    assert all(member.probabilities is None for member in added)
    kept = [member for member in after if member.view < 2]
    for old, new in zip(before, kept, strict=True):
        np.testing.assert_array_equal(old.fit.curved, new.fit.curved)


def test_rough_curves_of_masks_have_the_columns_that_the_masks_believe_in():
    """A step in one of five columns: the masks find it, and its rough curve has it alone."""
    rng = np.random.default_rng(5)
    Z, kinds = rng.normal(size=(120, 5)), ["numeric"] * 5
    views = [build_view(Z, kinds), build_view(np.tanh(Z), kinds, whole=True)]
    views.append(build_rough_view(Z, kinds))
    masks = MaskSettings(size_prior(5), np.zeros(5), np.ones(5))
    settings = MemberSettings(masks, None, regression=True)
    rows = np.arange(80)
    target = np.sign(Z[:80, 3:4]) + 0.2 * rng.normal(size=(80, 1))
    pool = search_masks(views, rows, target, np.ones(80), settings, thorough=True, rng=rng)
    members = fit_members(views, rows, target, np.ones(80), settings, pool=pool, steps=20, rng=rng)
    by_masks = [member for member in members if member.name == "rough_masks"]
    assert len(by_masks) == 2
    for member in by_masks:
        size = np.square(member.fit.curved).sum(axis=(1, 2))
        assert size[3] > 100.0 * np.delete(size, 3).sum()
    alone = next(member for member in members if member.name == "rough")
    size = np.square(alone.fit.curved).sum(axis=(1, 2))
    assert size[3] < 100.0 * np.delete(size, 3).sum()


def test_classes_leave_the_scales_of_members_alone_and_numbers_do_not():
    rng = np.random.default_rng(4)
    codes = np.arange(20) % 2
    target = (2.0 * codes - 1.0)[:, None]
    held_out = np.stack([0.2 * target, rng.normal(size=target.shape)])
    folds, prior, mean = np.arange(20) % 5, np.full(2, 0.5), np.zeros(1)
    classes = LabeledRows(np.arange(20), target, np.ones(20), codes)
    weights, scales = weigh(held_out, folds, classes, prior, mean)
    assert scales.tolist() == [1.0, 1.0]
    assert weights[0] > 0.9
    numbers = LabeledRows(np.arange(20), target, np.ones(20))
    assert weigh(held_out, folds, numbers, prior, mean)[1][0] > 1.5
