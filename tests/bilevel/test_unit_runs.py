"""Units of work: stored, announced, stopped."""

from __future__ import annotations

import warnings

import pytest

from s2mam.bilevel.unit_runs import UnitRunner
from s2mam.bilevel.watch import Watch


class _Watch(Watch):
    def __init__(self, stop=99, keep=False):
        self.stop, self.keep_interrupted, self.events = stop, keep, []

    def unit_begins(self, stage):
        self.events.append(("begins", stage))

    def unit_ends(self, stage, done, details=None):
        self.events.append(("ends", stage, done))
        return "enough" if done >= self.stop else None


class _Memory(dict):
    def put(self, name, state):
        self[name] = state


def _square(i):
    return {"square": i * i}


def _interrupt(i):
    if i == 3:
        raise KeyboardInterrupt
    return _square(i)


CALLS = [(i,) for i in range(1, 5)]


def test_units_come_in_order_between_their_announcements():
    watch = _Watch()
    runner = UnitRunner(4, None, None, watch)
    assert runner.run(_square, "s", CALLS) == [{"square": i} for i in (1, 4, 9, 16)]
    expected = [event for i in range(1, 5) for event in (("begins", "s"), ("ends", "s", i))]
    assert watch.events == expected
    assert runner.stop_reason is None


def test_stored_units_are_counted_and_not_announced():
    store, watch = _Memory(s1={"square": -1}, s3={"square": -3}), _Watch()
    runner = UnitRunner(4, None, store, watch)
    states = runner.run(_square, "s", CALLS)
    assert [state["square"] for state in states] == [1, -1, 9, -3]
    assert [event[2] for event in watch.events if event[0] == "ends"] == [3, 4]
    assert set(store) == {"s0", "s1", "s2", "s3"}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_stop_leaves_units_out_without_a_word(n_jobs):
    store = _Memory()
    runner = UnitRunner(8, n_jobs, store, _Watch(stop=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        states = runner.run(_square, "s", CALLS)
    assert states == [{"square": 1}, {"square": 4}, None, None]
    assert set(store) == {"s0", "s1"}
    # What follows is left out too, but for what the store has.
    store["t1"] = {"square": 7}
    assert runner.run(_square, "t", CALLS[:2]) == [None, {"square": 7}]
    assert runner.stop_reason == "enough"


@pytest.mark.parametrize(("keep", "dispensable"), [(True, False), (False, True), (False, False)])
def test_an_interrupt_goes_through(keep, dispensable):
    store = _Memory()
    runner = UnitRunner(4, None, store, _Watch(keep=keep))
    with pytest.raises(KeyboardInterrupt):
        runner.run(_interrupt, "s", CALLS, dispensable=dispensable)
    assert set(store) == {"s0", "s1"}


def test_an_interrupt_is_kept_where_units_are_dispensable():
    runner = UnitRunner(4, None, None, _Watch(keep=True))
    states = runner.run(_interrupt, "s", CALLS, dispensable=True)
    assert states == [{"square": 1}, {"square": 4}, None, None]
    assert runner.stop_reason == "interrupted"
