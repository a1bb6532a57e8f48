"""Random fits for a given time in one process: does the memory grow?

    python benchmarks/soak/run.py --minutes 60 [--seed 0]

Fits of all learners and baselines on random tables, with predictions, files, checkpoints and
faults in between. Every few seconds garbage is collected, free pages go back to the system, and
the resident memory is written down. The slope is the least-squares line through the means of
twenty equal stretches of time after the first fifth; its interval is the 95 % t interval of that
line. Writes ``results.md`` and ``samples.csv`` beside this file.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from benchmarks.common.environment import run_facts
from benchmarks.soak.work import Worker
from scipy import stats

_STRETCHES = 20
_MEGABYTE = 2**20


def resident() -> float:
    """Resident megabytes of this process after what is free was given back."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MEGABYTE


def slope(seconds: np.ndarray, megabytes: np.ndarray) -> tuple[float, float, float]:
    """Megabytes an hour, with the ends of the 95 % interval."""
    late = seconds >= seconds[-1] / 5
    parts = [part for part in np.array_split(np.flatnonzero(late), _STRETCHES) if part.size]
    hours = np.array([seconds[part].mean() for part in parts]) / 3600.0
    means = np.array([megabytes[part].mean() for part in parts])
    line = stats.linregress(hours, means)
    margin = float(stats.t.ppf(0.975, len(parts) - 2)) * line.stderr
    return line.slope, line.slope - margin, line.slope + margin


def soak(minutes: float, seed: int, every: float) -> tuple[list[tuple[float, float]], Worker]:
    """Work for so long; returns (seconds, megabytes) and the worker with its counts."""
    worker = Worker(seed)
    began = time.monotonic()
    samples: list[tuple[float, float]] = []
    while (now := time.monotonic() - began) < 60.0 * minutes:
        if not samples or now - samples[-1][0] >= every:
            samples.append((now, resident()))
        worker.step()
    samples.append((time.monotonic() - began, resident()))
    return samples, worker


def report(samples: list[tuple[float, float]], worker: Worker, minutes: float) -> str:
    """The page of results."""
    seconds, megabytes = np.array(samples).T
    per_hour, low, high = slope(seconds, megabytes)
    done = sum(worker.counts.values())
    pieces = ", ".join(f"{count} {kind}" for kind, count in sorted(worker.counts.items()))
    shown = np.linspace(0, len(samples) - 1, 13).astype(int)
    facts = run_facts("soak", __doc__ or "")
    each = 1024.0 * per_hour * seconds[-1] / 3600.0 / done
    sign = "no growth can be told from none" if low <= 0.0 else "it grows, if slowly"
    verdict = f"{each:+.1f} kB a piece of work, {sign}"
    return "\n".join(
        [
            f"# Soak: random fits for {minutes:g} minutes",
            "",
            f"{done} pieces of work ({pieces}); none failed.",
            "",
            f"Slope of the resident memory: **{per_hour:+.2f} MB an hour** (95 % interval "
            f"{low:+.2f} to {high:+.2f}) at {3600 * done / seconds[-1]:.0f} pieces an hour: "
            f"{verdict}.",
            "",
            "| minutes | resident MB |",
            "| --: | --: |",
            *(f"| {seconds[i] / 60:.1f} | {megabytes[i]:.1f} |" for i in shown),
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
    samples, worker = soak(options.minutes, options.seed, options.every)
    table = "\n".join(f"{second:.1f},{size:.3f}" for second, size in samples)
    (options.output / "samples.csv").write_text(f"seconds,megabytes\n{table}\n", encoding="utf-8")
    page = report(samples, worker, options.minutes)
    (options.output / "results.md").write_text(page, encoding="utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
