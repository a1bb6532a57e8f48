"""A restarted fit computes only the units that are missing."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from state_trees import assert_same

from s2mam.exceptions import CheckpointMismatchError, ModelFileError, S2MAMWarning
from s2mam.persistence.checkpoint import Checkpoint
from s2mam.persistence.units import UnitStore


class Killed(BaseException):
    """Stands for the end of the process."""


def fit(store: UnitStore, computed: list[str], dies_at: str | None = None) -> list[float]:
    results = []
    for i in range(5):
        name = f"fold {i}"
        state = store.get(name)
        if state is None:
            if name == dies_at:
                raise Killed
            computed.append(name)
            state = {"value": np.random.default_rng(i).random(3), "done": True}
            store.put(name, state)
        results.append(state["value"].tobytes())
    return results


def test_restart_computes_only_what_is_missing(tmp_path):
    computed: list[str] = []
    with pytest.raises(Killed):
        fit(UnitStore(Checkpoint(tmp_path / "c", "f")), computed, dies_at="fold 3")
    assert computed == ["fold 0", "fold 1", "fold 2"]
    resumed: list[str] = []
    results = fit(UnitStore(Checkpoint(tmp_path / "c", "f")), resumed)
    assert resumed == ["fold 3", "fold 4"]
    assert results == fit(UnitStore(None), [])


def test_without_a_checkpoint_nothing_is_kept():
    store = UnitStore()
    store.put("a", {"x": 1})
    assert store.get("a") is None


def test_the_store_is_not_reached_by_later_changes(tmp_path):
    store = UnitStore(Checkpoint(tmp_path / "c", "f"))
    array = np.zeros(3)
    store.put("a", {"x": array, "t": (1, 2)})
    array[:] = 7.0
    store.get("a")["x"][:] = 8.0
    store.put("b", {})
    for found in (store.get("a"), UnitStore(Checkpoint(tmp_path / "c", "f")).get("a")):
        assert_same(found, {"x": np.zeros(3), "t": [1, 2]})


def test_other_fit_and_other_content_are_refused_at_once(tmp_path):
    UnitStore(Checkpoint(tmp_path / "c", "f")).put("a", {})
    with pytest.raises(CheckpointMismatchError):
        UnitStore(Checkpoint(tmp_path / "c", "g"))
    for content in ({"t": 1}, {"units": [1]}, [1]):
        Checkpoint(tmp_path / "c", "f").save(content)
        with pytest.raises(ModelFileError, match="no units of work"):
            UnitStore(Checkpoint(tmp_path / "c", "f"))


def test_a_full_disk_loses_nothing_once_there_is_room_again(tmp_path: Path, monkeypatch):
    store = UnitStore(Checkpoint(tmp_path / "c", "f"))
    store.put("a", {"x": 1})

    def fail(*args, **kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.warns(S2MAMWarning, match="could not be written"):
            store.put("b", {"x": 2})
    assert store.get("b") == {"x": 2}
    assert UnitStore(Checkpoint(tmp_path / "c", "f")).get("b") is None
    store.put("c", {"x": 3})
    restarted = UnitStore(Checkpoint(tmp_path / "c", "f"))
    assert [restarted.get(name)["x"] for name in "abc"] == [1, 2, 3]


def test_threads_share_a_store(tmp_path):
    store = UnitStore(Checkpoint(tmp_path / "c", "f"))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: store.put(f"u{i}", {"x": np.full(100, i)}), range(40)))
    restarted = UnitStore(Checkpoint(tmp_path / "c", "f"))
    for i in range(40):
        assert_same(restarted.get(f"u{i}"), {"x": np.full(100, i)})
