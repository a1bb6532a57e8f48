"""Progress of a run: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, TypeAlias

__all__ = ["Advance", "silent", "watch"]

Advance: TypeAlias = Callable[[str], None]
# Seconds between two lines in a pipe.
_PAUSE = 5.0


@contextmanager
def watch(total: int, title: str, stream: TextIO | None = None) -> Iterator[Advance]:
    """Give a function to call with a few words after each of `total` steps.

    Parameters
    ----------
    total : int
    title : str
    stream : text stream, optional
        Standard error by default.

    Examples
    --------
    >>> import sys
    >>> with watch(1, "try", sys.stdout) as advance:
    ...     advance("null on clean")
    try: 1/1, 0 s, null on clean
    """
    out = sys.stderr if stream is None else stream
    bar = _rich_bar(out) if out.isatty() else None
    if bar is None:
        yield _Lines(total, title, out)
        return
    with bar:
        task = bar.add_task(title, total=total, last="")
        yield lambda text: bar.update(task, advance=1, last=text)


@contextmanager
def silent(total: int, title: str) -> Iterator[Advance]:
    """No progress at all.

    Parameters
    ----------
    total : int
    title : str
    """
    yield lambda text: None


class _Lines:
    """Plain lines, a few seconds apart; the last step always has one."""

    def __init__(self, total: int, title: str, out: TextIO) -> None:
        self.total, self.title, self.out = total, title, out
        self.done = 0
        self.began = time.monotonic()
        self.shown = self.began

    def __call__(self, text: str) -> None:
        self.done += 1
        now = time.monotonic()
        if self.done < self.total and now - self.shown < _PAUSE:
            return
        self.shown = now
        seconds = f"{now - self.began:.0f} s"
        self.out.write(f"{self.title}: {self.done}/{self.total}, {seconds}, {text}\n")
        self.out.flush()


def _rich_bar(out: TextIO) -> Any:
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )
    except ImportError:
        return None
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
        console=Console(file=out),
    )
