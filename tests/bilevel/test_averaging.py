"""Members weighed by labels they did not see, and added up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from s2mam.bilevel.averaging import AverageOptions, LabeledRows, average_members
from s2mam.bilevel.mask_member import MaskSettings
from s2mam.bilevel.members import MemberSettings, fit_members, search_masks
from s2mam.bilevel.views import build_view
from s2mam.bilevel.watch import Watch
from s2mam.bilevel.weighing import prior_weights, weigh
from s2mam.graphs import build_graph
from s2mam.masks.mask_prior import size_prior

OPTIONS = AverageOptions(steps=12, fold_steps=5, n_folds=4)


class _Store:
    """Units in memory, with a record of what was asked."""

    def __init__(self, units=None):
        self.units = dict(units or {})
        self.put_names = []

    def get(self, name):
        return self.units.get(name)

    def put(self, name, state):
        self.units[name] = state
        self.put_names.append(name)


class _Counter(Watch):
    """Counts units, and stops after some of them or raises there."""

    def __init__(self, stop=99, error=None, keep=False):
        self.stop, self.error, self.keep_interrupted = stop, error, keep
        self.total, self.stages, self.done = None, [], []

    def begin(self, total):
        self.total = total

    def unit_ends(self, stage, done, details=None):
        self.stages.append(stage)
        self.done.append(done)
        if done >= self.stop and self.error is not None:
            raise self.error
        return "enough" if done >= self.stop else None


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(70, 4))
    f = 1.5 * Z[:, 0] + np.sin(2 * Z[:, 1])
    f = (f - f.mean()) / f.std()
    views = [build_view(Z, ("numeric",) * 4), build_view(np.tanh(Z), ("numeric",) * 4)]
    graph = build_graph(Z, kind="neighbors", n_neighbors=8, warn=False)
    settings = MemberSettings(MaskSettings(size_prior(4), np.zeros(4), np.ones(4)), graph, True)
    rows = np.arange(30)
    return views, LabeledRows(rows, f[rows, None], np.ones(30)), settings, f


def _classes(problem, codes):
    views, _labeled, settings, _ = problem
    rows = np.arange(codes.size)
    target = np.eye(codes.max() + 1)[codes] if codes.max() > 1 else (2.0 * codes - 1)[:, None]
    settings = replace(settings, regression=False)
    return views, LabeledRows(rows, target, np.ones(codes.size), codes), settings


def _predict(model, views):
    return sum(
        fit.predict(view.atoms.straight, view.atoms.curved)
        for fit, view in zip(model.fits, views, strict=True)
    )


def test_the_average_is_the_weighted_sum_of_the_members(problem):
    """Few labels: no folds, the weights are the prior ones and every scale is one."""
    views, labeled, settings, _f = problem
    few = LabeledRows(labeled.rows[:5], labeled.target[:5], labeled.weights[:5])
    model = average_members(views, few, settings, OPTIONS, seed=3)
    assert model.held_out is None
    known = (views, few.rows, few.target, few.weights, settings)
    pool = search_masks(*known, thorough=True, rng=np.random.default_rng([3, 1, 0]))
    members = fit_members(
        *known, pool=pool, steps=OPTIONS.steps, rng=np.random.default_rng([3, 2, 0])
    )
    assert model.names == [member.name for member in members]
    by_hand = sum(
        weight * m.fit.predict(views[m.view].atoms.straight, views[m.view].atoms.curved)
        for weight, m in zip(model.weights, members, strict=True)
    )
    np.testing.assert_allclose(_predict(model, views), by_hand, atol=1e-10)


def test_weights_are_shares_and_probabilities_are_probabilities(problem):
    views, labeled, settings, f = problem
    model = average_members(views, labeled, settings, OPTIONS, seed=0)
    assert model.weights.sum() == pytest.approx(1.0)
    assert (model.weights > 0.0).all()
    assert ((model.probabilities >= 0.0) & (model.probabilities <= 1.0)).all()
    assert (model.probabilities[:2] > model.probabilities[2:].max()).all()
    assert model.held_out.shape == labeled.target.shape
    assert model.path.shape[1] == 2
    assert np.isfinite(model.path).all()
    assert np.corrcoef(_predict(model, views)[30:, 0], f[30:])[0, 1] > 0.8


def _held_out_changes(views, labeled, settings):
    """Per fold, which members' predictions change when the label of row 0 does."""
    changed = labeled.target.copy()
    changed[0] = -changed[0]
    stores = _Store(), _Store()
    for store, target in zip(stores, (labeled.target, changed), strict=True):
        rows = LabeledRows(labeled.rows, target, labeled.weights, labeled.codes)
        average_members(views, rows, settings, OPTIONS, seed=0, store=store)
    one, two = ([store.units[f"fold{f}"]["values"] for f in range(4)] for store in stores)
    return np.array(
        [
            [not np.array_equal(a, b) for a, b in zip(*pair, strict=True)]
            for pair in zip(one, two, strict=True)
        ]
    )


