"""A limit on the CPU seconds of a block."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from s2mam.exceptions import S2MAMError

__all__ = ["CellTimeoutError", "cpu_clock", "cpu_limit"]


class CellTimeoutError(S2MAMError):
    """A cell used more CPU time than it may."""


def cpu_clock() -> Callable[[], float]:
    """The clock that counts the CPU seconds of this cell alone.

    A process of its own is measured whole; a thread shares its process with other cells.
    """
    in_main = threading.current_thread() is threading.main_thread()
    return time.process_time if in_main else time.thread_time


@contextmanager
def cpu_limit(seconds: float | None) -> Iterator[None]:
    """Raise `CellTimeoutError` when the block has used this many CPU seconds.

    Works where the system has interval timers and the block runs in the main thread of its process,
    as in joblib's own processes; elsewhere the block runs without a limit. A long call into
    compiled code is finished first, so the block may use more than the limit.

    Parameters
    ----------
    seconds : float or None
        None sets no limit.

    Examples
    --------
    >>> with cpu_limit(10.0):
    ...     sum(range(10))
    45
    """
    able = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not able:
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise CellTimeoutError(f"stopped after {seconds:g} CPU seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
