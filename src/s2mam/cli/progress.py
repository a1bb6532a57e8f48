"""Progress of a fit: a bar on a terminal, now and then a line in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, TypeAlias

from s2mam.cli.console import CLEAR_LINE

__all__ = ["Say", "Step", "watch_fit", "watch_steps"]

#: Called by an estimator with a dict that holds "done" and "total", or "iteration".
Step: TypeAlias = Callable[[dict[str, Any]], None]

Say: TypeAlias = Callable[[str], None]
# Seconds between two lines in a pipe.
_PAUSE = 5.0


@contextmanager
def watch_fit(
    title: str, *, total: int | None = None, shown: bool = True, stream: TextIO | None = None
) -> Iterator[Step]:
    """Give a callback for an estimator.

    Parameters
    ----------
    title : str
        What is going on.
    total : int, optional
        Steps in all, where the estimator does not say.
    shown : bool, default=True
        Whether to show anything.
    stream : text stream, optional
        Standard error by default.

    Examples
    --------
    >>> import sys
    >>> with watch_fit("fitting", stream=sys.stdout) as step:
    ...     step({"done": 2, "total": 2})
    fitting: 2 of 2, 0 s
    """
    out = sys.stderr if stream is None else stream
    if not shown:
        yield lambda progress: None
    elif not out.isatty():
        yield _Lines(title, total, out, pause=_PAUSE)
    else:
        bar = _rich_bar(out)
        if bar is None:
            yield _Lines(title, total, out, pause=0.1, start=CLEAR_LINE, end="")
            out.write(CLEAR_LINE)
            return
        with bar:
            task = bar.add_task(title, total=total)
            yield lambda progress: bar.update(task, **_counts(progress, total))


@contextmanager
def watch_steps(*, shown: bool = True, stream: TextIO | None = None) -> Iterator[Say]:
    """Give a function to call with a few words at each step.

    Parameters
    ----------
    shown : bool, default=True
        Whether to show anything.
    stream : text stream, optional
        Standard error by default.

    Examples
    --------
    >>> import sys
    >>> with watch_steps(stream=sys.stdout) as say:
    ...     say("fold 1 of 5")
    fold 1 of 5
    """
    out = sys.stderr if stream is None else stream
    start, end = (CLEAR_LINE, "") if out.isatty() else ("", "\n")

    def say(text: str) -> None:
        if shown:
            out.write(f"{start}{text}{end}")
            out.flush()

    try:
        yield say
    finally:
        if shown and start:
            out.write(CLEAR_LINE)


class _Lines:
    """Plain lines, some time apart; the last step always has one."""

    def __init__(
        self,
        title: str,
        total: int | None,
        out: TextIO,
        *,
        pause: float,
        start: str = "",
        end: str = "\n",
    ) -> None:
        self.title, self.total, self.out, self.pause = title, total, out, pause
        self.start, self.end = start, end
        self.began = self.shown = time.monotonic()

    def __call__(self, progress: dict[str, Any]) -> None:
        counts = _counts(progress, self.total)
        done, total, now = counts["completed"], counts["total"], time.monotonic()
        if done != total and now - self.shown < self.pause:
            return
        self.shown = now
        text = f"{self.title}: {done} of {total or '?'}, {now - self.began:.0f} s"
        self.out.write(f"{self.start}{text}{self.end}")
        self.out.flush()


def _counts(progress: dict[str, Any], total: int | None) -> dict[str, Any]:
    done = progress.get("done", progress.get("iteration", 0))
    return {"completed": int(done), "total": progress.get("total") or total}


def _rich_bar(out: TextIO) -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed
    except ImportError:
        return None
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Elapsed())
    return Progress(*columns, console=Console(file=out), transient=True)
