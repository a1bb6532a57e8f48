"""Run a study and leave its tables in a folder."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from s2mam.experiments.cells import Record
from s2mam.experiments.progress import Advance, silent
from s2mam.experiments.protocol import Protocol
from s2mam.experiments.runner import run_protocol
from s2mam.experiments.store import CellStore
from s2mam.experiments.summary import Line, summarize
from s2mam.experiments.tables import csv_text, line_rows, study_text, write_text

__all__ = ["Study", "run_study"]


@dataclass(frozen=True)
class Study:
    """A finished study.

    Attributes
    ----------
    lines : list of Line
    text : str
        The tables as Markdown.
    paths : list of Path
        ``<name>.md``, ``<name>.csv``, ``<name>.json`` (the protocol), ``<name>.jsonl`` (the cells).
    """

    lines: list[Line]
    text: str
    paths: list[Path]


def run_study(
    protocol: Protocol,
    folder: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    data_home: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    progress: Callable[[int, str], AbstractContextManager[Advance]] = silent,
) -> Study:
    """Run what is missing of a study and write its tables.

    Parameters
    ----------
    protocol : Protocol
    folder : path
        Made when it is not there; cells found in it are not computed again.
    n_jobs, data_home, retry_failed, progress
        As in `run_protocol`.

    Returns
    -------
    Study
    """
    place = Path(folder)
    store = CellStore(place / f"{protocol.name}.jsonl")
    records = run_protocol(
        protocol,
        store,
        n_jobs=n_jobs,
        data_home=data_home,
        retry_failed=retry_failed,
        progress=progress,
    )
    lines = summarize(protocol, records)
    text = study_text(protocol, lines, _origins(records))
    texts = {"md": text, "csv": csv_text(line_rows(lines)), "json": protocol.to_json() + "\n"}
    paths = [place / f"{protocol.name}.{ending}" for ending in texts]
    for path, content in zip(paths, texts.values(), strict=True):
        write_text(path, content)
    return Study(lines, text, [*paths, store.path])


def _origins(records: list[Record]) -> list[str]:
    """Versions and states of the code that the cells come from, with the number of cells."""
    counts = Counter(f"{record['version']} ({record['code']})" for record in records)
    return [f"{name}: {count} cells" for name, count in sorted(counts.items())]
