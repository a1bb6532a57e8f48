"""Errors, warnings, progress: who sees what."""

from __future__ import annotations

import errno
import io
import json
import os
import warnings
from contextlib import suppress

import pytest
import typer

from s2mam.cli import console as console_module
from s2mam.cli.console import Console, session
from s2mam.cli.files import check_output, replacing
from s2mam.cli.progress import watch_fit, watch_steps
from s2mam.exceptions import InvalidInputError, S2MAMWarning


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (InvalidInputError("two\nlines"), "s2mam: error: two lines\n"),
        (ValueError("odd"), "s2mam: error: odd (--debug shows where)\n"),
        (MemoryError(), "s2mam: error: There is not enough memory (MemoryError).\n"),
        (OSError(28, "No space"), "s2mam: error: [Errno 28] No space\n"),
    ],
)
def test_errors_become_one_line(capsys, error, message):
    with pytest.raises(typer.Exit) as caught, session():
        raise error
    assert caught.value.exit_code == 1
    assert capsys.readouterr() == ("", message)
    with pytest.raises(type(error)), session(debug=True):
        raise error
    assert capsys.readouterr() == ("", "")


def test_bugs_keep_their_traceback():
    with pytest.raises(ZeroDivisionError), session():
        raise ZeroDivisionError


def test_a_key_and_a_closed_pipe(capsys, monkeypatch):
    with pytest.raises(typer.Exit) as caught, session():
        raise KeyboardInterrupt
    assert caught.value.exit_code == 130
    assert capsys.readouterr().err == "s2mam: stopped.\n"
    dropped = []
    monkeypatch.setattr(console_module, "drop_output", lambda: dropped.append(True))
    with pytest.raises(typer.Exit) as caught, session():
        raise OSError(errno.EPIPE, "Broken pipe")
    assert caught.value.exit_code == 141
    assert dropped == [True]
    assert capsys.readouterr() == ("", "")


def test_warnings_are_told_once_and_gone_afterwards(capsys):
    before = warnings.showwarning
    with session():
        for _ in range(2):
            warnings.warn("few labels", S2MAMWarning, stacklevel=1)
    assert capsys.readouterr().err == "s2mam: warning: few labels\n"
    assert warnings.showwarning is before


def test_quiet_hides_notes_and_results_but_not_warnings(capsys):
    console = Console(quiet=True)
    console.note("read")
    console.result(["done"])
    console.warn("careful")
    assert capsys.readouterr() == ("", "s2mam: warning: careful\n")


def test_json_has_no_nan_and_no_numpy(capsys, tmp_path):
    import numpy as np

    console = Console(as_json=True)
    console.warn("careful")
    console.result([], a=np.array([1.0, np.nan]), b=np.int64(3), c=tmp_path, d={1: float("inf")})
    out = json.loads(capsys.readouterr().out)
    assert out == {
        "a": [1.0, None],
        "b": 3,
        "c": str(tmp_path),
        "d": {"1": None},
        "notes": [],
        "warnings": ["careful"],
    }


def test_progress_of_a_fit():
    pipe = io.StringIO()
    with watch_fit("fit", stream=pipe) as step:
        for done in (1, 2, 3):
            step({"done": done, "total": 3})
    assert pipe.getvalue() == "fit: 3 of 3, 0 s\n"  # the others came too fast
    terminal = Terminal()
    with watch_fit("fit", stream=terminal, total=300) as step:
        step({"iteration": 7, "total": None})
    assert "7/300" in terminal.getvalue()
    hidden = Terminal()
    with watch_fit("fit", stream=hidden, shown=False) as step:
        step({"done": 1, "total": 1})
    assert hidden.getvalue() == ""


def test_waiting_is_shown_in_the_last_line_of_a_terminal(monkeypatch):
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    with session() as console:
        console.wait("Reading t.csv")
        assert out.getvalue() == "\r\033[KReading t.csv ..."
        console.note("3 rows")
        assert out.getvalue().endswith("...\r\033[K3 rows\nReading t.csv ...")
        console.go_on()
        console.warn("odd")
        assert out.getvalue().endswith("...\r\033[Ks2mam: warning: odd\n")
    with suppress(typer.Exit), session() as console:
        console.wait("Reading t.csv")
        raise InvalidInputError("no rows")
    assert out.getvalue().endswith("...\r\033[Ks2mam: error: no rows\n")


def test_waiting_is_silent_in_a_pipe_and_when_asked(capsys, monkeypatch):
    with session() as console:
        console.wait("Reading t.csv")
    assert capsys.readouterr() == ("", "")
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    with session(quiet=True) as console:
        console.wait("Reading t.csv")
    assert out.getvalue() == ""


def test_progress_without_rich(monkeypatch):
    from s2mam.cli import progress

    monkeypatch.setattr(progress, "_rich_bar", lambda out: None)
    terminal = Terminal()
    with watch_fit("fit", stream=terminal) as step:
        step({"done": 2, "total": 2})
    assert terminal.getvalue() == "\r\033[Kfit: 2 of 2, 0 s\r\033[K"


def test_steps_are_written_over_on_a_terminal():
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        with watch_steps(stream=stream) as say:
            say("one")
            say("two")
    assert terminal.getvalue() == "\r\033[Kone\r\033[Ktwo\r\033[K"
    assert pipe.getvalue() == "one\ntwo\n"


def test_replacing_is_all_or_nothing(tmp_path):
    path = tmp_path / "a.png"
    path.write_text("old")
    with suppress(RuntimeError), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    with replacing(path) as temporary:
        assert temporary.suffix == ".png"
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.png"]


def test_devices_are_written_to_and_never_replaced(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    with replacing(fifo) as same:
        assert same == fifo
    assert fifo.is_fifo()
    check_output(fifo, device=True)
    with pytest.raises(InvalidInputError, match="not a plain file"):
        check_output(fifo)