def test_held_out_predictions_do_not_know_the_label(problem):
    """Another label in one row leaves that row's own held-out members as they were.

    Only the search for masks looks at all numbers; relevance and graph members never do.
    """
    views, labeled, settings, _ = problem
    changes = _held_out_changes(views, labeled, settings)
    names = [
        member == "masks"
        for member in average_members(views, labeled, settings, OPTIONS, seed=0).names
    ]
    others = changes[:, ~np.array(names)]
    assert (~others).all(axis=1).sum() == 1  # the fold that row 0 is held out in
    assert others.sum() == 3 * others.shape[1]


def test_held_out_classes_are_unknown_to_the_masks_too(problem):
    """With the number of columns given, nothing of a held-out class enters its fold."""
    codes = np.arange(30) % 2
    views, labeled, settings = _classes(problem, codes)
    masks = replace(settings.masks, size=size_prior(4, 2), n_select=2)
    changes = _held_out_changes(views, labeled, replace(settings, masks=masks))
    assert (~changes).all(axis=1).sum() == 1


def test_finished_units_are_used_and_the_bits_stay(problem):
    views, labeled, settings, _ = problem
    whole = average_members(views, labeled, settings, OPTIONS, seed=0)
    store = _Store()
    average_members(views, labeled, settings, OPTIONS, seed=0, store=store)
    names = {f"fold{f}" for f in range(4)} | {f"search{f}" for f in range(5)} | {"full0"}
    assert set(store.units) == names
    for kept in (["search2"], ["search0", "fold3", "full0"], list(store.units)):
        part = _Store({name: store.units[name] for name in kept})
        watch = _Counter()
        resumed = average_members(
            views, labeled, settings, OPTIONS, seed=0, store=part, watch=watch
        )
        assert set(part.put_names) == set(store.units) - set(kept)
        np.testing.assert_array_equal(_predict(resumed, views), _predict(whole, views))
        np.testing.assert_array_equal(resumed.probabilities, whole.probabilities)
        assert watch.total == 10
        assert len(set(watch.done)) == len(watch.done) == 10 - len(kept)
        assert watch.done[-1:] in ([10], [])


def test_every_stage_is_announced_in_order(problem):
    views, labeled, settings, _ = problem
    watch = _Counter()
    average_members(views, labeled, settings, OPTIONS, seed=0, watch=watch)
    assert watch.stages == ["search"] * 5 + ["full"] + ["fold"] * 4
    assert watch.done == list(range(1, 11))


