"""Graphs that do not fit are refused before anything is allocated."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from s2mam.exceptions import MemoryLimitError
from s2mam.graphs import build_graph, estimate_bytes
from s2mam.graphs.memory import available_bytes


def test_refusal_names_the_size_and_the_way_out():
    Z = np.zeros((200_000, 1))
    tracemalloc.start()
    with pytest.raises(
        MemoryLimitError, match=r'200000 rows needs about 321 GB.*graph="neighbors"'
    ):
        build_graph(Z, kind="dense", memory_limit=10**9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**7
    with pytest.raises(MemoryLimitError, match="use fewer rows"):
        build_graph(Z, kind="neighbors", memory_limit=10**6)


def test_default_limit_is_a_share_of_what_is_available(monkeypatch):
    Z = np.random.default_rng(0).normal(size=(100, 2))
    monkeypatch.setattr("s2mam.graphs.memory.available_bytes", lambda: 10_000)
    with pytest.raises(MemoryLimitError, match="but 6 kB are allowed"):
        build_graph(Z, kind="dense")
    monkeypatch.setattr("s2mam.graphs.memory.available_bytes", lambda: None)
    assert build_graph(Z, kind="dense").n == 100


def test_auto_takes_the_graph_that_fits():
    Z = np.random.default_rng(1).normal(size=(1000, 2))
    assert build_graph(Z).kind == "dense"
    assert build_graph(Z, memory_limit=3_000_000).kind == "neighbors"
    assert build_graph(np.random.default_rng(2).normal(size=(4100, 1))).kind == "neighbors"


@pytest.mark.parametrize("kind", ["dense", "neighbors"])
def test_estimate_covers_the_real_peak_without_waste(kind):
    Z = np.random.default_rng(3).normal(size=(1500, 20))
    build_graph(Z[:50], kind=kind)  # imports and first calls
    tracemalloc.start()
    build_graph(Z, kind=kind)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = estimate_bytes(1500, kind, n_columns=20)
    assert 0.9 * peak < estimate < 4 * peak


def test_available_memory_is_plausible():
    found = available_bytes()
    assert found is None or 10**7 < found < 10**15
