"""The block of working columns: what it holds, and that blocks handed out stay as they were."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mam.solvers.layout import GroupLayout
from s2mam.solvers.working import WorkingSet

LAYOUT = GroupLayout(np.array([0, 2, 3, 3, 7, 9, 12]))
FEATURES = np.random.default_rng(0).normal(size=(12, 5))
FREE = np.ones((1, 5))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sets(st.integers(0, 5)), min_size=1, max_size=6))
def test_every_block_holds_its_columns_and_stays_valid(requests):
    working = WorkingSet(FEATURES, FREE, LAYOUT)
    blocks = []
    for request in requests:
        groups = np.array(sorted(request), dtype=np.intp)
        block = working.include(groups)
        assert set(groups) <= set(block.groups)
        np.testing.assert_array_equal(block.groups[working.positions(groups)], groups)
        blocks.append(block)
    for block in blocks:
        np.testing.assert_array_equal(block.columns, LAYOUT.columns(block.groups))
        np.testing.assert_array_equal(block.rows, np.vstack([FREE, FEATURES[block.columns]]))
        np.testing.assert_allclose(block.squares, (FEATURES[block.columns] ** 2).mean(axis=1))


def test_groups_out_of_use_are_let_go_when_they_are_many():
    working = WorkingSet(FEATURES, FREE, LAYOUT)
    working.include(np.arange(6))
    assert working.include(np.array([4])).groups.tolist() == [4]


def test_a_few_groups_out_of_use_are_carried_along():
    working = WorkingSet(FEATURES, FREE, LAYOUT)
    first = working.include(np.array([0, 1]))
    assert working.include(np.array([1])) is first
