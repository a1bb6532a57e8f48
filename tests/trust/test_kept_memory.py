"""Fits keep no memory; benchmarks/soak looks for an hour, here are the kinds of fits one by one."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from fault_registry import hold
from guarantee_page import ROOT
from trust_models import BASELINES, OURS, TASKS, make, table

from s2mam.baselines.shared import representation
from s2mam.baselines.shared.keyed_table import KeyedTable

sys.path.append(str(ROOT))

from benchmarks.soak.figures import figures


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("family", ["ours", pytest.param("baselines", marks=pytest.mark.slow)])
def test_no_blocks_of_python_stay_behind(family, task):
    def check(name, task):
        def blocks(seeds):
            for seed in seeds:
                X, _, y = table(task, n=24, n_labeled=12, seed=seed)
                model = make(name, task).fit(X, y)
                model.predict(X)
            del model
            return figures()[2]

        before = blocks(range(3))
        # A list of ten numbers that stays would be eleven blocks a fit.
        assert blocks(range(3, 9)) - before < 20

    hold(check, [(name, task) for name in (OURS if family == "ours" else BASELINES[task])])


def test_large_representations_are_not_kept(monkeypatch):
    rng = np.random.default_rng(0)
    keyed = KeyedTable.of(rng.normal(size=(12, 3)))
    representation._kept.cache_clear()
    monkeypatch.setattr(representation, "_KEPT_ROWS", 11)
    large = representation.label_free_representation(keyed, 0.1)
    assert representation._kept.cache_info().currsize == 0
    monkeypatch.setattr(representation, "_KEPT_ROWS", 12)
    small = representation.label_free_representation(keyed, 0.1)
    assert representation._kept.cache_info().currsize == 1
    np.testing.assert_array_equal(small.shares, large.shares)
