"""Lower level against skglm, celer and adelie: time to 1e-6 of the optimum, one thread.

    python benchmarks/lower_level/run.py

The peers live in virtual environments of their own (``--env-dir``), made on the first run. Writes
``results.json`` and ``results.md`` beside this file. Every solver gets the matrix in column order,
converted outside the clock; CPU time, minimum over repeats and rounds; of all tolerances of a
solver the fastest that reaches the goal counts. The goal is counted from an optimum certified to
1e-9, or from the best objective any solver found should that be lower. The same sizes with other
random numbers are run against the fastest peer alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from problems import CASES, ROWS, Case, write
from worker import GOAL, load

HERE = Path(__file__).resolve().parent
# Not a solver: the linear algebra of "s2mam" alone (see arithmetic.py).
ARITHMETIC = "s2mam arithmetic"
PEERS = {"numba": ("skglm", "celer"), "adelie": ("adelie",)}
SOLVERS = {
    "s2mam": None,
    "skglm": "numba",
    "celer": "numba",
    "adelie": "adelie",
    "adelie path": "adelie",
    "s2mam admm": None,
    ARITHMETIC: None,
}
# What other random numbers are run with: ours and the peer that is fastest on most rows.
CHECKED = ("s2mam", "adelie", "adelie path")


def environment(folder: Path, name: str) -> str:
    """Interpreter of a peer's environment, made when missing."""
    interpreter = folder / name / "bin" / "python"
    probe = f"import {', '.join(PEERS[name])}"
    if interpreter.exists() and subprocess.run([interpreter, "-c", probe]).returncode == 0:
        return str(interpreter)
    subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
    subprocess.run([interpreter, "-m", "pip", "install", "--quiet", *PEERS[name]], check=True)
    return str(interpreter)


def slug(case: Case, seed: int = 0) -> str:
    return f"{case.name.replace(' ', '_')}_s{seed}"


def add_optimum(path: Path) -> None:
    """Store the certified optimum beside the data, so that workers know when they are done."""
    from s2mam.losses import LogisticLoss, SquaredLoss
    from s2mam.solvers import GroupProblem, solve

    data = load(path)
    rows, columns = data["features"].shape
    groups = columns // data["rank"]
    problem = GroupProblem(
        SquaredLoss() if data["task"] == "squared" else LogisticLoss(),
        data["features"],
        data["target"],
        np.full(rows, 1.0 / rows),
        np.arange(groups + 1) * data["rank"],
        np.full(groups, data["penalty"]),
    )
    np.savez(path, **data, optimum=solve(problem, tol=1e-9).objective)


def run_worker(interpreter: str, solver: str, files: list[Path], budget: float) -> dict[str, Any]:
    """One pass of one solver over all problems, in a process of its own."""
    single = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "times.json"
        command = [interpreter, HERE / "worker.py", solver, output, *files, "--budget", str(budget)]
        subprocess.run(command, check=True, env={**os.environ, **single})
        return dict(json.loads(output.read_text()))


