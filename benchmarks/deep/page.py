"""The page of the benchmark of the networks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

_NOTES = Path(__file__).parent / "notes.md"
# The size that the notes are about.
_NOTED = "2000x50"
_SCORES = {"classification": "accuracy", "regression": "R²"}


def page(cells: list[dict[str, Any]], facts: dict[str, Any]) -> str:
    """Tables, notes and failures as Markdown."""
    lines = [
        "# The networks among the baselines: cost and scores",
        "",
        f"{facts['protocol']}. {facts['note']} Mean ± standard deviation over the seeds; wall "
        "seconds of a fit. The supervised MLP has the layers, steps and batches of FlexMatch "
        "(classes) and PLF (numbers) and never sees an unlabelled row.",
        "",
        f"Machine: {facts['machine']}; GPU: {facts['gpu']}; torch {facts['torch']}, Python "
        f"{facts['versions']['python']}. Source {facts['source']}, commit {facts['commit']}.",
        f"Command: `{facts['command']}`.",
    ]
    for size, task in dict.fromkeys((c["size"], c["task"]) for c in cells):
        here = [c for c in cells if (c["size"], c["task"]) == (size, task)]
        lines += ["", f"## {task.capitalize()}, {size}", "", *_table(here, _SCORES[task])]
    if any(cell["size"] == _NOTED for cell in cells):
        lines += ["", "## What the figures say", "", _NOTES.read_text(encoding="utf-8").strip()]
    errors = [_failure(cell) for cell in cells if "error" in cell]
    return "\n".join([*lines, *(["", "Failures:", "", *errors] if errors else [])]) + "\n"


def _table(cells: list[dict[str, Any]], score: str) -> list[str]:
    labels = sorted({cell["labels"] for cell in cells})
    devices = sorted({cell["device"] for cell in cells})
    heads = [f"{count} labels: {score} | seeds" for count in labels]
    times = [f"{count} labels: {device}, s" for count in labels for device in devices]
    width = 2 * len(labels) + len(times)
    lines = [f"| system | {' | '.join([*heads, *times])} |", "|---|" + "---:|" * width]
    for system in dict.fromkeys(cell["system"] for cell in cells):
        own = [cell for cell in cells if cell["system"] == system]
        row = [_scores(_of(own, labels=count)) for count in labels]
        row += [
            _seconds(_of(own, labels=count, device=device))
            for count in labels
            for device in devices
        ]
        lines.append(f"| {own[0]['name']} | {' | '.join(row)} |")
    return lines


def _of(cells: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [c for c in cells if all(c[key] == value for key, value in wanted.items())]


def _scores(cells: list[dict[str, Any]]) -> str:
    """Mean, spread and number; where both devices ran, the GPU's, which the seconds are about."""
    done = [cell for cell in cells if "error" not in cell]
    if not done:
        return f"{_missing(cells)} | 0"
    last = max(cell["device"] for cell in done)
    values = [cell["score"] for cell in done if cell["device"] == last]
    spread = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
    return f"{mean(values):.2f}{spread} | {len(values)}"


def _seconds(cells: list[dict[str, Any]]) -> str:
    done = [cell["seconds"] for cell in cells if "error" not in cell]
    return f"{mean(done):.1f}" if done else _missing(cells)


def _missing(cells: Iterable[dict[str, Any]]) -> str:
    return "failed" if any(cells) else "–"


def _failure(cell: dict[str, Any]) -> str:
    facts = [str(cell[key]) for key in ("system", "size", "labels", "device", "seed")]
    return f"- {', '.join(facts)}: {cell['error']}"
