"""The table of very many columns."""

from __future__ import annotations

from statistics import mean
from typing import Any

from benchmarks.scale.wide import INFORMATIVE, LABELED, ROWS

_TITLES = {"wide": "s2mam", "wide_lasso": "lasso, cross-validated"}


def wide_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Means over the seeds; times and memory are the least and the most."""
    lines = [
        "## Very many columns",
        "",
        f"{ROWS} rows, {LABELED} of them labelled, {INFORMATIVE} columns that matter.",
        "",
        "| columns | table | method | seeds | CPU s, least | MB of the fit, most | R2, fresh rows "
        "| found | selected |",
        "| --: | :-- | :-- | --: | --: | --: | --: | --: | --: |",
    ]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["p"], row["kind"], row["method"]), []).append(row)
    for (p, kind, method), group in groups.items():
        done = [row for row in group if "failure" not in row]
        start = f"| {p:,} | {kind} | {_TITLES[method]} | {len(done)} "
        if not done:
            lines.append(f"{start}| {group[0]['failure']} | | | | |")
            continue
        lines.append(
            f"{start}| {min(row['cpu_seconds'] for row in done):.1f} "
            f"| {max(row['fit_mb'] for row in done):.0f} | {mean(row['r2'] for row in done):.2f} "
            f"| {mean(row['found'] for row in done):.1f} of {INFORMATIVE} "
            f"| {mean(row['selected'] for row in done):.1f} |"
        )
    return [*lines, ""]