def merge(rounds: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """Minimum time per tolerance over the rounds."""
    entries = [one[name] for one in rounds if name in one]
    if not entries:
        return None
    times: dict[float, dict[str, float]] = {}
    for entry in entries:
        for item in entry["runs"]:
            known = times.setdefault(item["tol"], item)
            if item["seconds"] < known["seconds"]:
                times[item["tol"]] = item
    first = min(entry["first_call_s"] for entry in entries)
    return {"first_call_s": first, "runs": list(times.values())}


def summarise(merged: dict[str, dict[str, Any] | None]) -> dict[str, Any]:
    """Optimum, and per solver the time to the goal and the best excess it ever reached."""
    found = [run["objective"] for entry in merged.values() if entry for run in entry["runs"]]
    optimum = min(found)
    solvers = {}
    for solver, entry in merged.items():
        if entry is None:
            continue
        reached = [
            run["seconds"]
            for run in entry["runs"]
            if run["objective"] <= optimum + GOAL * abs(optimum)
        ]
        solvers[solver] = {
            "milliseconds": 1e3 * min(reached) if reached else None,
            "best_relative_excess": min(r["objective"] for r in entry["runs"]) / optimum - 1.0,
            "first_call_s": entry["first_call_s"],
        }
    return {"optimum": optimum, "solvers": solvers}


def milliseconds(row: dict[str, Any]) -> dict[str, float | None]:
    return {s: row["solvers"].get(s, {}).get("milliseconds") for s in SOLVERS}


def ratio_to_peers(times: dict[str, float | None]) -> float:
    peers = [t for s, t in times.items() if t is not None and not s.startswith("s2mam")]
    return times["s2mam"] / min(peers) if peers and times["s2mam"] else float("nan")


def table(rows: dict[str, dict[str, Any]], first: dict[str, float]) -> str:
    """Markdown report."""
    lines = [
        "# Lower level: milliseconds of CPU time to 1e-6 of the optimum",
        "",
        f"{ROWS} rows, cold start, one thread, {platform.machine()}, Python "
        f"{platform.python_version()}. Command: `python benchmarks/lower_level/run.py`. A dash:",
        "the solver has no such loss, or did not reach the goal in its time. Bold: the fastest.",
        "Each solver is run at tolerances half a decade apart; the fastest that reaches the goal",
        "counts, which no user could know beforehand. Freed memory is kept by the process (see",
        "`worker.py`), the same for all. The constants of our iteration (how many groups enter at",
        "once, the first penalty, when a factor is used again) were chosen on these sizes with",
        "these and other random numbers (below); the peers run as they come.",
        "",
        "| problem | " + " | ".join(SOLVERS) + " | ours / fastest peer |",
        "|---" * (len(SOLVERS) + 2) + "|",
    ]
    for name, row in rows.items():
        times = milliseconds(row)
        fastest = min(t for s, t in times.items() if t is not None and s != ARITHMETIC)
        cells = [
            "-" if t is None else f"**{t:.2f}**" if t == fastest else f"{t:.2f}"
            for t in times.values()
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {ratio_to_peers(times):.2f} |")
    delays = " | ".join("" if s == ARITHMETIC else f"{first[s]:.2f}" for s in SOLVERS)
    lines += [f"| first call of a process (s, wall) | {delays} | |", ""]
    worst = max(
        entry["best_relative_excess"]
        for row in rows.values()
        for solver, entry in row["solvers"].items()
        if solver != "s2mam admm" and entry["milliseconds"] is not None
    )
    lines += [
        "Largest relative excess over the common optimum of the best point of any solver that "
        f"reached the goal: {worst:.0e} (ADMM not counted; sweeps end soon after the goal, so this",
        "says that all minimise the same objective, not how far each could go).",
        "",
        *slower_rows(rows),
    ]
    return "\n".join(lines)


def slower_rows(rows: dict[str, dict[str, Any]]) -> list[str]:
    """What the time goes into on the rows where a peer is faster."""
    behind = {n: milliseconds(r) for n, r in rows.items() if ratio_to_peers(milliseconds(r)) > 1.0}
    if not behind:
        return ["No peer is faster on any row.", ""]
    lines = [
        "## Rows on which a peer is faster",
        "",
        f"`{ARITHMETIC}` repeats the main BLAS and LAPACK calls of the solve (a few small products",
        "are left out) on operands at rest: no loss, no copies, no checks. About so much the same",
        "iterations cost without any bookkeeping. Where it is close to the peer's total, only",
        "other iterations could be faster; where it is far below, time goes into the interpreter",
        "and into copies, and nothing here shows that it has to.",
        "",
    ]
    for name, times in behind.items():
        ours, floor = times["s2mam"], times[ARITHMETIC]
        if ours and floor:
            peer = ours / ratio_to_peers(times)
            lines.append(
                f"- {name}: ours {ours:.2f} ms = arithmetic {floor:.2f} + bookkeeping "
                f"{ours - floor:.2f}; fastest peer {peer:.2f} ms in all, so that the arithmetic "
                f"alone takes {100.0 * floor / peer:.0f} % of it."
            )
    return [*lines, ""]


def other_seeds(seeds: dict[int, dict[str, dict[str, Any]]]) -> list[str]:
    """Ratios to the fastest peer on the same sizes with other random numbers."""
    lines = [
        "## Other random numbers",
        "",
        "Ours over the faster of adelie and adelie path, on the same sizes.",
        "",
        "| problem | " + " | ".join(f"seed {seed}" for seed in seeds) + " |",
        "|---" * (len(seeds) + 1) + "|",
    ]
    for case in CASES:
        ratios = [ratio_to_peers(milliseconds(rows[case.name])) for rows in seeds.values()]
        lines.append(f"| {case.name} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
    return [*lines, ""]


def measure_all(
    interpreters: dict[str, str], solvers: list[str], seed: int, rounds: int, budget: float
) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    """All cases with the random numbers of ``seed``: rows by name, and first calls by solver."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for case in CASES:
            files.append(Path(folder) / f"{slug(case, seed)}.npz")
            write(case, files[-1], seed)
            add_optimum(files[-1])
        passes: dict[str, list[dict[str, Any]]] = {solver: [] for solver in solvers}
        for number in range(rounds):
            for solver in solvers:
                print(f"seed {seed}, round {number + 1}: {solver}", flush=True)
                home = SOLVERS[solver]
                interpreter = interpreters[home] if home else sys.executable
                passes[solver].append(run_worker(interpreter, solver, files, budget))
    rows = {
        case.name: summarise({s: merge(passes[s], slug(case, seed)) for s in solvers})
        for case in CASES
    }
    first = {s: max(entry["first_call_s"] for entry in passes[s][0].values()) for s in solvers}
    return rows, first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path.home() / ".cache" / "s2mam-bench"
    parser.add_argument("--env-dir", type=Path, default=default)
    parser.add_argument("--rounds", type=int, default=2, help="passes over all solvers")
    parser.add_argument("--budget", type=float, default=8.0, help="seconds per solver and problem")
    parser.add_argument("--seeds", type=int, default=3, help="other random numbers to try")
    arguments = parser.parse_args()
    interpreters = {name: environment(arguments.env_dir, name) for name in PEERS}
    rounds, budget = arguments.rounds, arguments.budget
    rows, first = measure_all(interpreters, list(SOLVERS), 0, rounds, budget)
    others = {
        seed: measure_all(interpreters, list(CHECKED), seed, rounds, budget)[0]
        for seed in range(1, arguments.seeds + 1)
    }
    stored = {"rows": rows, "first_call_s": first, "other_seeds": others}
    (HERE / "results.json").write_text(json.dumps(stored, indent=1))
    report = table(rows, first) + ("\n".join(["", *other_seeds(others)]) if others else "")
    (HERE / "results.md").write_text(report)
    print(report)


if __name__ == "__main__":
    main()
