"""What a default fit costs: processor seconds and peak memory, each fit in a process of its own.

    S2MAM_DATA_HOME=<folder> python benchmarks/cost/run.py [--repeats 5]

Writes ``results.md`` beside this file. Seconds are processor time of one thread, least and median
over the repeats; memory is the peak of the process less what it has after importing s2mam.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common.environment import run_facts, single_thread

#: Rows, columns, labels and the goals in seconds and MB (None: no goal).
CASES = {
    "additive regression, n=200 p=110 l=50": (1.0, None),
    "additive regression, n=2000 p=100 l=100": (20.0, 500.0),
    "additive classification, n=200 p=110, 10 a class": (1.0, None),
    "tox_171, n=171 p=5748, 10 a class": (60.0, None),
    "coil20, n=1440 p=1024, 20 classes, 3 a class": (30.0, None),
}


def problem(case: str, seed: int) -> tuple[object, object, bool]:
    """Table, partly hidden target, whether it is regression."""
    from s2mam.datasets import (
        hide_labels,
        load,
        make_additive_classification,
        make_additive_regression,
    )

    if case.startswith("additive regression"):
        large = "n=2000" in case
        data = make_additive_regression(
            n_samples=2000 if large else 200,
            n_uninformative=82 if large else 92,
            n_noisy=10,
            random_state=seed,
        )
        labels = 100 if large else 50
        return data.X, hide_labels(data.y, n_labeled=labels, random_state=seed), True
    if case.startswith("additive classification"):
        data = make_additive_classification(n_uninformative=98, n_noisy=10, random_state=seed)
        return data.X, hide_labels(data.y, per_class=10, random_state=seed), False
    name, per_class = ("tox_171", 10) if case.startswith("tox") else ("coil20", 3)
    data = load(name, download=False)
    return data.X, hide_labels(data.y, per_class=per_class, random_state=seed), False


def measure(case: str, seed: int) -> None:
    """Fit once in this process and print seconds and memory."""
    from s2mam import S2MAMClassifier, S2MAMRegressor

    X, y, regression = problem(case, seed)
    model = (S2MAMRegressor if regression else S2MAMClassifier)(random_state=seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "megabytes": (peak - before) / 1024, "p": X.shape[1]}))


def main() -> int:
    """Measure all cases and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="fits per case, other seeds (5)")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.seed)
        return 0
    lines = [
        "# Cost of a default fit",
        "",
        "| case | CPU s, least | CPU s, median | goal | peak MB | goal |",
        "| :-- | --: | --: | --: | --: | --: |",
    ]
    for case, (seconds, memory) in CASES.items():
        found = [_child(case, seed) for seed in range(options.repeats)]
        if any(one is None for one in found):
            lines.append(f"| {case} | not run: no data folder | | | | |")
            continue
        times = [one["seconds"] for one in found if one]
        peak = max(one["megabytes"] for one in found if one)
        goal = f"{memory:g}" if memory else "–"
        lines.append(
            f"| {case} | {min(times):.2f} | {statistics.median(times):.2f} | {seconds:g} "
            f"| {peak:.0f} | {goal} |"
        )
        print(lines[-1], flush=True)
    facts = run_facts("cost", str(__doc__))
    lines += ["", (__doc__ or "").split("\n\n")[-1].strip(), ""]
    lines.append(f"Commit {facts['commit']}, source {facts['source']}; {facts['machine']}.")
    target = Path(__file__).with_name("results.md")
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def _child(case: str, seed: int) -> dict[str, float] | None:
    command = [sys.executable, __file__, "--measure", case, "--seed", str(seed)]
    environment = {**os.environ, **single_thread()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
