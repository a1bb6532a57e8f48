"""Problems show what they should and hide the rest."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.common import peers, splits
from benchmarks.common.methods import Task
from benchmarks.common.splits import few_label_problem
from benchmarks.selection.problems import N_TEST, N_TRAIN, SETTINGS, draw
from benchmarks.selection.search import greedy
from benchmarks.unlabeled.problems import problem as unlabeled_problem
from sklearn.utils import Bunch


@pytest.mark.parametrize(("name", "labels"), [("iris", 30), ("digits", 30), ("diabetes", 50)])
def test_few_labels_are_shown(name, labels):
    problem = few_label_problem(name, 0)
    hidden = np.isnan(problem.shown) if name == "diabetes" else problem.shown == -1
    assert np.sum(~hidden) == labels
    assert np.array_equal(~hidden, problem.labeled)
    assert np.array_equal(problem.shown[problem.labeled], problem.y[problem.labeled])
    assert len(problem.X) <= (1000 if name == "digits" else 600)


def test_junk_keeps_rows_and_labels():
    clean, junk = few_label_problem("wine", 3), few_label_problem("wine", 3, columns="junk")
    assert junk.X.shape[1] == clean.X.shape[1] + 20
    assert np.array_equal(junk.X[:, :13], clean.X)
    assert np.array_equal(junk.labeled, clean.labeled)
    assert np.array_equal(junk.X_test[:, :13], clean.X_test)


def test_shadows_depend_on_one_another_and_on_nothing_else():
    rng = np.random.RandomState(0)
    shared = rng.normal(size=(2000, 1))
    X = shared + 0.5 * rng.normal(size=(2000, 3))
    shadow = splits.shadows(X, 5, rng)
    assert shadow.shape == (2000, 5)
    links = np.corrcoef(np.hstack([X, shadow]).T)
    assert np.abs(links[:3, 3:]).max() < 0.1
    assert links[3, 4] > 0.7
    problem = few_label_problem("iris", 0, columns="shadow")
    assert problem.X.shape[1] == 24
    assert np.array_equal(problem.labeled, few_label_problem("iris", 0).labeled)


def test_junk_in_pairs_depends_on_its_twin_only():
    X = draw("additive_pairs_50", 0).problem.X_test
    links = np.corrcoef(X.T)
    assert links[8, 9] > 0.35
    assert np.abs(links[:8, 8:]).max() < 0.2
    moons = draw("moons_shadow_1", 0)
    assert np.unique(moons.problem.X.round(6), axis=1).shape == (200, 20)


def test_groups_stay_on_one_side_and_rare_classes_leave(monkeypatch):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    X = np.column_stack([groups, rng.normal(size=400)])
    y = np.where(np.arange(400) < 15, 2, groups % 2)
    data = Bunch(X=X, y=y, groups=groups, task="classification")
    monkeypatch.setattr(splits, "_load", lambda name: data)
    problem = few_label_problem("any", 0)
    assert not set(problem.X[:, 0]) & set(problem.X_test[:, 0])
    assert set(problem.y) == {0, 1}


def test_more_unlabeled_rows_contain_the_fewer_ones():
    none, some, many = (unlabeled_problem("moons_5", 0, size) for size in ("0", "100", "1000"))
    assert [np.sum(~p.labeled) for p in (none, some, many)] == [0, 100, 1000]
    assert np.array_equal(none.X, many.X[many.labeled])
    rows = {tuple(row) for row in many.X}
    assert all(tuple(row) in rows for row in some.X)
    assert np.array_equal(none.X_test, many.X_test)


@pytest.mark.parametrize("name", [name for name in SETTINGS if not name.startswith("wide")])
def test_every_selection_problem_can_be_drawn(name):
    drawn = draw(name, 0)
    assert drawn.problem.X.shape[0] == N_TRAIN
    assert drawn.problem.X_test.shape[0] == N_TEST
    assert np.unique(drawn.source[drawn.source >= 0]).size == drawn.n_select
    assert 2 <= drawn.problem.labeled.sum() <= 100


def test_shown_targets_are_noisy_and_scored_ones_clean():
    drawn = draw("additive_50", 0)
    again = SETTINGS["additive_50"].make(N_TRAIN + N_TEST, random_state=5000)
    labeled = drawn.problem.labeled
    assert np.array_equal(drawn.problem.y[labeled], again.y[:N_TRAIN][labeled])
    assert np.array_equal(drawn.problem.y[~labeled], again.y_clean[:N_TRAIN][~labeled])
    assert np.array_equal(drawn.problem.y_test, again.y_clean[N_TRAIN:])


def _task(problem, n_select=None, y=None):
    return Task(
        problem.X, problem.shown if y is None else y, problem.X_test, problem.task, 0, n_select
    )


@pytest.mark.parametrize("criterion", ["evidence", "loo"])
def test_forward_selection_finds_easy_columns_and_predicts(criterion):
    drawn = draw("additive_100", 0)
    outcome = greedy(criterion)(_task(drawn.problem, drawn.n_select))
    assert outcome.selected.sum() == 8
    assert outcome.selected[drawn.informative].sum() >= 6
    error = np.mean((outcome.test - drawn.problem.y_test) ** 2)
    assert error < 0.3 * drawn.problem.y_test.var()


def test_forward_selection_names_several_classes():
    drawn = draw("multiclass", 0)
    outcome = greedy("evidence")(_task(drawn.problem, drawn.n_select))
    assert np.mean(outcome.test == drawn.problem.y_test) > 0.5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", sorted(peers.CLASSIFICATION))
def test_peers_never_see_hidden_labels(method):
    problem = few_label_problem("wine", 0)
    scrambled = np.where(problem.labeled, problem.y, 2 - problem.y)
    other = splits.Problem(
        problem.X, scrambled, problem.labeled, problem.X_test, problem.y_test, problem.task
    )
    one, two = (peers.CLASSIFICATION[method](_task(p)) for p in (problem, other))
    assert np.array_equal(one.test, two.test)
    assert np.array_equal(one.unlabeled, two.unlabeled)
    assert len(one.unlabeled) == np.sum(~problem.labeled)


@pytest.mark.filterwarnings("ignore")
def test_label_spreading_reaches_far_rows():
    problem = unlabeled_problem("moons_1", 0, "1000")
    outcome = peers.CLASSIFICATION["label_spreading"](_task(problem))
    assert np.mean(outcome.test == problem.y_test) > 0.95


def test_sparse_peers_publish_their_columns():
    drawn = draw("additive_50", 0)
    outcome = peers.REGRESSION["lasso"](_task(drawn.problem))
    assert np.array_equal(outcome.selected, outcome.ranking > 0)
    assert 0 < outcome.selected.sum() < 110
