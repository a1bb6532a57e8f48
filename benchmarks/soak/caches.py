"""What seems to grow, and does not: caches of a fixed size that fits fill slowly.

    python benchmarks/soak/caches.py [--pieces 150]

The same random fits of the base model in five processes. In each, one more cache is taken out of
the figures; what then is left of the last two is ours. The resident memory also holds pages that
are touched for the first time in these early minutes; ``results.md`` shows it over an hour. Writes
``caches.md`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common.environment import run_facts, single_thread
from benchmarks.soak.figures import (
    WITHOUT_TCACHE,
    clear_names,
    clear_results,
    figures,
    fill_the_cache_of_numpy,
)

#: What is taken out, one after the other.
STEPS = (
    "nothing",
    "names of attributes that Python looked up last (up to 4096)",
    "results that functions keep, numpy's plans of `einsum` above all (up to 4096 pairs of shapes)",
    "memory that numpy keeps for small arrays (up to 7 blocks of every size below 1024 bytes)",
    "freed blocks that the C library keeps at hand (up to 7 of each of 64 sizes)",
)
_WARM = 30


def measure(steps: int, pieces: int) -> None:
    """Fit in this process and print the growth a fit."""
    from benchmarks.soak.work import Worker

    worker = Worker(0)
    worker.warm_up()
    for _ in range(_WARM):
        worker.fit_base()
    if steps >= 3:
        fill_the_cache_of_numpy()
    clear = (clear_names, clear_results)[:steps]
    figures(clear)  # what it needs itself
    before = figures(clear)
    for _ in range(pieces):
        worker.fit_base()
    growth = [(new - old) / pieces for new, old in zip(figures(clear), before, strict=True)]
    print(json.dumps([1024 * growth[0], 1024 * growth[1], growth[2]]))


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", type=int, default=150)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        measure(options.measure, options.pieces)
        return 0
    lines = ["# Caches that look like growth", ""]
    lines += ["| taken out, too | resident kB a fit | malloc kB a fit | Python blocks a fit |"]
    lines += ["| :-- | --: | --: | --: |"]
    for number, step in enumerate(STEPS):
        command = [sys.executable, __file__, "--measure", str(number)]
        done = subprocess.run(
            [*command, "--pieces", str(options.pieces)],
            env={**os.environ, **single_thread(), **(WITHOUT_TCACHE if number >= 4 else {})},
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout.splitlines()[-1])
        lines.append(f"| {step} | {' | '.join(f'{one:+.2f}' for one in found)} |")
        print(lines[-1], flush=True)
    facts = run_facts("caches", __doc__ or "")
    lines += ["", (__doc__ or "").split("\n\n")[-1].strip(), ""]
    lines.append(f"Commit {facts['commit']}, source {facts['source']}; {facts['machine']}.")
    Path(__file__).with_name("caches.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
