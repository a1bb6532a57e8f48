"""Which fits keep memory? Each kind alone, many times, on tables that are never the same.

    python benchmarks/soak/kinds.py [--pieces 120]

Every kind has a process of its own: 40 fits to warm up, then the growth of the resident memory and
of the number of Python objects over the next ones. A leak shows in both; caches of bounded size
and the allocator show in the first alone, and level off. Writes ``kinds.md`` beside this file.
"""

# ruff: noqa: E402  (the folders have to be on the path first)
from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "trust")]

from benchmarks.common.environment import run_facts, single_thread
from benchmarks.soak.run import resident

_WARM = 40


def measure(name: str, task: str, pieces: int) -> None:
    """Fit one kind in this process and print what stayed."""
    from trust_models import make, table

    warnings.simplefilter("ignore")

    def once(number: int) -> None:
        X, _, y = table(task, n=40 + 20 * (number % 5), n_labeled=16, seed=number)
        make(name, task).fit(X, y).predict(X)

    for number in range(_WARM):
        once(number)
    before, objects = resident(), len(gc.get_objects())
    for number in range(_WARM, _WARM + pieces):
        once(number)
    after = resident()
    kept = (len(gc.get_objects()) - objects) / pieces
    print(json.dumps({"kilobytes": 1024 * (after - before) / pieces, "objects": kept}))


def main() -> int:
    """Measure all kinds and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", type=int, default=120)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure, options.pieces)
        return 0
    from trust_models import EVERYTHING

    lines = ["# Memory that a fit keeps, by kind", ""]
    lines += ["| estimator | task | kB a fit | objects a fit |", "| :-- | :-- | --: | --: |"]
    for name, task in EVERYTHING:
        command = [sys.executable, __file__, "--measure", name, task]
        done = subprocess.run(
            [*command, "--pieces", str(options.pieces)],
            env={**os.environ, **single_thread()},
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout.splitlines()[-1])
        lines.append(f"| {name} | {task} | {found['kilobytes']:.2f} | {found['objects']:.2f} |")
        print(lines[-1], flush=True)
    facts = run_facts("kinds", __doc__ or "")
    lines += ["", (__doc__ or "").split("\n\n")[-1].strip(), ""]
    lines.append(f"Commit {facts['commit']}, source {facts['source']}; {facts['machine']}.")
    Path(__file__).with_name("kinds.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