def test_a_stop_during_the_search_fits_the_members_at_once(problem):
    """By hand: the masks of the searches that were done, a short run, prior weights."""
    views, labeled, settings, _f = problem
    store = _Store()
    model = average_members(
        views, labeled, settings, OPTIONS, seed=0, store=store, watch=_Counter(stop=1)
    )
    assert model.stop_reason == "enough"
    assert model.held_out is None
    assert set(store.units) == {"search0"}  # the short run would not resume to the same bits
    known = (views, labeled.rows, labeled.target, labeled.weights, settings)
    pool = search_masks(*known, thorough=True, rng=np.random.default_rng([0, 1, 0]))
    members = fit_members(
        *known, pool=pool, steps=OPTIONS.fold_steps, rng=np.random.default_rng([0, 2, 0])
    )
    by_hand = sum(
        weight * m.fit.predict(views[m.view].atoms.straight, views[m.view].atoms.curved)
        for weight, m in zip(model.weights, members, strict=True)
    )
    np.testing.assert_allclose(_predict(model, views), by_hand, atol=1e-10)
    # Labels are not too few, only unused: the kinds have their usual shares.
    relevance = sum(
        w for w, name in zip(model.weights, model.names, strict=True) if name == "relevance"
    )
    full = average_members(
        views, replace(labeled, rows=labeled.rows[:5], target=labeled.target[:5],
                       weights=labeled.weights[:5]),
        settings, OPTIONS, seed=0,
    )  # fmt: skip
    blind = sum(w for w, name in zip(full.weights, full.names, strict=True) if name == "relevance")
    assert relevance > blind


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_stop_among_the_folds_weighs_by_the_finished_ones(problem, classes, interrupted):
    views, labeled, settings, _ = problem
    if classes:
        views, labeled, settings = _classes(problem, np.arange(30) % 2)
    whole, store = _Store(), _Store()
    complete = average_members(views, labeled, settings, OPTIONS, seed=0, store=whole)
    error = KeyboardInterrupt() if interrupted else None
    watch = _Counter(stop=8, error=error, keep=True)
    model = average_members(views, labeled, settings, OPTIONS, seed=0, store=store, watch=watch)
    assert model.stop_reason == ("interrupted" if interrupted else "enough")
    assert {name for name in store.units if name.startswith("fold")} == {"fold0", "fold1"}
    missing = np.isnan(model.held_out[:, 0])
    assert 0 < missing.sum() < missing.size
    # The members are those of the whole fit; only their weights rest on fewer labels.
    np.testing.assert_array_equal(
        store.units["full0"]["members"][0]["straight"],
        whole.units["full0"]["members"][0]["straight"],
    )
    assert not np.array_equal(model.weights, complete.weights)
    assert model.weights.sum() == pytest.approx(1.0)
    resumed = average_members(views, labeled, settings, OPTIONS, seed=0, store=store)
    np.testing.assert_array_equal(_predict(resumed, views), _predict(complete, views))
    assert resumed.stop_reason is None


def test_weights_of_finished_folds_are_those_of_these_rows_alone(problem):
    views, labeled, settings, _ = problem
    store = _Store()
    model = average_members(
        views, labeled, settings, OPTIONS, seed=0, store=store, watch=_Counter(stop=8)
    )
    known = ~np.isnan(model.held_out[:, 0])
    values = np.concatenate([store.units[f"fold{f}"]["values"] for f in (0, 1)], axis=1)
    members = store.units["full0"]["members"]
    prior = prior_weights(
        [m["name"] for m in members],
        np.array([m["evidence"] for m in members]),
        task="numbers",
        blind=False,
    )
    folds = np.repeat([0, 1], [store.units[f"fold{f}"]["values"].shape[1] for f in (0, 1)])
    order = np.argsort(np.concatenate([_rows_of(labeled, f) for f in (0, 1)]), kind="stable")
    rows = LabeledRows(labeled.rows[known], labeled.target[known], labeled.weights[known])
    mean = labeled.target.mean(axis=0)
    weights, _ = weigh(values[:, order], folds[order], rows, prior, mean)
    np.testing.assert_allclose(model.weights, weights, rtol=1e-12)


