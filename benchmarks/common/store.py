"""Results of a study as lines of JSON: appended at once, safe against a kill at any moment.

A line is one of two things::

    {"run": "1f3c9a", "versions": {...}, "protocol": "...", ...}     facts shared by many rows
    {"cell": {...}, "run": "1f3c9a", "cpu": 0.12, "test": 0.93}       one finished cell

Rows name their run instead of repeating its facts, which keeps the files small.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]


def cell_key(cell: Row) -> str:
    """The same text for the same cell, whatever the order of its fields."""
    return json.dumps(cell, sort_keys=True, separators=(",", ":"))


def rounded(value: Any, digits: int = 5) -> Any:
    """A copy with floats cut to significant digits, so that files stay small."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: rounded(entry, digits) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry, digits) for entry in value]
    return value


class ResultStore:
    """The file of one study.

    Parameters
    ----------
    path : Path
        Made on the first append.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, row: Row) -> None:
        """Write one line and wait until it is on the disk.

        One ``write`` to a file opened for appending is not mixed with that of another process, so
        two runs may share a file.
        """
        line = json.dumps(rounded(row), separators=(",", ":")).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            if self._is_torn(handle):
                line = b"\n" + line
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)

    def lines(self) -> list[Row]:
        """All whole lines; one torn by a kill is left out."""
        if not self.path.exists():
            return []
        found = []
        for text in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = json.loads(text)
            except json.JSONDecodeError:
                continue
            if isinstance(line, dict):
                found.append(line)
        return found

    def rows(self) -> list[Row]:
        """The latest row of every cell."""
        return list(self._latest(self.lines()).values())

    def runs(self) -> dict[str, Row]:
        """Facts of the runs by their name."""
        return {line["run"]: line for line in self.lines() if "cell" not in line}

    def finished(self, *, failures: bool = True) -> set[str]:
        """Keys of the cells that need no further work; failed ones count unless told otherwise."""
        rows = self.rows()
        return {cell_key(row["cell"]) for row in rows if failures or "failure" not in row}

    def compact(self) -> None:
        """Drop overwritten rows and unused runs; the file is replaced in one step."""
        latest = self._latest(self.lines())
        used = {row["run"] for row in latest.values()}
        kept = [run for name, run in self.runs().items() if name in used]
        self._replace([*kept, *(latest[key] for key in sorted(latest))])

    def _replace(self, lines: Iterable[Row]) -> None:
        draft = self.path.with_suffix(".part")
        with draft.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)

    @staticmethod
    def _latest(lines: Iterable[Row]) -> dict[str, Row]:
        return {cell_key(line["cell"]): line for line in lines if "cell" in line}

    @staticmethod
    def _is_torn(handle: int) -> bool:
        size = os.fstat(handle).st_size
        return size > 0 and os.pread(handle, 1, size - 1) != b"\n"
