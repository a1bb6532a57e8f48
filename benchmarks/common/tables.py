"""Markdown tables of means over seeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from benchmarks.common.store import Row
from scipy.stats import rankdata


def group(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> dict[Any, list[Row]]:
    """Rows by key, in order of appearance."""
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return dict(found)


def values(rows: Iterable[Row], field: str) -> list[float]:
    """Values of a field where it is there."""
    return [row[field] for row in rows if row.get(field) is not None]


def mean(rows: Iterable[Row], field: str) -> float | None:
    """Mean over the rows that have the field."""
    found = values(rows, field)
    return float(np.mean(found)) if found else None


def mean_sd(rows: Iterable[Row], field: str, digits: int = 3) -> str:
    """Mean ± sample standard deviation, or a dash."""
    found = values(rows, field)
    if not found:
        return "–"
    if len(found) == 1:
        return f"{found[0]:.{digits}f}"
    return f"{np.mean(found):.{digits}f} ± {np.std(found, ddof=1):.{digits}f}"


def seconds(rows: Iterable[Row]) -> str:
    """Mean CPU seconds of a fit."""
    found = mean(rows, "cpu")
    return "–" if found is None else f"{found:.2g}" if found < 10 else f"{found:.0f}"


def count(rows: Sequence[Row]) -> str:
    """Number of seeds, and how many of them failed."""
    failed = sum("failure" in row for row in rows)
    return f"{len(rows) - failed}" + (f" ({failed} failed)" if failed else "")


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table; the first column is left, the others right."""
    rule = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *lines])


def mean_ranks(scores: dict[Any, dict[str, float]], methods: Sequence[str]) -> dict[str, float]:
    """Mean rank (1 is best, larger scores are better) over the sets that all methods have."""
    complete = [[row[m] for m in methods] for row in scores.values() if set(methods) <= set(row)]
    if not complete:
        return {}
    ranks = rankdata(-np.asarray(complete), axis=1).mean(axis=0)
    return dict(zip(methods, map(float, ranks), strict=True))


def wins(scores: dict[Any, dict[str, float]], one: str, other: str, tie: float = 0.0) -> str:
    """How often one method is better, equal (within ``tie``) and worse than another."""
    gaps = [row[one] - row[other] for row in scores.values() if one in row and other in row]
    better = sum(gap > tie for gap in gaps)
    worse = sum(gap < -tie for gap in gaps)
    return f"{better} / {len(gaps) - better - worse} / {worse}"
