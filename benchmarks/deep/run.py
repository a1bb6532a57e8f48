"""What a fit of each network costs, on the processor and on a GPU, and what it is worth.

    python benchmarks/deep/run.py                         # all systems, sizes and devices
    python benchmarks/deep/run.py --devices cpu --systems 'DAN*,PLF*' --sizes 2000x50
    python benchmarks/deep/run.py --quick                 # a minute, to see that it works

Every fit runs in a process of its own, with the system's defaults, after a fit of five steps that
is not counted (it loads torch's parts and wakes the GPU). Fits on the processor use one thread each
and run side by side, one per two cores; fits on the GPU run one after the other unless
``--gpu-jobs`` says otherwise. Three references stand beside the networks: the answer without
columns, a supervised network with the same trunk, and S2MAM, which needs no GPU. Needs s2mam and
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
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from benchmarks.common.environment import run_facts, single_thread
from benchmarks.deep.page import page
from benchmarks.deep.systems import PROTOCOL, problem, systems

SIZES = ("2000x50", "20000x100")
LABELS = (100, 1000)


class Cell(NamedTuple):
    """One fit; system is the key of one."""

    system: str
    size: str
    labels: int
    seed: int
    device: str


def measure(cell: Cell, steps: int | None) -> dict[str, Any]:
    """Fit once in this process."""
    import torch

    system = systems()[cell.system]
    X, y, X_test, y_test = problem(cell.size, cell.labels, system.task, cell.seed)
    settings: dict[str, Any] = {"random_state": cell.seed}
    if system.network:
        settings["device"] = cell.device
        system.make(**settings, max_iter=5).fit(X[:500], y[:500])
        settings |= {} if steps is None else {"max_iter": steps}
    model = system.make(**settings)
    started = time.perf_counter()
    model.fit(X, y)
    if cell.device == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    facts = {
        "seconds": round(seconds, 3),
        "steps": getattr(model, "n_iter_", None) if system.network else None,
        "score": round(float(model.score(X_test, y_test)), 4),
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    if cell.device == "cuda":
        facts["gpu_megabytes"] = round(torch.cuda.max_memory_allocated() / 2**20)
    return facts


def run_cell(
    cell: Cell, steps: int | None, limit: float, start_before: float
) -> dict[str, Any] | None:
    """Fit in a process of its own; failures are facts too. None where it is too late to start."""
    if time.monotonic() > start_before:
        return None
    system = systems()[cell.system]
    row = {**cell._asdict(), "name": system.name, "task": system.task}
    command = [sys.executable, __file__, "--measure", *map(str, cell), str(steps or 0)]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **single_thread()},
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return {**row, "error": f"stopped after {limit:g} s"}
    if done.returncode:
        return {**row, "error": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return {**row, **json.loads(done.stdout.splitlines()[-1])}


def all_facts(asked: argparse.Namespace) -> dict[str, Any]:
    """What the figures depend on."""
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    note = "Default settings." if asked.steps is None else f"Only {asked.steps} steps each."
    if asked.gpu_jobs > 1 and "cuda" in asked.devices:
        note += f" {asked.gpu_jobs} fits at a time share the GPU."
    return {
        **run_facts("deep", PROTOCOL),
        "gpu": gpu,
        "torch": torch.__version__,
        "note": note,
        "command": " ".join(["python benchmarks/deep/run.py", *sys.argv[1:]]),
        "processor": platform.processor() or platform.machine(),
    }


def read_options() -> argparse.Namespace:
    """The command line."""
    import torch

    there = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", default="*", help="patterns, with commas between them")
    parser.add_argument("--sizes", default=",".join(SIZES), help="rows x columns, with commas")
    parser.add_argument("--labels", default=",".join(map(str, LABELS)), help="numbers, with commas")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--devices", default=",".join(there), help="of cpu, cuda")
    parser.add_argument("--gpu-jobs", type=int, default=1, help="fits on the GPU at a time")
    parser.add_argument("--steps", type=int, help="max_iter of every network, instead of defaults")
    parser.add_argument("--limit", type=float, default=540.0, help="seconds of a fit at most")
    parser.add_argument(
        "--start-within", type=float, default=float("inf"), help="seconds in which fits may start"
    )
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("--quick", action="store_true", help="20 steps of a small size")
    asked = parser.parse_args()
    if asked.quick:
        asked.steps, asked.sizes, asked.labels = 20, "500x20", "25"
        if asked.output == Path(__file__).parent:
            asked.output = Path(tempfile.gettempdir()) / "s2mam-bench-deep-quick"
    return asked


def all_cells(asked: argparse.Namespace) -> dict[str, list[Cell]]:
    """The fits by device, first seeds first and large tables before small ones.

    References that know no device are measured on the processor whatever was asked for.
    """
    patterns = asked.systems.split(",")
    chosen = [s for s in systems().values() if any(fnmatch.fnmatch(s.key, p) for p in patterns)]
    devices = asked.devices.split(",")
    work: dict[str, list[Cell]] = {"cpu": [], "cuda": []}
    for seed in range(asked.seeds):
        for size in asked.sizes.split(",")[::-1]:
            for system in chosen[::-1]:
                for device in devices if system.network else ["cpu"]:
                    for labels in map(int, asked.labels.split(",")):
                        work[device].append(Cell(system.key, size, labels, seed, device))
    return work


def main() -> int:
    """Measure all cells and write the tables."""
    asked = read_options()
    facts, order = all_facts(asked), list(systems())
    asked.output.mkdir(parents=True, exist_ok=True)
    start_before = time.monotonic() + asked.start_within
    done: list[dict[str, Any]] = []
    for device, cells in all_cells(asked).items():
        jobs = asked.gpu_jobs if device == "cuda" else max((os.cpu_count() or 2) // 2, 1)
        with ThreadPoolExecutor(jobs) as pool:
            rest = (asked.steps, asked.limit, start_before)
            futures = [pool.submit(run_cell, cell, *rest) for cell in cells]
            for future in as_completed(futures):
                row = future.result()
                if row is None:
                    continue
                done.append(row)
                print(json.dumps(row), flush=True)
                done.sort(
                    key=lambda c: (
                        asked.sizes.index(c["size"]),
                        order.index(c["system"]),
                        c["labels"],
                        c["device"],
                        c["seed"],
                    )
                )
                text = json.dumps({"facts": facts, "cells": done}, indent=1)
                (asked.output / "results.json").write_text(text + "\n", encoding="utf-8")
                (asked.output / "results.md").write_text(page(done, facts), encoding="utf-8")
    print(page(done, facts))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        name, shape, known, draw, place, count = sys.argv[2:]
        fit = Cell(name, shape, int(known), int(draw), place)
        print(json.dumps(measure(fit, int(count) or None)))
        sys.exit(0)
    sys.exit(main())
