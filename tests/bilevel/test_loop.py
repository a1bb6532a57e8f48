"""The outer loop: the paper's iteration by hand, resuming, stopping, traps."""

from __future__ import annotations

import io
import json
import warnings

import literal_formulas as paper
import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.bilevel import (
    PAPER,
    GraphSettings,
    LiteralLevel,
    LoopOptions,
    LoopState,
    LowerLevel,
    final_mask,
    paper_options,
    run_loop,
)
from s2mam.exceptions import (
    CheckpointMismatchError,
    InvalidInputError,
    ModelFileError,
    S2MAMWarning,
)
from s2mam.losses import SquaredLoss
from s2mam.masks import (
    AloCriterion,
    EvidenceCriterion,
    LabeledCriterion,
    labeled_kernels,
    reinforce,
)


class Ridge:
    """Training loss of a ridge fit on masked columns (three of ten matter)."""

    n_columns = 10
    is_loss = True

    def __init__(self):
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(60, 10))
        self.y = self.X[:, :3] @ [3.0, 2.0, -1.5] + 0.5 * rng.normal(size=60)
        self.calls = 0

    def value(self, mask):
        self.calls += 1
        Z = self.X * mask
        w = np.linalg.solve(Z.T @ Z / 60 + 0.01 * np.eye(10), Z.T @ self.y / 60)
        return float(((self.y - Z @ w) ** 2).mean())


def _additive(kind="lower", n=36, p=5, **options):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(n, p))
    labeled = np.arange(0, n, 2)
    y = np.sin(2 * Z[labeled, 0]) + Z[labeled, 1] ** 2 + 0.1 * rng.normal(size=labeled.size)
    weights = np.full(labeled.size, 1 / labeled.size)
    settings = {"sparsity": 1e-2, "manifold": 1e-2, **options}
    if kind == "literal":
        return LiteralLevel(Z, labeled, y, weights, SquaredLoss(), **settings)
    design = build_design(Z, ("numeric",) * p, length=1.0)
    return LowerLevel(design, Z, labeled, y, weights, SquaredLoss(), **settings)


def test_two_iterations_of_algorithm_1_by_hand():
    rng = np.random.default_rng(0)
    n, p, budget, c = 20, 3, 1.5, 0.05
    X = rng.normal(size=(n, p))
    labeled = np.arange(8)
    y = np.sin(2 * X[:8, 0]) + 0.5 * X[:8, 1]
    settings = {"sparsity": 2e-3, "manifold": 0.3}
    level = LiteralLevel(
        X, labeled, y, np.full(8, 1 / 8), SquaredLoss(), length=0.8, tol=1e-10,
        graph=GraphSettings(kind="dense", bandwidth=1.3), rank_tolerance=1e-13, **settings,
    )  # fmt: skip
    options = paper_options(budget, max_iter=2, step_size=c)
    found = run_loop(LabeledCriterion(level), options, random_state=7)

    draws = np.random.default_rng(7)
    m, s, losses = np.ones(p), np.full(p, budget / p), []
    for t in (1, 2):
        alpha = paper.lower(X, labeled, y, m, mu=1.3, length=0.8, **settings)
        f = np.hstack(paper.kernels(X, m, 0.8)) @ alpha.T.ravel()
        loss = ((y - f[labeled]) ** 2).mean()
        score = m / s - (1 - m) / (1 - s)
        s = paper.project(s - c / np.sqrt(t) * loss * score, budget)
        m = (draws.random((1, p)) < s).astype(float)[0]
        losses.append(loss)
    np.testing.assert_allclose(found.s, s, atol=1e-5)
    np.testing.assert_array_equal(found.masks[0], m == 1)
    np.testing.assert_allclose(found.history["criterion"], losses, atol=1e-4)
    np.testing.assert_allclose(found.history["step"], [c, c / np.sqrt(2)])


def test_repaired_form_finds_the_columns_of_the_toy():
    hits = 0
    for seed in range(5):
        options = LoopOptions(budget=3, step_size=0.3)
        state = run_loop(Ridge(), options, random_state=seed)
        hits += final_mask(state, 3)[:3].all()
    assert hits == 5


