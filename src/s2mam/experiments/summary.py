"""From cells to the lines of a table: our mean and deviation, the paper's claim beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2mam.experiments.cells import Record
from s2mam.experiments.claims import Claim, read_claims
from s2mam.experiments.protocol import Protocol

__all__ = ["Line", "Moments", "claimed_name", "moments", "summarize"]

SCORES = ("test", "unlabeled", "recall", "precision", "selected")


@dataclass(frozen=True)
class Moments:
    """Mean, sample standard deviation (NaN for one value), number of values and their median."""

    mean: float
    sd: float
    count: int
    median: float


@dataclass(frozen=True)
class Line:
    """A system on a setting.

    Attributes
    ----------
    setting, system, metric : str
    scores : dict of str to Moments
        "test", "unlabeled" and, where they make sense, "recall", "precision", "selected".
    claims : dict of str to Claim
        The paper's figures for "test" and "unlabeled".
    seconds : float
        Mean CPU seconds of a cell, tuning included; NaN when nothing was run.
    failed : int
        Cells in which the system failed.
    error : str
        Of the first of them.
    """

    setting: str
    system: str
    metric: str
    scores: dict[str, Moments]
    claims: dict[str, Claim]
    seconds: float
    failed: int
    error: str


def moments(values: Sequence[float]) -> Moments:
    """Mean, sample standard deviation and median.

    Examples
    --------
    >>> moments([1.0, 3.0])
    Moments(mean=2.0, sd=1.4142135623730951, count=2, median=2.0)
    """
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    return Moments(float(np.mean(values)), sd, len(values), float(np.median(values)))


def claimed_name(system: str) -> str:
    """Name under which the paper reports a system: its claim stands beside each reading of ours.

    Examples
    --------
    >>> claimed_name("S2MAM (PAPER)"), claimed_name("LapSVM")
    ('S2MAM', 'LapSVM')
    """
    return "S2MAM" if system.startswith("S2MAM (PAPER") else system


def summarize(
    protocol: Protocol, records: Sequence[Record], kept: Sequence[Line] = ()
) -> list[Line]:
    """Lines of all tables of a protocol, in its order.

    Systems that the paper reports and the protocol does not name follow, with their claims alone.

    Parameters
    ----------
    protocol : Protocol
    records : sequence of dict
        As `run_protocol` returns them.
    kept : sequence of Line
        Lines for systems and settings without a record.

    Returns
    -------
    list of Line
    """
    claims = read_claims(protocol.claims)
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        key = (record["cell"]["setting"], record["cell"]["system"])
        groups.setdefault(key, []).append(record)
    before = {(line.setting, line.system): line for line in kept}
    lines = []
    for setting in protocol.settings:
        for system in protocol.systems:
            place = (setting.name, system)
            if place in groups:
                lines.append(_line(*place, setting.metric, groups[place]))
            elif place in before:
                lines.append(before[place])
        run = {claimed_name(system) for system in protocol.systems}
        reported = dict.fromkeys(name for place, name, _ in claims if place == setting.claim)
        lines += [
            _line(setting.name, name, setting.metric, []) for name in reported if name not in run
        ]
    places = {setting.name: setting.claim for setting in protocol.settings}
    return [_with_claims(line, claims, places[line.setting]) for line in lines]


def _line(setting: str, system: str, metric: str, records: list[Record]) -> Line:
    good = [record for record in records if "error" not in record]
    bad = [record for record in records if "error" in record]
    scores = {}
    for name in SCORES:
        values = [record["scores"][name] for record in good if name in record["scores"]]
        if values:
            scores[name] = moments(values)
    seconds = float(np.mean([r["seconds"] for r in records])) if records else float("nan")
    error = bad[0]["error"] if bad else ""
    return Line(setting, system, metric, scores, {}, seconds, len(bad), error)


def _with_claims(line: Line, claims: dict[tuple[str, str, str], Claim], place: str) -> Line:
    name = claimed_name(line.system)
    found = {
        part: claims[place, name, part]
        for part in ("test", "unlabeled")
        if (place, name, part) in claims
    }
    return Line(**{**vars(line), "claims": found})
