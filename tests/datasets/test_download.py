"""Downloads against a server on this machine: kept, resumed, checked, refused."""

from __future__ import annotations

import hashlib
import os
import pickle

import pytest

from s2mam.datasets import download as module
from s2mam.datasets.download import NoConnectionError, download
from s2mam.exceptions import S2MAMError

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def target(tmp_path):
    return tmp_path / "deep" / "file.bin"


def test_file_is_fetched_once(site, target):
    site.files["f"] = CONTENT
    assert download(site.url + "f", target).read_bytes() == CONTENT
    assert download(site.url + "f", target) == target
    assert site.asked == [("f", None)]
    assert os.listdir(target.parent) == ["file.bin"]


@pytest.mark.parametrize("method", ["sha256", "md5"])
def test_checksum(site, target, method):
    site.files["f"] = CONTENT
    digest = hashlib.new(method, CONTENT).hexdigest()
    with pytest.raises(S2MAMError, match=f"not the known file \\({method}"):
        download(site.url + "f", target, checksum=digest[::-1])
    assert os.listdir(target.parent) == []
    assert download(site.url + "f", target, checksum=digest) == target
    target.write_bytes(b"changed")
    with pytest.raises(S2MAMError, match=r"file.bin is not the known file"):
        download(site.url + "f", target, checksum=digest)
    assert target.exists()


def test_transfer_is_taken_up_where_it_broke_off(site, target):
    site.files["f"], site.cut = CONTENT, 1000
    with pytest.raises(S2MAMError, match="broke off after 1000 of 10240 bytes"):
        download(site.url + "f", target)
    assert not target.exists()
    site.cut = None
    assert download(site.url + "f", target).read_bytes() == CONTENT
    assert site.asked == [("f", None), ("f", "bytes=1000-")]


def test_server_that_ignores_the_range(site, target):
    target.parent.mkdir()
    target.with_name("file.bin.part").write_bytes(b"x" * 100)
    site.files["f"], site.ranges = CONTENT, False
    assert download(site.url + "f", target).read_bytes() == CONTENT


def test_part_that_is_too_long_is_dropped(site, target):
    target.parent.mkdir()
    target.with_name("file.bin.part").write_bytes(b"x" * 20000)
    site.files["f"] = CONTENT
    assert download(site.url + "f", target).read_bytes() == CONTENT
    assert site.asked == [("f", "bytes=20000-"), ("f", None)]


@pytest.mark.parametrize("length", [True, False])
def test_size_limit_with_and_without_announcement(site, target, length):
    site.files["f"], site.length = CONTENT, length
    with pytest.raises(S2MAMError, match="the limit of 5000"):
        download(site.url + "f", target, max_bytes=5000)
    assert not target.exists()


def test_unannounced_length_is_fine(site, target):
    site.files["f"], site.length = CONTENT, False
    assert download(site.url + "f", target).read_bytes() == CONTENT


def test_refusals(site, target):
    with pytest.raises(S2MAMError, match="404"):
        download(site.url + "nothing", target)
    with pytest.raises(S2MAMError, match="not an http or https address"):
        download("file:///etc/hostname", target)
    with pytest.raises(NoConnectionError, match="did not answer as expected") as caught:
        download("http://127.0.0.1:9/f", target)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_silent_server(target):
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/f"
        with pytest.raises(S2MAMError, match="timed out"):
            download(url, target, timeout=0.2)


def test_folder_that_may_not_be_written(site, target, monkeypatch):
    def refuse(*arguments):
        raise PermissionError("no")

    site.files["f"] = CONTENT
    monkeypatch.setattr(module.os, "replace", refuse)
    with pytest.raises(S2MAMError, match=r"cannot write to .*data_home"):
        download(site.url + "f", target)