def test_paper_form_is_worse_on_the_toy():
    hits = 0
    for seed in range(10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", S2MAMWarning)
            state = run_loop(Ridge(), paper_options(3, step_size=0.01), random_state=seed)
        hits += bool(final_mask(state, 3)[:3].all())
    assert hits <= 6


def test_one_repaired_iteration_by_hand():
    toy = Ridge()
    options = LoopOptions(budget=3, n_masks=4, max_iter=1, step_size=0.2, clip_norm=0.5)
    state = run_loop(toy, options, random_state=3)
    draws = np.random.default_rng(3)
    s = np.full(10, 0.3)
    masks = draws.random((4, 10)) < s
    values = np.array([toy.value(mask) for mask in masks]) / toy.value(np.zeros(10))
    others = (values.sum() - values) / 3
    gradient = reinforce(values - others, masks, s)
    norm = np.linalg.norm(gradient)
    gradient *= min(1.0, 0.5 / norm)
    np.testing.assert_allclose(state.s, paper.project(s - 0.2 * gradient, 3))
    assert state.history["gradient_norm"][0] == pytest.approx(norm)
    assert state.best_value == pytest.approx(values.min() * toy.value(np.zeros(10)))


def _round_trip(state):
    """Through bytes: an npz without pickle and json text."""
    arrays, scalars = state.to_arrays()
    file = io.BytesIO()
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as loaded:
        return LoopState.from_arrays(dict(loaded), json.loads(json.dumps(scalars)))


def _same(one, other):
    np.testing.assert_array_equal(one.s, other.s)
    np.testing.assert_array_equal(one.masks, other.masks)
    for name in set(one.history) - {"seconds"}:
        assert one.history[name] == other.history[name], name
    np.testing.assert_array_equal(one.best_mask, other.best_mask)
    assert one.best_value == other.best_value
    assert one.rng.random() == other.rng.random()


CASES = {
    "labeled": (lambda: LabeledCriterion(_additive()), LoopOptions(budget=2, max_iter=12)),
    "loo": (lambda: AloCriterion(_additive()), LoopOptions(budget=2, max_iter=8, cache=False)),
    "paper": (
        lambda: LabeledCriterion(_additive("literal", sparsity=1e-2)),
        paper_options(2, max_iter=8, step_size=0.05),
    ),
    "batch": (
        lambda: LabeledCriterion(_additive()),
        LoopOptions(budget=2, max_iter=8, batch_size=20),
    ),
}


@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize("stop_at", [1, 5])
def test_resumed_runs_have_the_same_bits(case, stop_at):
    make, options = CASES[case]
    whole = run_loop(make(), options, random_state=0)
    part = run_loop(make(), options, random_state=0, on_iteration=lambda state: state.t == stop_at)
    assert part.stop_reason == "callback"
    assert part.t == stop_at
    resumed = run_loop(make(), options, state=_round_trip(part))
    _same(whole, resumed)


def test_cache_asks_each_mask_once():
    toy = Ridge()
    run_loop(toy, LoopOptions(budget=1, max_iter=100), random_state=0)
    with_cache = toy.calls
    toy.calls = 0
    run_loop(toy, LoopOptions(budget=1, max_iter=100, cache=False), random_state=0)
    assert with_cache < toy.calls == 501


def test_dead_start_warns_and_stops():
    with pytest.warns(S2MAMWarning, match="zero after iteration 1"):
        state = run_loop(Ridge(), paper_options(1, step_size=0.5), random_state=0)
    assert state.stop_reason == "dead"
    assert not state.s.any()


def test_absorbed_when_no_probability_can_move():
    state = run_loop(Ridge(), paper_options(10), random_state=0)
    assert state.stop_reason == "absorbed"
    np.testing.assert_array_equal(state.s, 1.0)


def test_budget_of_all_columns_stays_feasible():
    toy = Ridge()
    state = run_loop(toy, LoopOptions(budget=10, max_iter=50), random_state=0)
    assert ((state.s >= 0) & (state.s <= 1)).all()
    assert state.history["criterion"][-1] <= toy.value(np.zeros(10))


def test_history_has_one_entry_per_iteration():
    state = run_loop(Ridge(), LoopOptions(budget=3, max_iter=7), random_state=0)
    assert {len(values) for values in state.history.values()} == {7}
    assert state.stop_reason == "max_iter"
    assert max(state.history["budget"]) <= 3 + 1e-12


def test_evidence_can_be_learned_by_draws_too():
    level = _additive()
    kernels = labeled_kernels(
        level.design.features[level.labeled], level.design.offsets, level.target
    )
    state = run_loop(EvidenceCriterion(kernels), LoopOptions(budget=2), random_state=0)
    assert state.null_value == 1.0
    np.testing.assert_array_equal(np.flatnonzero(final_mask(state, 2)), [0, 1])


def test_final_masks():
    state = LoopState(np.array([0.6, 0.1, 0.7]), np.ones((1, 3), bool), 0, np.random.default_rng(0))
    np.testing.assert_array_equal(final_mask(state, 1), [False, False, True])
    np.testing.assert_array_equal(final_mask(state, 1, "threshold"), [True, False, True])
    np.testing.assert_array_equal(final_mask(state, 1, "expected"), state.s)
    np.testing.assert_array_equal(final_mask(state, 1, "best_seen"), [False, False, True])
    state.best_mask = np.array([False, True, False])
    np.testing.assert_array_equal(final_mask(state, 1, "best_seen"), state.best_mask)
    with pytest.raises(InvalidInputError, match="rule"):
        final_mask(state, 1, "sample")


def test_state_of_another_problem_is_refused():
    state = run_loop(Ridge(), LoopOptions(budget=3, max_iter=1), random_state=0)
    with pytest.raises(CheckpointMismatchError, match="10 columns"):
        run_loop(LabeledCriterion(_additive()), LoopOptions(budget=2), state=state)
    arrays, scalars = state.to_arrays()
    del arrays["masks"]
    with pytest.raises(ModelFileError, match="masks"):
        LoopState.from_arrays(arrays, scalars)
    scalars["rng"] = {**scalars["rng"], "bit_generator": "Dice"}
    with pytest.raises(ModelFileError, match="Dice"):
        LoopState.from_arrays(state.to_arrays()[0], scalars)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": "sgd"}, "estimator"),
        ({"first_mask": "none"}, "first_mask"),
        ({"n_masks": 1}, "n_masks"),
        ({"budget": 0}, "budget"),
        ({"step_size": 0.0}, "step_size"),
        ({"eps": 0.7}, "eps"),
    ],
)
def test_options_are_checked(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        LoopOptions(**{"budget": 2, **settings})


def test_batches_need_rows_and_a_fit():
    with pytest.raises(InvalidInputError, match="batch_size"):
        run_loop(Ridge(), LoopOptions(budget=2, batch_size=5), random_state=0)
    with pytest.raises(InvalidInputError, match="36 rows"):
        run_loop(
            LabeledCriterion(_additive()), LoopOptions(budget=2, batch_size=99), random_state=0
        )


def test_paper_settings_name_the_paper_choices():
    assert PAPER["mask_learner"] == "reinforce"
    assert PAPER["criterion"] == "labeled"
    assert PAPER["solver"] == "admm"
    assert PAPER["n_masks"] == 1
    assert PAPER["literal"] is True


class _Interrupted(Ridge):
    """Ctrl-C while a mask is evaluated."""

    def __init__(self, at):
        super().__init__()
        self.at = at

    def value(self, mask):
        if self.calls == self.at:
            self.calls += 1
            raise KeyboardInterrupt
        return super().value(mask)


@pytest.mark.parametrize("at", [8, 23, 41])
def test_an_interrupted_iteration_is_undone(at):
    """Kept or let through, the loop goes on from there to the same bits."""
    options = LoopOptions(budget=3, max_iter=12, cache=False)
    whole = run_loop(Ridge(), options, random_state=0)
    told = []
    kept = run_loop(
        _Interrupted(at), options, random_state=0,
        on_interrupt=lambda state: told.append(_round_trip(state)) or True,
    )  # fmt: skip
    assert kept.stop_reason == "interrupted"
    assert kept.t == (at - 1) // 5
    assert {len(values) for values in kept.history.values()} == {kept.t}
    for state in (_round_trip(kept), told[0]):
        _same(run_loop(Ridge(), options, state=state), whole)
        whole = run_loop(Ridge(), options, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        run_loop(_Interrupted(at), options, random_state=0, on_interrupt=lambda state: False)
    with pytest.raises(KeyboardInterrupt):
        run_loop(_Interrupted(at), options, random_state=0)


def test_an_interrupt_after_an_iteration_keeps_it():
    def interrupt(state):
        if state.t == 4:
            raise KeyboardInterrupt

    state = run_loop(
        Ridge(), LoopOptions(budget=3), random_state=0,
        on_iteration=interrupt, on_interrupt=lambda state: True,
    )  # fmt: skip
    assert (state.t, state.stop_reason) == (4, "interrupted")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(True, "callback"), (np.True_, "callback"), ("time_limit", "time_limit"), (False, "max_iter")],
)
def test_the_answer_of_a_callback_is_the_reason(answer, reason):
    state = run_loop(
        Ridge(), LoopOptions(budget=3, max_iter=5), random_state=0,
        on_iteration=lambda state: answer,
    )  # fmt: skip
    assert state.stop_reason == reason
    assert state.t == (5 if reason == "max_iter" else 1)


def test_a_state_that_cannot_move_is_not_moved_by_resuming():
    options = paper_options(10)
    done = run_loop(Ridge(), options, random_state=0)
    again = run_loop(Ridge(), options, state=_round_trip(done))
    assert again.stop_reason == "absorbed"
    assert again.t == done.t
