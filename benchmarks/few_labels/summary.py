"""Tables of the few-label study."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.common.store import Row
from benchmarks.common.tables import (
    count,
    group,
    markdown,
    mean,
    mean_ranks,
    mean_sd,
    seconds,
    wins,
)

from s2mam.datasets import info

OURS = "s2mam"
_ORDER = (
    "s2mam",
    "extra_trees",
    "forest",
    "ebm",
    "ebm_additive",
    "gp",
    "svm",
    "l2_logistic",
    "l1_logistic",
    "lasso",
    "label_spreading",
    "self_training",
    "null",
)
_TITLES = {
    "clean": "Without junk columns",
    "junk": "With 20 independent junk columns",
    "shadow": "With 20 shuffled columns of the table",
}
#: Differences of means up to this count as equal.
_TIE = 0.005


def summarize(rows: Sequence[Row]) -> str:
    """Ranks and wins first, then one table per data set."""
    parts = ["# Few labels: results", ""]
    for task in ("classification", "regression"):
        of_task = [row for row in rows if info(row["cell"]["data"]).task == task]
        if of_task:
            parts += overview(of_task, task)
    parts += ["## Per data set", ""]
    for name, of_set in sorted(group(rows, lambda row: row["cell"]["data"]).items()):
        parts += _data_set(name, of_set)
    return "\n".join(parts)


def overview(rows: Sequence[Row], task: str) -> list[str]:
    """Mean ranks, scores and wins of all methods, one table for every kind of columns."""
    parts = [f"## {task.capitalize()}", ""]
    for columns, title in _TITLES.items():
        chosen = [row for row in rows if row["cell"]["columns"] == columns]
        if not chosen:
            continue
        methods = _sorted_methods(chosen)
        scores = {field: _means(chosen, field) for field in ("test", "unl", "ll", "ece")}
        ranked, shared = _shared_seeds(chosen, methods)
        by_set = _means(shared, "test")
        ranks = mean_ranks(by_set, ranked)
        n_seeds = len({row["cell"]["seed"] for row in shared})
        lines = []
        for method in sorted(methods, key=lambda name: ranks.get(name, 99.0)):
            mine = [row for row in chosen if row["cell"]["method"] == method]
            lines.append(
                [
                    method,
                    f"{ranks[method]:.2f}" if method in ranks else "–",
                    *(_average(scores[field], method) for field in scores),
                    seconds(mine),
                    wins(_paired(chosen, OURS, method), OURS, method, _TIE)
                    if method != OURS
                    else "",
                    count(mine),
                ]
            )
        score = "accuracy" if task == "classification" else "R2"
        parts += [
            f"### {title}",
            "",
            f"Means over the data sets a method finished. Ranks: over the {len(by_set)} sets and "
            f"{n_seeds} seeds that all ranked methods have. Better, equal (within {_TIE}) and "
            "worse: sets, by the mean over the seeds that both have.",
            "",
            markdown(
                [
                    "method",
                    "mean rank",
                    f"{score}, test",
                    f"{score}, unlabelled",
                    "log-loss",
                    "calibration error",
                    "CPU s",
                    f"{OURS} better / equal / worse",
                    "cells",
                ],
                lines,
            ),
            "",
        ]
    return parts


def _data_set(name: str, rows: Sequence[Row]) -> list[str]:
    facts = info(name)
    shape = f"{facts.n_rows} x {facts.n_columns}"
    classes = f", {facts.n_classes} classes" if facts.n_classes else ""
    parts = [f"### {name} ({shape}{classes})", ""]
    lines = []
    for method in _sorted_methods(rows):
        mine = group(
            [row for row in rows if row["cell"]["method"] == method],
            lambda row: row["cell"]["columns"],
        )
        clean, *others = (mine.get(columns, []) for columns in _TITLES)
        fields = [mean_sd(rows, "test") for rows in (clean, *others)]
        fields.append(mean_sd(clean, "unl"))
        if facts.task == "classification":
            fields += [mean_sd(clean, "ll", 2), mean_sd(clean, "ece", 2)]
        lines.append([method, *fields, seconds(clean), count(sum(others, clean))])
    header = ["method", *(f"test, {columns}" for columns in _TITLES), "unlabelled, clean"]
    if facts.task == "classification":
        header += ["log-loss, clean", "ece, clean"]
    return [*parts, markdown([*header, "CPU s", "cells"], lines), ""]


def _sorted_methods(rows: Sequence[Row]) -> list[str]:
    found = {row["cell"]["method"] for row in rows}
    return [name for name in _ORDER if name in found] + sorted(found - set(_ORDER))


def _shared_seeds(rows: Sequence[Row], methods: Sequence[str]) -> tuple[list[str], list[Row]]:
    """Methods that were run widely, and the rows of the seeds and sets that all of them have.

    Others would be ranked on easier or harder cells; a method with less than nine tenths of our
    cells is left out.
    """
    places = {
        method: {
            (row["cell"]["data"], row["cell"]["seed"])
            for row in rows
            if row["cell"]["method"] == method and row.get("test") is not None
        }
        for method in methods
    }
    most = max((len(found) for found in places.values()), default=0)
    ranked = [method for method in methods if 10 * len(places[method]) >= 9 * most]
    common = set.intersection(*(places[method] for method in ranked)) if ranked else set()
    kept = [
        row
        for row in rows
        if (row["cell"]["data"], row["cell"]["seed"]) in common and row["cell"]["method"] in ranked
    ]
    return ranked, kept


def _paired(rows: Sequence[Row], one: str, other: str) -> dict[str, dict[str, float]]:
    """Means of two methods by data set, over the seeds that both finished."""
    scored = [
        row for row in rows if row["cell"]["method"] in (one, other) and row.get("test") is not None
    ]
    pairs = group(scored, lambda row: (row["cell"]["data"], row["cell"]["seed"]))
    return _means([row for pair in pairs.values() if len(pair) == 2 for row in pair], "test")


def _means(rows: Sequence[Row], field: str) -> dict[str, dict[str, float]]:
    """Mean of a field by data set and method."""
    table: dict[str, dict[str, float]] = {}
    for (name, method), chosen in group(
        rows, lambda row: (row["cell"]["data"], row["cell"]["method"])
    ).items():
        value = mean(chosen, field)
        if value is not None:
            table.setdefault(name, {})[method] = value
    return table


def _average(scores: dict[str, dict[str, float]], method: str) -> str:
    found = [row[method] for row in scores.values() if method in row]
    return f"{sum(found) / len(found):.3f}" if found else "–"
