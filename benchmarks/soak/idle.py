"""What a soak keeps when its pieces of work do nothing: the counts of the soak itself.

    python benchmarks/soak/idle.py

Python has the whole numbers up to 256 ready; every larger one is a block. A loop that counts its
samples and its pieces of four kinds in Python's numbers, as ``run.py`` did at first, so gains a
block whenever one of these counts passes 256. Counts in an array do not. Writes ``idle.md`` beside
this file.
"""

from __future__ import annotations

import sys
from itertools import repeat
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from benchmarks.common.environment import run_facts
from benchmarks.soak.figures import figures, fill_the_cache_of_numpy

#: Pieces of the hour that ``results.md`` tells of, and its samples.
PIECES = {"masked": 572, "base": 250, "baseline": 279, "fault": 282}
SAMPLES = 385


def in_numbers(seen: np.ndarray) -> None:
    """Blocks before and after counting in Python's numbers, which are still held."""
    counts = dict.fromkeys(PIECES, 0)
    samples = 0
    seen[0] = figures()[2]
    for kind, pieces in PIECES.items():
        for _ in repeat(None, pieces):
            counts[kind] += 1
    for _ in repeat(None, SAMPLES):
        samples += 1
    seen[1] = figures()[2]
    assert counts == PIECES
    assert samples == SAMPLES


def in_an_array(seen: np.ndarray) -> None:
    """Blocks before and after counting in an array."""
    counts = np.zeros(len(PIECES) + 1, dtype=np.int64)
    seen[0] = figures()[2]
    for number, pieces in enumerate((*PIECES.values(), SAMPLES)):
        for _ in repeat(None, pieces):
            counts[number] += 1
    seen[1] = figures()[2]
    assert counts.tolist() == [*PIECES.values(), SAMPLES]


def main() -> int:
    """Count both ways and write the page."""
    fill_the_cache_of_numpy()
    lines = ["# A soak without work", "", "| counts | Python blocks |", "| :-- | --: |"]
    for name, count in (("Python's numbers", in_numbers), ("an array", in_an_array)):
        seen = np.zeros(2)
        count(seen)  # what it needs itself
        count(seen)
        lines.append(f"| {name} | {seen[1] - seen[0]:+.0f} |")
        print(lines[-1], flush=True)
    facts = run_facts("idle", __doc__ or "")
    lines += ["", (__doc__ or "").split("\n\n")[-1].strip(), ""]
    lines.append(f"Commit {facts['commit']}, source {facts['source']}; {facts['machine']}.")
    Path(__file__).with_name("idle.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
