"""Which fits keep memory? Each kind alone, many times, on tables that are never the same.

    python benchmarks/soak/kinds.py [--pieces 120] [--names posterior base LapRLS ...]

Every kind has a process of its own: 20 fits to warm up, then the growth of the resident memory, of
the bytes that malloc has handed out, and of the number of blocks that Python has, over the next
ones, without the caches of ``caches.md``. A leak shows in the last two. Writes ``kinds.md`` beside
this file.
"""

# ruff: noqa: E402  (the folders have to be on the path first)
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "trust")]

from benchmarks.common.environment import run_facts, single_thread
from benchmarks.soak.figures import WITHOUT_TCACHE, figures, fill_the_cache_of_numpy

_WARM = 20


def measure(name: str, task: str, pieces: int) -> None:
    """Fit one kind in this process and print what stayed."""
    from trust_models import make, table

    warnings.simplefilter("ignore")

    def once(number: int) -> None:
        X, _, y = table(task, n=40 + 20 * (number % 5), n_labeled=16, seed=number)
        make(name, task).fit(X, y).predict(X)

    for number in range(_WARM):
        once(number)
    fill_the_cache_of_numpy()
    figures()  # what it needs itself
    before = figures()
    for number in range(_WARM, _WARM + pieces):
        once(number)
    growth = [(new - old) / pieces for new, old in zip(figures(), before, strict=True)]
    print(json.dumps([1024 * growth[0], 1024 * growth[1], growth[2]]))


def main() -> int:
    """Measure all kinds and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", type=int, default=120)
    parser.add_argument("--names", nargs="+", help="estimators to try, else all")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure, options.pieces)
        return 0
    from trust_models import EVERYTHING

    lines = ["# Memory that a fit keeps, by kind", ""]
    lines += ["| estimator | task | resident kB a fit | malloc kB a fit | Python blocks a fit |"]
    lines += ["| :-- | :-- | --: | --: | --: |"]
    for name, task in EVERYTHING:
        if options.names and name not in options.names:
            continue
        command = [sys.executable, __file__, "--measure", name, task]
        done = subprocess.run(
            [*command, "--pieces", str(options.pieces)],
            env={**os.environ, **single_thread(), **WITHOUT_TCACHE},
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout.splitlines()[-1])
        lines.append(f"| {name} | {task} | {' | '.join(f'{one:.2f}' for one in found)} |")
        print(lines[-1], flush=True)
    facts = run_facts("kinds", __doc__ or "")
    lines += ["", (__doc__ or "").split("\n\n")[-1].strip(), ""]
    lines.append(f"Commit {facts['commit']}, source {facts['source']}; {facts['machine']}.")
    Path(__file__).with_name("kinds.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
