"""Do networks find the columns, and what do they cost beside kernels?

    python benchmarks/neural/run.py [--seeds 3] [--problems additive_50,multiclass]

Problems of ``benchmarks/selection`` with known columns: numbers, two classes with wrong labels, and
three classes. Prints every fit and writes ``results.jsonl`` and ``results.md`` beside this file.
Needs torch; one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

import numpy as np
from benchmarks.common.environment import run_facts
from benchmarks.selection.problems import SETTINGS, Drawn, draw
from threadpoolctl import threadpool_limits

from s2mam import S2MAMClassifier, S2MAMRegressor

HERE = Path(__file__).parent
PROBLEMS = ("additive_50", "label_noise", "multiclass")
NEURAL = {"basis": "neural"}
KERNEL = {"mask_learner": "relaxed"}
#: Settings of a method, and whether it is told the number of columns.
METHODS: dict[str, tuple[dict[str, Any], bool]] = {
    "neural": (NEURAL, True),
    "neural, number unknown": (NEURAL, False),
    "neural, held-out labels": ({**NEURAL, "criterion": "loo"}, True),
    "kernel": (KERNEL, True),
    "kernel, number unknown": (KERNEL, False),
    "kernel, default learner": ({}, False),
}


def fit(drawn: Drawn, seed: int, settings: dict[str, Any], known: bool) -> dict[str, Any]:
    """Fit all columns."""
    size = {"n_features_to_select": drawn.n_select} if known else {}
    model, cpu = _timed(drawn, np.arange(drawn.informative.size), seed, {**settings, **size})
    found = model.get_support()
    right = int((found & drawn.informative).sum())
    return {
        "right": right,
        "kept": int(found.sum()),
        "score": float(model.score(drawn.problem.X_test, drawn.problem.y_test)),
        "cpu": cpu,
    }


def fit_oracle(drawn: Drawn, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Fit the informative columns alone."""
    columns = np.flatnonzero(drawn.informative)
    size = {"n_features_to_select": columns.size}
    model, cpu = _timed(drawn, columns, seed, {**settings, **size})
    score = model.score(drawn.problem.X_test[:, columns], drawn.problem.y_test)
    return {"right": columns.size, "kept": columns.size, "score": float(score), "cpu": cpu}


def fit_null(drawn: Drawn) -> dict[str, Any]:
    """The most frequent class, or the mean."""
    problem = drawn.problem
    shown = problem.y[problem.labeled]
    if problem.task == "regression":
        residual = np.mean((problem.y_test - shown.mean()) ** 2)
        score = 1.0 - residual / np.var(problem.y_test)
    else:
        score = np.mean(problem.y_test == np.bincount(shown).argmax())
    return {"right": 0, "kept": 0, "score": float(score), "cpu": 0.0}


def _timed(drawn: Drawn, columns: Any, seed: int, settings: dict[str, Any]) -> tuple[Any, float]:
    problem = drawn.problem
    cls = S2MAMRegressor if problem.task == "regression" else S2MAMClassifier
    model = cls(**settings, random_state=seed)
    began = time.process_time()
    model.fit(problem.X[:, columns], problem.shown)
    return model, time.process_time() - began


def all_methods() -> dict[str, Callable[[Drawn, int], dict[str, Any]]]:
    """Methods by their names in the tables."""
    found: dict[str, Callable[[Drawn, int], dict[str, Any]]] = {
        name: lambda drawn, seed, settings=settings, known=known: fit(drawn, seed, settings, known)
        for name, (settings, known) in METHODS.items()
    }
    found["oracle mask, neural"] = lambda drawn, seed: fit_oracle(drawn, seed, NEURAL)
    found["oracle mask, kernel"] = lambda drawn, seed: fit_oracle(drawn, seed, KERNEL)
    found["null"] = lambda drawn, seed: fit_null(drawn)
    return found


def page(rows: list[dict[str, Any]], facts: dict[str, Any]) -> str:
    """The tables."""
    lines = [
        "# Networks and kernels: columns found, scores and cost",
        "",
        "200 rows of training, a part of them labelled; scores (R² or accuracy) on 1000 fresh",
        'rows; mean ± standard deviation over the seeds. "neural" and "kernel" have one mask, the',
        "best found by the evidence of their own features; all but those that say otherwise are",
        "told how many columns matter. The seeds took no part in choosing any setting.",
        "",
        f"Machine: {facts['machine']}, one thread; Python {facts['versions']['python']}, s2mam "
        f"source {facts['source']}. Command: `python benchmarks/neural/run.py`.",
    ]
    for problem in dict.fromkeys(row["problem"] for row in rows):
        own = [row for row in rows if row["problem"] == problem]
        lines += ["", f"## {SETTINGS[problem].title}", ""]
        lines += ["| method | found | recall | precision | score | CPU s |", "|---|" + "--:|" * 5]
        for method in dict.fromkeys(row["method"] for row in own):
            lines.append(_line(method, [row for row in own if row["method"] == method]))
    notes = HERE / "notes.md"
    if notes.exists():
        lines += ["", "## What the figures say", "", notes.read_text(encoding="utf-8").strip()]
    return "\n".join(lines) + "\n"


def _line(method: str, rows: list[dict[str, Any]]) -> str:
    right, real = (sum(row[key] for row in rows) for key in ("right", "real"))
    recall = [row["right"] / row["real"] for row in rows]
    precision = [row["right"] / row["kept"] for row in rows if row["kept"]]
    cells = [f"{right} of {real}", _spread(recall), _spread(precision)]
    if method == "null":
        cells = ["–", "–", "–"]
    cells.append(_spread([row["score"] for row in rows]))
    return f"| {method} | {' | '.join(cells)} | {mean(row['cpu'] for row in rows):.1f} |"


def _spread(values: list[float]) -> str:
    if not values:
        return "–"
    return f"{mean(values):.2f} ± {stdev(values) if len(values) > 1 else 0.0:.2f}"


def main() -> int:
    """Fit everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="how many, from 0 on")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="with commas")
    parser.add_argument("--methods", default="*", help="start of a name")
    parser.add_argument("--output", type=Path, default=HERE)
    asked = parser.parse_args()
    import torch  # before any clock starts

    torch.set_num_threads(1)
    threadpool_limits(1)
    facts, rows = run_facts("neural", "columns found by networks"), []
    for problem in asked.problems.split(","):
        for name, method in all_methods().items():
            if asked.methods != "*" and not name.startswith(asked.methods):
                continue
            for seed in range(asked.seeds):
                drawn = draw(problem, seed)
                found = {"real": drawn.n_select, **method(drawn, seed)}
                rows.append({"problem": problem, "method": name, "seed": seed, **found})
                print(json.dumps(rows[-1]), flush=True)
    asked.output.mkdir(parents=True, exist_ok=True)
    text = "\n".join(json.dumps(row) for row in [facts, *rows])
    (asked.output / "results.jsonl").write_text(text + "\n", encoding="utf-8")
    (asked.output / "results.md").write_text(page(rows, facts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
