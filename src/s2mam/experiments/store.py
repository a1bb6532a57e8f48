"""Finished cells as lines of JSON: on the disk at once, safe against a kill at any moment."""

from __future__ import annotations

import json
import os
from pathlib import Path

from s2mam.exceptions import InvalidInputError
from s2mam.experiments.cells import Cell, Record

__all__ = ["CellStore"]


class CellStore:
    """The file of a study.

    Parameters
    ----------
    path : path
        Made by the first `append`; one torn line, the mark of a kill, is passed over.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = CellStore(f"{folder}/cells.jsonl")
    ...     store.append({"cell": vars(Cell("clean", "null", 0, "m")), "scores": {"test": 59.0}})
    ...     [record["scores"] for record in store.records().values()]
    [{'test': 59.0}]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def append(self, record: Record) -> None:
        """Write one record and wait until it is on the disk.

        Parameters
        ----------
        record : dict
        """
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            if _is_torn(handle):
                line = b"\n" + line
            # One write to a file opened for appending does not mix with that of another process.
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)

    def records(self) -> dict[Cell, Record]:
        """The latest record of every cell."""
        found: dict[Cell, Record] = {}
        for record in self._lines():
            try:
                found[Cell(**record["cell"])] = record
            except (TypeError, KeyError) as error:
                raise InvalidInputError(
                    f"{self.path} is not a file of cells ({error}); give another output folder."
                ) from error
        return found

    def _lines(self) -> list[Record]:
        if not self.path.exists():
            return []
        lines = []
        for text in self.path.read_bytes().split(b"\n"):
            try:
                line = json.loads(text)
            except ValueError:  # torn by a kill, or empty
                continue
            lines.append(line)
        return lines


def _is_torn(handle: int) -> bool:
    size = os.fstat(handle).st_size
    return size > 0 and os.pread(handle, 1, size - 1) != b"\n"
