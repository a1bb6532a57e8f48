"""One call in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import time

from benchmarks.common.isolate import call_isolated


def test_result_comes_back_from_another_process():
    answer = call_isolated(lambda a, b: {"sum": a + b, "pid": os.getpid()}, 1, 2)
    assert answer["sum"] == 3
    assert answer["pid"] != os.getpid()


def test_large_results_do_not_block():
    assert len(call_isolated(lambda: {"values": [0.5] * 200_000}, seconds=20)["values"]) == 200_000


def test_an_error_is_a_failure_that_names_it():
    def broken():
        raise KeyError("column 7")

    assert "KeyError" in call_isolated(broken)["failure"]
    assert "column 7" in call_isolated(broken)["failure"]


def test_a_killed_process_is_a_failure():
    answer = call_isolated(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert answer == {"failure": "process ended with code -9"}


def test_time_limit_ends_the_call_and_what_it_started(tmp_path):
    note = tmp_path / "pid"

    def slow():
        child = subprocess.Popen(["sleep", "60"])
        note.write_text(str(child.pid))
        time.sleep(60)
        return {}

    started = time.monotonic()
    assert call_isolated(slow, seconds=1.0) == {"failure": "time limit of 1 s"}
    assert time.monotonic() - started < 10
    assert _gone(int(note.read_text()))


def _gone(pid):
    for _ in range(50):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.1)
    return False
