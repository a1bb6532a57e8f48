from __future__ import annotations

import numpy as np
import pytest

from s2mam.baselines import all_baselines
from s2mam.baselines.shared import remember as module
from s2mam.baselines.shared.affinity import neighbor_weights
from s2mam.baselines.shared.anchors import anchor_graph, choose_anchors
from s2mam.baselines.shared.blocks import KernelBlocks
from s2mam.baselines.shared.remember import forget_all, remember

RNG = np.random.default_rng(0)


def counted():
    calls = []

    @remember(2)
    def double(table, k=1, seed=0):
        calls.append(k)
        return table * 2.0 * k

    return double, calls


def test_the_content_counts_not_the_object():
    double, calls = counted()
    table = RNG.normal(size=(4, 2))
    first = double(table)
    assert double(table.copy()) is first
    assert double(np.asfortranarray(table)) is first
    table[0, 0] += 1.0
    np.testing.assert_array_equal(double(table), 2.0 * table)
    assert calls == [1, 1]


@pytest.mark.parametrize("other", [{"k": 2}, {"k": 1.0}, {"k": True}, {"seed": 1}])
def test_other_arguments_are_other_calls(other):
    double, calls = counted()
    table = np.ones((3, 1))
    double(table)
    double(table, **other)
    assert len(calls) == 2


def test_shapes_tell_tables_of_the_same_numbers_apart():
    double, calls = counted()
    assert double(np.ones((2, 3))).shape == (2, 3)
    assert double(np.ones((3, 2))).shape == (3, 2)
    assert len(calls) == 2


def test_all_is_forgotten_when_asked():
    double, calls = counted()
    for forget in (double.cache_clear, forget_all):
        double(np.ones((1, 1)))
        forget()
    double(np.ones((1, 1)))
    assert len(calls) == 3


def test_large_designs_are_not_kept(monkeypatch):
    """What a model was built from would else stay in memory after the model is gone."""
    table = np.random.default_rng(0).normal(size=(20, 2))
    built = []
    kept = remember(2)(lambda rows: built.append(1) or KernelBlocks.fit(rows).design)
    size = sum(part.size for part in vars(kept(table)).values() if isinstance(part, np.ndarray))
    assert size > 200
    for most, more in ((size, 0), (size - 1, 1)):
        monkeypatch.setattr(module, "_MOST_NUMBERS", most)
        kept.cache_clear()
        built.clear()
        kept(table)
        kept(table)
        assert len(built) == 1 + more


def test_the_oldest_is_forgotten():
    double, calls = counted()
    tables = [np.full((1, 1), value) for value in (1.0, 2.0, 3.0)]
    for table in [*tables, tables[1], tables[0]]:
        double(table)
    assert len(calls) == 4


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0), np.random.default_rng(0)])
def test_what_draws_is_called_each_time(seed):
    double, calls = counted()
    for _ in range(2):
        double(np.ones((2, 2)), seed=seed)
    assert len(calls) == 2


def test_large_tables_and_results_are_not_kept(monkeypatch):
    monkeypatch.setattr(module, "_MOST_NUMBERS", 4)
    double, calls = counted()
    for _ in range(2):
        assert double(np.ones((5, 1))).flags.writeable
    assert len(calls) == 2


def test_nobody_can_change_what_the_next_one_gets():
    weights = neighbor_weights(RNG.normal(size=(9, 2)), 2)
    with pytest.raises(ValueError, match="read-only"):
        weights[0, 0] = 1.0


def test_anchors_are_those_of_a_first_call():
    table = RNG.normal(size=(40, 3))
    anchors = choose_anchors(table, 8, 0)
    np.testing.assert_array_equal(anchors, choose_anchors.__wrapped__(table, 8, 0))
    graph = anchor_graph(table, anchors, s=3)
    np.testing.assert_array_equal(graph, anchor_graph.__wrapped__(table, anchors, s=3))


@pytest.mark.parametrize("name", ["f-FME", "r-FME", "LapSVM", "LapRLS", "CSAM", "RER", "Culp"])
def test_a_second_fit_is_the_first(name):
    X = RNG.normal(size=(40, 4))
    y = np.where(np.arange(40) < 12, X[:, 0] > 0, -1)
    model = all_baselines("classification")[name]()
    settings = {"random_state": 0} if "random_state" in model.get_params() else {}
    first = model.set_params(**settings).fit(X, y).decision_function(X)
    second = model.fit(X.copy(), y).decision_function(X)
    np.testing.assert_array_equal(first, second)
