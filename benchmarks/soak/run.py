"""Random fits for a given time in one process: does the memory grow?

    python benchmarks/soak/run.py --minutes 60 [--seed 0]

Fits of all learners and baselines on random tables, with predictions, files, checkpoints and
faults in between, after each of them once. Every few seconds garbage and caches of a fixed size are
cleared (``caches.md`` says which, and what baselines keep of the last tables), free pages go back
to the system, and three figures are written down: the resident memory, the bytes that malloc has
handed out, and the number of blocks that Python has. A leak shows in the last two; the first also
holds pages that are free in part. Slopes are least-squares lines through the means of twenty equal
stretches of time after the first fifth, with the 95 % t interval of that line. Writes
``results.md`` and ``samples.csv`` beside this file.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from benchmarks.common.environment import run_facts
from benchmarks.soak.figures import NAMES, figures, fill_the_cache_of_numpy
from benchmarks.soak.work import Worker
from scipy import stats

_STRETCHES = 20


def slope(seconds: np.ndarray, values: np.ndarray) -> tuple[float, float, float]:
    """Growth an hour, with the ends of the 95 % interval."""
    late = seconds >= seconds[-1] / 5
    parts = [part for part in np.array_split(np.flatnonzero(late), _STRETCHES) if part.size]
    hours = np.array([seconds[part].mean() for part in parts]) / 3600.0
    means = np.array([values[part].mean() for part in parts])
    line = stats.linregress(hours, means)
    margin = float(stats.t.ppf(0.975, len(parts) - 2)) * line.stderr
    return line.slope, line.slope - margin, line.slope + margin


def soak(minutes: float, seed: int, every: float) -> tuple[np.ndarray, Worker]:
    """Work for so long; returns rows of seconds and figures, and the worker with its counts."""
    worker = Worker(seed)
    worker.warm_up()
    fill_the_cache_of_numpy()
    # Made beforehand, so that the list of samples is no growth itself.
    samples = np.zeros((int(60.0 * minutes / every) + 3, 1 + len(NAMES)))
    began, last = time.monotonic(), -every
    free = iter(samples)
    while (now := time.monotonic() - began) < 60.0 * minutes:
        if now - last >= every:
            last = now
            next(free)[:] = (now, *figures())
        worker.step()
    next(free)[:] = (time.monotonic() - began, *figures())
    return samples[samples[:, 1] > 0.0], worker


def report(samples: np.ndarray, worker: Worker, minutes: float, facts: dict[str, Any]) -> str:
    """The page of results."""
    seconds, done = samples[:, 0], sum(worker.counts.values())
    pieces = ", ".join(f"{count} {kind}" for kind, count in sorted(worker.counts.items()))
    shown = np.linspace(0, len(samples) - 1, 13).astype(int)
    rows = []
    for name, values in zip(NAMES, samples[:, 1:].T, strict=True):
        each, low, high = slope(seconds, values)
        piece = each * seconds[-1] / 3600.0 / done
        rows.append(f"| {name} | {each:+.2f} | {low:+.2f} to {high:+.2f} | {piece:+.5f} |")
    return "\n".join(
        [
            f"# Soak: random fits for {minutes:g} minutes",
            "",
            f"{done} pieces of work ({pieces}), {3600 * done / seconds[-1]:.0f} an hour; "
            "none failed.",
            "",
            "| figure | growth an hour | 95 % interval | growth a piece |",
            "| :-- | --: | --: | --: |",
            *rows,
            "",
            f"| minutes | {' | '.join(NAMES)} |",
            "| --: | --: | --: | --: |",
            *(
                f"| {seconds[i] / 60:.1f} | {samples[i, 1]:.1f} | {samples[i, 2]:.2f} "
                f"| {samples[i, 3]:.0f} |"
                for i in shown
            ),
            "",
            (__doc__ or "").split("\n\n")[-1].strip(),
            "",
            f"Commit {facts['commit']}, source {facts['source']}; {facts['machine']}.",
            "",
        ]
    )


def main() -> int:
    """Soak and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws (0)")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between samples (5)")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent, help="folder")
    options = parser.parse_args()
    facts = run_facts("soak", __doc__ or "")  # of the source that is loaded now
    samples, worker = soak(options.minutes, options.seed, options.every)
    table = "\n".join(f"{a:.1f},{b:.3f},{c:.4f},{d:.0f}" for a, b, c, d in samples)
    header = "seconds,resident_mb,malloc_mb,python_blocks"
    (options.output / "samples.csv").write_text(f"{header}\n{table}\n", encoding="utf-8")
    page = report(samples, worker, options.minutes, facts)
    (options.output / "results.md").write_text(page, encoding="utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
