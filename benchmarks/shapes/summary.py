"""Table of the study of shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from benchmarks.common.store import Row
from benchmarks.common.tables import count, group, markdown, mean_sd, seconds


def summarize(rows: Sequence[Row]) -> str:
    """One line a table and number of labels, methods side by side, and who is ahead how often."""
    rows = [row for row in rows if row.get("test") is not None]
    parts = ["# Shapes: results", "", "R2 of numbers, accuracy of classes, on test rows.", ""]
    methods = sorted(
        {row["cell"]["method"] for row in rows}, key=lambda name: (name != "s2mam", name)
    )
    lines = []
    ahead = dict.fromkeys(methods, 0)
    cells = group(rows, lambda row: (row["cell"]["table"], row["cell"]["labels"]))
    for (table, labels), found in sorted(cells.items()):
        by_method = group(found, lambda row: row["cell"]["method"])
        means = {
            name: float(np.mean([row["test"] for row in of_method]))
            for name, of_method in by_method.items()
        }
        best = max(means, key=lambda name: means[name])
        ahead[best] += 1
        scores = [_bold(mean_sd(by_method.get(name, []), "test"), name == best) for name in methods]
        mine = by_method.get("s2mam", [])
        lines.append([table, str(labels), *scores, seconds(mine), count(mine)])
    header = ["columns-effect-target", "labels", *methods, "CPU s of s2mam", "seeds"]
    wins = ", ".join(f"{name} {number}" for name, number in ahead.items())
    parts += [f"Best mean, of {len(cells)} lines: {wins}.", "", markdown(header, lines), ""]
    return "\n".join(parts)


def _bold(text: str, best: bool) -> str:
    return f"**{text}**" if best else text
