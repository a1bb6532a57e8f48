"""Lines of a table that was written before, for cells that are not at hand any more."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from s2mam.exceptions import InvalidInputError
from s2mam.experiments.protocol import Protocol
from s2mam.experiments.summary import SCORES, Line, Moments

__all__ = ["kept_lines"]


def kept_lines(folder: str | os.PathLike[str], protocol: Protocol) -> list[Line]:
    """Lines of the study's table in a folder, of settings that are still the same.

    A table is much smaller than its cells and is often all that is passed on; a run that adds a
    system to it must not take the others out.

    Parameters
    ----------
    folder : path
        Holds ``<name>.csv`` and, to tell whether settings have changed, ``<name>.json``; without
        both there are no lines.
    protocol : Protocol
        The study.

    Returns
    -------
    list of Line
        Without claims, and without the text of failures.
    """
    place = Path(folder)
    table, facts = place / f"{protocol.name}.csv", place / f"{protocol.name}.json"
    if not (table.exists() and facts.exists()):
        return []
    before = Protocol.from_json(facts.read_text(encoding="utf-8"))
    marks = {setting.name: before.mark(setting) for setting in before.settings}
    same = {s.name for s in protocol.settings if marks.get(s.name) == protocol.mark(s)}
    try:
        with table.open(encoding="utf-8", newline="") as stream:
            lines = [_line(row) for row in csv.DictReader(stream) if row["setting"] in same]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{table} is not a table of this study ({error}); give another output folder."
        ) from error
    return [line for line in lines if line.scores or line.failed]


def _line(row: dict[str, str]) -> Line:
    count = int(row["cells"])
    scores = {}
    for name in SCORES:
        paired = name in ("test", "unlabeled")
        mean = row[f"{name}_mean" if paired else name]
        if mean and count:
            sd = row[f"{name}_sd"] if paired else ""
            median = row.get(f"{name}_median")  # tables of before have none
            scores[name] = Moments(float(mean), float(sd or "nan"), count, float(median or "nan"))
    return Line(
        setting=row["setting"],
        system=row["system"],
        metric=row["metric"],
        scores=scores,
        claims={},
        seconds=float(row["seconds"] or "nan"),
        failed=int(row["failed"]),
        error="in an earlier run" if int(row["failed"]) else "",
    )
