"""One call in a process of its own: a hard time limit, no leaks into the next cell."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

Result: TypeAlias = dict[str, Any]


def call_isolated(
    function: Callable[..., Result], *arguments: Any, seconds: float | None = None
) -> Result:
    """Return ``function(*arguments)``, or ``{"failure": why}`` when it fails or takes too long.

    The call runs in a forked process that leads its own group, so that programs it has started end
    with it when the time is up.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            return {"failure": f"time limit of {seconds:g} s"}
        result: Result = receiver.recv()
        return result
    except EOFError:
        process.join()
        return {"failure": f"process ended with code {process.exitcode}"}
    finally:
        receiver.close()
        _end(process)


def _answer(
    sender: Connection, function: Callable[..., Result], arguments: tuple[Any, ...]
) -> None:
    os.setsid()
    try:
        sender.send(function(*arguments))
    except Exception as error:  # a benchmark goes on whatever a method raises, and says what it was
        place = traceback.extract_tb(error.__traceback__)[-1]
        message = str(error).splitlines()[0] if str(error) else ""
        where = f"{os.path.basename(place.filename)}:{place.lineno}"
        sender.send({"failure": f"{type(error).__name__} at {where}: {message}"[:200]})
    finally:
        sender.close()


def _end(process: multiprocessing.process.BaseProcess) -> None:
    """Kill the group of the process, which is the process itself and all it has started."""
    if process.pid is not None and process.is_alive():
        process.join(1.0)
        # Without its own group yet, the process alone is meant: never the group of the caller.
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    process.join()
