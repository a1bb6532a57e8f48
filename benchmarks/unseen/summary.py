"""Tables of the study of unseen tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from benchmarks.common.store import Row
from benchmarks.common.tables import group, markdown, mean, mean_ranks, mean_sd
from benchmarks.few_labels.summary import OURS, overview
from benchmarks.unseen.tables import tables

_ALONE = "s2mam_labels"


def summarize(rows: Sequence[Row]) -> str:
    """The page of results."""
    known = tables()
    parts = ["# Tables that are in no other study: results", ""]
    for task in ("classification", "regression"):
        of_task = [row for row in rows if known[row["cell"]["data"]].task == task]
        if of_task:
            others = [row for row in of_task if row["cell"]["method"] != _ALONE]
            parts += overview(others, task)
            parts += _other_half(others, task)
            parts += _unlabelled(of_task, task)
            parts += _every_table(of_task)
    return "\n".join(parts)


def _other_half(rows: Sequence[Row], task: str) -> list[str]:
    """Ranks and scores on the tables that no choice was made on: every second one."""
    names = set(list(tables())[1::2])
    lines: dict[str, list[str]] = {}
    n_sets = 0
    for columns in ("clean", "junk"):
        chosen = [row for row in rows if row["cell"]["columns"] == columns]
        by_set = {
            name: {
                method: score
                for method, mine in group(of_set, lambda row: row["cell"]["method"]).items()
                if (score := mean(mine, "test")) is not None
            }
            for name, of_set in group(chosen, lambda row: row["cell"]["data"]).items()
            if name in names
        }
        if not by_set:
            continue
        n_sets = max(n_sets, len(by_set))
        methods = sorted(set.intersection(*(set(row) for row in by_set.values())))
        ranks = mean_ranks(by_set, methods)
        for method in sorted(ranks, key=lambda name: ranks[name]):
            score = float(np.mean([row[method] for row in by_set.values()]))
            lines.setdefault(method, [method]).extend([f"{ranks[method]:.2f}", f"{score:.3f}"])
    if not lines:
        return []
    score = "accuracy" if task == "classification" else "R2"
    head = ["method", "mean rank, clean", f"{score}, clean", "mean rank, junk", f"{score}, junk"]
    whole = [line for line in lines.values() if len(line) == len(head)]
    return [
        f"### The {n_sets} tables that no choice was made on",
        "",
        markdown(head, whole),
        "",
    ]


def _unlabelled(rows: Sequence[Row], task: str) -> list[str]:
    """What the unlabelled rows add, in points or hundredths of R2."""
    gains = []
    for name, of_table in group(rows, lambda row: row["cell"]["data"]).items():
        gain = _gain([row for row in of_table if row["cell"]["columns"] == "clean"])
        if gain is not None:
            gains.append((gain[0], gain[1], name))
    if not gains:
        return []
    worst = [f"{name} {100 * gain:.1f} ± {100 * error:.1f}" for gain, error, name in sorted(gains)]
    unit = "points of accuracy" if task == "classification" else "hundredths of R2"
    average = 100 * sum(gain for gain, *_ in gains) / len(gains)
    lost = sum(gain < -0.01 for gain, *_ in gains)
    won = sum(gain > 0.01 for gain, *_ in gains)
    sure = sum(gain < -0.01 and gain + 2 * error < 0 for gain, error, _ in gains)
    return [
        f"Unlabelled rows, clean columns: {average:+.1f} {unit} on average over {len(gains)} "
        f"tables against `{_ALONE}`; more than one better on {won}, more than one worse on {lost}, "
        f"{sure} of these by more than two standard errors. The five lowest (± standard error): "
        + "; ".join(worst[:5])
        + ".",
        "",
    ]


def _gain(rows: Sequence[Row]) -> tuple[float, float] | None:
    """Mean and standard error over the seeds that both have; None for less than two."""
    scores = {(row["cell"]["method"], row["cell"]["seed"]): row.get("test") for row in rows}
    gaps = [
        score - scores[_ALONE, seed]
        for (method, seed), score in scores.items()
        if method == OURS and score is not None and scores.get((_ALONE, seed)) is not None
    ]
    if len(gaps) < 2:
        return None
    return float(np.mean(gaps)), float(np.std(gaps, ddof=1) / np.sqrt(len(gaps)))


def _every_table(rows: Sequence[Row]) -> list[str]:
    """One line a table: ours and the best of the others, clean and with junk."""
    lines = []
    for name, of_table in sorted(group(rows, lambda row: row["cell"]["data"]).items()):
        line = [name]
        for columns in ("clean", "junk"):
            by_method = group(
                [row for row in of_table if row["cell"]["columns"] == columns],
                lambda row: row["cell"]["method"],
            )
            others = {
                method: mean(found, "test")
                for method, found in by_method.items()
                if method not in (OURS, _ALONE, "ebm") and mean(found, "test") is not None
            }
            best = max(others, key=lambda method: others[method], default="")
            line += [
                mean_sd(by_method.get(OURS, []), "test"),
                f"{best} {mean_sd(by_method[best], 'test')}" if best else "–",
            ]
        lines.append(line)
    head = ["table", f"{OURS}, clean", "best other, clean", f"{OURS}, junk", "best other, junk"]
    return [
        "The best of the others is chosen by the scores in this table, which flatters it.",
        "",
        markdown(head, lines),
        "",
    ]
