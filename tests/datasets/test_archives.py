"""Files inside archives, and archives inside archives."""

from __future__ import annotations

import gzip

import pytest
from packing import tarred, zipped

from s2mam.datasets import archives
from s2mam.datasets.archives import unpack
from s2mam.exceptions import InvalidInputError


def test_plain_and_gzip():
    assert unpack(b"1,2", "") == b"1,2"
    assert unpack(gzip.compress(b"1,2"), "") == b"1,2"


def test_zip_members_by_name_pattern_and_folder():
    archive = zipped({"a.csv": b"A", "folder/b.data": b"B"})
    assert unpack(archive, "a.csv") == b"A"
    assert unpack(archive, "*.csv") == b"A"
    assert unpack(archive, "b.data") == b"B"


def test_archive_in_archive():
    archive = zipped({"regression.tar.gz": tarred("regression/T/T.data", b"1,2")})
    assert unpack(archive, "regression.tar.gz!regression/T/T.data") == b"1,2"


def test_member_that_is_missing_or_ambiguous():
    archive = zipped({"a.csv": b"A", "b.csv": b"B"})
    with pytest.raises(InvalidInputError, match=r"0 files 'c.csv'.*it has: a.csv, b.csv"):
        unpack(archive, "c.csv")
    with pytest.raises(InvalidInputError, match="2 files"):
        unpack(archive, "*.csv")


def test_what_is_no_archive():
    with pytest.raises(InvalidInputError, match="cannot be read"):
        unpack(b"<html>try later</html>", "a.csv")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        unpack(gzip.compress(b"1,2" * 999)[:-9], "")


def test_bombs_are_refused(monkeypatch):
    monkeypatch.setattr(archives, "_MAX_MEMBER", 10)
    with pytest.raises(InvalidInputError, match="would unpack to 11 bytes"):
        unpack(zipped({"a": b"x" * 11}), "a")
    with pytest.raises(InvalidInputError, match="would unpack to 11 bytes"):
        unpack(tarred("a", b"x" * 11), "a")
