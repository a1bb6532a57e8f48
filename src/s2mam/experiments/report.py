"""Run a study and leave its tables in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from s2mam.experiments.cells import Record
from s2mam.experiments.kept_lines import kept_lines
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
    rerun: Collection[str] = (),
    device: str | None = None,
    whole: Protocol | None = None,
    progress: Callable[[int, str], AbstractContextManager[Advance]] = silent,
) -> Study:
    """Run what is missing of a study and write its tables.

    Parameters
    ----------
    protocol : Protocol
    folder : path
        Made when it is not there; cells found in it are not computed again.
    n_jobs, data_home, retry_failed, rerun, device, progress
        As in `run_protocol`.
    whole : Protocol, optional
        The study that `protocol` is a part of. The tables hold all of its cells in the folder, so
        that systems, settings and repeats can be run one after the other; lines of a table that is
        there already stay where there are no cells.

    Returns
    -------
    Study
    """
    place = Path(folder)
    store = CellStore(place / f"{protocol.name}.jsonl")
    run_protocol(
        protocol,
        store,
        n_jobs=n_jobs,
        data_home=data_home,
        retry_failed=retry_failed,
        rerun=rerun,
        device=device,
        progress=progress,
    )
    study = protocol if whole is None else whole
    kept = kept_lines(place, study)
    done, records = _gathered(study, store, kept)
    lines = summarize(done, records, kept)
    text = study_text(done, lines, _origins(records, lines))
    texts = {"md": text, "csv": csv_text(line_rows(lines)), "json": done.to_json() + "\n"}
    paths = [place / f"{protocol.name}.{ending}" for ending in texts]
    for path, content in zip(paths, texts.values(), strict=True):
        write_text(path, content)
    return Study(lines, text, [*paths, store.path])


def _gathered(whole: Protocol, store: CellStore, kept: list[Line]) -> tuple[Protocol, list[Record]]:
    """What is done of a study: the protocol cut down to it, and its cells."""
    marks = {setting.name: whole.mark(setting) for setting in whole.settings}
    found = {
        cell: record
        for cell, record in store.records().items()
        if marks.get(cell.setting) == cell.mark
    }
    seen = dict.fromkeys([cell.system for cell in found] + [line.system for line in kept])
    names = {cell.setting for cell in found} | {line.setting for line in kept}
    systems = [name for name in whole.systems if name in seen]
    done = replace(
        whole,
        settings=tuple(setting for setting in whole.settings if setting.name in names),
        systems=(*systems, *(name for name in seen if name not in systems)),
        repeats=max([cell.repeat + 1 for cell in found] + [_cells(line) for line in kept] + [1]),
    )
    # In the order of the repeats, so that a run in pieces sums as one in one go.
    return done, [found[cell] for cell in sorted(found, key=lambda cell: cell.repeat)]


def _cells(line: Line) -> int:
    return line.failed + (line.scores["test"].count if "test" in line.scores else 0)


def _origins(records: list[Record], lines: list[Line]) -> list[str]:
    """Versions and states of the code that the cells come from, with their systems."""
    groups: dict[str, list[str]] = {}
    for record in records:
        state = f"{record['version']} ({record['code']})"
        if "device" in record:
            state += f" on {record['device']}"
        groups.setdefault(state, []).append(record["cell"]["system"])
    known = {(record["cell"]["setting"], record["cell"]["system"]) for record in records}
    for line in lines:
        if (line.setting, line.system) not in known:
            state = "in an earlier run, whose cells are not at hand"
            groups.setdefault(state, []).extend([line.system] * _cells(line))
    return [
        f"{state}: {len(names)} cells of {', '.join(dict.fromkeys(names))}"
        for state, names in sorted(groups.items())
        if names
    ]