def _rows_of(labeled, fold):
    """Rows of a fold, as the seed draws them."""
    order = np.random.default_rng([0, 0]).permutation(labeled.rows.size)
    return np.sort(order[fold :: OPTIONS.n_folds])


class _Ctrl(Watch):
    """Raises an interrupt while a unit runs."""

    keep_interrupted = True

    def __init__(self, at):
        self.at, self.begun = at, 0

    def unit_begins(self, stage):
        self.begun += 1
        if self.begun == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("during", [2, 5, 6, 7])
def test_an_interrupt_after_the_first_search_leaves_a_model(problem, during):
    """Whatever is finished stays in the store; the sixth unit fits the members."""
    views, labeled, settings, f = problem
    store = _Store()
    model = average_members(
        views, labeled, settings, OPTIONS, seed=0, store=store, watch=_Ctrl(during)
    )
    assert model.stop_reason == "interrupted"
    assert np.corrcoef(_predict(model, views)[:, 0], f)[0, 1] > 0.8
    assert len(store.units) == during - 1
    complete = average_members(views, labeled, settings, OPTIONS, seed=0)
    resumed = average_members(views, labeled, settings, OPTIONS, seed=0, store=store)
    np.testing.assert_array_equal(_predict(resumed, views), _predict(complete, views))


def test_an_interrupt_in_the_first_search_goes_through(problem):
    views, labeled, settings, _ = problem
    with pytest.raises(KeyboardInterrupt):
        average_members(views, labeled, settings, OPTIONS, seed=0, watch=_Ctrl(1))


def test_an_interrupt_goes_through_unless_it_is_to_be_kept(problem):
    views, labeled, settings, _ = problem
    with pytest.raises(KeyboardInterrupt):
        average_members(
            views, labeled, settings, OPTIONS, seed=0,
            watch=_Counter(stop=8, error=KeyboardInterrupt()),
        )  # fmt: skip


def test_a_stop_after_the_last_unit_stops_nothing(problem):
    views, labeled, settings, _ = problem
    model = average_members(views, labeled, settings, OPTIONS, seed=0, watch=_Counter(stop=10))
    assert model.stop_reason is None
    assert np.isfinite(model.held_out).all()


@pytest.mark.parametrize("counts", [(6, 6), (2, 20), (3, 4, 9)])
def test_every_fold_of_classes_leaves_every_class_to_learn_from(problem, counts):
    codes = np.repeat(np.arange(len(counts)), counts)
    codes = np.random.default_rng(0).permutation(codes)
    views, labeled, settings = _classes(problem, codes)
    store = _Store()
    model = average_members(views, labeled, settings, OPTIONS, seed=0, store=store)
    folds = [name for name in store.units if name.startswith("fold")]
    assert len(folds) == min(4, min(counts))
    assert np.isfinite(model.held_out).all()
    assert np.isfinite(_predict(model, views)).all()


def test_a_class_with_one_label_cannot_be_held_back(problem):
    views, labeled, settings = _classes(problem, np.array([0, 0, 0, 1, 0, 0]))
    assert average_members(views, labeled, settings, OPTIONS, seed=0).held_out is None


def test_junk_members_lose_their_weight(problem):
    """With pure-noise labels beside strong ones, held-out scores follow what predicts."""
    views, _labeled, settings, f = problem
    rows = np.arange(60)
    strong = LabeledRows(rows, f[rows, None], np.ones(60))
    model = average_members(views, strong, settings, OPTIONS, seed=0)
    residual = np.mean((model.held_out[:, 0] - f[rows]) ** 2)
    assert residual < 0.35  # the target has unit variance
    junk = LabeledRows(rows, np.random.default_rng(5).normal(size=(60, 1)), np.ones(60))
    nothing = average_members(views, junk, settings, OPTIONS, seed=0)
    assert np.var(_predict(nothing, views)) < 0.5 * np.var(junk.target)
