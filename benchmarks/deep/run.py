"""What a fit of each network costs, on the processor and on a GPU.

    python benchmarks/deep/run.py                         # all systems, sizes and devices
    python benchmarks/deep/run.py --devices cpu --systems 'DAN*,PLF' --sizes 2000x50
    python benchmarks/deep/run.py --quick                 # a minute, to see that it works

Every fit runs in a process of its own, with the system's defaults, after a fit of five steps that
is not counted (it loads torch's parts and wakes the GPU). Fits on the processor use one thread each
and run side by side, one per two cores; fits on the GPU run one after the other. Needs s2mam and
torch alone. Writes ``results.json`` (after every fit) and ``results.md``, beside this file or in
the folder that ``--output`` names.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from benchmarks.common.environment import run_facts, single_thread

SIZES = ("2000x50", "20000x100")
LABELED = 0.05
TEST_ROWS = 1000
PROTOCOL = (
    f"{LABELED:.0%} of the rows labelled; sums of curves of five of the columns, with noise, cut "
    "into three classes for classification; wall seconds of fit"
)


def problem(rows: int, columns: int, classification: bool) -> tuple[Any, Any, Any, Any]:
    """Table, partly hidden target, test table, test target."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + TEST_ROWS, columns))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] + np.abs(X[:, 2]) + X[:, 3] ** 2 / 2 - np.cos(X[:, 4])
    y = signal + 0.1 * rng.normal(size=signal.size)
    hidden = np.arange(rows) >= LABELED * rows
    if classification:
        y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
        return X[:rows], np.where(hidden, -1, y[:rows]), X[rows:], y[rows:]
    return X[:rows], np.where(hidden, np.nan, y[:rows]), X[rows:], y[rows:]


def networks() -> dict[str, Any]:
    """Classes of the baselines that need torch, by name."""
    from s2mam.baselines import all_baselines

    return {name: cls for name, cls in all_baselines().items() if "torch" in cls.requires}


