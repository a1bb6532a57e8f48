"""All or nothing, also when a step in between fails."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from s2mam.persistence.atomic import atomic_writer, remove_leftovers


def write(path: Path, content: bytes) -> None:
    with atomic_writer(path) as stream:
        stream.write(content)


def test_replaces_and_leaves_nothing_else(tmp_path):
    for content in (b"one", b"two"):
        write(tmp_path / "a", content)
        assert (tmp_path / "a").read_bytes() == content
        assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_failing_block_keeps_the_old_file(tmp_path, error):
    write(tmp_path / "a", b"old")

    def interrupted() -> None:
        with atomic_writer(tmp_path / "a") as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_failing_step_keeps_the_old_file(tmp_path, monkeypatch, step, code):
    write(tmp_path / "a", b"old")

    def fail(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match=r".") as caught:
            write(tmp_path / "a", b"new")
    assert caught.value.errno == code
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_data_is_on_disk_before_the_rename_and_the_folder_after(tmp_path, monkeypatch):
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def recorded_fsync(descriptor):
        is_folder = os.path.isdir(f"/proc/self/fd/{descriptor}")
        steps.append("sync folder" if is_folder else "sync file")
        fsync(descriptor)

    def recorded_replace(source, target):
        assert Path(source).parent == Path(target).parent
        assert Path(source).read_bytes() == b"new"
        steps.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "replace", recorded_replace)
    write(tmp_path / "a", b"new")
    if os.path.isdir("/proc/self/fd"):
        assert steps == ["sync file", "rename", "sync folder"]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.EIO])
def test_only_folders_that_cannot_be_synced_are_forgiven(tmp_path, monkeypatch, code):
    calls = []

    def second_fails(descriptor):
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", second_fails)
    if code == errno.EINVAL:
        write(tmp_path / "a", b"new")
    else:
        with pytest.raises(OSError, match="error"):
            write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_real_write_that_stops_half_way(tmp_path):
    """The kernel refuses to let the file grow, as on a full disk."""
    script = """
import resource, signal, sys, warnings
import numpy as np
from s2mam.persistence import Checkpoint
checkpoint = Checkpoint(sys.argv[1], "f" * 64)
assert checkpoint.save({"t": 1})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert not checkpoint.save({"t": 2, "a": np.zeros(100_000)})
    assert not checkpoint.save({"t": 3, "a": np.zeros(100_000)})
assert len(caught) == 1, caught
assert checkpoint.load() == {"t": 1}
assert checkpoint.save({"t": 4})
assert checkpoint.load() == {"t": 4}
"""
    command = [sys.executable, "-c", script, str(tmp_path / "fit.ckpt")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert os.listdir(tmp_path) == ["fit.ckpt"]


def test_symbolic_links_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "a"
    target.write_bytes(b"old")
    (tmp_path / "link").symlink_to(target)
    write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert target.read_bytes() == b"new"


def test_long_names_and_ordinary_permissions(tmp_path):
    path = tmp_path / ("n" * 250)
    write(path, b"x")
    (tmp_path / "plain").write_bytes(b"x")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_leftovers_of_killed_writers_go_after_an_hour(tmp_path):
    old = tmp_path / ".a.0123456789abcdef.tmp"
    fresh = tmp_path / ".a.fedcba9876543210.tmp"
    foreign = [tmp_path / name for name in ("a", ".a.x.tmp", ".b.0123456789abcdef.tmp")]
    for path in (old, fresh, *foreign):
        path.write_bytes(b"x")
    hours_ago = time.time() - 2 * 3600
    for path in (old, *foreign):
        os.utime(path, (hours_ago, hours_ago))
    remove_leftovers(tmp_path / "a")
    assert set(tmp_path.iterdir()) == {fresh, *foreign}
    remove_leftovers(tmp_path / "none" / "a")
