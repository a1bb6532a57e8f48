"""Checkpoints: only for the same fit, readable after any kill, never in the way of the fit."""

from __future__ import annotations

import errno
import multiprocessing
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from state_trees import assert_same

from s2mam.exceptions import (
    CheckpointMismatchError,
    InvalidInputError,
    ModelFileError,
    S2MAMWarning,
)
from s2mam.persistence import checkpoint as checkpoint_module
from s2mam.persistence.checkpoint import Checkpoint, fingerprint
from s2mam.persistence.format import write_state

X = np.arange(6.0).reshape(2, 3)


def test_fingerprint_sees_values_and_not_representations():
    base = fingerprint(X, {"a": 1, "b": [2.0, None]})
    assert len(base) == 64
    assert base == fingerprint(np.asfortranarray(X), {"b": (2.0, None), "a": 1})
    assert base == fingerprint(np.repeat(X, 2, axis=0)[::2], {"a": 1, "b": [2.0, None]})


def test_fingerprint_tells_everything_else_apart():
    others = [
        (X,),
        (X.T,),
        (X.ravel(),),
        (X.astype(np.float32),),
        (X.astype(np.int64),),
        (np.nextafter(X, 9),),
        (X, X),
        ([X, X],),
        (X, None),
        ({"a": X},),
        ({"b": X},),
        (1,),
        (1.0,),
        (True,),
        ("1",),
        (np.nan,),
        (np.array([1, "1"], dtype=object),),
        (np.array([1, 1], dtype=object),),
        ([1, 2, [3]],),
        ([1, [2, 3]],),
        (),
    ]
    assert len({fingerprint(*parts) for parts in others}) == len(others)
    with pytest.raises(InvalidInputError, match="cannot store"):
        fingerprint({"callback": len})


@pytest.mark.parametrize("module", ["s2mam", "numpy", "scipy", "sklearn"])
def test_fingerprint_changes_with_the_versions(monkeypatch, module):
    before = fingerprint(X)
    if module == "s2mam":
        monkeypatch.setattr(checkpoint_module, "__version__", "99")
    else:
        monkeypatch.setattr(f"{module}.__version__", "99")
    assert fingerprint(X) != before


def test_no_file_then_round_trip(tmp_path):
    checkpoint = Checkpoint(tmp_path / "fit.ckpt", fingerprint(X))
    assert checkpoint.load() is None
    state = {"s": X, "t": 3, "best": float("inf")}
    assert checkpoint.save(state)
    assert_same(Checkpoint(tmp_path / "fit.ckpt", fingerprint(X)).load(), state)


def test_other_fit_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "fit.ckpt"
    Checkpoint(path, fingerprint(X)).save({"t": 1})
    raw = path.read_bytes()
    with pytest.raises(CheckpointMismatchError, match="other data, other parameters"):
        Checkpoint(path, fingerprint(X + 1)).load()
    assert path.read_bytes() == raw


def test_damaged_or_foreign_file(tmp_path):
    path = tmp_path / "fit.ckpt"
    Checkpoint(path, "f").save({"t": 1})
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ModelFileError, match="damaged or cut short"):
        Checkpoint(path, "f").load()
    for kind, state in [("Model", {"fingerprint": "f"}), ("Checkpoint", {"fingerprint": "f"})]:
        write_state(path, kind, state)
        with pytest.raises(ModelFileError, match="not a checkpoint") as caught:
            Checkpoint(path, "f").load()
        assert not isinstance(caught.value, CheckpointMismatchError)


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_disk_that_refuses_gives_one_warning(tmp_path, monkeypatch, step, code):
    checkpoint = Checkpoint(tmp_path / "fit.ckpt", "f")
    assert checkpoint.save({"t": 1})

    def fail(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.warns(S2MAMWarning, match=os.strerror(code)) as caught:
            results = [checkpoint.save({"t": t}) for t in (2, 3, 4)]
    assert results == [False, False, False]
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert checkpoint.load() == {"t": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert checkpoint.save({"t": 5})
    assert checkpoint.load() == {"t": 5}
    assert os.listdir(tmp_path) == ["fit.ckpt"]


def test_missing_folder_warns_and_states_that_cannot_be_stored_raise(tmp_path):
    with pytest.warns(S2MAMWarning, match="No such file"):
        assert not Checkpoint(tmp_path / "no" / "fit.ckpt", "f").save({})
    with pytest.raises(InvalidInputError):
        Checkpoint(tmp_path / "fit.ckpt", "f").save({"x": object()})


def test_first_save_clears_what_a_killed_run_left(tmp_path):
    leftover = tmp_path / ".fit.ckpt.0123456789abcdef.tmp"
    leftover.write_bytes(b"half")
    os.utime(leftover, (0, 0))
    assert Checkpoint(tmp_path / "fit.ckpt", "f").save({})
    assert os.listdir(tmp_path) == ["fit.ckpt"]


def _save_for_ever(path: Path) -> None:
    checkpoint = Checkpoint(path, "f")
    t = 0
    while True:
        t += 1
        size = 1 + 997 * t % 50_000
        checkpoint.save({"t": t, "a": np.full(size, float(t)), "b": [t] * (size % 100)})


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs cheap processes"
)
def test_the_file_loads_after_a_kill_at_any_moment(tmp_path):
    path = tmp_path / "fit.ckpt"
    rng = np.random.default_rng(0)
    n_interrupted = 0
    for _ in range(12):
        writer = multiprocessing.get_context("fork").Process(target=_save_for_ever, args=(path,))
        writer.start()
        deadline = time.monotonic() + 10.0
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(rng.uniform(0.005, 0.1))
        writer.kill()
        writer.join(10.0)
        assert writer.exitcode == -9
        state = Checkpoint(path, "f").load()
        size = 1 + 997 * state["t"] % 50_000
        assert_same(state["a"], np.full(size, float(state["t"])))
        assert state["b"] == [state["t"]] * (size % 100)
        leftovers = list(tmp_path.glob(".*.tmp"))
        n_interrupted += bool(leftovers)
        for leftover in leftovers:
            leftover.unlink()
    # Otherwise no kill hit a save and the test has shown nothing.
    assert n_interrupted > 0