def measure(name: str, size: str, device: str, steps: int | None) -> dict[str, Any]:
    """Fit once in this process."""
    import torch

    from s2mam.baselines.base import BaselineClassifier

    cls = networks()[name]
    rows, columns = map(int, size.split("x"))
    X, y, X_test, y_test = problem(rows, columns, issubclass(cls, BaselineClassifier))
    settings: dict[str, Any] = {"random_state": 0, "device": device}
    cls(**settings, max_iter=5).fit(X[:500], y[:500])
    model = cls(**settings) if steps is None else cls(**settings, max_iter=steps)
    started = time.perf_counter()
    model.fit(X, y)
    if device == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    facts = {
        "seconds": round(seconds, 3),
        "steps": getattr(model, "n_iter_", None),
        "score": round(float(model.score(X_test, y_test)), 4),
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    if device == "cuda":
        facts["gpu_megabytes"] = round(torch.cuda.max_memory_allocated() / 2**20)
    return facts


def run_cell(name: str, size: str, device: str, steps: int | None, limit: float) -> dict[str, Any]:
    """Fit in a process of its own; failures are facts too."""
    command = [sys.executable, __file__, "--measure", name, size, device, str(steps or 0)]
    cell = {"system": name, "size": size, "device": device}
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **single_thread()},
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return {**cell, "error": f"stopped after {limit:g} s"}
    if done.returncode:
        return {**cell, "error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return {**cell, **json.loads(done.stdout.splitlines()[-1])}


def table(cells: list[dict[str, Any]], facts: dict[str, Any]) -> str:
    """The results as Markdown."""
    devices = sorted({cell["device"] for cell in cells})
    found = {(c["system"], c["size"], c["device"]): c for c in cells}
    lines = [
        "# Cost of the networks among the baselines",
        "",
        f"{facts['protocol']}. {facts['note']}",
        "",
        f"Machine: {facts['machine']}; GPU: {facts['gpu']}; torch {facts['torch']}, Python "
        f"{facts['versions']['python']}. Source {facts['source']}, commit {facts['commit']}.",
        "Score: accuracy, or R² for regression, on 1000 fresh rows. Command: "
        "`python benchmarks/deep/run.py`.",
        "",
        "| system | rows x columns | " + " | ".join(f"{d}, s" for d in devices) + " | score |",
        "|---|---|" + "---:|" * (len(devices) + 1),
    ]
    for name, size in dict.fromkeys((c["system"], c["size"]) for c in cells):
        row = [found.get((name, size, device)) for device in devices]
        times = [_shown(cell, "seconds") for cell in row]
        scores = dict.fromkeys(_shown(cell, "score") for cell in row if cell and "score" in cell)
        lines.append(f"| {name} | {size} | {' | '.join(times)} | {' / '.join(scores) or '–'} |")
    errors = [
        f"- {c['system']}, {c['size']}, {c['device']}: {c['error']}" for c in cells if "error" in c
    ]
    return "\n".join([*lines, *(["", "Failures:", "", *errors] if errors else [])]) + "\n"


def _shown(cell: dict[str, Any] | None, key: str) -> str:
    if cell is None:
        return "–"
    return "failed" if "error" in cell else f"{cell[key]:.2f}"


def all_facts(steps: int | None) -> dict[str, Any]:
    """What the figures depend on."""
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    note = "Default settings." if steps is None else f"Only {steps} steps each."
    return {
        **run_facts("deep", PROTOCOL),
        "gpu": gpu,
        "torch": torch.__version__,
        "note": note,
        "processor": platform.processor() or platform.machine(),
    }


def main() -> int:
    """Measure all cells and write the tables."""
    import torch

    there = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", default="*", help="patterns, with commas between them")
    parser.add_argument("--sizes", default=",".join(SIZES), help="rows x columns, with commas")
    parser.add_argument("--devices", default=",".join(there), help="of cpu, cuda")
    parser.add_argument("--steps", type=int, help="max_iter of every fit, instead of defaults")
    parser.add_argument("--limit", type=float, default=540.0, help="seconds of a fit at most")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("--quick", action="store_true", help="20 steps of a small size")
    asked = parser.parse_args()
    if asked.quick:
        asked.steps, asked.sizes = 20, "500x20"
        if asked.output == Path(__file__).parent:
            asked.output = Path(tempfile.gettempdir()) / "s2mam-bench-deep-quick"
    patterns = asked.systems.split(",")
    names = [name for name in networks() if any(fnmatch.fnmatch(name, p) for p in patterns)]
    work = [
        (name, size, device)
        for device in asked.devices.split(",")
        for size in asked.sizes.split(",")
        for name in names
    ]
    facts = all_facts(asked.steps)
    asked.output.mkdir(parents=True, exist_ok=True)
    cells: list[dict[str, Any]] = []
    for device in asked.devices.split(","):
        # The largest fits first, so that no core waits for a late one; a GPU is not shared.
        here = [cell for cell in work if cell[2] == device][::-1]
        jobs = max((os.cpu_count() or 2) // 2, 1) if device == "cpu" else 1
        with ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(run_cell, *cell, asked.steps, asked.limit) for cell in here]
            for future in as_completed(futures):
                cells.append(future.result())
                print(json.dumps(cells[-1]), flush=True)
                cells.sort(key=lambda c: (asked.sizes.index(c["size"]), c["system"], c["device"]))
                text = json.dumps({"facts": facts, "cells": cells}, indent=1)
                (asked.output / "results.json").write_text(text + "\n", encoding="utf-8")
                (asked.output / "results.md").write_text(table(cells, facts), encoding="utf-8")
    print(table(cells, facts))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        _, _, system, shape, place, count = sys.argv
        print(json.dumps(measure(system, shape, place, int(count) or None)))
        sys.exit(0)
    sys.exit(main())
