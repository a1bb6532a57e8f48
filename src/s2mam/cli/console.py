"""How a command speaks: results, notes, warnings, one-line errors, exit codes."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from s2mam.exceptions import S2MAMError, S2MAMWarning

__all__ = [
    "CLEAR_LINE",
    "INTERRUPTED",
    "PIPE_CLOSED",
    "Console",
    "Debug",
    "Jobs",
    "Json",
    "Quiet",
    "session",
]

#: Exit codes as a shell gives them for the signals.
INTERRUPTED, PIPE_CLOSED = 130, 141
#: Back to the start of the line of a terminal, and wipe it.
CLEAR_LINE = "\r\033[K"


def _some(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("give 1 or more, or -1 for all cores.")
    return jobs


Jobs = Annotated[
    int,
    typer.Option("--n-jobs", callback=_some, help="Fits side by side; -1 for all cores."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings and errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]

# What bad input may raise in this package and in the libraries below it.
_EXPECTED = (S2MAMError, OSError, ValueError, TypeError, MemoryError)


@dataclass
class Console:
    """Results go to standard output, all else to standard error.

    Parameters
    ----------
    as_json : bool
        One JSON object with everything in it, instead of text.
    quiet : bool
        No notes and no progress, and no results that are on disk as well.

    Examples
    --------
    >>> console = Console(as_json=True)
    >>> console.note("read 3 rows")
    >>> console.result(["never shown"], rows=3)
    {"rows": 3, "notes": ["read 3 rows"], "warnings": []}
    """

    as_json: bool = False
    quiet: bool = False
    notes: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    _waiting: str = field(default="", repr=False)

    @property
    def talks(self) -> bool:
        """Whether notes and progress are shown."""
        return not (self.as_json or self.quiet)

    def wait(self, text: str) -> None:
        """On a terminal, say in the last line what takes a while, until `go_on`."""
        if self.talks and sys.stderr.isatty():
            self._waiting = f"{text} ..."
            self._write(CLEAR_LINE + self._waiting)

    def go_on(self) -> None:
        """Wipe what `wait` wrote."""
        if self._waiting:
            self._waiting = ""
            self._write(CLEAR_LINE)

    def note(self, text: str) -> None:
        """Say what was done with the input."""
        self.notes.append(text)
        if self.talks:
            self._tell(text)

    def warn(self, text: str) -> None:
        """Say what may be wrong, once."""
        if text in self.warned:
            return
        self.warned.append(text)
        if not self.as_json:
            self._tell(f"s2mam: warning: {text}")

    def result(self, lines: Iterable[str], **values: Any) -> None:
        """Write the result: lines for people, or values for machines."""
        self.go_on()
        if self.as_json:
            tree = {**values, "notes": self.notes, "warnings": self.warned}
            typer.echo(json.dumps(_plain(tree), allow_nan=False))
        elif not self.quiet:
            for line in lines:
                typer.echo(line)

    def _tell(self, text: str) -> None:
        if self._waiting:
            self._write(CLEAR_LINE)
        typer.echo(text, err=True)
        if self._waiting:
            self._write(self._waiting)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def session(
    *, as_json: bool = False, quiet: bool = False, debug: bool = False
) -> Iterator[Console]:
    """Run a command: errors become one line and exit code 1, warnings one line each.

    Parameters
    ----------
    as_json, quiet : bool
        See `Console`.
    debug : bool
        Let errors through, with their traceback.

    Yields
    ------
    Console
    """
    console = Console(as_json=as_json, quiet=quiet)
    with warnings.catch_warnings():
        warnings.simplefilter("always", S2MAMWarning)
        # catch_warnings puts the old one back
        warnings.showwarning = lambda message, *_, **__: console.warn(_one_line(message))
        try:
            try:
                yield console
            finally:
                console.go_on()
        except KeyboardInterrupt as stop:
            typer.echo("s2mam: stopped.", err=True)
            raise typer.Exit(INTERRUPTED) from stop
        except _EXPECTED as error:
            if _is_closed_pipe(error):
                drop_output()
                raise typer.Exit(PIPE_CLOSED) from error
            if debug:
                raise
            _report(error, as_json)
            raise typer.Exit(1) from error


def drop_output() -> None:
    """Nobody reads standard output any more; what is still in its buffer goes nowhere."""
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, sys.__stdout__.fileno() if sys.__stdout__ is not None else 1)
    os.close(descriptor)


def _report(error: BaseException, as_json: bool) -> None:
    text = _one_line(error) or type(error).__name__
    if isinstance(error, MemoryError) and not isinstance(error, S2MAMError):
        text = f"There is not enough memory ({text})."
    elif not isinstance(error, S2MAMError | OSError):
        text = f"{text} (--debug shows where)"
    if as_json:
        typer.echo(json.dumps({"error": text}))
    typer.echo(f"s2mam: error: {text}", err=True)


def _is_closed_pipe(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EPIPE


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _plain(value: Any) -> Any:
    """JSON has no numpy, no NaN and no infinity."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
