"""Result files survive a kill at any byte."""

from __future__ import annotations

import json

import pytest
from benchmarks.common.store import ResultStore, cell_key, rounded


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "results.jsonl")


def row(seed, **fields):
    return {"cell": {"method": "a", "seed": seed}, "run": "r1", **fields}


def test_rows_come_back_and_the_latest_wins(store):
    store.append(row(0, test=0.5))
    store.append(row(1, test=0.6))
    store.append(row(0, test=0.7))
    found = {entry["cell"]["seed"]: entry["test"] for entry in store.rows()}
    assert found == {0: 0.7, 1: 0.6}


def test_every_cut_of_the_last_line_loses_that_line_only(store):
    store.append(row(0, test=0.5))
    whole = store.path.read_bytes()
    store.append(row(1, test=0.25))
    full = store.path.read_bytes()
    for cut in range(len(whole), len(full) - 1):
        store.path.write_bytes(full[:cut])
        assert [entry["cell"]["seed"] for entry in store.rows()] == [0]
        store.append(row(2, test=0.75))
        assert [entry["cell"]["seed"] for entry in store.rows()] == [0, 2]


def test_a_line_that_lost_only_its_newline_is_kept(store):
    store.append(row(0, test=0.5))
    store.path.write_bytes(store.path.read_bytes()[:-1])
    store.append(row(1, test=0.6))
    assert len(store.rows()) == 2


def test_failures_count_as_finished_unless_told_otherwise(store):
    store.append(row(0, test=0.5))
    store.append(row(1, failure="time limit"))
    assert len(store.finished()) == 2
    assert store.finished(failures=False) == {cell_key({"seed": 0, "method": "a"})}


def test_compact_keeps_latest_rows_and_the_runs_they_name(store):
    for name in ("r1", "r2"):
        store.append({"run": name, "versions": {}})
    store.append({**row(0, test=0.1), "run": "r2"})
    store.append(row(0, test=0.2))
    store.compact()
    lines = [json.loads(text) for text in store.path.read_text().splitlines()]
    assert [line["run"] for line in lines] == ["r1", "r1"]
    assert lines[1]["test"] == 0.2


def test_rounding_reaches_nested_values_and_leaves_integers():
    assert rounded({"a": [1.23456789, 12], "b": (1e-9 / 3,)}) == {
        "a": [1.2346, 12],
        "b": [3.3333e-10],
    }
